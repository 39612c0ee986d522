"""Takes the line of one column (``title = "text wide"``); returns the `Column` in neutral types.

The line is the column's type, then any of ``not null``, ``wide`` and ``default LITERAL`` in any
order. A literal is a number, ``true`` or ``false``, or a text in single quotes.
"""

from __future__ import annotations

import re

from assay.contracts.dialects.protocol import ELEMENTS, Column
from assay.errors import ExperimentError
from assay.text.files.toml_file import TomlTable

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

_TYPE = re.compile(
    rf"(?P<array>(?:{'|'.join(ELEMENTS)})\[\])"
    r"|(?P<family>smallint|int|bigint|float|double|text|date|timestamp|bool|bytes|json)(?![\w([])"
    r"|(?P<exact>decimal)\s*\(\s*(?P<digits>\d+)\s*,\s*(?P<scale>\d+)\s*\)"
    r"|(?P<sized>char|varchar)\s*\(\s*(?P<length>\d+)\s*\)"
)
_FLAG = re.compile(
    r"\s+(?:(?P<not_null>not\s+null)|(?P<wide>wide)"
    r"|default\s+(?P<default>'(?:[^']|'')*'|[-+]?[\w.]+))(?!\S)"
)
_MOST_DIGITS = 38
_LONGEST = {"char": 255, "varchar": 10_000}
"""The lengths that every system accepts: one limits a row to 65,535 bytes, four per character."""

LONGEST_NAME_BYTES = 63
"""Of a table or a column: longer names are truncated by one system and refused by another."""


def read(section: TomlTable, name: str) -> Column:
    """The column; raises `ExperimentError` at its line."""
    words = section.text(name)
    refuse_long(section, name, name)
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


def refuse_long(section: TomlTable, name: str, key: str) -> None:
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
