"""Takes a mistyped word and the names that are known; returns the name it most likely means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that a mistyped word most likely means, ignoring case."""
    from difflib import get_close_matches  # here: most words are known

    by_lower = {name.lower(): name for name in names}
    found = get_close_matches(word.lower(), list(by_lower), n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def did_you_mean(word: str, names: Iterable[str], known_as: Mapping[str, str] | None = None) -> str:
    """The hint for an unknown word: the nearest name if there is one, and the whole list.
    ``known_as``: further words, and the name that each of them stands for."""
    names, others = sorted(names), known_as or {}
    found = nearest(word, [*others, *names])
    guess = others.get(found, found) if found else None
    known = f"known: {', '.join(names)}" if names else "there are none"
    return f"did you mean {guess!r}? {known}" if guess else known
