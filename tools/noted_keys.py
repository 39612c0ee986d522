"""Takes the readers of a kind of file, whose sections ask for keys; returns what they asked for,
table by table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.experiment.settings.catalogue import SETTINGS
from assay.experiment.settings.value_kinds import Levels
from assay.text.files.toml_file import TomlTable
from assay.text.quantities import Duration, Percent, Real, Whole
from assay.workload import expected_answers

_QUANTITIES = {
    setting.name
    for setting in SETTINGS.values()
    if isinstance(setting.kind, Levels) and not isinstance(setting.kind.of, tuple)
}
"""Keys of one number or several, which may be texts with units."""
VARIANT = "do"
"""The key that decides which others a step has."""

Schema = dict[str, Any]
SCALAR: Schema = {"type": ["string", "number", "boolean"]}
QUANTITY: Schema = {"type": ["string", "number"], "pattern": "^ *(none *$|[0-9.])"}
"""A number, as text with its unit; what may stand there exactly, the reader says."""
TEXT: Schema = {"type": "string"}


@dataclass
class Table:
    """What readers asked of the tables at one place of the files."""

    shapes: dict[str, list[Schema | Table]] = field(default_factory=dict)
    """Key → what may stand there."""
    choices: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    of_any_name: list[Schema | Table] = field(default_factory=list)
    has_any_name: bool = False
    exclusive: set[tuple[str, str]] = field(default_factory=set)
    """Keys of which only one may have a value."""
    required: set[str] | None = None
    below: dict[str, Table] = field(default_factory=dict)
    is_list: bool = False
    """Whether there may be a list of such tables."""
    variants: dict[str, Table] = field(default_factory=dict)


class Given(str):
    """A key whose name the file has given: a reader had it from `Section.names`."""


class Noting(TomlTable):
    """A section that notes what it is asked for."""

    top = Table()

    def __init__(self, file: Path, text: str, path: tuple[str | int, ...], data: Any) -> None:
        super().__init__(file, text, path, data)
        is_beside = file.name in (expected_answers.EXPECTED_FILE, expected_answers.PUBLISHED_FILE)
        self.table = Table() if is_beside else Noting.top
        self._is_within = False
        self._has_given_names = False
        self._may_be_missing: set[str] = set()
        self._must_be_there: set[str] = set()

    def __contains__(self, key: str) -> bool:
        self._note(key, None)
        self._may_be_missing.add(key)
        return super().__contains__(key)

    def names(self) -> list[str]:
        self._has_given_names = self.table.has_any_name = True
        return [*map(Given, super().names())]

    def is_table(self, key: str) -> bool:
        self._note(key, {"type": "object"})
        return super().is_table(key)

    def is_text(self, key: str) -> bool:
        self._note(key, TEXT)
        return super().is_text(key)

    def text(self, key: str, default: str | None = None) -> str:
        self._note(key, TEXT, default)
        return super().text(key, default)

    def whole(self, key: str, quantity: Whole, default: int | None = None) -> int:
        self._note(key, _number(quantity), default)
        return super().whole(key, quantity, default)

    def number(self, key: str, quantity: Real, default: float | None = None) -> float:
        self._note(key, _number(quantity), default)
        return super().number(key, quantity, default)

    def boolean(self, key: str, default: bool | None = None) -> bool:
        self._note(key, {"type": "boolean"}, default)
        return super().boolean(key, default)

    def scalar(self, key: str, default: Any = None) -> str | int | float | bool:
        self._note(key, SCALAR, default)
        return super().scalar(key, default)

    def choice(self, key: str, levels: Iterable[str], default: str | None = None) -> str:
        levels = tuple(levels)
        if not isinstance(key, Given):
            self.table.choices.setdefault(key, []).append(levels)
        self._note(key, TEXT, default)
        return super().choice(key, levels, default)

    def choices(self, key: str, levels: Iterable[str]) -> tuple[str, ...]:
        self._note(key, _one_or_more({"enum": [*levels]}), None, is_asked=True)
        return super().choices(key, levels)

    def refuse_both(self, key: str, other: str) -> None:
        self.table.exclusive.add((key, other))
        super().refuse_both(key, other)

    def texts(
        self, key: str, default: tuple[str, ...] | None = None, *, may_be_empty: bool = False
    ) -> tuple[str, ...]:
        self._note(key, _one_or_more(TEXT, may_be_empty), default)
        return super().texts(key, default, may_be_empty=may_be_empty)

    def wholes(
        self, key: str, quantity: Whole, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        self._note(key, _one_or_more(_number(quantity)), default)
        return super().wholes(key, quantity, default)

    def numbers(
        self, key: str, quantity: Real, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        self._note(key, _one_or_more(_number(quantity)), default)
        return super().numbers(key, quantity, default)

    def scalars(self, key: str, *, may_be_empty: bool = False) -> tuple[Any, ...]:
        self._note(key, _one_or_more(SCALAR, may_be_empty), None, is_asked=True)
        return super().scalars(key, may_be_empty=may_be_empty)

    def words(self, key: str) -> tuple[str, ...]:
        shape = QUANTITY if key in _QUANTITIES and not isinstance(key, Given) else SCALAR
        self._note(key, _one_or_more(shape), None, is_asked=True)
        return super().words(key)

    def section(self, key: str) -> TomlTable:
        return self._placed(super().section(key), key)

    def sections(self, key: str) -> list[TomlTable]:
        found = super().sections(key)
        self._below(key).is_list = True
        return [self._placed(one, key, is_in_a_list=True) for one in found]

    def texts_or_tables(self, key: str) -> list[str | TomlTable]:
        self._note(key, _one_or_more(TEXT, may_be_empty=True), ())
        found = super().texts_or_tables(key)
        return [
            self._placed(one, key, is_in_a_list=True) if isinstance(one, TomlTable) else one
            for one in found
        ]

    def done(self, elsewhere: Mapping[str, str] | None = None) -> None:
        super().done(elsewhere)
        required = self._must_be_there - self._may_be_missing
        known = self.table.required
        self.table.required = required if known is None else known & required

    def _placed(self, below: TomlTable, key: str, *, is_in_a_list: bool = False) -> TomlTable:
        table = self._below(key)
        if is_in_a_list:
            table.is_list = True
        assert isinstance(below, Noting)
        kind = below._data.get(VARIANT) if is_in_a_list else None
        below.table = table.variants.setdefault(kind, Table()) if isinstance(kind, str) else table
        return below

    def _below(self, key: str) -> Table:
        """The table of the tables below the key; all keys of any name have one."""
        # A table below one whose names were given has such a name, also where another list has it.
        name = Given(key) if self._has_given_names else key
        is_given = isinstance(name, Given)
        table = self.table.below.setdefault("*" if is_given else name, Table())
        self._note(name, table, ())
        return table

    def _note(
        self, key: str, shape: Schema | Table | None, default: Any = (), *, is_asked: bool = False
    ) -> None:
        if isinstance(key, Given):
            shapes = self.table.of_any_name
        else:
            shapes = self.table.shapes.setdefault(key, [])
            if default is None and (shape is not None or is_asked):
                self._must_be_there.add(key)
        if shape is not None and not any(shape is one or shape == one for one in shapes):
            shapes.append(shape)


def _number(quantity: Whole | Real) -> Schema:
    is_whole = isinstance(quantity, Whole)
    found: Schema = {"type": "integer" if is_whole else "number"}
    if abs(quantity.least) < 2**53:
        found["minimum"] = 0 if getattr(quantity, "may_be_none", False) else quantity.least
    if abs(quantity.most) < 2**53:
        found["maximum"] = quantity.most
    if isinstance(quantity, Duration | Percent):
        return {"anyOf": [found, {"type": "string", "pattern": quantity.pattern}]}
    return found


def _one_or_more(shape: Schema, may_be_empty: bool = False) -> Schema:
    listed: Schema = {"type": "array", "items": shape}
    if not may_be_empty:
        listed["minItems"] = 1
    return {"anyOf": [shape, listed]}
