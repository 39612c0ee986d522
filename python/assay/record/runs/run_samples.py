"""Takes the samples of a step, and keeps them; returns all that is kept of them.

A sample is one row, whose columns are the fields of its parts: the server's processes, the device
under the data (``device_…``) and the machine (``machine_…``).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from assay.contracts.systems.protocol import ProcessSample
from assay.drive.monitoring.sampler import TimedSample
from assay.judge.run import OpenFile
from assay.provision.machine.machine_sampling import MachineSample
from assay.record.file import rows_of_runs
from assay.record.file.json_text import storable
from assay.record.file.record_file import insert
from assay.record.file.rows_of_runs import RUNS
from assay.storages.device_counters import DeviceCounts

MOST_FILES = 100
"""Of a step; those with the most handles."""
_NO_COLUMNS = ("handles", "pids", "counts")
_PROCESSES = [one for one in ProcessSample.__struct_fields__ if one not in _NO_COLUMNS]
_DEVICE = [*DeviceCounts.__struct_fields__]
_MACHINE = [*MachineSample.__struct_fields__]
_COLUMNS = ", ".join(
    [*_PROCESSES, *(f"device_{name}" for name in _DEVICE), *(f"machine_{one}" for one in _MACHINE)]
)
Part = TypeVar("Part", DeviceCounts, MachineSample)


def keep(
    connection: sqlite3.Connection, run_id: int, position: int, samples: Iterable[TimedSample]
) -> None:
    most: Counter[str] = Counter()
    for timed in samples:
        most |= Counter(timed.sample.handles)
        insert(
            connection,
            "samples",
            run_id=run_id,
            step=position,
            at_s=timed.at_s,
            **{name: getattr(timed.sample, name) for name in _PROCESSES},
            **{f"device_{name}": getattr(timed.device, name, None) for name in _DEVICE},
            **{f"machine_{name}": getattr(timed.machine, name, None) for name in _MACHINE},
        )
    for file, handles in most.most_common(MOST_FILES):
        insert(
            connection,
            "open_files",
            run_id=run_id,
            step=position,
            file=storable(file),
            handles=handles,
        )


def samples(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[tuple[int, int], tuple[TimedSample, ...]]:
    """By run and step; the handles of single files are not in them (`open_files`)."""
    found = rows_of_runs.by_step(
        connection,
        runs,
        f"SELECT run_id, step, at_s, {_COLUMNS} FROM samples WHERE run_id IN {RUNS} ORDER BY at_s",
    )
    return {place: tuple(_sample(*values) for values in rows) for place, rows in found.items()}


def open_files(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[tuple[int, int], tuple[OpenFile, ...]]:
    """By run and step, the files with the most handles first."""
    found = rows_of_runs.by_step(
        connection,
        runs,
        f"SELECT run_id, step, file, handles FROM open_files WHERE run_id IN {RUNS} "
        "ORDER BY handles DESC, file",
    )
    return {place: tuple(OpenFile(*values) for values in rows) for place, rows in found.items()}


def _sample(at_s: float, *values: Any) -> TimedSample:
    behind = len(_PROCESSES) + len(_DEVICE)
    processes = ProcessSample(**dict(zip(_PROCESSES, values[: len(_PROCESSES)], strict=True)))
    return TimedSample(
        at_s,
        processes,
        _part(DeviceCounts, _DEVICE, values[len(_PROCESSES) : behind]),
        _part(MachineSample, _MACHINE, values[behind:]),
    )


def _part(kind: type[Part], names: Sequence[str], values: Sequence[Any]) -> Part | None:
    """None where its first value was not measured."""
    return None if values[0] is None else kind(**dict(zip(names, values, strict=True)))
