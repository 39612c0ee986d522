"""Takes a planned run; says whether it leaves other data than it found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from assay import _engine, registry
from assay.drive.document import document_of, scripts_of
from assay.plan import PlannedRun
from assay.provision.session import raise_as_ours
from assay.workload.values import Workload

_READING_WORDS = """
    select with values table show explain describe desc set reset use begin start commit end
    rollback abort savepoint release pragma analyze vacuum checkpoint prepare deallocate declare
    fetch close help
"""
_READING = frozenset(_READING_WORDS.split())
"""First words of statements that leave all rows as they are. ``with`` is looked into."""

_WRITING_WITHIN = {
    "with": re.compile(r"\b(insert|update|delete|merge|into)\b", re.IGNORECASE),
    "explain": re.compile(r"\b(insert|update|delete|merge|into)\b", re.IGNORECASE),
    "select": re.compile(r"\binto\b", re.IGNORECASE),
}
"""By first word: a query may write as well (WITH … INSERT, SELECT … INTO)."""

_LOCKING = re.compile(r"\bfor\s+(no\s+key\s+)?update\b", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/|--[^\n]*|#[^\n]*", re.DOTALL)
_LITERAL = re.compile(r"'(?:[^']|'')*'")


_OF_PROCEDURE = {"update": True, "reference": True, "limit": False}
"""Where it is not the scripts that decide."""


def run_changes_data(workload: Workload, planned: PlannedRun) -> bool:
    """What the run's test says of it, else what its statements tell."""
    test = workload.test(planned.cell.test)
    declared = _OF_PROCEDURE.get(test.procedure, test.changes_data)
    if declared is not None:
        return declared
    dialect = registry.system(planned.cell.system.name).dialect
    scripts = scripts_of(workload, planned, dialect)
    if not scripts:
        return False
    document = document_of(workload, planned, dialect, scripts)
    document["stop"] = document["stop"] or {"transactions": 1}
    try:
        return changes_data(text for _, text in _engine.statements(json.dumps(document)))
    except _engine.EngineError as error:
        raise_as_ours(error)


def changes_data(statements: Iterable[str]) -> bool:
    """Whether any of the statements may change a row or a table; an unknown one may."""
    return any(_changes(part) for text in statements for part in _plain(text).split(";"))


def _plain(text: str) -> str:
    """The text without comments and without what stands in its literals."""
    return _COMMENT.sub(" ", _LITERAL.sub("''", text))


def _changes(statement: str) -> bool:
    words = statement.split(None, 1)
    if not words:
        return False
    first = re.match(r"\w*", words[0].lstrip("(").lower())
    if first is None or first[0] not in _READING:
        return True
    within = _WRITING_WITHIN.get(first[0])
    return within is not None and within.search(_LOCKING.sub(" ", statement)) is not None
