"""Takes what a command line says of clients; gives their numbers, offered rates and pauses."""

from __future__ import annotations

from assay.errors import ArgumentError
from assay.experiment.settings import split
from assay.workloads import driving


def counts(words: str) -> tuple[int, ...]:
    """``1,8,32`` as numbers of clients."""
    found = []
    for word in split(words):
        if not word.isdecimal() or int(word) < 1:
            raise ArgumentError(
                f"--clients {words}: {word!r} is no number of clients", hint="--clients 1,8,32"
            )
        found.append(int(word))
    if not found:
        raise ArgumentError("--clients names no number", hint="--clients 1,8,32")
    return tuple(dict.fromkeys(found))


def offered_rates(words: str) -> tuple[float, ...]:
    """``1000,2000`` as transactions per second of all clients together."""
    found = []
    for word in split(words):
        try:
            rate_per_s = float(word)
        except ValueError:
            rate_per_s = 0.0
        if not 0 < rate_per_s < float("inf"):
            raise ArgumentError(
                f"--offered-rate {words}: {word!r} is no number of transactions per second",
                hint="--offered-rate 1000,2000",
            )
        found.append(rate_per_s)
    if not found:
        raise ArgumentError("--offered-rate names no number", hint="--offered-rate 1000,2000")
    return tuple(dict.fromkeys(found))


def pause(option: str, word: str) -> str | None:
    """A distribution as `Driving` holds it, None for ``none``."""
    if not driving.is_pause(word):
        raise ArgumentError(
            f"{option} {word}: expected a distribution of pauses, or {driving.NO_PAUSE}",
            hint=driving.PAUSE_FORMS,
        )
    return driving.pause(word)
