"""Takes a mistyped word and the names that are known; returns the name it most likely means."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that a mistyped word most likely means, ignoring case."""
    by_lower = {name.lower(): name for name in names}
    found = get_close_matches(word.lower(), list(by_lower), n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """The hint for an unknown word: the nearest name if there is one, and the whole list."""
    names = sorted(names)
    guess = nearest(word, names)
    known = f"known: {', '.join(names)}" if names else "there are none"
    return f"did you mean {guess!r}? {known}" if guess else known
