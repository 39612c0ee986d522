"""Takes a setting and what an option or a key gives of it; returns the value of the field that has
it, or raises `ArgumentError`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from assay import registry
from assay.contracts.factors import NOT_LIMITED, Scalar
from assay.contracts.setting import Levels, Pause, Route, Setting, Text
from assay.errors import ArgumentError
from assay.text.mentions import Mention, phrase
from assay.text.quantities import CLIENTS, Quantity, shown
from assay.workload import driving


def value(setting: Setting, given: Any) -> Any:
    """From that of the option."""
    kind = setting.kind
    return levels(setting, kind.split(given)) if isinstance(kind, Levels) else _of(setting, given)


def levels(setting: Setting, words: Sequence[str]) -> Any:
    """From each word of `Levels`."""
    kind = setting.kind
    if setting.read is not None or not isinstance(kind, Levels):
        return _of(setting, words)
    if isinstance(kind.of, tuple):
        return tuple(_known(kind.of, setting.word, kind.what, words))
    of, example = kind.of, kind.example if isinstance(kind.example, str) else kind.example(words)
    return tuple(_number(setting.word, kind, of, word, example) for word in words)


def _of(setting: Setting, given: Any) -> Any:
    if setting.read is not None:
        return setting.read(given)
    match setting.kind:
        case Pause():
            return pause(setting.name, given)
        case Route(words=words):
            return route(setting.name, given, words)
        case Text() if setting.experiment_field and not given.strip():
            expected = f"a {(setting.metavar or 'text').lower()}"
            raise ArgumentError(
                phrase("{}: expected {}, found {!r}", Mention(setting.word), expected, given)
            )
    return given


def _number(option: str, kind: Levels, of: Quantity, word: str, example: str) -> Scalar | None:
    """None: not limited."""
    if kind.may_be_none and word.strip() == NOT_LIMITED:
        return None
    try:
        return of.of_word(word)
    except ValueError as error:
        message = str(error)
        if kind.may_be_none:
            message = message.replace("expected ", f"expected {NOT_LIMITED} or ", 1)
        hint = phrase("{}", Mention(option, example)) if example else None
        raise ArgumentError(phrase("{}: {}", Mention(option), message), hint=hint) from None


def _known(known: Sequence[str], option: str, what: str, words: Iterable[str]) -> Iterator[str]:
    """These words, at least one, each of which is known."""
    for word in [word.strip() for word in words] or [""]:
        if not word:
            raise ArgumentError(
                phrase("{}: expected a {}, found nothing", Mention(option), what),
                hint=f"known: {', '.join(known)}",
            )
        if word not in known:
            raise registry.unknown(what, word, known)
        yield word


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
