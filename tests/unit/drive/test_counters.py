"""The server's own counters at the beginning and at the end of a measurement."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from assay.contracts.engine.drive import DriveDocument, DriveProgress
from assay.contracts.systems.abilities import Counters
from assay.drive.watched import _Counters

REPORT = DriveProgress(2.0, 1, None, 1, 0, 1)


class Broken(Counters):
    """A plugin whose counters cannot be read."""

    def counters(self, deployment: Any) -> Any:
        raise ZeroDivisionError(f"of the plugin, at {deployment}")


def test_what_a_plugin_raises_while_clients_work_is_raised_where_the_run_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    escaped: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", escaped.append)
    document = DriveDocument(scripts=(), warm_up_s=1.0, seed=7)
    counters = _Counters(cast(Any, None), cast(Any, Broken()), document)
    counters.on_progress(REPORT)
    with pytest.raises(ZeroDivisionError, match="of the plugin"):
        counters.grown()
    assert not escaped
