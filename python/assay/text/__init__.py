"""Text of people and files: how it is read, searched, cut and written."""

from __future__ import annotations

import re
from typing import Any, cast


class _Pattern:
    """A regular expression, compiled when something of it is first asked for."""

    def __init__(self, text: str, flags: int) -> None:
        self._of = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._of), name)
        setattr(self, name, found)
        return found


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """For an expression of a module that every start imports: of more than a hundred, a run uses
    few, and to compile them all was a tenth of its CPU time."""
    return cast("re.Pattern[str]", _Pattern(text, flags))
