"""The tables of a workload as it declares them: neutral columns, how rows are made, instances.

What a deployment gets depends on parameters: `Schema.tables_for` gives the tables themselves, one
for each instance, `Schema.source_for` the document from which the engine makes their rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay import _engine
from assay.dialects.protocol import Column, Table
from assay.errors import ExperimentError
from assay.workload.parameters import Scalar

INSTANCE = "{instance}"
"""Stands in a table's name for the number of the instance."""

_VARIABLE = re.compile(r":([A-Za-z_]\w*)")
_MOST_INSTANCES = 10_000
_HARDLY_ANY = (1, 1 << 40)
"""A part in which there are rows of the largest tables alone."""


@dataclass(frozen=True)
class Expression:
    """A text in the expression language of scripts, and where it stands in the workload file."""

    text: str
    line: int
    column: int = 0


@dataclass(frozen=True)
class Generator:
    """How the rows of a table are made."""

    rows: Expression | None = None
    """How many; None: the table is empty."""
    per: str = ""
    """The table for each of whose rows there are so many; empty: so many in all."""
    values: Mapping[str, Expression] = field(default_factory=dict)
    """Column → its value; a column without one holds its default, or NULL."""


@dataclass(frozen=True)
class DeclaredTable:
    """One ``[[tables]]``."""

    table: Table
    """Under the name of the declaration, which may hold `INSTANCE`."""
    line: int
    instances: tuple[Expression, Expression] | None = None
    """The first number and the last one; None: the table is one."""
    generator: Generator = Generator()
    conditions: Mapping[str, Expression] = field(default_factory=dict)
    """Name of an index → where it is true, the index is there; others always are."""

    @property
    def name(self) -> str:
        return self.table.name


@dataclass(frozen=True)
class Schema:
    """All tables of a workload."""

    file: Path
    declared: tuple[DeclaredTable, ...] = ()
    """In the order of the file, but a table behind those that its foreign keys name: filled in this
    order, no row is there before the row it belongs to."""
    identifiers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name in scripts (``:{table}``) → the declared tables it may choose among."""
    constants: Mapping[str, Expression] = field(default_factory=dict)
    """Name → an expression of parameters and of the constants above it; tables and scripts use it
    as they use a parameter."""

    def with_constants(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The parameters, which are all of the workload's, and the constants. Raises
        `ExperimentError` for an expression that is none."""
        known = dict(parameters)
        for name, expression in self.constants.items():
            known[name] = evaluate(expression, known, self.file)
        return known

    def tables_for(self, parameters: Mapping[str, Scalar]) -> tuple[Table, ...]:
        """The tables of a deployment: one for each instance. ``parameters`` are all of the
        workload's."""
        return tuple(table for _, _, table in self._instances(parameters))

    def identifiers_for(self, parameters: Mapping[str, Scalar]) -> dict[str, list[str]]:
        """Name in scripts → the names of tables that it chooses among, in their order."""
        names: dict[str, list[str]] = {}
        for one, _, table in self._instances(parameters):
            names.setdefault(one.name, []).append(table.name)
        return {
            word: [name for declared in chosen for name in names[declared]]
            for word, chosen in self.identifiers.items()
        }

    def source_for(self, parameters: Mapping[str, Scalar], seed: int) -> dict[str, Any]:
        """The engine's source document: the rows of every table. It names the parameters that the
        expressions use and no others: what another one says leaves the rows as they are."""
        return {
            "kind": "generated",
            "seed": seed,
            "file": str(self.file),
            "variables": {name: parameters[name] for name in self.used(parameters)},
            "tables": [
                {
                    "name": table.name,
                    "instance": instance,
                    "rows": "0" if one.generator.rows is None else one.generator.rows.text,
                    "line": one.line if one.generator.rows is None else one.generator.rows.line,
                    "per": _named(one.generator.per, instance) or None,
                    "columns": [_column(one, column) for column in table.columns],
                }
                for one, instance, table in self._instances(parameters)
            ],
        }

    def check(self, parameters: Mapping[str, Scalar]) -> None:
        """Raises `ExperimentError` for an expression that is none, with these parameters. Nearly no
        row is made for it."""
        source = {**self.source_for(parameters, 1), "part": _HARDLY_ANY}
        try:
            _engine.measure(json.dumps(source))
        except _engine.EngineError as error:
            raise placed(error) from error

    def used(self, parameters: Mapping[str, Scalar]) -> list[str]:
        """Names of the parameters on which tables or rows depend."""
        texts = [expression.text for one in self.declared for expression in _expressions(one)]
        words = {word for text in texts for word in _VARIABLE.findall(text)}
        return [name for name in parameters if name in words]

    def _instances(
        self, parameters: Mapping[str, Scalar]
    ) -> Iterator[tuple[DeclaredTable, int | None, Table]]:
        for one in self.declared:
            table = self._with_indexes(one, parameters)
            if one.instances is None:
                yield one, None, table
                continue
            first, last = (self._whole(bound, parameters) for bound in one.instances)
            if first < 0 or not 0 <= last - first < _MOST_INSTANCES:
                raise ExperimentError(
                    f"instances of {one.name} are {first} to {last}: expected 1 to "
                    f"{_MOST_INSTANCES} of them, numbered from 0 up",
                    file=self.file,
                    line=one.instances[0].line,
                )
            for instance in range(first, last + 1):
                yield one, instance, _instance_of(table, instance)

    def _with_indexes(self, one: DeclaredTable, parameters: Mapping[str, Scalar]) -> Table:
        """The table with those of its indexes whose conditions are true."""
        if not one.conditions:
            return one.table
        left_out = {
            name
            for name, when in one.conditions.items()
            if not evaluate(when, parameters, self.file)
        }
        kept = tuple(index for index in one.table.indexes if index.name not in left_out)
        return replace(one.table, indexes=kept)

    def _whole(self, expression: Expression, parameters: Mapping[str, Scalar]) -> int:
        value = evaluate(expression, parameters, self.file)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ExperimentError(
                f"{expression.text!r} is {value!r}: expected a whole number",
                file=self.file,
                line=expression.line,
            )
        return value


