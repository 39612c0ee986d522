"""A log gets one line per run and stage; a terminal gets bars that are taken away again."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest

from assay.cli.progress import progress
from assay.experiment import Driving, StorageChoice, SystemChoice
from assay.plan import Cell, PlannedRun

RUN = PlannedRun(
    Cell("bibsql", "parallel", SystemChoice("sqlite"), StorageChoice(), 8, {}, "simple", 0),
    repetition=2,
    seed=1,
    position=4,
)
BY_URL = replace(
    RUN, cell=replace(RUN.cell, system=SystemChoice("postgresql", url="postgresql://u@h/d"))
)
LOADED = {"table": "t", "rows": 500, "bytes_read": 10, "bytes_sent": 12, "elapsed_s": 0.1}
DRIVEN = {"elapsed_s": 1.0, "done": 3, "scheduled": 6, "ok": 2, "failed": 1, "clients_running": 8}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def tell_a_run(stream: io.StringIO) -> None:
    with progress(stream) as shown:
        shown.warning("read [this]")
        shown.run(RUN, 12)
        shown.stage("load")
        shown.loading(LOADED)
        shown.loading({**LOADED, "bytes_total": 40})
        shown.stage("drive parallel")
        shown.driving(DRIVEN)
        shown.driving({**DRIVEN, "scheduled": None})
        shown.ended(RUN, None)
        shown.ended(RUN, "the server went away")


def test_a_log_gets_lines_and_no_bars() -> None:
    stream = io.StringIO()
    tell_a_run(stream)
    assert (
        stream.getvalue()
        == """\
warning: read [this]
run 5 of 12: parallel, sqlite, here, 8 clients, repetition 2
  load
  drive parallel
run 5 failed: the server went away
"""
    )


def test_a_terminal_keeps_warnings_and_failures_and_gets_its_cursor_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    tell_a_run(stream)
    written = stream.getvalue()
    assert "warning: read [this]" in written
    assert "run 5 failed: the server went away" in written
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l"), "the cursor is shown again"
    assert re.search(r"\x1b\[2K\W*$", written), "the bar's line is cleared at the end"


def test_a_run_that_ends_by_time_says_how_long_it_takes_and_what_it_is_doing() -> None:
    driving = Driving(duration_s=30.0, warm_up_s=5.0, arrival="poisson", offered_rate_per_s=100.0)
    timed = replace(RUN, cell=replace(RUN.cell, driving=driving))
    lines, terminal = io.StringIO(), Terminal()
    for stream in (lines, terminal):
        with progress(stream) as shown:
            shown.run(timed, 12)
            shown.stage("drive parallel")
            shown.driving({**DRIVEN, "scheduled": None, "elapsed_s": 3.0})
            shown.driving({**DRIVEN, "scheduled": None, "elapsed_s": 20.0})
    assert "8 clients, 100 offered/s, repetition 2\n  drive parallel, about 35 s\n" in (
        lines.getvalue()
    )
    assert "measuring: 3 transactions, 8 clients, 1 failed" in terminal.getvalue()


def test_a_server_by_url_has_no_storage_of_ours() -> None:
    stream = io.StringIO()
    with progress(stream) as told:
        told.run(BY_URL, 9)
    assert "postgresql at h, 8 clients" in stream.getvalue()
