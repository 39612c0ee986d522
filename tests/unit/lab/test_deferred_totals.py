"""What clients queue for others is in no total of the run: a delivery that is asked for and run is
not two, and who runs it is no client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.cli.output.live import Live
from assay.contracts.events import ClientsAtWork
from assay.experiment.from_command_line import Words, experiment
from assay.judge.statistics import per_second
from assay.lab import lab
from assay.record import Store
from assay.record.metrics.catalogue import METRICS
from assay.report.summaries import latency_words
from step_workloads import folder_of

TEST = """\
scripts = ["ask.sql"]
order = "mix"
clients = [3]
transactions = 20
deferred = { scripts = ["write.sql"], clients = 2 }
"""
ASK = "\\defer write\n\\think 100ms\n"


def test_totals_are_those_of_the_clients(tmp_path: Path) -> None:
    said: list[str] = []

    def sink(event: Any) -> None:
        if isinstance(event, ClientsAtWork):
            said.append(Live().numbers(event.report))

    folder = folder_of(tmp_path, TEST, ask=ASK)
    asked, _ = experiment(Words(str(folder), on=("sqlite",)))
    records = tmp_path / "records.sqlite"
    ended = lab.run(asked, records=records, sinks=[sink])
    with Store(records, must_exist=True) as store:
        (run,) = store.experiment(ended.experiment_id).runs
    assert run.driven is not None
    clients, deferred = run.driven.groups
    assert (clients.outcomes.ok, deferred.outcomes.ok, run.driven.outcomes.ok) == (60, 60, 120)
    assert METRICS["ok"].value(run) == 60
    per_s = METRICS["throughput_per_s"].value(run)
    assert per_s == pytest.approx(60e9 / run.driven.elapsed_ns)
    assert METRICS["latency_max_ns"].value(run) == clients.all_ok.latency.max_ns
    assert METRICS["deferred"].value(run) == 60
    assert sum(per_second.ok(run.driven)) == 60, "by the second as well"
    assert "write" not in latency_words.of_mix([run])  # its times stand apart, with the waits
    assert any("3 clients" in line for line in said) and not any("5 cl" in line for line in said)
