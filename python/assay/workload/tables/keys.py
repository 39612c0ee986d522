"""Takes the keys and indexes of a ``[[tables]]`` section; returns them as neutral values.

An index is written as the names of its columns separated by commas, each followed by ``desc`` for
descending order; as a table ``{ columns = "…", when = "…" }`` it is created only where the
expression of parameters is true. A foreign key is ``column -> table(column)``. ``partition_by`` and
``partition_order`` are for systems that spread a table over nodes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.contracts.dialects.protocol import Column, ForeignKey, Index, Partitioning
from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.schema import Expression

_FOREIGN_KEY = re.compile(r"\s*(?P<own>[^>]+?)\s*->\s*(?P<table>[^()\s]+)\s*\((?P<theirs>[^()]+)\)")


def indexes(
    section: TomlTable, table: str, known: Mapping[str, Column]
) -> dict[Index, Expression | None]:
    """Index → the condition for creating it; None: always."""
    found: dict[Index, Expression | None] = {}
    for declared in section.texts_or_tables("indexes"):
        when = None
        text = declared if isinstance(declared, str) else declared.text("columns")
        if isinstance(declared, TomlTable):
            when = expression(declared, "when")
            declared.done()
        index = _index(section, table, known, text)
        if index in found:
            raise section.error(f"the index {text!r} is declared twice", "indexes")
        found[index] = when
    return found


def _index(section: TomlTable, table: str, known: Mapping[str, Column], text: str) -> Index:
    parts = [part.split() for part in text.split(",")]
    if not all(map(_is_in_order, parts)):
        raise section.error(
            f"{text!r} is not an index",
            "indexes",
            hint='"column", or "column, other desc"',
        )
    columns, descending = _ordered(section, "indexes", known, parts)
    words = [word for one in columns for word in (one, *(["desc"] * (one in descending)))]
    return Index(name="_".join([table, *words]).lower(), columns=columns, descending=descending)


def _is_in_order(words: Sequence[str]) -> bool:
    return bool(words) and list(words[1:]) in ([], ["asc"], ["desc"])


def _ordered(
    section: TomlTable, key: str, known: Mapping[str, Column], parts: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """The columns, and those of them in descending order."""
    columns = known_columns(section, key, known, tuple(part[0] for part in parts))
    return columns, frozenset(part[0] for part in parts if list(part[1:]) == ["desc"])


def partitioning(
    section: TomlTable, known: Mapping[str, Column], primary_key: tuple[str, ...]
) -> Partitioning | None:
    """``partition_by`` and ``partition_order``, which identify a row together: a system that keeps
    one row for each key loses none."""
    if "partition_by" not in section:
        if "partition_order" in section:
            raise section.error(
                "partition_order needs partition_by",
                "partition_order",
                hint='partition_by = ["column"]',
            )
        return None
    by = known_columns(section, "partition_by", known, section.texts("partition_by"))
    parts = [text.split() for text in section.texts("partition_order", ())]
    if not all(map(_is_in_order, parts)):
        raise section.error(
            "expected a list of columns", "partition_order", hint='["column", "other desc"]'
        )
    order, descending = _ordered(section, "partition_order", known, parts)
    if twice := [name for name in order if name in by]:
        raise section.error(
            f"partition_order names {twice[0]!r}, which partition_by names already",
            "partition_order",
        )
    if missing := [name for name in primary_key if name not in (*by, *order)]:
        raise section.error(
            f"partition_by and partition_order leave out {missing[0]!r} of the primary key, so one "
            "row could replace another",
            "partition_by",
            hint=f'add it: partition_order = ["{missing[0]}"]',
        )
    if nullable := [name for name in (*by, *order) if not known[name].not_null]:
        raise section.error(
            f"the column {nullable[0]!r} of a partition key may be null",
            "partition_by",
            hint=f'{nullable[0]} = "{known[nullable[0]].type} not null"',
        )
    return Partitioning(by, order, descending)


def unique(section: TomlTable, known: Mapping[str, Column]) -> tuple[tuple[str, ...], ...]:
    """The unique constraints, each a list of columns."""
    return tuple(
        known_columns(section, "unique", known, _split(columns))
        for columns in section.texts("unique", ())
    )


def foreign_keys(
    section: TomlTable, table: str, known: Mapping[str, Column]
) -> tuple[ForeignKey, ...]:
    """The foreign keys; `relations` checks their targets."""
    found = []
    for text in section.texts("foreign_keys", ()):
        parts = _FOREIGN_KEY.fullmatch(text)
        if parts is None:
            raise section.error(
                f"{text!r} is not a foreign key",
                "foreign_keys",
                hint='"column -> table(column)", or "a, b -> table(a, b)"',
            )
        own = known_columns(section, "foreign_keys", known, _split(parts["own"]))
        theirs = _split(parts["theirs"])
        if len(own) != len(theirs):
            raise section.error(
                f"the foreign key {text!r} has {len(own)} columns for {len(theirs)}", "foreign_keys"
            )
        name = "_".join([table, *own, "fkey"]).lower()
        found.append(ForeignKey(name, own, parts["table"], theirs))
    return tuple(found)


def known_columns(
    section: TomlTable, key: str, known: Mapping[str, Column], names: tuple[str, ...]
) -> tuple[str, ...]:
    """The names, each checked to be a column and to occur once."""
    for position, name in enumerate(names):
        if name not in known:
            raise section.error(
                f"{key} names the unknown column {name!r}", key, hint=did_you_mean(name, known)
            )
        if name in names[:position]:
            raise section.error(f"{key} names the column {name!r} twice", key)
        if known[name].is_document:
            raise section.error(
                f"{key} names the column {name!r} of type {known[name].type}: expected a type "
                "whose values every system can compare",
                key,
                hint='a script can make an index over JSON: steps = [{ do = "ddl", script = "…" }]',
            )
    return names


def expression(section: TomlTable, key: str) -> Expression:
    """A text in the expression language, or a number."""
    value = section.scalar(key)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.strip():
        raise section.error(f"{key} is empty", key, hint="an expression, as in :row + 1")
    return Expression(text.strip(), section.line_of(key), section.column_of(key))


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(","))
