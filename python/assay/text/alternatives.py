"""Takes the values that are allowed; returns them as a sentence lists them: ``a, b or c``."""

from __future__ import annotations

from collections.abc import Iterable


def alternatives(values: Iterable[str]) -> str:
    *others, last = values
    return f"{', '.join(others)} or {last}" if others else last
