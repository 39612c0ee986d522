"""Takes glossary_exceptions.toml; says whether a place may use a replaced word."""

from __future__ import annotations

import tomllib
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("glossary_exceptions.toml")


class Exceptions:
    """All exceptions, and how often each was used."""

    def __init__(self) -> None:
        self._listed: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))[
            "exception"
        ]
        self._used: Counter[int] = Counter()

    def allow(self, words: str, place: str, name: str = "") -> bool:
        """Whether an exception covers it: its word, its place (``path:line``) and its name."""
        path = place.split(":")[0]
        for number, one in enumerate(self._listed):
            if (
                ("*" in one["words"] or words in one["words"])
                and any(fnmatchcase(path, at) for at in one.get("at", ["*"]))
                and (not name or any(fnmatchcase(name, named) for named in one.get("names", ["*"])))
            ):
                self._used[number] += 1
                return True
        return False

    def unused(self) -> list[str]:
        """Exceptions that cover nothing: they would hide the next mistake."""
        return [
            one["reason"]
            for number, one in enumerate(self._listed)
            if not self._used[number] and "at_most" not in one
        ]

    def exceeded(self) -> list[str]:
        """Exceptions of words that are being replaced, where there are more of them than before."""
        return [
            f"{one['reason']}: {self._used[number]}"
            for number, one in enumerate(self._listed)
            if self._used[number] > one.get("at_most", self._used[number])
        ]
