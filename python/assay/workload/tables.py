"""Takes one ``[[tables]]`` or all ``[[views]]`` of a workload file; returns them in neutral types,
with their columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from assay.contracts.capabilities import LANGUAGES
from assay.contracts.dialects import ELEMENTS, Column, Table, View
from assay.errors import ExperimentError
from assay.text import pattern
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload import relations, script_names
from assay.workload.in_dialect import INSTANCE, VALUE
from assay.workload.schema import DeclaredTable, Expression, Generator, expression_of_key

_RANGE = pattern(r"(?P<first>.+?)\s*\.\.\s*(?P<last>.+)")
_OF_ROWS = ("rows", "per", "instances", "values")


def read_table(section: TomlTable, *, has_expressions: bool) -> DeclaredTable:
    """The table; raises `ExperimentError` with the line. References to other tables are not
    checked."""
    name = section.text("name")
    refuse_long_name(section, name, "name")
    listed = section.section("columns")
    found = {key: read_column(listed, key) for key in listed.names()}
    if not found:
        raise section.error(f"table {name} has no columns", hint="[tables.columns] names them")
    _refuse_alike(listed, found)
    primary_key = relations.known_columns(
        section, "primary_key", found, section.texts("primary_key", ())
    )
    for column in primary_key:  # standard SQL implies it, but one system does not
        found[column] = replace(found[column], not_null=True)
    indexes = relations.indexes(section, name, found)
    table = Table(
        name=name,
        columns=tuple(found.values()),
        primary_key=primary_key,
        unique=relations.unique_keys(section, found),
        indexes=tuple(indexes),
        foreign_keys=relations.foreign_keys(section, name, found),
        partitioning=relations.partitioning(section, found, primary_key),
    )
    declared = DeclaredTable(
        table,
        section.line_of("name"),
        _instances(section, name),
        _generator(section, table, has_expressions=has_expressions),
        _languages(section),
        {index.name: when for index, when in indexes.items() if when is not None},
        expression_of_key(section, "when") if "when" in section else None,
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
        rows=expression_of_key(section, "rows") if "rows" in section else None,
        per=section.text("per", ""),
        values={name: expression_of_key(values, name) for name in values.names()},
    )
    _refuse_gaps(section, table, generator)
    return generator


def _refuse_gaps(section: TomlTable, table: Table, generator: Generator) -> None:
    """Raises where a table with rows has no value for a column that is not null."""
    if generator.rows is None:
        for key in ("per", "values"):
            if key in section:
                raise section.error(
                    f"table {table.name} has {key}, but no number of rows", key, hint='rows = "100"'
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


TYPES = (
    "smallint",
    "int",
    "bigint",
    "decimal(p,s)",
    "float",
    "double",
    "char(n)",
    "varchar(n)",
    "text",
    "date",
    "timestamp",
    "bool",
    "bytes",
    "json",
    *(f"{element}[]" for element in ELEMENTS),
)
NUMBERS = frozenset({"smallint", "int", "bigint", "decimal", "float", "double"})

_TYPE = pattern(
    rf"(?P<array>(?:{'|'.join(ELEMENTS)})\[\])"
    r"|(?P<family>smallint|int|bigint|float|double|text|date|timestamp|bool|bytes|json)(?![\w([])"
    r"|(?P<exact>decimal)\s*\(\s*(?P<digits>\d+)\s*,\s*(?P<scale>\d+)\s*\)"
    r"|(?P<sized>char|varchar)\s*\(\s*(?P<length>\d+)\s*\)"
)
_FLAG = pattern(
    r"\s+(?:(?P<not_null>not\s+null)|(?P<wide>wide)"
    r"|default\s+(?P<default>'(?:[^']|'')*'|[-+]?[\w.]+))(?!\S)"
)
_MOST_DIGITS = 38
_LONGEST = {"char": 255, "varchar": 10_000}
"""The lengths that every system accepts: one limits a row to 65,535 bytes, four per character."""

LONGEST_NAME_BYTES = 63
"""Of a table or a column: longer names are truncated by one system and refused by another."""


def read_column(section: TomlTable, name: str) -> Column:
    """The column; raises `ExperimentError` at its line."""
    words = section.text(name)
    refuse_long_name(section, name, name)
    kind = _TYPE.match(words.strip())
    if kind is None:
        raise _not_understood(section, name, words)
    flags = _flags(section, name, words.strip(), kind)
    type_ = _type(section, name, kind)
    return Column(
        name,
        type_,
        not_null="not_null" in flags,
        wide="wide" in flags,
        default=_default(section, name, type_, flags["default"]) if "default" in flags else None,
    )


def refuse_long_name(section: TomlTable, name: str, key: str) -> None:
    """Raises `ExperimentError` at ``key`` for a name that is empty or too long."""
    if not name or len(name.encode()) > LONGEST_NAME_BYTES:
        raise section.error(
            f"the name {name!r} has {len(name.encode())} bytes: expected 1 to {LONGEST_NAME_BYTES}",
            key,
            hint="a longer name is truncated by one system and refused by another",
        )


def _flags(section: TomlTable, name: str, words: str, kind: re.Match[str]) -> dict[str, str]:
    """The flags after the type: flag → its literal, or its text."""
    flags: dict[str, str] = {}
    at = kind.end()
    while at < len(words):
        found = _FLAG.match(words, at)
        if found is None or found.lastgroup is None or found.lastgroup in flags:
            raise _not_understood(section, name, section.text(name))
        flags[found.lastgroup] = found[found.lastgroup]
        at = found.end()
    return flags


def _type(section: TomlTable, name: str, kind: re.Match[str]) -> str:
    """The type in canonical form, with its numbers checked."""
    if kind["exact"]:
        digits, scale = int(kind["digits"]), int(kind["scale"])
        if not 1 <= digits <= _MOST_DIGITS or scale > min(digits, 30):
            raise section.error(
                f"column {name}: decimal({digits},{scale}): expected 1 to {_MOST_DIGITS} digits, "
                f"of which at most {min(digits, 30)} are after the point",
                name,
                hint=f"decimal({max(digits, scale)},{scale}) has {scale} after the point"
                if scale > digits
                else None,
            )
        return f"decimal({digits},{scale})"
    if kind["sized"]:
        length, longest = int(kind["length"]), _LONGEST[kind["sized"]]
        if not 1 <= length <= longest:
            raise section.error(
                f"column {name}: {kind['sized']}({length}): expected 1 to {longest} characters",
                name,
                hint='"text" has no limit',
            )
        return f"{kind['sized']}({length})"
    return kind["array"] or kind["family"]


def _default(section: TomlTable, name: str, type_: str, word: str) -> str:
    """The literal without its quotes; raises `ExperimentError` where its type is not the
    column's."""
    family = type_.partition("(")[0]
    if family in NUMBERS:
        fits, expected = re.fullmatch(r"[-+]?\d+(\.\d+)?", word) is not None, "a number"
    elif family == "bool":
        fits, expected = word in ("true", "false"), "true or false"
    elif family in ("bytes", "json") or family.endswith("[]"):
        kind = {"bytes": "bytes", "json": "documents"}.get(family, "arrays")
        fits, expected = False, f"none: {kind} have no literal that all systems accept"
    else:
        fits, expected = word.startswith("'"), "a text in single quotes"
    if not fits:
        raise section.error(
            f"column {name} of type {type_} has the default {word}: expected {expected}", name
        )
    return word[1:-1].replace("''", "'") if word.startswith("'") else word


