"""Takes transactions; runs them at once, in sessions that wait for each other in between."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from assay import _engine
from assay.lab.conformance.subject import Refusal, Subject

_WAIT_S = 2.0
"""A session that waits for another's lock gets no further: the others continue without it."""


@dataclass(frozen=True)
class Transaction:
    """Its statements, begin and commit included."""

    before: Sequence[str]
    after: Sequence[str]
    """Once every session is through with the statements before."""


def run_at_once(subject: Subject, transactions: Sequence[Transaction]) -> list[Refusal | None]:
    """Runs the transactions, each in a session and a thread; returns the error of each. One with an
    error ends with its session."""
    all_through = threading.Barrier(len(transactions))

    def run(transaction: Transaction) -> Refusal | None:
        with subject.session() as opened:
            try:
                for statement in transaction.before:
                    opened.execute(statement)
                with suppress(threading.BrokenBarrierError):
                    all_through.wait(_WAIT_S)
                for statement in transaction.after:
                    opened.execute(statement)
            except _engine.EngineError as error:
                # The session ends here, and an open transaction with it.
                return Refusal.of(error)
        return None

    with ThreadPoolExecutor(len(transactions)) as threads:
        return list(threads.map(run, transactions))
