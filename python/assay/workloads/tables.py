"""Takes one ``[[tables]]`` of a workload file; gives the `Table` in neutral types.

A column is a line ``title = "text wide"``: its type, then any of ``not null`` and ``wide``. An
index is the name of its column, or several names with commas.
"""

from __future__ import annotations

import re

from assay.dialects.protocol import Column, Index, Table
from assay.registry import did_you_mean
from assay.toml_file import Section

_TYPES = (
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
)
_COLUMN = re.compile(
    r"(?P<type>int|bigint|decimal\(\d+,\d+\)|float|double|char\(\d+\)|varchar\(\d+\)|text|date"
    r"|timestamp|bool|bytes)(?P<not_null> not null)?(?P<wide> wide)?"
)


def read(section: Section) -> Table:
    """The table; raises `ExperimentError` at the line of an unknown type or column."""
    name = section.text("name")
    listed = section.section("columns")
    columns = tuple(_column(listed, column) for column in listed.names())
    known = [column.name for column in columns]
    table = Table(
        name=name,
        columns=columns,
        primary_key=_columns(section, "primary_key", known, section.texts("primary_key", ())),
        unique=tuple(
            _columns(section, "unique", known, _split(one)) for one in section.texts("unique", ())
        ),
        indexes=tuple(
            Index(
                name="_".join([name, *_split(one)]).lower(),
                columns=_columns(section, "indexes", known, _split(one)),
            )
            for one in section.texts("indexes", ())
        ),
    )
    section.done()
    return table


def _column(section: Section, name: str) -> Column:
    words = section.text(name)
    found = _COLUMN.fullmatch(" ".join(words.split()))
    if found is None:
        raise section.error(
            f"column {name} = {words!r} is not understood",
            name,
            hint=f'"TYPE [not null] [wide]" with a type of {", ".join(_TYPES)}',
        )
    return Column(name, found["type"], found["not_null"] is not None, found["wide"] is not None)


def _columns(
    section: Section, key: str, known: list[str], names: tuple[str, ...]
) -> tuple[str, ...]:
    for name in names:
        if name not in known:
            raise section.error(
                f"{key} names the unknown column {name!r}", key, hint=did_you_mean(name, known)
            )
    return names


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(","))
