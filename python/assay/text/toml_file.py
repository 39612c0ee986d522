"""Reads a TOML file; every error has the file, the line and the fix.

`tomllib` gives values without their places; the engine's parser finds these when there is something
to complain about. A `TomlTable` is asked for each key once, with its type, and `TomlTable.done`
refuses unknown keys: a misspelt key is an error, never a silent default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import structs

from assay.errors import Bug, ExperimentError
from assay.text import paths, pattern
from assay.text.keys import (
    FLAG,
    SCALAR,
    TEXT,
    AnyText,
    Key,
    Keys,
    Kind,
    Listed,
    NumberWithin,
    OneOf,
    OneOfNames,
    Scalar,
    SeveralKeys,
    TrueOrFalse,
    members,
)
from assay.text.phrases import did_you_mean, nearest
from assay.text.quantities import INTEGER, NUMBER, Duration, Percent, Real, Whole, shown

if TYPE_CHECKING:
    from assay._engine import TomlPlaces

_SCALAR = "a text, a number or true or false"
MOST_BYTES = 1 << 20
"""What is longer was not written by a person."""

_MOST_PARTS = 30
"""Of a key: the reader of TOML takes minutes for one of 50,000."""
_LONG_KEY = pattern(
    r"(?<![\w\-])PART(?:[ \t]*\.[ \t]*PART){MOST}".replace(
        "PART", r"""(?:[\w\-]++|"[^"\n]*"|'[^'\n]*')"""
    ).replace("MOST", str(_MOST_PARTS))
)

if TYPE_CHECKING:
    TomlValue: TypeAlias = "str | int | float | bool | Sequence[TomlValue] | TomlData"
    TomlData: TypeAlias = "Mapping[str, TomlValue]"
    """A table as it stands, for a reader further on."""
else:  # a record of it is decoded by its type, which cannot contain itself
    TomlValue, TomlData = object, dict


def read(
    file: Path, keys: Keys | None = None, beside: Mapping[str, str] | None = None
) -> TomlTable:
    """The whole file as one section; raises `ExperimentError` where it is no TOML. ``keys``: all
    that it may have; None: its reader alone knows them. ``beside``: of a key that has a value,
    what to do in place of a table of the same name."""
    text = paths.read_text(file, ExperimentError, most_bytes=MOST_BYTES)
    if long_key := _LONG_KEY.search(text):
        raise ExperimentError(
            f"expected a key of at most {_MOST_PARTS} parts, found more",
            file=file,
            line=text.count("\n", 0, long_key.start()) + 1,
        )
    import tomllib  # here: a script alone needs no file of ours

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, line, column = str(error), 0, 0
        if place := re.search(r" \(at line (\d+), column (\d+)\)$", message):
            message = message[: place.start()]
            line, column = int(place[1]), int(place[2])
        elif message.endswith(_AT_THE_END):
            message, lines = message.removesuffix(_AT_THE_END), text.splitlines() or [""]
            line, column = len(lines), len(lines[-1]) + 1
        whole_line = "".join(text.splitlines()[line - 1 : line])
        message, hint = _in_words(message, whole_line, column - 1)
        table = _TABLE.match(whole_line)
        if table is not None and table[1] in (beside or {}):
            message = f"{table[0]}: {table[1]} is given above with a value, so it cannot be a table"
            hint = (beside or {})[table[1]]
        raise ExperimentError(message, file=file, line=line, column=column, hint=hint) from error
    except RecursionError as error:
        raise ExperimentError("values are nested too deeply", file=file) from error
    except ValueError as error:  # of a whole number longer than Python reads
        raise ExperimentError("a number has too many digits", file=file) from error
    return SECTION.get()(file, text, (), data, keys)


