"""Sentences with settings, alternatives and log lines: takes the parts of a sentence, returns what
a person reads, and finds the name that a mistyped word means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from string import Formatter
from typing import Any, Final

from msgspec import Struct

_OPTION: Final = "--"


class Mention(Struct, frozen=True):
    """A setting in a text, by the name of its option (``warm_up``), maybe with a value as the
    option has it."""

    setting: str
    value: str | None = None
    is_wished: bool = False
    """Of one that is on or off: the text asks for it, and not only names it."""

    def __str__(self) -> str:
        option = f"{_OPTION}{self.setting.replace('_', '-')}"
        return option if self.value is None else f"{option} {self.value}"


Part = str | Mention


class Phrase(str):
    """A text in the words of the command line, and the parts of which it is made."""

    parts: tuple[Part, ...]

    def __new__(cls, parts: Iterable[Part]) -> Phrase:
        found = tuple(parts)
        self = super().__new__(cls, "".join(map(str, found)))
        self.parts = found
        return self

    @property
    def mentions(self) -> list[Mention]:
        return [part for part in self.parts if isinstance(part, Mention)]

    def __add__(self, after: str) -> Phrase:
        return Phrase((*self.parts, *parts(after)))

    def __radd__(self, before: str) -> Phrase:
        return Phrase((*parts(before), *self.parts))


def phrase(template: str, *values: object, **named: str) -> Phrase:
    """The template with its settings (``{--cache cold}``), and in its other braces, as `str.format`
    has them, the values: plain ones, mentions, or texts with mentions of their own."""
    return Phrase(_parts(template, iter(values), named))


def _parts(template: str, values: Iterator[object], named: Mapping[str, str]) -> Iterator[Part]:
    formatter = Formatter()
    for text, field, form, conversion in formatter.parse(template):
        if text:
            yield text
        if field is None:
            continue
        if field.startswith(_OPTION):
            yield _mention(f"{field}:{form}" if form else field)
            continue
        value: Any = named[field] if field else next(values)
        if conversion or form or not isinstance(value, Phrase | Mention):
            yield format(formatter.convert_field(value, conversion), form or "")
        else:
            yield from parts(value) if isinstance(value, Phrase) else (value,)


def _mention(words: str) -> Mention:
    option, space, value = words.removeprefix(_OPTION).partition(" ")
    return Mention(option.replace("-", "_"), value if space else None)


def parts(text: str) -> tuple[Part, ...]:
    return text.parts if isinstance(text, Phrase) else (text,)


def changed(text: str, change: Callable[[str], str]) -> str:
    """The text with its words changed, its mentions as they are."""
    if not isinstance(text, Phrase):
        return change(text)
    return Phrase(part if isinstance(part, Mention) else change(part) for part in text.parts)


def spelled(text: str, spelling: Callable[[Mention], str | None]) -> str:
    """The text with each setting as ``spelling`` has it; None: as it is."""
    if not isinstance(text, Phrase):
        return text
    found = (spelling(part) if isinstance(part, Mention) else part for part in text.parts)
    return Phrase(
        part if before is None else before for before, part in zip(found, text.parts, strict=True)
    )


def alternatives(values: Iterable[str]) -> str:
    *others, last = values
    return f"{', '.join(others)} or {last}" if others else last


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that a mistyped word most likely means, ignoring case."""
    from difflib import get_close_matches  # here: most words are known

    by_lower = {name.lower(): name for name in names}
    typed = word.lower()
    for name in by_lower:  # two letters in the wrong order, or a version behind the name
        if _is_swapped(typed, name) or (typed.startswith(name) and typed[len(name) :].isdecimal()):
            return by_lower[name]
    found = get_close_matches(typed, list(by_lower), n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def _is_swapped(typed: str, name: str) -> bool:
    """``tpbc`` for ``tpcb``."""
    differs = [at for at, (one, other) in enumerate(zip(typed, name, strict=False)) if one != other]
    if len(typed) != len(name) or len(differs) != 2 or differs[0] + 1 != differs[1]:
        return False
    first, second = differs
    return (typed[first], typed[second]) == (name[second], name[first])


_MANY_NAMES = 20


def did_you_mean(word: str, names: Iterable[str], known_as: Mapping[str, str] | None = None) -> str:
    """The hint for an unknown word: the nearest name, if there is one; and all names, unless they
    are many and one is guessed. ``known_as``: further words → the name that each stands for."""
    names, others = sorted(names), known_as or {}
    found = nearest(word, [*others, *names])
    guess = others.get(found, found) if found else None
    known = f"known: {', '.join(names)}" if names else "there are none"
    if guess and len(names) > _MANY_NAMES:
        return f"did you mean {guess!r}?"
    return f"did you mean {guess!r}? {known}" if guess else known


_LOG_FOLLOWS = "; the end of its log:\n"


def reason_with_log(sentence: str, lines: str) -> str:
    """The reason with these lines of a log."""
    return f"{sentence}{_LOG_FOLLOWS}{lines}"


def reason_sentence(reason: str) -> str:
    """The reason without the log, on one line."""
    return " ".join(reason.partition(_LOG_FOLLOWS)[0].split("\n"))


def log_lines(reason: str) -> list[str]:
    """The lines of the log that the reason holds."""
    return reason.partition(_LOG_FOLLOWS)[2].splitlines()


def reason_with_more(reason: str, more: str) -> str:
    """The reason with ``more`` at the end of its sentence, before the log."""
    said, follows, lines = reason.partition(_LOG_FOLLOWS)
    return f"{said}; {more}{follows}{lines}"
