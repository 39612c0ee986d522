"""The keys that a file may have, declared once: each with its kinds of value, its help, and
whether it must be there."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, get_args

from msgspec import NODEFAULT, Struct, structs

from assay.errors import Bug
from assay.text.quantities import Real, Whole


class AnyText(Struct, frozen=True):
    """Any text, also one that its reader compares with names of the file."""


class TrueOrFalse(Struct, frozen=True):
    pass


class Scalar(Struct, frozen=True):
    """A text, a number, or true or false."""


class NumberWithin(Struct, frozen=True):
    quantity: Whole | Real


class OneOf(Struct, frozen=True):
    """One of these words."""

    words: tuple[str, ...]


class OneOfNames(Struct, frozen=True):
    """One of these names, to which other packages add some."""

    names: Callable[[], Iterable[str]]


class NumberWord(Struct, frozen=True):
    """A number, or text with a number and its unit, or ``none``; its reader further on knows
    which."""


class Listed(Struct, frozen=True):
    """One value, or a list of them."""

    of: AnyText | Scalar | NumberWithin | OneOf | NumberWord
    may_be_empty: bool = False


Kind = AnyText | TrueOrFalse | Scalar | NumberWithin | OneOf | OneOfNames | Listed
TEXT, FLAG, SCALAR = AnyText(), TrueOrFalse(), Scalar()
TEXTS = Listed(TEXT)
_WORDS = AnyText | OneOf | OneOfNames | NumberWithin
"""What is asked for as text. A number that is written as text is asked for to say what is wrong
with it."""


class Key(Struct, frozen=True):
    name: str
    """Empty: of any name; of a field: the field's."""
    kinds: Kind | tuple[Kind, ...] = ()
    """Any of them; none: only `below`."""
    help: str = ""
    """A sentence for editors; empty: that of the setting with this key."""
    below: Keys | type | None = None
    """Of the table that may stand there, or the class of values whose fields declare them."""
    is_list: bool = False
    """Whether there is a list of such tables."""
    read: Callable[..., Any] | None = None
    """Reads it: takes the section, the name of the key and what else its reader knows. None: as its
    kind says."""
    is_required: bool = False

    @property
    def table(self) -> Keys | None:
        """The keys of the table that may stand there."""
        return keys_of(self.below) if isinstance(self.below, type) else self.below

    @property
    def each(self) -> tuple[Kind, ...]:
        return self.kinds if isinstance(self.kinds, tuple) else (self.kinds,)

    def refuse_other(self, asked: Kind) -> None:
        """Raises `Bug` where a reader asks for the key in a kind that is not declared."""
        if not any(_is_asked(kind, asked) for kind in self.each):
            raise Bug(f"{self.name or 'a key of any name'} is read as {asked}, not as declared")


def _is_asked(declared: Kind, asked: Kind) -> bool:
    if declared == asked:
        return True
    match asked:
        case AnyText():
            return isinstance(declared, _WORDS)
        case OneOf():  # of names that the file declares, or of packages
            return isinstance(declared, AnyText | OneOfNames)
        case Scalar():
            return isinstance(declared, Listed) and not isinstance(declared.of, AnyText)
        case Listed(of=Scalar()):
            return isinstance(declared, Listed | Scalar)
    return False


class SeveralKeys(Struct, frozen=True):
    """Several keys of a table that are one field of what the table declares."""

    keys: tuple[Key, ...]
    read: Callable[..., Any] | None = None
    """Takes the section and what else its reader knows. None: its reader gives the field."""


def in_file(
    kinds: Kind | tuple[Kind, ...],
    meaning: str = "",
    read: Callable[..., Any] | None = None,
    *,
    name: str = "",
    below: Keys | type | None = None,
    is_list: bool = False,
) -> Key:
    """The key that a field is, by its name. One without a default must be there."""
    return Key(name, kinds, meaning, read=read, below=below, is_list=is_list)


def named(
    of: Kind | tuple[Kind, ...] | Keys | type, read: Callable[..., Any] | None = None
) -> Keys:
    """A table of such values, or of tables, under names that the file gives."""
    if isinstance(of, Keys | type):
        return Keys(of_any_name=Key("", below=of, read=read))
    return Keys(of_any_name=Key("", of, read=read))


@cache
def members(thing: type) -> Mapping[str, Key | SeveralKeys]:
    """Field → its key, or its keys, in their order, of those that declare one. Raises `TypeError`
    for annotations that cannot be read, as a key among them would be lost."""
    try:
        hints = {
            name: hint
            for base in reversed(thing.__mro__)
            for name, hint in inspect.get_annotations(base, eval_str=True, locals={}).items()
        }
    except NameError as error:
        name = f"{thing.__module__}.{thing.__qualname__}"
        raise TypeError(
            f"the keys of {name} cannot be read: {error}; import it outside TYPE_CHECKING"
        ) from error
    return {
        field: declared
        if isinstance(declared, SeveralKeys)
        else structs.replace(declared, name=declared.name or field, is_required=is_required)
        for field, is_required in _fields(thing)
        for declared in get_args(hints[field])[1:]
        if isinstance(declared, Key | SeveralKeys)
    }


@cache
def of_fields(thing: type) -> tuple[Key, ...]:
    """The keys that its fields declare, in their order."""
    return tuple(
        key
        for declared in members(thing).values()
        for key in (declared.keys if isinstance(declared, SeveralKeys) else (declared,))
    )


@cache
def keys_of(thing: type) -> Keys:
    return Keys(of_fields(thing))


def _fields(thing: type) -> Iterator[tuple[str, bool]]:
    """Each with whether it has no default."""
    if issubclass(thing, Struct):
        names, defaults = thing.__struct_fields__, thing.__struct_defaults__
        none = (NODEFAULT,) * (len(names) - len(defaults))
        yield from zip(names, (one is NODEFAULT for one in (*none, *defaults)), strict=True)
    elif dataclasses.is_dataclass(thing):
        for one in dataclasses.fields(thing):
            yield one.name, one.default is one.default_factory is dataclasses.MISSING


class Keys(Struct, frozen=True):
    """Of one table of a file."""

    declared: tuple[Key, ...] = ()
    of_any_name: Key | None = None
    """What stands under the names that the file gives; None: it gives none."""
    exclusive: tuple[tuple[str, str], ...] = ()
    """Keys of which only one may have a value."""
    variant: str = ""
    """The key that decides which others there are; empty: none does."""
    variants: Callable[[], Mapping[str, Keys]] = dict
    is_open: bool = False
    """Whether readers of other packages may ask for further keys."""

    def key(self, name: str) -> Key | None:
        """None where a reader of another package asks. Raises `Bug` where no reader may ask."""
        for key in self.declared:
            if key.name == name:
                return key
        if self.of_any_name is None and not self.is_open:
            raise Bug(f"the key {name} is read, but not declared")
        return self.of_any_name

    @property
    def names(self) -> set[str]:
        return {key.name for key in self.declared}

    def of_table(self, data: Mapping[str, object]) -> Keys | None:
        """Those of one of several tables, by its variant; None where it is not known."""
        if not self.variant:
            return self
        word = data.get(self.variant)
        return self.variants().get(word) if isinstance(word, str) else None


@lru_cache(maxsize=512)
def field_names(kind: Any) -> tuple[str, ...] | None:
    """None: it is neither."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    return getattr(kind, "__struct_fields__", None)