_TABLE = pattern(r"\s*\[([\w-]+)\.[^\]]*\]")
_LEADING_ZERO = pattern(r"(?<![\w.+-])[+-]?0\d+(?![\w.])")
_AT_THE_END = " (at end of document)"
_QUOTES = 'a text begins and ends with a quotation mark: key = "text"'
_MISTAKES = {
    "Cannot overwrite a value": ("this key or table is given twice", "leave one of them out"),
    "Cannot declare": ("this table is given twice", "put the keys of both under one heading"),
    "Illegal character '\\n'": (
        "the text is not closed: expected a quotation mark in this line",
        _QUOTES,
    ),
    "Unterminated string": ("the text is not closed: expected a quotation mark", _QUOTES),
    "Invalid statement": ("expected KEY = VALUE or [TABLE]", "a comment begins with #"),
    "Invalid initial character for a key part": (
        "expected a key",
        "a key consists of letters, digits, _ and -; another one stands in quotes",
    ),
    "Expected '=' after a key": (
        "expected KEY = VALUE",
        'a key and its value have = between them: key = "text"',
    ),
    "Expected ']' at the end of a table": (
        "expected [TABLE], found no closing bracket",
        "close it in this line: [TABLE]",
    ),
    "Expected newline or end of document": (
        "expected the end of the line behind the value",
        "each key has a line of its own; several values are a list: [1, 2]",
    ),
    "Unclosed array": ("the list is not closed: expected ]", "a list: [1, 2]"),
    "Unclosed inline table": ("the table is not closed: expected }", "a table: { key = 1 }"),
}
"""What the reader of TOML says first, what a person can do something with, and the fix."""


def _in_words(message: str, line: str, at: int) -> tuple[str, str | None]:
    """What is wrong at that character of the line, and the fix."""
    text, letter = line[at:].strip(), line[at : at + 1].replace("\t", " ")
    if letter and not letter.isprintable():
        return (
            f"found an invisible character, U+{ord(letter):04X}",
            "delete it, or write a blank in its place",
        )
    for number in _LEADING_ZERO.finditer(line):
        if number.start() < at < number.end():
            return f"the number {number[0]} begins with 0", f"write {int(number[0])}"
    if not text and "{" in line and message.startswith("Invalid initial character"):
        return "a table in braces goes on in the next line", "write all of it in one line"
    if message.startswith("Invalid value"):
        word = re.match(r"[^\s,\]}#]*", text)
        hint = f'a text stands in quotes: "{word[0]}"' if word and word[0] else None
        shown_ = shown(word[0]) if word and word[0] else "nothing"
        return f"expected a text in quotes, a number, true, false or a list, found {shown_}", hint
    for beginning, (sentence, hint) in _MISTAKES.items():
        if message.startswith(beginning):
            return sentence, hint
    return f"not TOML: {message}", "see the rules of TOML: toml.io"


