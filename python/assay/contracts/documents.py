"""Typed values of JSON: takes plain data and a class, returns the typed value or an error that
names the key; gives a document as the text that the engine takes, and reads its answers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

import msgspec
from msgspec import structs

from assay.text import pattern
from assay.text.secrets import HIDDEN, is_secret

Part = TypeVar("Part", bound="Shape")
Value = TypeVar("Value")


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of an observation. Fields with a default are left out of the plain data where they
    have it."""

    @property
    def document(self) -> dict[str, Any]:
        """The same as plain data, as JSON has it."""
        return dict(msgspec.json.decode(msgspec.json.encode(self)))


class ShapeError(ValueError):
    """Plain data that are not of the shape they must have; says which key."""


def read_shape(shape: type[Part], document: Any, name: str) -> Part:
    """The document as a value of ``shape``; ``name`` stands for it in messages."""
    return convert(document, shape, name)


def convert(document: Any, kind: type[Value], name: str) -> Value:
    """The same of any class."""
    try:
        return msgspec.convert(document, kind, dec_hook=_decoded)
    except msgspec.ValidationError as error:
        raise ShapeError(_sentence(str(error), name)) from None


def convert_without(
    document: Any, kind: type[msgspec.Struct], left_out: frozenset[str], name: str
) -> dict[str, Any]:
    """The other fields of ``kind``: those that are left out have no form in JSON, or another
    one."""
    found = convert(document, _part_of(kind, left_out), name)
    return structs.asdict(found)


@cache
def _part_of(kind: type[msgspec.Struct], left_out: frozenset[str]) -> type[msgspec.Struct]:
    types = get_type_hints(kind)
    return msgspec.defstruct(
        kind.__name__,
        [
            (one.name, types[one.name], _declared(one))
            for one in structs.fields(kind)
            if one.name not in left_out
        ],
        kw_only=True,
    )


def _declared(field: structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return msgspec.field() if field.required else msgspec.field(default=field.default)


def _decoded(kind: type, value: object) -> object:
    """JSON has no paths, and no classes of objects."""
    if kind is Path and isinstance(value, str):
        return Path(value)
    if issubclass(kind, dict) and isinstance(value, dict):
        return kind(value)
    expected = "a path" if kind is Path else "an object"
    raise TypeError(f"expected {expected}, found {value!r}")


def with_hidden(document: Any) -> Any:
    """The document with `HIDDEN` for each text of a secret: a record has null there."""
    if isinstance(document, list):
        return [with_hidden(one) for one in document]
    if not isinstance(document, dict):
        return document
    return {
        key: HIDDEN if value is None and is_secret(key) else with_hidden(value)
        for key, value in document.items()
    }


_PLACE = pattern(r"(?P<what>.*) - at `\$(?P<place>.*)`")


_MISSING = "missing required field "
_TYPES = pattern(r"expected (?P<expected>.*), got (?P<found>.*)")
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a decimal number",
    "int": "a whole number",
    "null": "nothing",
    "object": "an object",
    "str": "a text",
}


def _in_words(types: str) -> str:
    """``int | null`` as a person says it."""
    return " or ".join(_WORDS.get(type_, type_) for type_ in types.split(" | "))


def _sentence(text: str, name: str) -> str:
    found = _PLACE.fullmatch(text)
    what, place = (found["what"], found["place"]) if found else (text, "")
    what = what.removeprefix("Object ").removeprefix("contains ").replace("`", "")
    what = what[:1].lower() + what[1:]
    if types := _TYPES.fullmatch(what):
        what = f"expected {_in_words(types['expected'])}, found {_in_words(types['found'])}"
    if what.startswith(_MISSING):
        what = f"{what.removeprefix(_MISSING)} is missing"
    return f"{name}{place}: {what}"


Answer = TypeVar("Answer")


class EngineDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base of the documents."""

    first: ClassVar[tuple[str, ...]] = ()
    """Keys that JSON has before those that a base class declares."""

    @property
    def plain(self) -> dict[str, Any]:
        """The same as plain data, as JSON has it."""
        found = dict(msgspec.to_builtins(self, enc_hook=_base))
        return {**{name: found[name] for name in self.first if name in found}, **found}

    @property
    def json(self) -> str:
        """As the engine takes it; holds passwords."""
        return json.dumps(self.plain)


class TextStyle(EngineDocument, frozen=True):
    """How a family of systems writes literals, names and comments: as standard SQL does, or not."""

    backslash_escapes: bool = False
    """A backslash escapes quotes and backslashes in literals, where else a quote is doubled."""
    nests_comments: bool = True
    """A ``/*`` within a block comment needs a ``*/`` of its own."""
    bracketed_names: bool = False
    """``[a;b]`` is a quoted name."""

    @property
    def literals(self) -> str:
        """As the documents that write literals name it."""
        return "backslash" if self.backslash_escapes else "doubled"


class ScriptDocument(EngineDocument, frozen=True):
    """One transaction type: its name, its path, and its text in the system's dialect."""

    name: str
    path: str
    """Relative to the workload folder, as messages and records name it."""
    text: str
    weight: int = 1
    is_plain: bool = False
    """The text is one statement of a plain file, sent unchanged."""


def _base(value: object) -> object:
    """The value of a subclass of text, as JSON has it."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"expected what JSON has, found {type(value).__name__}")


def read_answer(text: str, kind: type[Answer]) -> Answer:
    """What the engine has returned."""
    return convert(json.loads(text), kind, kind.__name__)
