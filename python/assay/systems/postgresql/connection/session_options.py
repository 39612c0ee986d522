"""Takes libpq's ``options`` (``-c geqo=off``); returns the statements that set them in a
session."""

from __future__ import annotations

import re

from assay.dialects.postgresql import POSTGRESQL as DIALECT
from assay.errors import ArgumentError

_WORD = re.compile(r"(?:\\.|[^\\\s])+", re.DOTALL)
_SETTING = re.compile(r"(?:-c\s*|--)([A-Za-z_][\w.-]*)=(.*)", re.DOTALL)


def statements(options: str | None, origin: str) -> tuple[str, ...]:
    """One for each setting; raises `ArgumentError` for anything else that stands there."""
    words = [re.sub(r"\\(.)", r"\1", escaped) for escaped in _WORD.findall(options or "")]
    found = []
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word += f" {words.pop(0)}"
        setting = _SETTING.fullmatch(word)
        if setting is None:
            raise ArgumentError(
                f"options {origin}: expected -c NAME=VALUE, found {word}",
                hint="a blank in a value is written with a backslash before it",
            )
        found.append(statement(setting[1].replace("-", "_"), setting[2]))
    return tuple(found)


def statement(name: str, value: str) -> str:
    """What sets it for the session."""
    return f"SELECT set_config({DIALECT.literal(name)}, {DIALECT.literal(value)}, false)"
