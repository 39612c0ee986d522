"""Cells and goals are judged by values in memory: what the record holds of runs that have ended
does not matter, but where an experiment goes on in another process."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay.contracts.events import Event, RunEnded, Sink
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from assay.record import Store

OPEN: dict[str, Any] = {"duration_s": 1.0, "offered_rate_per_s": "20,80"}


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    return tmp_path / "records.sqlite"


def run(records: Path, **words: Any) -> list[int]:
    """Numbers of the runs of an experiment whose record loses all observations of each run as soon
    as that has ended."""
    script = str(records.parent / "one.sql")
    asked, _ = experiment(Words(script, on=("null",), clients="1", **words))
    lab.run(asked, records=records, sinks=[forgetting(records)])
    with Store(records, must_exist=True) as store:
        return [one.id for one in store.latest().runs]


def forgetting(records: Path) -> Sink:
    def forget(event: Event) -> None:
        if isinstance(event, RunEnded):
            with closing(sqlite3.connect(records)) as connection, connection:
                connection.execute("DELETE FROM observations")

    return forget


def test_a_cell_is_judged_by_what_its_repetitions_handed_over(records: Path) -> None:
    assert len(run(records, repetitions=3, transactions=20)) == 3
    with closing(sqlite3.connect(records)) as connection:
        kept = connection.execute("SELECT repetitions, measured FROM cells").fetchall()
    assert kept == [(3, 3)]


def test_the_next_rate_of_a_goal_follows_from_what_the_run_handed_over(records: Path) -> None:
    """A run that was not measured would end the search."""
    assert len(run(records, goal="mean < 5s", goal_tolerance=1.0, **OPEN)) > 1
