"""Takes a setting and what an option or a key gives of it; returns the value of the field that has
it, or raises `ArgumentError`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from assay import registry
from assay.contracts.factors import NOT_LIMITED, Scalar
from assay.contracts.setting import Levels, Pause, Route, Setting, Text
from assay.errors import ArgumentError
from assay.experiment.settings import client_options
from assay.text.mentions import Mention, phrase
from assay.text.quantities import Quantity


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
            return client_options.pause(setting.name, given)
        case Route(words=words):
            return client_options.route(setting.name, given, words)
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
