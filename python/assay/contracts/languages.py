"""The languages of statements, as the engine's lexers have them, and the endings of script files in
each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from assay import _engine

LANGUAGES: Final = tuple(_engine.languages())
SQL: Final = "sql"
"""The language of statements, where a script does not say another one."""
ENDINGS: Final[Mapping[str, str]] = {f".{name}": name for name in LANGUAGES}
"""The ending of a script file and the language of its statements, as dialects name it."""
FURTHER_ENDINGS: Final[Mapping[str, str]] = {".pgbench": SQL}
"""Of scripts that were written for another tool."""


def files(name: str = "FILE") -> str:
    """``FILE.sql, FILE.cql, FILE.json``: the files that a script may be in."""
    return ", ".join(f"{name}{ending}" for ending in ENDINGS)
