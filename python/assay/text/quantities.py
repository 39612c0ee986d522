"""What numbers a person may give: each quantity with its type and its range, declared once.

The command line, the readers of TOML files and the plan all ask here, so that a number that is
refused in one place is refused in all of them, in the same words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, time
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from assay.text import pattern, rates

_PLAIN_NUMBER = r"([0-9]+\.?[0-9]*|\.[0-9]+)"
_WHOLE = pattern(r"[+-]?[0-9]{1,31}", re.ASCII)
_NUMBER = pattern(rf"[+-]?{_PLAIN_NUMBER}([eE][+-]?[0-9]{{1,5}})?", re.ASCII)
_PERCENT = pattern(rf"{_PLAIN_NUMBER} ?%", re.ASCII)
_DURATION = pattern(rf"{_PLAIN_NUMBER} ?(ns|us|µs|μs|ms|s|min|m|h)", re.ASCII)
_SECONDS_PER: Mapping[str, tuple[int, int]] = {
    "ns": (1, 10**9),
    "us": (1, 10**6),
    "µs": (1, 10**6),  # the micro sign, which labels have
    "μs": (1, 10**6),  # the Greek letter
    "ms": (1, 1000),
    "s": (1, 1),
    "min": (60, 1),
    "m": (60, 1),
    "h": (3600, 1),
}
"""As a fraction."""
NS_PER = {unit: above * 10**9 // below for unit, (above, below) in _SECONDS_PER.items()}
"""Of every unit of time that a person may give."""
_SIZE = pattern(r"(\d{1,20}(?:\.\d{1,20})?)\s*([kmgt]?)(?:i?b)?", re.ASCII)
_SIZE_UNITS: Mapping[str, int] = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LONGEST_NUMBER = 400
"""Longer ones are not matched: that takes the square of their length."""
_LONGEST_SHOWN = 40
_LONGEST_PROFILE = 10_000


class Whole(Struct, frozen=True):
    """A whole number in a range, ends included."""

    least: int
    most: int
    unit: str = ""
    """What it counts, where the name of the option does not say so."""

    @property
    def expected(self) -> str:
        """What a message says was expected."""
        return f"a whole number{_of(self.unit)} from {self.least:,} to {self.most:,}"

    def holds(self, value: object) -> bool:
        """Whether a value from a file is one."""
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return is_whole and self.least <= value <= self.most  # type: ignore[operator]

    def of_word(self, word: str) -> int:
        """The word as such a number; raises `ValueError` saying what was expected and found."""
        text = word.strip()
        if not _WHOLE.fullmatch(text) and _NUMBER.fullmatch(text):
            raise ValueError(f"expected {self.expected}, found {shown(word)}: digits alone")
        if not _WHOLE.fullmatch(text) or not self.holds(int(text)):
            raise ValueError(f"expected {self.expected}, found {shown(word)}")
        return int(text)

    def split(self, words: str) -> list[str]:
        return words.split(",")


class Real(Struct, frozen=True):
    """A finite number in a range, ends included."""

    least: float
    most: float
    unit: str = ""
    may_be_none: bool = False
    """Whether 0, which is below the least, says that there is none."""

    @property
    def expected(self) -> str:
        if self.may_be_none:
            return f"0 or {self._range}"
        return self._range

    @property
    def _range(self) -> str:
        has_least, has_most = self.least > -_HUGE, self.most < _HUGE
        if not has_least and not has_most:
            return "a finite number" + _of(self.unit)
        number = "a number" + _of(self.unit)
        if not has_least:
            return f"{number} up to {_plain(self.most)}"
        return (
            f"{number} from {_plain(self.least)} {f'to {_plain(self.most)}' if has_most else 'up'}"
        )

    def holds(self, value: object) -> bool:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        try:
            is_none = self.may_be_none and value == 0
            return is_none or (math.isfinite(value) and self.least <= value <= self.most)
        except OverflowError:  # a whole number beyond what a float can be
            return False

    def of_word(self, word: str) -> float:
        text = word.strip()
        fits = len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text)
        if not fits or not self.holds(float(text)):
            raise ValueError(f"expected {self.expected}, found {shown(word)}")
        return float(text)

    def split(self, words: str) -> list[str]:
        return words.split(",")


class Duration(Real, frozen=True):
    """A length of time in ``unit``; a word may name another unit: ``500ms``, ``5s``, ``2min``."""

    needs_unit: bool = False
    """Whether a word without one is refused: other tools read it otherwise."""

    @property
    def expected(self) -> str:
        unit = "its unit (500ms, 5s, 2min, 1h)"
        return f"a time with {unit}" if self.needs_unit else f"{super().expected}, or with {unit}"

    @property
    def pattern(self) -> str:
        """A regular expression of all its words, and of some that are out of range."""
        return rf"^\s*({_NUMBER.pattern}|{_DURATION.pattern})\s*$"

    def of_word(self, word: str) -> float:
        found = len(word) <= _LONGEST_NUMBER and _DURATION.fullmatch(word.strip())
        if not found:
            value = super().of_word(word)
            if value and self.needs_unit:
                number = word.strip()
                raise ValueError(
                    f"expected a time with its unit, {number}ms or {number}s, found {shown(word)}"
                )
            return value
        # Multiplied first, then divided: 300ms is 0.3 to the last digit.
        above, below = _SECONDS_PER[found[2]]
        value = float(found[1]) * above / below
        if not self.holds(value):
            raise ValueError(f"expected {self.expected}, found {shown(word)}")
        return value


class Size(Real, frozen=True):
    """Whole bytes; a word may name a unit of 1024 bytes or its powers: ``64M``, ``64MB``."""

    @property
    def expected(self) -> str:
        return f"{self._range}, or with a unit (64MB, 2G)"

    @property
    def _range(self) -> str:
        return f"a size in bytes from {_size(self.least)} to {_size(self.most)}"

    def of_word(self, word: str) -> int:
        found = _SIZE.fullmatch(word.strip().lower())
        value = math.nan if found is None else float(found[1]) * _SIZE_UNITS[found[2]]
        if not self.holds(value):
            raise ValueError(f"expected {self.expected}, found {shown(word)}")
        return int(value)


class Percent(Real, frozen=True):
    """A share; a word may be in percent: ``5%`` is 0.05."""

    @property
    def expected(self) -> str:
        return f"a percentage from {self.least * 100:g}% to {self.most * 100:g}%"

    @property
    def pattern(self) -> str:
        """A regular expression of its words up to the most."""
        most = round(self.most * 100)
        percent = rf"0*(({'|'.join(map(str, range(most)))})(\.[0-9]*)?|{most}(\.0*)?|\.[0-9]+)"
        return rf"^\s*({percent} ?%|{_NUMBER.pattern})\s*$"

    def of_word(self, word: str) -> float:
        found = len(word) <= _LONGEST_NUMBER and _PERCENT.fullmatch(word.strip())
        if not found:
            return super().of_word(word)
        value = float(found[1]) / 100
        if not self.holds(value):
            raise ValueError(f"expected {self.expected}, found {shown(word)}")
        return value


class OfferedRate(Real, frozen=True):
    """A rate; a word may be a profile in time: ``0s:200,60s:800,90s:200``."""

    @property
    def expected(self) -> str:
        return f"{super().expected}, or a profile in time (0s:200,60s:800)"

    def holds(self, value: object) -> bool:
        if not rates.is_profile(value):
            return super().holds(value)
        try:
            return self.of_word(str(value)) == value
        except ValueError:
            return False

    def of_word(self, word: str) -> float | str:  # type: ignore[override]
        if not rates.is_profile(word):
            return super().of_word(word)
        if len(word) > _LONGEST_PROFILE:
            raise ValueError(f"expected a profile of {_LONGEST_PROFILE:,} characters at most")
        at_most = Real(0, self.most, self.unit)
        return rates.profile(word, WAIT_S.of_word, at_most.of_word)

    def split(self, words: str) -> list[str]:
        return rates.split(words)


Quantity = Whole | Real
"""Each with ``split``: several of them, as one word of the command line has them."""

_HUGE = 1e300
_YEAR_S = 365 * 86_400
_MOST_WHOLE = (1 << 63) - 1

INTEGER: Final = Whole(-_MOST_WHOLE - 1, _MOST_WHOLE)
MULTIPLE: Final = Whole(1, _MOST_WHOLE)
"""Any that a script or a database can hold."""
BYTES_PER_UNIT: Final = Real(1e-9, 1e18)
NUMBER: Final = Real(-1.7e308, 1.7e308)
COUNT: Final = Whole(0, _MOST_WHOLE)

CLIENTS: Final = Whole(1, 1_000_000)
THREADS: Final = Whole(0, 1_024)
GENERATORS: Final = Whole(1, 256)
SCALE: Final = Whole(1, _MOST_WHOLE)
REPETITIONS: Final = Whole(1, 10_000)
EXPERIMENTS: Final = Whole(1, _MOST_WHOLE)
PRECISION: Final = Percent(0.001, 0.5)
"""Half the width of an interval, as a share of the mean."""
GOAL_TOLERANCE: Final = Percent(0.01, 1)
"""How far apart the rates of a search are, as a share."""
GOAL_TRIALS: Final = Whole(1, 100)
BUDGET_S: Final = Duration(1, _YEAR_S, "seconds")
SEED: Final = Whole(0, _MOST_WHOLE)
PASSES: Final = Whole(1, 10**12)
TRANSACTIONS: Final = Whole(1, 10**12)
DURATION_S: Final = Duration(0.001, _YEAR_S, "seconds")
WAIT_S: Final = Duration(0, _YEAR_S, "seconds")
"""Of what may also be nothing: ramp-up, warm-up, a timeout."""
PROBE_S: Final = Duration(0.1, 3600, "seconds")
PROBE_DEFAULT_S: Final = 2.0
LINE_EVERY_S: Final = 10.0
"""Interval between progress lines where standard error is not a terminal."""
PROBE_OR_NONE_S: Final = Duration(0.1, 3600, "seconds", may_be_none=True)
LATENCY_LIMIT_S: Final = Duration(1e-6, _YEAR_S, "seconds", may_be_none=True)
LATENCY_LIMIT_WITH_UNIT_S: Final = replace(LATENCY_LIMIT_S, needs_unit=True)
STATEMENT_LIMIT_S: Final = Duration(0.001, _YEAR_S, "seconds", may_be_none=True)
OFFERED_RATE_PER_S: Final = OfferedRate(1e-6, 10_000_000, "transactions per second")
REQUIRED_RATE_PER_S: Final = Real(1e-6, 10_000_000, "transactions per second")
RETRIES: Final = Whole(0, 1_000_000)
WEIGHT: Final = Whole(1, 1_000_000)
WEIGHT_IN_A_MIX: Final = Whole(0, 1_000_000)
SHARE_IN_A_MIX: Final = Real(0, 1000)
DATA_TO_BUFFER: Final = Real(0, 1_000_000)
LOAD_SESSIONS: Final = Whole(1, 10_000)
PARTS: Final = Whole(1, _MOST_WHOLE)
REPLICAS: Final = Whole(1, 1_000_000_000)
ROWS_ANSWERED: Final = Whole(0, 1_000_000)
"""By a null server, which holds them in memory."""
SESSIONS_TAKEN: Final = Whole(0, 1_000_000)
BUFFER_BYTES: Final = Size(1, 1 << 60)
STORAGE_BYTES: Final = Size(1 << 20, 1 << 50)
LOG_SAMPLE: Final = Real(1e-6, 1)
PRICE_PER_GB: Final = Real(1e-9, 1e12)
SYSTEM_PRICE: Final = Real(1e-9, 1e15)
OPERATIONS_PER_S: Final = Whole(1, 1_000_000_000, "operations per second")
BYTES_PER_S: Final = Size(1, 1 << 40)
MEMORY_BYTES: Final = Size(1 << 20, 1 << 50)
CPUS: Final = Real(0.05, 4096, "processors")
"""With less, a server takes minutes to start, and stands still for most of the time."""
RTT_S: Final = Duration(1e-4, 60, "seconds", may_be_none=True)
"""With less, most of it would be what the proxy itself takes."""
PORT: Final = Whole(1, 65_535)
PORT_OR_ANY: Final = Whole(0, 65_535)


def shown(value: object) -> str:
    """What was found, in quotes, as much of it as a line can hold."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**_LONGEST_SHOWN:
        return f"a number of more than {_LONGEST_SHOWN} digits"
    text = str(value) if isinstance(value, date | time) else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _of(unit: str) -> str:
    return f" of {unit}" if unit else ""


def _size(value_bytes: float) -> str:
    """In the largest unit of which it is a whole number: ``1 MiB``."""
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value_bytes >= factor and value_bytes % factor == 0:
            return f"{value_bytes / factor:,.0f} {unit}"
    return f"{value_bytes:,.0f}"


def _plain(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:.12f}".rstrip("0")
