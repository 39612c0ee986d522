"""Takes one ``[[tables]]`` of a workload file; returns the `DeclaredTable` in neutral types.

A column without a value holds its default, or NULL where it is nullable.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from assay.contracts.dialects.protocol import Column, Table
from assay.contracts.languages import LANGUAGES
from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.in_dialect import INSTANCE
from assay.workload.schema import DeclaredTable, Expression, Generator
from assay.workload.tables import columns, keys

_RANGE = re.compile(r"(?P<first>.+?)\s*\.\.\s*(?P<last>.+)")
_OF_ROWS = ("rows", "per", "instances", "values")


def read(section: TomlTable, *, has_expressions: bool) -> DeclaredTable:
    """The table; raises `ExperimentError` with the line. References to other tables are not
    checked."""
    name = section.text("name")
    columns.refuse_long(section, name, "name")
    listed = section.section("columns")
    found = {key: columns.read(listed, key) for key in listed.names()}
    if not found:
        raise section.error(f"table {name} has no columns", hint="[tables.columns] names them")
    _refuse_alike(listed, found)
    primary_key = keys.known_columns(
        section, "primary_key", found, section.texts("primary_key", ())
    )
    for column in primary_key:  # standard SQL implies it, but one system does not
        found[column] = replace(found[column], not_null=True)
    indexes = keys.indexes(section, name, found)
    table = Table(
        name=name,
        columns=tuple(found.values()),
        primary_key=primary_key,
        unique=keys.unique(section, found),
        indexes=tuple(indexes),
        foreign_keys=keys.foreign_keys(section, name, found),
        partitioning=keys.partitioning(section, found, primary_key),
    )
    declared = DeclaredTable(
        table,
        section.line_of("name"),
        _instances(section, name),
        _generator(section, table, has_expressions=has_expressions),
        _languages(section),
        {index.name: when for index, when in indexes.items() if when is not None},
        keys.expression(section, "when") if "when" in section else None,
    )
    section.done()
    return declared


def _languages(section: TomlTable) -> tuple[str, ...]:
    """``languages = ["cql"]``: only systems whose statements are in one of them have the table."""
    named = section.texts("languages", ())
    for name in named:
        if name not in (known := LANGUAGES):
            raise section.error(
                f"languages: unknown language {name!r}", "languages", hint=did_you_mean(name, known)
            )
    return named


def _instances(section: TomlTable, name: str) -> tuple[Expression, Expression] | None:
    if "instances" not in section:
        if INSTANCE in name:
            raise section.error(
                f"the name {name} contains {INSTANCE}, but no instances are declared",
                "name",
                hint='instances = "1..10"',
            )
        return None
    if INSTANCE not in name:
        raise section.error(
            f"all instances would have the same name {name}",
            "instances",
            hint=f'name = "{name}_{INSTANCE}"',
        )
    text = section.text("instances")
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise section.error(
            f"instances = {text!r} is not a range",
            "instances",
            hint='"1..10"; a bound is an expression of parameters, as in "1..:tables"',
        )
    line, column = section.line_of("instances"), section.column_of("instances")
    return (
        Expression(found["first"], line, column),
        Expression(found["last"], line, column + found.start("last")),
    )


def _generator(section: TomlTable, table: Table, *, has_expressions: bool) -> Generator:
    if not has_expressions:
        for key in _OF_ROWS:
            if key in section:
                raise section.error(
                    f"{key} of {table.name}: the rows of this workload are not generated",
                    key,
                    hint='[data] source = "generated" makes rows from expressions',
                )
        return Generator()
    values = section.section("values")
    known = [column.name for column in table.columns]
    for name in values.names():
        if name not in known:
            raise values.error(
                f"a value for the unknown column {name!r} of {table.name}",
                name,
                hint=did_you_mean(name, known),
            )
    generator = Generator(
        rows=keys.expression(section, "rows") if "rows" in section else None,
        per=section.text("per", ""),
        values={name: keys.expression(values, name) for name in values.names()},
    )
    _refuse_gaps(section, table, generator)
    return generator


def _refuse_gaps(section: TomlTable, table: Table, generator: Generator) -> None:
    """Raises where a table with rows has no value for a column that is not null."""
    if generator.rows is None:
        for key in ("per", "values"):
            if key in section:
                raise section.error(
                    f"table {table.name} has {key}, but no number of rows",
                    key,
                    hint='rows = "100"',
                )
        return
    if generator.rows.text == "0":
        return
    for column in table.columns:
        has_one = column.name in generator.values or column.default is not None
        if column.not_null and not has_one:
            raise section.error(
                f"column {column.name} of {table.name} must not be null and has no value",
                "values" if "values" in section else "columns",
                hint=f'[tables.values] {column.name} = ":row + 1"; a column that may be null, or '
                "has a default, needs none",
            )


def _refuse_alike(section: TomlTable, names: dict[str, Column]) -> None:
    """Refuses columns whose names differ only in case, which are equal to every system."""
    by_lower: dict[str, str] = {}
    for name in names:
        other = by_lower.setdefault(name.lower(), name)
        if other != name:
            raise section.error(f"column {name} has the same name as {other}", name)