def _not_understood(section: TomlTable, name: str, words: str) -> ExperimentError:
    return section.error(
        f"column {name} = {words!r} is not a column type",
        name,
        hint=f'"TYPE [not null] [wide] [default LITERAL]" with a type of {", ".join(TYPES)}',
    )


_LITERAL = pattern(r"'[^']*'")


def read_views(
    sections: Sequence[TomlTable], tables: Collection[str], views: Collection[str] = ()
) -> tuple[View, ...]:
    """Raises `ExperimentError` with the line. ``views``: those of the workload that this one
    extends."""
    taken = {name.lower() for name in (*tables, *views)}
    found = []
    for section in sections:
        view = _view(section)
        if view.name.lower() in taken:
            raise section.error(f"a second table or view is called {view.name}", "name")
        taken.add(view.name.lower())
        found.append(view)
    if sections and not tables:
        raise sections[0].error("a view without a table", hint="declare [[tables]] that it reads")
    return tuple(found)


def _view(section: TomlTable) -> View:
    view: View = section.thing(View)
    refuse_long_name(section, view.name, "name")
    own = section.section("overrides")
    for dialect in view.overrides:
        script_names.refuse_unknown_dialect(own, dialect)
    overrides = {one: _query(own, one, text) for one, text in view.overrides.items()}
    return replace(view, query=_query(section, "query", view.query), overrides=overrides)


def _query(section: TomlTable, key: str, text: str) -> str:
    """Without the semicolon that ends it; its text is sent as it stands."""
    text = text.strip().rstrip(";").strip()
    if not text:
        raise section.error(f"{key} is empty", key, hint="a query of a table")
    if variable := VALUE.search(_LITERAL.sub("", text)):
        raise section.error(
            f"{key}: the query of a view has no variables, found {variable[0]}",
            key,
            hint="select by it in the script that reads the view",
        )
    return text
