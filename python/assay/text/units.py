"""Takes a number in the unit it was measured in; returns the text that people read, and sizes as
they are written in options."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

NS_PER: Mapping[str, float] = {"min": 60e9, "s": 1e9, "ms": 1e6, "µs": 1e3}
TIME_UNITS = tuple(NS_PER)
BYTES_PER: Mapping[str, float] = {"TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3}
_LEAST_OF_UNIT = 0.1
"""A time below this would begin with zeros."""
_SHARE_PER: Mapping[str, float] = {"ratio": 1, "%": 0.01}
_PER = {"ns": NS_PER, "bytes": BYTES_PER, "ratio": _SHARE_PER}
"""By the unit of a record: those in which people read it."""
SIGNIFICANT_DIGITS = 4
PERCENTILE_DIGITS = 3
"""As many as the histogram that a percentile comes from has."""


def digits(value: float, significant: int = SIGNIFICANT_DIGITS) -> str:
    """Four significant digits, never an exponent: ``0.01235``, ``88.28``, ``2683``."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{significant}g}")
    whole_digits = math.floor(math.log10(abs(rounded))) + 1
    return f"{value:.{max(0, significant - whole_digits)}f}"


def _trimmed(value: float, significant: int) -> str:
    """`digits` without zeros at the end of its fraction."""
    shown = digits(value, significant)
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def time(value_ns: float, unit: str, *, resolution_ns: int = 0) -> str:
    """A time in the unit that its column names: four digits; with a resolution three, and none that
    stands for less than that: ``22.5``, ``2``, ``<1``; less than a tenth with three: ``0.0368``."""
    is_small = 0 < abs(value_ns) < NS_PER[unit] * _LEAST_OF_UNIT
    return _time_in(value_ns, unit, resolution_ns, PERCENTILE_DIGITS if is_small else 0)


def time_with_unit(value_ns: float, unit: str, *, resolution_ns: int = 0) -> str:
    """As `time`, for a text that names the unit: ``22.5 s``; less than a tenth of it in another,
    ``167 µs``, not ``0.000167 s``."""
    own = _fitting_unit(value_ns, unit)
    significant = PERCENTILE_DIGITS if own != unit else 0
    return f"{_time_in(value_ns, own, resolution_ns, significant)} {own}"


def _fitting_unit(value_ns: float, unit: str) -> str:
    """The unit, or for less than a tenth of it the largest of which it is one at least."""
    length_ns = abs(value_ns)
    if not length_ns or length_ns >= NS_PER[unit] * _LEAST_OF_UNIT:
        return unit
    return next((one for one in TIME_UNITS if length_ns >= NS_PER[one]), "µs")


def _time_in(value_ns: float, unit: str, resolution_ns: int, significant: int) -> str:
    """``significant``: digits without a resolution, other than four."""
    scale = NS_PER[unit]
    if not resolution_ns or value_ns <= 0:
        return digits(value_ns / scale, significant or SIGNIFICANT_DIGITS)
    last_place = math.ceil(math.log10(resolution_ns))
    supported = math.floor(math.log10(value_ns)) - last_place + 1
    if supported < 1:
        return f"<{digits(10**last_place / scale, 1)}"
    significant = min(PERCENTILE_DIGITS, supported)
    return digits(float(f"{value_ns / scale:.{significant}g}"), significant)


def latency(value_ns: float) -> str:
    """In the unit in which it is best read: ``9.79 µs``, ``1.04 ms``, ``2.5 s``."""
    length_ns = abs(value_ns)
    unit = "µs" if length_ns < 1_000_000 else "ms" if length_ns < 1_000_000_000 else "s"
    return f"{digits(value_ns / NS_PER[unit], PERCENTILE_DIGITS)} {unit}"


def size(value_bytes: float) -> str:
    """Decimal, as storage is sold: ``20.5 MB``."""
    for unit, factor in BYTES_PER.items():
        if value_bytes >= 0.9995 * factor:
            return f"{_trimmed(value_bytes / factor, 3)} {unit}"
    return f"{value_bytes:.0f} B"


def binary(value_bytes: float) -> str:
    """Of memory, and of what a person types in such units: ``64 MiB``, ``23.5 GiB``."""
    for unit, factor in _UNITS:
        if value_bytes >= factor:
            return f"{_trimmed(value_bytes / factor, 3)} {unit[0].upper()}iB"
    return f"{value_bytes:.0f} B"


def mean_count(value: float) -> str:
    """A mean of whole numbers: ``534``; a small one has places, so that a little is not nothing."""
    return f"{value:.0f}" if value >= 10 or value == int(value) else digits(value, 3)


def counted(number: float, singular: str, plural: str | None = None) -> str:
    """``1 client``, ``8 clients``, ``0.5 processors``; ``plural`` is needed where it is not the
    singular with an s."""
    shown = number if isinstance(number, int) else f"{number:g}"
    return f"{shown} {singular if number == 1 else plural or f'{singular}s'}"


def numbered(what: str, numbers: Collection[int]) -> str:
    """``run 3``, ``runs 3, 5``; empty where there are none."""
    if not numbers:
        return ""
    return f"{what if len(numbers) == 1 else f'{what}s'} {', '.join(map(str, numbers))}"


