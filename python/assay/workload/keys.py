"""Takes the keys and indexes of a ``[[tables]]`` section; returns them as neutral values.

An index is written as the names of its columns separated by commas, each followed by ``desc`` for
descending order; as a table ``{ columns = "…", when = "…" }`` it is created only where the
expression of parameters is true. A foreign key is ``column -> table(column)``.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from assay.dialects.protocol import ForeignKey, Index
from assay.files.toml_file import Section
from assay.registry import did_you_mean
from assay.workload.schema import Expression

_FOREIGN_KEY = re.compile(r"\s*(?P<own>[^>]+?)\s*->\s*(?P<table>[^()\s]+)\s*\((?P<theirs>[^()]+)\)")


def indexes(section: Section, table: str, known: Collection[str]) -> dict[Index, Expression | None]:
    """Index → the condition for creating it; None: always."""
    found: dict[Index, Expression | None] = {}
    for declared in section.texts_or_tables("indexes"):
        when = None
        text = declared if isinstance(declared, str) else declared.text("columns")
        if isinstance(declared, Section):
            when = expression(declared, "when")
            declared.done()
        index = _index(section, table, known, text)
        if index in found:
            raise section.error(f"the index {text!r} is declared twice", "indexes")
        found[index] = when
    return found


def _index(section: Section, table: str, known: Collection[str], text: str) -> Index:
    parts = [part.split() for part in text.split(",")]
    for part in parts:
        if not part or part[1:] not in ([], ["asc"], ["desc"]):
            raise section.error(
                f"{text!r} is not an index",
                "indexes",
                hint='"column", or "column, other desc"',
            )
    descending = frozenset(part[0] for part in parts if part[1:] == ["desc"])
    words = [word for part in parts for word in (part[0], *(["desc"] * (part[0] in descending)))]
    return Index(
        name="_".join([table, *words]).lower(),
        columns=known_columns(section, "indexes", known, tuple(part[0] for part in parts)),
        descending=descending,
    )


def unique(section: Section, known: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """The unique constraints, each a list of columns."""
    return tuple(
        known_columns(section, "unique", known, _split(columns))
        for columns in section.texts("unique", ())
    )


def foreign_keys(section: Section, table: str, known: Collection[str]) -> tuple[ForeignKey, ...]:
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
    section: Section, key: str, known: Collection[str], names: tuple[str, ...]
) -> tuple[str, ...]:
    """The names, each checked to be a column and to occur once."""
    for position, name in enumerate(names):
        if name not in known:
            raise section.error(
                f"{key} names the unknown column {name!r}", key, hint=did_you_mean(name, known)
            )
        if name in names[:position]:
            raise section.error(f"{key} names the column {name!r} twice", key)
    return names


def expression(section: Section, key: str) -> Expression:
    """A text in the expression language, or a number."""
    value = section.scalar(key)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.strip():
        raise section.error(f"{key} is empty", key, hint="an expression, as in :row + 1")
    return Expression(text.strip(), section.line_of(key), section.column_of(key))


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(","))
