"""The clients that work while a backup is made."""

from __future__ import annotations

import contextlib
import threading

import pytest

from assay import registry
from assay.contracts.deployment import Address
from assay.contracts.dialects.protocol import SingleRows
from assay.lab.backup import meanwhile


class Answering:
    """Sessions that answer every statement."""

    def __init__(self) -> None:
        self.answers = {"UPDATE": 0, "SELECT": 0}
        self._lock = threading.Lock()

    def execute(self, statement: str) -> None:
        with self._lock:
            self.answers[statement.split()[0].upper()] += 1


def test_it_counts_only_once_each_client_has_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then one may still connect, which is no part of the time of a transaction."""
    sessions = Answering()
    monkeypatch.setattr(meanwhile, "session", lambda _: contextlib.nullcontext(sessions))
    dialect = registry.system("sqlite").dialect
    assert isinstance(dialect, SingleRows)
    with meanwhile.Meanwhile(lambda: Address("null"), dialect, dialect) as clients:
        before = dict(sessions.answers)
        clients.forget()
        assert all(sessions.answers[kind] >= before[kind] + 2 for kind in before)
