"""Takes the client options of a command line; returns client counts, offered rates and pauses."""

from __future__ import annotations

from collections.abc import Iterable

from assay.contracts.driving import READS
from assay.errors import ArgumentError
from assay.text import rates
from assay.text.mentions import Mention, phrase
from assay.text.quantities import CLIENTS, OFFERED_RATE_PER_S, Quantity, shown
from assay.text.rates import Rate
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


def offered_rates(words: Iterable[str]) -> tuple[Rate, ...]:
    """``1000``, ``2000`` as rates of all clients together."""
    words = list(words)
    example = "0s:200,60s:800,90s:200" if any(map(rates.is_profile, words)) else "1000,2000"
    hint = phrase("{}", Mention("offered_rate", example))
    return tuple(_listed(phrase("{--offered-rate}"), words, OFFERED_RATE_PER_S, hint))


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


def reads(word: str) -> str:
    """Where scripts are sent, as `Driving` holds it: ``replica``, or ``look=replica,buy=any``."""
    if word in READS:
        return word
    pairs = [part.strip().rpartition("=") for part in word.split(",")]
    if not all(script.strip() and read.strip() in READS for script, _, read in pairs):
        raise ArgumentError(
            phrase(
                "{--read}: expected {}, or SCRIPT=WORD for each script that does not go to the "
                "primary, found {}",
                f"{', '.join(READS[:-1])} or {READS[-1]}",
                shown(word),
            ),
            hint=phrase("{}", Mention("read", f"SCRIPT={READS[1]},SCRIPT={READS[2]}")),
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
