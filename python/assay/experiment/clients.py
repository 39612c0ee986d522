"""Takes what a command line says of clients; gives their numbers, offered rates and pauses."""

from __future__ import annotations

from assay.errors import ArgumentError
from assay.text.quantities import CLIENTS, OFFERED_RATE_PER_S, Quantity, shown
from assay.workload import driving


def counts(words: str) -> tuple[int, ...]:
    """``1,8,32`` as numbers of clients."""
    return tuple(map(int, _listed("--clients", words, CLIENTS, "--clients 1,8,32")))


def offered_rates(words: str) -> tuple[float, ...]:
    """``1000,2000`` as transactions per second of all clients together."""
    return tuple(
        map(float, _listed("--offered-rate", words, OFFERED_RATE_PER_S, "--offered-rate 1000,2000"))
    )


def _listed(option: str, words: str, quantity: Quantity, hint: str) -> list[int | float]:
    """Numbers with commas between."""
    try:
        return [quantity.of_word(word) for word in words.split(",")]
    except ValueError as error:
        raise ArgumentError(f"{option}: {error}", hint=hint) from None


def pause(option: str, word: str) -> str | None:
    """A distribution as `Driving` holds it, None for ``none``."""
    if not driving.is_pause(word):
        raise ArgumentError(
            f"{option}: expected a distribution of pauses or {driving.NO_PAUSE}, "
            f"found {shown(word)}",
            hint=f"{driving.PAUSE_FORMS}; units: ns, us, ms, s",
        )
    return driving.pause(word)
