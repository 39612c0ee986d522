"""Takes the settings asked for and those the server reports; gives the names of those in effect,
and the one spelling of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assay.contracts.systems.abilities import Spelled
from assay.text.sizes import in_largest_unit

_QUANTITY = re.compile(r"(-?\d+)(?:\.(\d+))?\s*([a-z]*)")
_BOOLEANS = {"yes": "y", "no": "n", "on": "y", "off": "n"}
_BYTES = {letter: 1024.0**power for power, letter in enumerate("kmgtp", 1)}
_MS = {"ms": 1.0, "msec": 1.0, "s": 1e3, "sec": 1e3, "min": 60e3, "h": 3600e3}
_SCALES = {"": 1.0, **_BYTES, **_MS}
_SIZES = (("K", 1), ("M", 1 << 10), ("G", 1 << 20), ("T", 1 << 30), ("P", 1 << 40))
_TIMES = (("ms", 1), ("s", 1000), ("min", 60_000), ("h", 3_600_000))
_ALSO = {"msec": "ms", "sec": "s"}


def confirmed(asked: Mapping[str, str], effective: Mapping[str, str]) -> tuple[str, ...]:
    """The server reports them in its own units, rounded: `1526G` as 1.5T, `720min` as 43200.000
    sec, `yes` as y."""
    return tuple(
        name for name, value in asked.items() if _is_reported_as(value, effective.get(name, ""))
    )


def spelled(asked: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting in one spelling; the server's own defaults are known to a running one alone."""
    for name, value in asked.items():
        yield Spelled(name.strip().lower(), _in_one_spelling(value.strip()), is_default=False)


def _in_one_spelling(value: str) -> str:
    quantity = _QUANTITY.fullmatch(word := _word(value))
    if quantity is None:
        return {"y": "yes", "n": "no"}.get(word, value)
    if quantity[2] or not quantity[1].isdecimal() or not quantity[3]:
        return word
    unit = _ALSO.get(quantity[3], quantity[3])
    for units in (_SIZES, _TIMES):
        size = next((size for name, size in units if name.lower() == unit), None)
        if size is not None:
            return in_largest_unit(int(quantity[1]) * size, units)
    return word


def _is_reported_as(asked: str, text: str) -> bool:
    wanted, in_effect = _word(asked), _word(text)
    if wanted == in_effect:
        return True
    given, shown = _QUANTITY.fullmatch(wanted), _QUANTITY.fullmatch(in_effect)
    if given is None or shown is None or not {given[3], shown[3]} <= _SCALES.keys():
        return False
    if given[3] and shown[3] and (given[3] in _MS) != (shown[3] in _MS):
        return False
    decimals = len(shown[2] or "")
    value = float(f"{given[1]}.{given[2] or 0}") * _SCALES[given[3]] / _SCALES[shown[3]]
    return round(value, decimals) == float(f"{shown[1]}.{shown[2] or 0}")


def _word(value: str) -> str:
    word = value.strip().lower()
    return _BOOLEANS.get(word, word.removesuffix("b"))
