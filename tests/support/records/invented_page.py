"""An invented experiment for the page: systems, storages, clients, repetitions, with settings and a
row for each second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

import invented_records as invented
from assay.experiment import SystemChoice
from assay.record import ExperimentRecord


def record(
    path: Path,
    systems: Sequence[SystemChoice] = (invented.POSTGRESQL, invented.SQLITE),
    clients: Sequence[int] = (1, 2, 8),
    repetitions: int = 2,
    seconds: int = 10,
    settings: int = 3,
) -> ExperimentRecord:
    planned = invented.plan(
        systems, (invented.HERE, invented.SSD), clients=clients, repetitions=repetitions
    )
    intervals = [{"second": second, "ok": 30 + second % 7} for second in range(seconds)]
    return invented.experiment(
        path,
        planned,
        float(seconds),
        workload={"published": PUBLISHED, "report": {"parallel": {"speed_up": True}}},
        observation={"intervals": intervals},
        deployment={"settings": {f"setting_{place}": "value" * 4 for place in range(settings)}},
        probes={
            "here": invented.probe("here", 100.0),
            "ssd": invented.probe("ssd", 5000.0, 40_000.0),
        },
    )


def repeated(record: ExperimentRecord, times: int) -> ExperimentRecord:
    """The same with so many times the repetitions."""
    most = max(run.repetition for run in record.runs)
    runs = [
        invented.planned_as(
            replace(run, id=run.id + part * len(record.runs)),
            repetition=run.repetition + part * most,
        )
        for part in range(times)
        for run in record.runs
    ]
    return replace(record, runs=tuple(runs), runs_planned=len(runs), runs_ended=len(runs))


PUBLISHED = {
    "parallel": {
        "source": "Invented 2011, Table 2",
        "conditions": "other machines",
        "unit": "s",
        "columns": ["disk", "Fusion-io"],
        "rows": [
            {"system": "PostgreSQL", "clients": 8, "values": [240, 45], "speed_up": [5.33]},
            {"system": "SQLite", "clients": 8, "values": [1704, 159], "speed_up": [10.72]},
        ],
    }
}
