"""The tables of a workload as it declares them: neutral columns, how rows are made, instances.

The tables of a deployment depend on parameters: `Schema.tables_for` returns them, one for each
instance, and `Schema.source_for` the document from which the engine makes their rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, field, structs
from msgspec.structs import replace

from assay import _engine
from assay.contracts.capabilities import SQL
from assay.contracts.dialects import Column, Table, View
from assay.errors import ExperimentError
from assay.text import pattern
from assay.text.toml_file import TomlTable
from assay.workload.in_dialect import INSTANCE, DeclaredNames
from assay.workload.parameters import Scalar

if TYPE_CHECKING:
    from assay.contracts.engine import GeneratedColumn, GeneratedDocument, GeneratedTable

VARIABLE = pattern(r":([A-Za-z_]\w*)")
_MOST_INSTANCES = 10_000
_HARDLY_ANY = (1, 1 << 40)
"""A part so small that it has rows of the largest tables only."""


class Expression(Struct, frozen=True):
    """A text in the expression language of scripts, and its location in the workload file."""

    text: str
    line: int
    column: int = 0


def expression_of_key(section: TomlTable, key: str, *_known: object) -> Expression:
    """A text in the expression language, or a number."""
    value = section.scalar(key)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.strip():
        raise section.error(f"{key} is empty", key, hint="an expression, as in :row + 1")
    return Expression(text.strip(), section.line_of(key), section.column_of(key))


class Generator(Struct, frozen=True):
    """How the rows of a table are made."""

    rows: Expression | None = None
    """The number of rows; None: the table is empty."""
    per: str = ""
    """The table for each row of which ``rows`` rows are made; empty: ``rows`` in all."""
    values: Mapping[str, Expression] = field(default_factory=dict)
    """Column → its value; the others hold their default, or NULL."""


class DeclaredTable(Struct, frozen=True):
    """One ``[[tables]]``."""

    table: Table
    """Under the name of the declaration, which may hold `INSTANCE`."""
    line: int
    instances: tuple[Expression, Expression] | None = None
    """The first and the last number; None: a single table."""
    generator: Generator = Generator()
    languages: tuple[str, ...] = ()
    """Of the systems that have the table; empty: all have it."""
    conditions: Mapping[str, Expression] = field(default_factory=dict)
    """Name of an index → the condition for creating it; other indexes are always created."""
    when: Expression | None = None
    """Systems have the table where it is true; None: always."""

    @property
    def name(self) -> str:
        return self.table.name

    def is_for(self, language: str | None) -> bool:
        """Whether systems of this language have the table; None: any system."""
        return language is None or not self.languages or language in self.languages


class Schema(Struct, frozen=True):
    """All tables of a workload."""

    file: Path
    declared: tuple[DeclaredTable, ...] = ()
    """In the order of the file, but a table after those that its foreign keys name: filled in this
    order, no foreign key is violated."""
    identifiers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name in scripts (``:{table}``) → the declared tables it may choose among."""
    constants: Mapping[str, Expression] = field(default_factory=dict)
    """Name → an expression of parameters and of the constants above it; tables and scripts use it
    as they use a parameter."""
    views: tuple[View, ...] = ()
    """Of systems whose language is SQL, in the order in which they are made."""

    @property
    def names(self) -> DeclaredNames:
        """Those that scripts and views may have in double quotes, for each dialect to write."""
        tables = (declared.table for declared in self.declared)
        return DeclaredNames(tables, (view.name for view in self.views))

    def with_constants(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The parameters, which are all of the workload's, and the constants. Raises
        `ExperimentError` for an expression that is none."""
        known = dict(parameters)
        for name, expression in self.constants.items():
            known[name] = evaluate(expression, known, self.file)
        return known

    def tables_for(
        self, parameters: Mapping[str, Scalar], language: str | None = None
    ) -> tuple[Table, ...]:
        """The tables of a deployment whose statements are in this language (None: those of all):
        one for each instance. ``parameters`` are all of the workload's."""
        made = self._instances(parameters)
        tables = [
            table for declared, _, table in made if self._is_made(declared, parameters, language)
        ]
        if tables and self.views and language in (None, SQL):
            tables[-1] = replace(tables[-1], views=self.views)
        return tuple(tables)

    def identifiers_for(self, parameters: Mapping[str, Scalar]) -> dict[str, list[str]]:
        """Name in scripts → the names of tables that it chooses among, in their order."""
        names: dict[str, list[str]] = {}
        for declared, _, table in self._instances(parameters):
            names.setdefault(declared.name, []).append(table.name)
        return {
            word: [name for declared in chosen for name in names.get(declared, (declared,))]
            for word, chosen in self.identifiers.items()
        }

    def source_for(
        self, parameters: Mapping[str, Scalar], seed: int, language: str | None = None
    ) -> GeneratedDocument:
        """The engine's source document: the rows of `tables_for`, and of the tables that they are
        made from. It contains only the parameters that the expressions use, because the others do
        not change the rows."""
        made_from = self._with_parents(
            declared for declared in self.declared if self._is_made(declared, parameters, language)
        )
        tables = (
            _generated(
                declared, instance, table, is_loaded=self._is_made(declared, parameters, language)
            )
            for declared, instance, table in self._instances(parameters)
            if declared.name in made_from
        )
        from assay.contracts.engine import GeneratedDocument

        return GeneratedDocument(
            seed=seed,
            file=str(self.file),
            variables={name: parameters[name] for name in self.used(parameters)},
            tables=tuple(tables),
        )

    def _is_made(
        self, declared: DeclaredTable, parameters: Mapping[str, Scalar], language: str | None
    ) -> bool:
        """Whether systems of this language have the table, with these parameters."""
        is_true = declared.when is None or bool(evaluate(declared.when, parameters, self.file))
        return is_true and declared.is_for(language)

    def _with_parents(self, tables: Iterable[DeclaredTable]) -> set[str]:
        """The names of these tables, and of those for whose rows they have rows."""
        parents = {declared.name: declared.generator.per for declared in self.declared}
        found: set[str] = set()
        for table in tables:
            name = table.name
            while name and name not in found:
                found.add(name)
                name = parents[name]
        return found

    def check(self, parameters: Mapping[str, Scalar]) -> None:
        """Raises `ExperimentError` for an expression that is invalid with these parameters; makes
        only a few rows."""
        source = structs.replace(self.source_for(parameters, 1), part=_HARDLY_ANY)
        try:
            _engine.measure(source.json)
        except _engine.EngineError as error:
            raise placed(error) from error

    def used(self, parameters: Mapping[str, Scalar]) -> list[str]:
        """Names of the parameters on which tables or rows depend."""
        texts = [expression.text for table in self.declared for expression in _expressions(table)]
        words = {word for text in texts for word in VARIABLE.findall(text)}
        return [name for name in parameters if name in words]

    def _instances(
        self, parameters: Mapping[str, Scalar]
    ) -> Iterator[tuple[DeclaredTable, int | None, Table]]:
        for declared in self.declared:
            table = self._with_indexes(declared, parameters)
            if declared.instances is None:
                yield declared, None, table
                continue
            first, last = (self._whole(bound, parameters) for bound in declared.instances)
            if first < 0 or not 0 <= last - first < _MOST_INSTANCES:
                raise ExperimentError(
                    f"instances of {declared.name} are {first} to {last}: expected 1 to "
                    f"{_MOST_INSTANCES} of them, numbered from 0 up",
                    file=self.file,
                    line=declared.instances[0].line,
                )
            for instance in range(first, last + 1):
                yield declared, instance, _instance_of(table, instance)

    def _with_indexes(self, declared: DeclaredTable, parameters: Mapping[str, Scalar]) -> Table:
        """The table with those of its indexes whose conditions are true."""
        if not declared.conditions:
            return declared.table
        left_out = {
            name
            for name, when in declared.conditions.items()
            if not evaluate(when, parameters, self.file)
        }
        kept = tuple(index for index in declared.table.indexes if index.name not in left_out)
        return replace(declared.table, indexes=kept)

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
    """The engine's error about an expression, with its location in the workload file."""
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


def _generated(
    declared: DeclaredTable, instance: int | None, table: Table, *, is_loaded: bool
) -> GeneratedTable:
    rows = declared.generator.rows or Expression("0", declared.line)
    from assay.contracts.engine import GeneratedTable

    return GeneratedTable(
        name=table.name,
        instance=instance,
        rows=rows.text,
        line=rows.line,
        column=rows.column,
        per=_named(declared.generator.per, instance) or None,
        is_loaded=UNSET if is_loaded else False,
        columns=tuple(_column(declared, column) for column in table.columns),
    )


def _column(declared: DeclaredTable, column: Column) -> GeneratedColumn:
    value = declared.generator.values.get(column.name) or Expression(
        default_value(column), declared.line
    )
    from assay.contracts.engine import GeneratedColumn

    return GeneratedColumn(
        name=column.name, type=column.type, value=value.text, line=value.line, column=value.column
    )


def _expressions(declared: DeclaredTable) -> Iterator[Expression]:
    yield from declared.instances or ()
    yield from declared.conditions.values()
    if declared.when is not None:
        yield declared.when
    if declared.generator.rows is not None:
        yield declared.generator.rows
    yield from declared.generator.values.values()


def _instance_of(table: Table, instance: int) -> Table:
    """The table of that instance, with the names of its indexes and foreign keys."""
    return replace(
        table,
        name=_named(table.name, instance),
        indexes=tuple(replace(key, name=_named(key.name, instance)) for key in table.indexes),
        foreign_keys=tuple(
            replace(key, name=_named(key.name, instance), table=_named(key.table, instance))
            for key in table.foreign_keys
        ),
    )


def _named(name: str, instance: int | None) -> str:
    return name if instance is None else name.replace(INSTANCE, str(instance))