def ended_runs(ended: int, planned: int) -> str:
    """``0 of 1 run has ended``, ``32 of 36 runs have ended``."""
    return f"{ended} of {counted(planned, 'run')} {'has' if planned == 1 else 'have'} ended"


def level(value: object) -> str:
    """A level of a factor as text: ``yes``, ``no``, ``8``."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def duration(value_s: float) -> str:
    """As a person says it: ``10 µs``, ``42 s``, ``12 min``, ``3.5 h``, ``4.2 days``."""
    if 120 <= value_s < 7200:
        return f"{value_s / 60:.0f} min"
    if value_s >= 7200:
        days = value_s / 86400
        return f"{_trimmed(days, 2)} days" if days > 2 else f"{_trimmed(value_s / 3600, 2)} h"
    if value_s >= 0.9995 or value_s <= 0:
        return f"{_trimmed(value_s, 3)} s"
    if value_s >= 0.9995e-3:
        return f"{_trimmed(value_s * 1e3, 3)} ms"
    return f"{_trimmed(value_s * 1e6, 3)} µs"


def short_duration(value_s: float) -> str:
    """In the largest unit of which it is one at least: ``20 s``, ``50 ms``, ``1 ns``."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value_s * factor >= 0.9995 or not value_s:
            return f"{float(f'{value_s * factor:.4g}'):.12g} {unit}"
    return f"{float(f'{value_s * 1e9:.4g}'):.12g} ns"


def exact_duration(value_s: float) -> str:
    """As `short_duration` in one word, with every digit: ``1.0001ms``. Two levels of a factor are
    never the same text."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value_s * factor >= 0.9995 or not value_s:
            return f"{value_s * factor:.12g}{unit}"
    return f"{value_s * 1e9:.12g}ns"


def ratio(value: float) -> str:
    return f"{value:.2f}"


def share(value: float) -> str:
    return f"{value * 100:.0f} %"


def share_beyond(value: float, limit: float) -> str:
    """A share that is more than a limit, with as many places as show that: ``5.3 %`` of 5 %."""
    for places in range(4):
        if float(shown := f"{value * 100:.{places}f}") > round(limit * 100, 9):
            return f"{shown} %"
    return share(value)


def percent(value: float) -> str:
    """A small share, with what is left of it: ``0.42 %``, ``3.1 %``; never an exponent."""
    if value >= 0.1:
        return share(value)
    return f"{_trimmed(value * 100, 2)} %"


def readable(unit: str) -> tuple[str, ...]:
    """The units in which people read a number that is kept in this one; empty: in any words, since
    it is no time and no size."""
    return tuple(_PER.get(unit, ()))


def converted(value: float, unit: str, to: str) -> float | None:
    """A kept number in a unit that is `readable`; None: it is no unit of such a number."""
    if unit not in _PER:
        return value
    return value / _PER[unit][to] if to in _PER[unit] else None


def comparable(value: float, unit: str) -> float:
    """In seconds where it is a time in any of our units, in MB where it is a size."""
    if unit in NS_PER or unit == "ns":
        return value * NS_PER.get(unit, 1) / 1e9
    return value * BYTES_PER.get(unit, 1) / 1e6 if unit in BYTES_PER or unit == "bytes" else value


def comparable_unit(units: Collection[str]) -> str:
    """The unit of these numbers when they are `comparable`: s, or MB, or what all are in."""
    if all(unit in NS_PER or unit == "ns" for unit in units):
        return "s"
    if all(unit in BYTES_PER or unit == "bytes" for unit in units):
        return "MB"
    return ", ".join(sorted(units))


def in_unit(value: float, unit: str) -> str:
    """A number in the unit of its column, whichever that is; times as `time` has them."""
    return time(value * NS_PER[unit], unit) if unit in NS_PER else digits(value)


def shown(value: float, unit: str, time_unit: str = "s", *, resolution_ns: int = 0) -> str:
    """A value by the unit it is kept in: ``ns``, ``bytes``, ``ratio``, ``per_s``, ``count``."""
    if unit == "ns":
        return time(value, time_unit, resolution_ns=resolution_ns)
    if unit == "bytes":
        return size(value)
    if unit == "ratio":
        return ratio(value)
    if unit == "count":
        return f"{value:.0f}"
    return digits(value)


_UNITS = (("TB", 1 << 40), ("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10))


def option_word(size: int) -> str:
    """As the value of an option, with the letters that mount(8) and losetup(8) take: ``64M``."""
    return size_word(size).upper().removesuffix("B")


def in_largest_unit(amount: int, units: Sequence[tuple[str, int]]) -> str:
    """``8MB``: in the largest unit of which it is a whole number. ``units``: name and size of each,
    from the smallest; a unit is a multiple of the one before."""
    whole = units[0]
    for _, larger in pairwise(units):
        if amount % larger[1] == 0:
            whole = larger
    return f"{amount // whole[1]}{whole[0]}"


def size_word(size: int) -> str:
    """In the largest unit of which it is a whole number."""
    for unit, factor in _UNITS:
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size}B"
