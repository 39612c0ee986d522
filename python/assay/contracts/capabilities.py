"""The capabilities that a test may need, by name; and the message for a system that lacks some.

A test whose needs a system does not meet is refused before anything is started. That is not a
failure: reports show the reason in place of the number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

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


def check(needs: Iterable[str]) -> None:
    """Raises `ArgumentError` for the first unknown capability."""
    for word in needs:
        if word not in CAPABILITIES:
            raise ArgumentError(
                f"unknown capability {word!r}", hint=f"known: {', '.join(CAPABILITIES)}"
            )


def missing(needs: Iterable[str], system: str, had: Collection[str]) -> str | None:
    """Why a test with these needs is refused on the system ``system``; None: it meets them all.

    Raises `ArgumentError` for an unknown capability.
    """
    needs = list(needs)
    check(needs)
    lacking = [f"{name} ({CAPABILITIES[name]})" for name in needs if name not in had]
    return f"{system} does not support {', '.join(lacking)}" if lacking else None