def evaluate(expression: Expression, parameters: Mapping[str, Scalar], file: Path) -> Any:
    """The value of an expression that uses parameters alone; raises `ExperimentError`."""
    constants = list(parameters.items())
    try:
        return _engine.evaluate(
            expression.text, constants, str(file), expression.line, expression.column
        )
    except _engine.EngineError as error:
        raise placed(error) from error


def placed(error: _engine.EngineError) -> ExperimentError:
    """The engine's complaint of an expression, at its place in the workload file."""
    return ExperimentError(
        error.message, file=error.file, line=error.line, column=error.column, hint=error.hint
    )


def default_value(column: Column) -> str:
    """The expression of a column for which no value is given."""
    if column.default is None:
        return "null"
    if column.family in {"char", "varchar", "text", "date", "timestamp"}:
        doubled = column.default.replace("'", "''")
        return f"'{doubled}'"
    return column.default


def _column(one: DeclaredTable, column: Column) -> dict[str, Any]:
    value = one.generator.values.get(column.name) or Expression(default_value(column), one.line)
    return {
        "name": column.name,
        "type": column.type,
        "value": value.text,
        "line": value.line,
        "column": value.column,
    }


def _expressions(one: DeclaredTable) -> Iterator[Expression]:
    yield from one.instances or ()
    yield from one.conditions.values()
    if one.generator.rows is not None:
        yield one.generator.rows
    yield from one.generator.values.values()


def _instance_of(table: Table, instance: int) -> Table:
    """The table under its own name, and everything in it that is named after it."""
    return replace(
        table,
        name=_named(table.name, instance),
        indexes=tuple(replace(one, name=_named(one.name, instance)) for one in table.indexes),
        foreign_keys=tuple(
            replace(one, name=_named(one.name, instance), table=_named(one.table, instance))
            for one in table.foreign_keys
        ),
    )


def _named(name: str, instance: int | None) -> str:
    return name if instance is None else name.replace(INSTANCE, str(instance))
