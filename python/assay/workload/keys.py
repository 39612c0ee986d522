"""Takes what a ``[[tables]]`` says of keys and indexes; returns them as neutral values.

An index is the name of its column, or several names with commas, each with ``desc`` behind it where
it runs down; as a table ``{ columns = "…", when = "…" }`` it is there where the expression of
parameters is true. A foreign key is ``column -> table(column)``.
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
    """Index → when it is there; None: always."""
    found: dict[Index, Expression | None] = {}
    for one in section.texts_or_tables("indexes"):
        when = None
        text = one if isinstance(one, str) else one.text("columns")
        if isinstance(one, Section):
            when = expression(one, "when")
            one.done()
        index = _index(section, table, known, text)
        if index in found:
            raise section.error(f"the index {text!r} is there twice", "indexes")
        found[index] = when
    return found


def _index(section: Section, table: str, known: Collection[str], text: str) -> Index:
    parts = [part.split() for part in text.split(",")]
    for part in parts:
        if not part or part[1:] not in ([], ["asc"], ["desc"]):
            raise section.error(
                f"the index {text!r} is not understood",
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
    """Lists of columns of which no two rows have the same values."""
    return tuple(
        known_columns(section, "unique", known, _split(one)) for one in section.texts("unique", ())
    )


def foreign_keys(section: Section, table: str, known: Collection[str]) -> tuple[ForeignKey, ...]:
    """The foreign keys; whether they lead anywhere is for `relations` to see."""
    found = []
    for text in section.texts("foreign_keys", ()):
        parts = _FOREIGN_KEY.fullmatch(text)
        if parts is None:
            raise section.error(
                f"the foreign key {text!r} is not understood",
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
    """The names, each that of a column and none twice."""
    for position, name in enumerate(names):
        if name not in known:
            raise section.error(
                f"{key} names the unknown column {name!r}", key, hint=did_you_mean(name, known)
            )
        if name in names[:position]:
            raise section.error(f"{key} names the column {name!r} twice", key)
    return names


def expression(section: Section, key: str) -> Expression:
    """A text in the expression language, or a number as it stands."""
    value = section.scalar(key)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text.strip():
        raise section.error(f"{key} is empty", key, hint="an expression, as in :row + 1")
    return Expression(text.strip(), section.line_of(key), section.column_of(key))


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(","))