class TomlTable:
    """One table of the file: hands out its values by type, once."""

    def __init__(
        self,
        file: Path,
        text: str,
        path: tuple[str | int, ...],
        data: Any,
        keys: Keys | None = None,
    ) -> None:
        self.file = file
        self.path = path
        self._text = text
        self._data: Mapping[str, Any] = data
        self._keys = keys
        """All that are declared for it; None: those that its reader asks for."""
        self._asked: set[str] = set()
        self._known: set[str] = set()
        """Keys that are allowed here, also those that are absent."""

    def __contains__(self, key: str) -> bool:
        self._known.add(key)
        return key in self._data

    def names(self) -> list[str]:
        """Names in this table, in the order of the file."""
        return list(self._data)

    def is_table(self, key: str) -> bool:
        """Whether a table stands under ``key``, of those that may also be a single value."""
        return isinstance(self._data.get(key), dict)

    def is_text(self, key: str) -> bool:
        """Whether a text stands under ``key``, of those that may also be a number."""
        return isinstance(self._data.get(key), str)

    def text(self, key: str, default: str | None = None) -> str:
        self._asks(key, TEXT, default)
        value: str = self._take(
            key, default, "text in quotes", lambda value: isinstance(value, str)
        )
        return value

    def whole(self, key: str, quantity: Whole, default: int | None = None) -> int:
        self._asks(key, NumberWithin(quantity), default)
        value: int = self._take(key, default, quantity.expected, quantity.holds)
        return value

    def number(self, key: str, quantity: Real, default: float | None = None) -> float:
        """A number; a length of time may also be a text with its unit: ``"2min"``."""
        self._asks(key, NumberWithin(quantity), default)
        word = self._data.get(key)
        if isinstance(quantity, Duration | Percent) and isinstance(word, str):
            self._asked.add(key)
            try:
                return quantity.of_word(word)
            except ValueError as error:
                raise self.error(f"{key}: {error}", key) from None
        value: float = self._take(key, default, quantity.expected, quantity.holds)
        return value

    def boolean(self, key: str, default: bool | None = None) -> bool:
        self._asks(key, FLAG, default)
        value: bool = self._take(
            key, default, "true or false", lambda value: isinstance(value, bool)
        )
        return value

    def scalar(self, key: str, default: Any = None) -> str | int | float | bool:
        self._asks(key, SCALAR, default)
        value: str | int | float | bool = self._take(key, default, _SCALAR, _is_scalar)
        return value

    def choice(self, key: str, levels: Iterable[str], default: str | None = None) -> str:
        levels = tuple(levels)
        self._asks(key, OneOf(levels), default)
        value = self.text(key, default)
        if value not in levels:
            raise self.error(
                f"{key} = {value!r}: invalid value", key, hint=did_you_mean(value, levels)
            )
        return value

    def choices(self, key: str, levels: Iterable[str]) -> tuple[str, ...]:
        """A list of levels, or one."""
        levels = tuple(levels)
        self._asks(key, Listed(OneOf(levels)), None)
        found = tuple(self._listed(key, None, "text", lambda value: isinstance(value, str)))
        for number, value in enumerate(found):
            if value not in levels:
                said = f"{key}: {value!r}: invalid value"
                raise self.error(said, key, number, hint=did_you_mean(value, levels))
        return found

    def refuse_both(self, key: str, other: str) -> None:
        """Raises where both stand there, each as a value: a table is another matter."""
        if all(name in self and not isinstance(self._data[name], dict) for name in (key, other)):
            raise self.error(
                f"{key} and {other} cannot be given together", key, hint="keep one of them"
            )

    def texts(
        self, key: str, default: tuple[str, ...] | None = None, *, may_be_empty: bool = False
    ) -> tuple[str, ...]:
        """A list of texts; a single text counts as a list of one."""
        self._asks(key, Listed(TEXT, may_be_empty), default)
        listed = self._listed(
            key, default, "text", lambda value: isinstance(value, str), may_be_empty=may_be_empty
        )
        return tuple(listed)

    def wholes(
        self, key: str, quantity: Whole, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        self._asks(key, Listed(NumberWithin(quantity)), default)
        return tuple(self._listed(key, default, quantity.expected, quantity.holds))

    def numbers(
        self, key: str, quantity: Real, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        self._asks(key, Listed(NumberWithin(quantity)), default)
        return tuple(map(float, self._listed(key, default, quantity.expected, quantity.holds)))

    def scalars(self, key: str, *, may_be_empty: bool = False) -> tuple[Any, ...]:
        """A list of values or a single one: the levels of a factor."""
        self._asks(key, Listed(SCALAR, may_be_empty), None)
        return tuple(self._listed(key, None, _SCALAR, _is_scalar, may_be_empty=may_be_empty))

    def words(self, key: str) -> tuple[str, ...]:
        """A list of values or a single one, each as it would stand on a command line, for a reader
        further on that knows what they may be."""
        self._asks(key, Listed(SCALAR), None)
        listed = self._listed(
            key, None, _SCALAR, lambda value: isinstance(value, str | int | float | bool)
        )
        return tuple(str(word).lower() if isinstance(word, bool) else str(word) for word in listed)

    def value(self, key: Key, *known: Any) -> Any:
        """What stands under a key, read as its declaration says. ``known``: what else its reader
        takes."""
        name = key.name
        if key.read is not None:
            return key.read(self, name, *known)
        if key.table is not None and (not key.kinds or self.is_table(name)):
            return self._of_table(key, key.table, *known)
        match key.kinds:
            case AnyText():
                return self.text(name)
            case TrueOrFalse():
                return self.boolean(name)
            case Scalar():
                return self.scalar(name)
            case OneOf(words=words):
                return self.choice(name, words)
            case OneOfNames(names=names):
                return self.choice(name, names())
            case NumberWithin(quantity=Whole() as quantity):
                return self.whole(name, quantity)
            case NumberWithin(quantity=Real() as quantity):
                return self.number(name, quantity)
            case Listed(of=AnyText(), may_be_empty=may_be_empty):
                return self.texts(name, may_be_empty=may_be_empty)
            case Listed(of=Scalar(), may_be_empty=may_be_empty):
                return self.scalars(name, may_be_empty=may_be_empty)
            case Listed(of=OneOf(words=words)):
                return self.choices(name, words)
            case Listed(of=NumberWithin(quantity=Whole() as quantity)):
                return self.wholes(name, quantity)
            case Listed(of=NumberWithin(quantity=Real() as quantity)):
                return self.numbers(name, quantity)
        raise Bug(f"{name} is not read by its kind alone")

    def _of_table(self, key: Key, table: Keys, *known: Any) -> Any:
        if key.is_list:
            return tuple(one.thing(key.below, *known) for one in self.sections(key.name))
        own = self.section(key.name)
        if (each := table.of_any_name) is None:
            return own.thing(key.below, *known)
        return {one: own.value(structs.replace(each, name=one), *known) for one in own.names()}

    def fields(self, thing: type, *known: Any, given: Collection[str] = ()) -> dict[str, Any]:
        """The fields of a value that declare their keys: those that must be there, and those that
        the file says; the others have their defaults. ``given``: those that are read otherwise."""
        found = {}
        for field, declared in members(thing).items():
            if field in given:
                continue
            if isinstance(declared, SeveralKeys):
                assert declared.read is not None, f"{field} is read otherwise"
                found[field] = declared.read(self, *known)
            elif declared.is_required or declared.name in self:
                found[field] = self.value(declared, *known)
        return found

    def thing(self, kind: Any, /, *known: Any, **given: Any) -> Any:
        """The value of that class which the whole table declares. ``given``: fields that are read
        otherwise. Raises `ExperimentError` for a key that is none."""
        found = kind(**given, **self.fields(kind, *known, given=given))
        self.done()
        return found

    def section(self, key: str) -> TomlTable:
        """The table under ``key``; an empty one where there is none."""
        data = self._take(key, {}, f"a table [{key}]", lambda value: isinstance(value, dict))
        return self._below(key, (*self.path, key), data)

    def sections(self, key: str) -> list[TomlTable]:
        """The array of tables ``[[key]]``."""
        data = self._take(
            key,
            [],
            f"tables [[{key}]]",
            lambda value: (
                isinstance(value, list) and all(isinstance(table, dict) for table in value)
            ),
        )
        return [
            self._below(key, (*self.path, key, number), table) for number, table in enumerate(data)
        ]

    def texts_or_tables(self, key: str) -> list[str | TomlTable]:
        """A list in which each is a text, or a table where there is more to say."""
        self._asks(key, Listed(TEXT, may_be_empty=True), ())
        listed = self._listed(
            key,
            (),
            "text, or a table",
            lambda value: isinstance(value, str | dict),
            may_be_empty=True,
        )
        return [
            entry if isinstance(entry, str) else self._below(key, (*self.path, key, number), entry)
            for number, entry in enumerate(listed)
        ]

    def plain(self) -> dict[str, Any]:
        """All of it as it stands, for a reader further on."""
        self._asked.update(self._data)
        return dict(self._data)

    def line_of(self, key: str) -> int:
        """The 1-based line of a key of this table."""
        return self._place(key)[0]

    def column_of(self, key: str) -> int:
        """The 1-based column in that line where the text of a value begins, inside its quotes."""
        return self._place(key)[1]

    def _place(self, *below: str | int) -> tuple[int, int, str]:
        return _places(self._text).place((*self.path, *below))

    def done(self, elsewhere: Mapping[str, str] | None = None, *, is_begun: bool = False) -> None:
        """Refuses unknown keys. ``elsewhere``: of keys that people write here, how they are
        written where they belong. ``is_begun``: declared ones may be read later."""
        for key in self._data:
            if key not in self._asked and not (is_begun and self._keys and key in self._keys.names):
                known = self._keys.names if self._keys else self._asked | self._known
                place = (elsewhere or {}).get(key)
                hint = f"write {place}" if place else did_you_mean(key, known - {key})
                raise self.error(f"unknown key {shown(key)}", key, hint=hint)

    def error(
        self, message: str, key: str | None = None, *at: int, hint: str | None = None
    ) -> ExperimentError:
        """The complaint, placed at the key's line (or this table's own). ``at``: the number of
        the element in the list that stands there, if it is one."""
        at = at if key is not None and isinstance(self._data.get(key), list) else ()
        line, _, _ = self._place() if key is None else self._place(key, *at)
        return ExperimentError(message, file=self.file, line=line, hint=hint)

    def _asks(self, key: str, kind: Kind, default: object = ()) -> None:
        """Raises `Bug` where the key is not declared, or not as the reader asks for it."""
        declared = self._keys.key(key) if self._keys else None
        if declared is None:
            return
        declared.refuse_other(kind)
        if declared.is_required and default not in (None, ()):
            raise Bug(f"{key} must be there, and is read with a default")

    def _below(self, key: str, path: tuple[str | int, ...], data: Any) -> TomlTable:
        """The table that stands there, with its own keys."""
        declared = self._keys.key(key) if self._keys else None
        table = declared.table if declared else None
        if declared is not None and table is None:
            raise Bug(f"a table is read at {key}, where none is declared")
        keys = table.of_table(data) if table else None
        return type(self)(self.file, self._text, path, data, keys)

    def _take(self, key: str, default: Any, expected: str, fits: Callable[[Any], bool]) -> Any:
        self._asked.add(key)
        if key not in self._data:
            if default is None:
                names = [name for name in self.path if isinstance(name, str)]
                heading = f"[{'.'.join(names)}]"
                table = f" in {heading}" if names else ""
                place = f"below {heading}" if names else "above the first heading"
                message = f"{key} is missing{table}; expected {expected}"
                hint = self._written_otherwise(key) or f"write {key} = … {place}"
                raise self.error(message, hint=hint)
            return default
        value = self._data[key]
        if not fits(value):
            is_list = isinstance(value, list) and bool(value) and all(map(fits, value))
            raise self.error(
                f"{key} = {self._shown(value, key)}: expected {expected}",
                key,
                hint="expected one value, not a list: leave the brackets out" if is_list else None,
            )
        return value

    def _written_otherwise(self, key: str) -> str | None:
        """The hint for a missing key: an unknown one that may stand for it."""
        known = self._keys.names if self._keys else self._asked | self._known
        word = nearest(key, [name for name in self._data if name not in known])
        return word and f"{word} is no key: write {key}"

    def _shown(self, value: object, key: str, *at: int) -> str:
        """The value as the file spells it: ``1e3``, which is 1000.0 once it is read."""
        if isinstance(value, bool):
            return str(value).lower()
        _, _, spelled = self._place(key, *at)
        return spelled if isinstance(value, float) and spelled else shown(value)

    def _listed(
        self,
        key: str,
        default: Any,
        expected: str,
        fits: Callable[[Any], bool],
        *,
        may_be_empty: bool = False,
    ) -> Any:
        value = self._take(key, default, f"{expected} or a list of such", lambda _: True)
        if not isinstance(value, list | tuple):
            return [self._fitting(value, fits, expected, key)]
        for number, item in enumerate(value):
            self._fitting(item, fits, expected, key, number)
        if not value and key in self._data and not may_be_empty:
            fix = f'name one: {key} = ["…"]' if default is None else "leave the key out"
            raise self.error(f"{key} = []: expected at least one", key, hint=fix)
        return value

    def _fitting(
        self, item: Any, fits: Callable[[Any], bool], expected: str, key: str, *at: int
    ) -> Any:
        if not fits(item):
            if isinstance(item, dict):
                said = f"{key}: found a table, expected {expected} or a list of such"
                raise self.error(said, key, *at, hint=f"write {key} = […] above the first heading")
            said = f"{key}: {self._shown(item, key, *at)}: expected {expected}"
            raise self.error(said, key, *at)
        return item


SECTION: ContextVar[type[TomlTable]] = ContextVar("SECTION", default=TomlTable)
"""The class of the sections of files that are read: another one leaves out what is wrong."""


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | bool) or INTEGER.holds(value) or _is_float(value)


def _is_float(value: object) -> bool:
    return isinstance(value, float) and NUMBER.holds(value)


@lru_cache(maxsize=4)
def _places(text: str) -> TomlPlaces:
    """Kept, as a reader asks for many places of one file."""
    from assay._engine import TomlPlaces  # here: most files have no mistake

    return TomlPlaces(text)
