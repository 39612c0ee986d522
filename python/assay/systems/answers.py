"""Takes a query for a server that may only speak the protocol of a system; returns the answer if it
has the expected form.

Poolers, proxies and other databases speak a server's protocol without its catalogue: they refuse
the query, or return something else.
"""

from __future__ import annotations

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.errors import SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.provision.engine.session import LOST, session

Row = tuple[str | None, ...]


def rows_of(opened: Session, question: str, columns: int) -> list[Row] | None:
    """The rows; None where the server refuses, or returns a different number of columns. Raises for
    a lost connection."""
    try:
        rows = opened.execute(question).rows
    except _engine.EngineError as error:
        if error.kind != "system" or error.error_class == LOST:
            raise
        return None
    return rows if all(len(row) == columns for row in rows) else None


def numbers_of(opened: Session, question: str, columns: int) -> tuple[int, ...] | None:
    """The first row as whole numbers, NULL as 0; None where there is no row or it holds other
    values."""
    rows = rows_of(opened, question, columns)
    if not rows:
        return None
    try:
        return tuple(int(value or 0) for value in rows[0])
    except ValueError:
        return None


def number_of(deployment: Deployment, question: str) -> int:
    """The number that the query returns; raises `SystemRefused` where it returns anything else."""
    with session(deployment.address) as opened:
        found = numbers_of(opened, question, columns=1)
    if found is None:
        raise SystemRefused(
            f"{deployment.label}: expected a number as the answer to: {question.strip()}",
            hint="a server that only speaks the protocol can be driven with a script of your own: "
            "assay run SCRIPT.sql --on URL",
        )
    return found[0]
