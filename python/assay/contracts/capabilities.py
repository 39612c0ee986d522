"""The capabilities that a test may need, by name, and the languages of statements, as the engine's
lexers have them, with the endings of script files in each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from assay import _engine
from assay.errors import ArgumentError

CAPABILITIES: Mapping[str, str] = MappingProxyType(
    {
        "sql": "statements are SQL text",
        "tables": "the tables of a workload can be made and filled",
        "stored rows": "what was written can be read again",
        "unique keys": "a second row of the same key is refused",
        "typed columns": "a column refuses a value that is not of its type",
        "text lengths": "a column of varchar(n) refuses a longer text",
        "not null": "a column that is declared NOT NULL refuses NULL",
        "exact decimals": "decimals are kept to their last digit, however many there are",
        "documents": "a column keeps JSON documents, or arrays",
        "gregorian dates": "dates before 15 October 1582 are of the Gregorian calendar too",
        "microseconds": "timestamps are kept to the microsecond",
        "transactions": "several statements take effect together or not at all",
        "isolation levels": "a session can ask for the isolation level of its transactions",
        "read only sessions": "a session can be made read-only",
        "prepared statements": "a statement is sent once and executed many times",
        "bulk load": "rows are loaded by something faster than INSERT statements",
        "foreign keys": "a table can refer to rows of another",
        "cancel": "a statement under way can be called off",
        "own processes": "it works in processes of its own, not in the client's",
        "restart": "a private server can be stopped and started again on its data",
    }
)
"""Name → what it means, in one sentence."""


def check_capabilities(needs: Iterable[str]) -> None:
    """Raises `ArgumentError` for the first unknown capability."""
    for word in needs:
        if word not in CAPABILITIES:
            raise ArgumentError(
                f"unknown capability {word!r}", hint=f"known: {', '.join(CAPABILITIES)}"
            )


def missing_capabilities(needs: Iterable[str], system: str, had: Collection[str]) -> str | None:
    """Why a test with these needs is refused on the system ``system``; None: it meets them all.

    Raises `ArgumentError` for an unknown capability.
    """
    needs = list(needs)
    check_capabilities(needs)
    lacking = [f"{name} ({CAPABILITIES[name]})" for name in needs if name not in had]
    return f"{system} does not support {', '.join(lacking)}" if lacking else None


LANGUAGES: Final = tuple(_engine.languages())
SQL: Final = "sql"
"""The language of statements, where a script does not say another one."""
ENDINGS: Final[Mapping[str, str]] = {f".{name}": name for name in LANGUAGES}
"""The ending of a script file and the language of its statements, as dialects name it."""
FURTHER_ENDINGS: Final[Mapping[str, str]] = {".pgbench": SQL}
"""Of scripts that were written for another tool."""


def script_file_names(name: str = "FILE") -> str:
    """``FILE.sql, FILE.cql, FILE.json``: the files that a script may be in."""
    return ", ".join(f"{name}{ending}" for ending in ENDINGS)
