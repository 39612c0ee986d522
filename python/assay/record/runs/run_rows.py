"""Takes what was seen beside the clients of a run: samples of the machine, requests of its storage,
tables that were there, probes; keeps it, and returns the rows of each run or step."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from msgspec import structs

from assay.contracts import documents
from assay.contracts.observation import DeviceCounts
from assay.contracts.storages.abilities import AccountedSecond
from assay.contracts.systems.protocol import ProcessSample
from assay.drive.sampling import TimedSample
from assay.judge.run import OpenFile
from assay.load.existing_data import ExistingData, ExistingTable
from assay.probe.measure import Probe
from assay.provision.machine.sampling import MachineSample
from assay.record.file.kept_texts import json_text, storable
from assay.record.file.record_file import insert

MOST_FILES = 100
"""Of a step; those with the most handles."""
_NO_COLUMNS = ("handles", "pids", "counts")
_PROCESSES = [one for one in ProcessSample.__struct_fields__ if one not in _NO_COLUMNS]
_DEVICE = [*DeviceCounts.__struct_fields__]
_MACHINE = [*MachineSample.__struct_fields__]
_SAMPLE_COLUMNS = ", ".join(
    [*_PROCESSES, *(f"device_{name}" for name in _DEVICE), *(f"machine_{one}" for one in _MACHINE)]
)
Part = TypeVar("Part", DeviceCounts, MachineSample)


def keep_samples(
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
    found = rows_by_step(
        connection,
        runs,
        f"SELECT run_id, step, at_s, {_SAMPLE_COLUMNS} FROM samples "
        f"WHERE run_id IN {RUNS} ORDER BY at_s",
    )
    return {place: tuple(_sample(*values) for values in rows) for place, rows in found.items()}


def open_files(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[tuple[int, int], tuple[OpenFile, ...]]:
    """By run and step, the files with the most handles first."""
    found = rows_by_step(
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


RUNS = "(SELECT value FROM json_each(?))"
"""In a question: the numbers of the runs."""

Row = tuple[Any, ...]


def rows_by_run(
    connection: sqlite3.Connection, runs: Sequence[int], question: str
) -> dict[int, list[Row]]:
    """The first column of the question is the number of the run; the others are returned. Runs
    without rows are not in the result."""
    found: dict[int, list[Row]] = {}
    for run_id, *values in connection.execute(question, (json.dumps(runs),)):
        found.setdefault(run_id, []).append(tuple(values))
    return found


def rows_by_step(
    connection: sqlite3.Connection, runs: Sequence[int], question: str
) -> dict[tuple[int, int], list[Row]]:
    """The first two columns are the number of the run and the position of its step."""
    found: dict[tuple[int, int], list[Row]] = {}
    for run_id, step, *values in connection.execute(question, (json.dumps(runs),)):
        found.setdefault((run_id, step), []).append(tuple(values))
    return found


_REQUEST_COLUMNS = ", ".join(AccountedSecond.__struct_fields__)


def keep_storage_requests(
    connection: sqlite3.Connection, run_id: int, position: int, seconds: Iterable[AccountedSecond]
) -> None:
    for one in seconds:
        insert(connection, "storage_requests", run_id=run_id, step=position, **structs.asdict(one))


def storage_requests_of_runs(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[tuple[int, int], tuple[AccountedSecond, ...]]:
    """By run and step, in the order of seconds and operations."""
    found = rows_by_step(
        connection,
        runs,
        f"SELECT run_id, step, {_REQUEST_COLUMNS} FROM storage_requests WHERE run_id IN {RUNS} "
        "ORDER BY second, operation",
    )
    return {place: tuple(AccountedSecond(*one) for one in rows) for place, rows in found.items()}


def keep_existing_tables(
    connection: sqlite3.Connection, run_id: int, tables: Iterable[ExistingTable], *, is_after: bool
) -> None:
    for position, table in enumerate(tables):
        values = {
            name: storable(value) if isinstance(value, str) else value
            for name, value in table._asdict().items()
        }
        insert(
            connection,
            "existing_tables",
            run_id=run_id,
            is_after=int(is_after),
            position=position,
            **{**values, "is_only_added_to": int(table.is_only_added_to)},
        )


def existing_data_of_runs(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[int, ExistingData]:
    """By run; those that were looked at."""
    question = (
        "SELECT run_id, is_after, name, rows, digest, is_only_added_to, unknown, indexes "
        f"FROM existing_tables WHERE run_id IN {RUNS} ORDER BY run_id, is_after, position"
    )
    found: dict[int, ExistingData] = {}
    for run_id, rows in rows_by_run(connection, runs, question).items():
        tables: dict[int, list[ExistingTable]] = {0: [], 1: []}
        for is_after, name, count, digest, is_only_added_to, unknown, indexes in rows:
            table = ExistingTable(name, count, digest, bool(is_only_added_to), unknown, indexes)
            tables[is_after].append(table)
        found[run_id] = ExistingData(tuple(tables[0]), tuple(tables[1]))
    return found


def keep_probe(connection: sqlite3.Connection, run_id: int, probe: Probe) -> None:
    """Adds the probe that was made before this run."""
    insert(
        connection,
        "probes",
        run_id=run_id,
        storage=probe.storage,
        begun_unix_ns=probe.begun_unix_ns,
        document=json_text(probe.document),
    )


def probes_of_experiment(connection: sqlite3.Connection, experiment_id: int) -> list[Probe]:
    """All of its probes, the last one first."""
    found = connection.execute(
        """
        SELECT run_id, document FROM probes
        WHERE run_id IN (SELECT id FROM runs WHERE experiment_id = ?)
        """,
        (experiment_id,),
    )
    probes = [
        documents.read_shape(Probe, json.loads(text), f"run {one}: probe") for one, text in found
    ]
    return sorted(probes, key=lambda probe: probe.known_unix_ns, reverse=True)


def probe_of_run(probes: Iterable[Probe], storage: str, ended_unix_ns: int | None) -> Probe | None:
    """The last probe of the run's storage that was known before the run ended: an experiment that
    was resumed has made its storages, and probed them, again. ``found``: see `of_experiment`."""
    return next(
        (
            one
            for one in probes
            if one.storage == storage
            and (ended_unix_ns is None or one.known_unix_ns <= ended_unix_ns)
        ),
        None,
    )
