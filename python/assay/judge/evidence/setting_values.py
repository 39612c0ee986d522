"""Takes the value of a setting as given and as read back; returns whether they mean the same.

Servers report values in their own spelling: ``1GB`` may be read back as ``1073741824``, and ``on``
as ``1``. No setting is known here by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_BOOLEANS = {"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}
_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*([a-zµ]*)")
_BYTES: Mapping[str, float] = {
    f"{prefix}{ending}": 1024.0**power
    for power, prefix in enumerate(("k", "m", "g", "t"), start=1)
    for ending in ("", "b", "ib")
} | {"b": 1.0}
_SECONDS: Mapping[str, float] = {
    "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0
}  # fmt: skip


def mean_the_same(asked: str, effective: str) -> bool:
    return _meaning(asked) == _meaning(effective)


def _meaning(word: str) -> tuple[str, float] | str:
    word = word.strip().strip("'\"").casefold()
    word = _BOOLEANS.get(word, word)
    if parts := _QUANTITY.fullmatch(word):
        number, unit = float(parts[1]), parts[2]
        if unit in _SECONDS:
            return "time", round(number * _SECONDS[unit], 9)
        if unit == "" or unit in _BYTES:
            return "number", number * _BYTES.get(unit, 1.0)
    return word
