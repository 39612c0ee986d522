"""Takes a sentence with settings of an experiment in braces (``leave {--rtt} out``); returns a text
that reads as on a command line and keeps where it mentions a setting, so that each place in which
settings are written spells it in its own way.
"""

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
