"""Takes the transaction types that change data, and an observation; returns how many transactions
were committed that the system had to make durable."""

from __future__ import annotations

import re
from collections.abc import Collection

from assay.contracts.observation import Observation

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_FIRST_WORD = re.compile(r"[\s(]*(\w*)")
_CHANGES = re.compile(r"\b(insert|update|delete|merge)\b", re.IGNORECASE)
_OF_TRANSACTIONS = frozenset(
    ("abort", "begin", "commit", "end", "release", "rollback", "savepoint", "set", "start", "")
)
_OF_READS = frozenset(("describe", "explain", "select", "show", "table", "values"))


def seems_to_read(statement: str) -> bool:
    """Whether a statement of SQL changes nothing by its first word. A function that it calls may
    still write, so this is good for counting commits and for nothing that needs certainty."""
    word = first_word(statement)
    if word == "with":
        return _CHANGES.search(_COMMENT.sub(" ", statement)) is None
    return word in _OF_TRANSACTIONS or word in _OF_READS


def first_word(statement: str) -> str:
    """In lower case, without comments and parentheses before it; empty: there is none."""
    found = _FIRST_WORD.match(_COMMENT.sub(" ", statement))
    return found[1].lower() if found else ""


def commits(observation: Observation, writing_types: Collection[str]) -> int:
    """Of the transactions that ended ok, those of a type that changes data."""
    return sum(one.ok for one in observation.outcomes_by_transaction if one.name in writing_types)
