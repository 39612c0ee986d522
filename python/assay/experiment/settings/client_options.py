"""Takes the client options of a command line; returns client counts, pauses and
where scripts are sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.errors import ArgumentError
from assay.text.mentions import Mention, phrase
from assay.text.quantities import CLIENTS, Quantity, shown
from assay.workload import driving

_HINT = phrase("{--clients 1,8,32}, or by group: {--clients readers=8,writers=2}")


def counts(words: str) -> tuple[int, ...]:
    """``1,8,32`` as client counts."""
    return tuple(
        map(
            int,
            _listed(phrase("{--clients}"), words.split(","), CLIENTS, phrase("{--clients 1,8,32}")),
        )
    )


def are_of_groups(words: str) -> bool:
    return "=" in words


def counts_of_groups(words: str) -> dict[str, tuple[int, ...]]:
    """``readers=4,8,writers=2`` as client counts by group."""
    levels: dict[str, list[str]] = {}
    name = ""
    for word in words.split(","):
        before, equals, value = word.partition("=")
        if equals:
            name = before.strip()
            if not name:
                raise ArgumentError(
                    phrase("{--clients}: no group before {!r}", word.strip()), hint=_HINT
                )
            if name in levels:
                raise ArgumentError(
                    phrase("{--clients}: group {} is given twice", name), hint=_HINT
                )
        elif not name:
            raise ArgumentError(
                phrase("{--clients}: {} has no group, and others have one", word.strip()),
                hint=_HINT,
            )
        levels.setdefault(name, []).append(value if equals else word)
    return {
        group: tuple(
            map(
                int, _listed(phrase("{--clients}: group {}", group), words_of_group, CLIENTS, _HINT)
            )
        )
        for group, words_of_group in levels.items()
    }


def _listed(option: str, words: Iterable[str], quantity: Quantity, hint: str) -> list[int | float]:
    try:
        return [quantity.of_word(word) for word in words]
    except ValueError as error:
        raise ArgumentError(phrase("{}: {}", option, error), hint=hint) from None


def _meant(setting: str, word: str) -> str:
    """A constant pause is often written without the word ``constant``."""
    meant = Mention(setting, f"constant:{word}")
    is_pause = driving.is_pause(f"constant:{word}")
    return phrase("did you mean {}? ", meant) if is_pause else ""


def route(setting: str, word: str, places: Sequence[str]) -> str:
    """Where scripts are sent, as `Driving` holds it: ``replica``, or ``look=replica,buy=any``."""
    if word in places:
        return word
    pairs = [part.strip().rpartition("=") for part in word.split(",")]
    if not all(script.strip() and read.strip() in places for script, _, read in pairs):
        raise ArgumentError(
            phrase(
                "{}: expected {}, or SCRIPT=WORD for each script that does not go to the "
                "primary, found {}",
                Mention(setting),
                f"{', '.join(places[:-1])} or {places[-1]}",
                shown(word),
            ),
            hint=phrase("{}", Mention(setting, f"SCRIPT={places[1]},SCRIPT={places[2]}")),
        )
    found = {script.strip(): read.strip() for script, _, read in pairs}
    return ",".join(f"{script}={read}" for script, read in sorted(found.items()))


def pause(setting: str, word: str) -> str | None:
    """A distribution as `Driving` holds it, None for ``none``."""
    if not driving.is_pause(word):
        raise ArgumentError(
            phrase(
                "{}: expected a distribution of pauses or {}, found {}",
                Mention(setting),
                driving.NO_PAUSE,
                shown(word),
            ),
            hint=_meant(setting, word) + f"{driving.PAUSE_FORMS}; units: ns, us, ms, s",
        )
    return driving.pause(word)
