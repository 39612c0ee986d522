"""The metrics of the data: loaded, kept in memory, committed, checked."""

from __future__ import annotations

from collections.abc import Hashable

from assay.contracts.metric import COUNT, SIZE, SPEED, USE, DifferenceWords, Metric
from assay.judge.run import Run
from assay.record.metrics.commits import efficiency
from assay.record.metrics.work import driven, kept


def _one_load(run: Run) -> Hashable:
    return run.data.one_load if run.data else None


def _loaded(
    name: str, unit: str, meaning: str, words: DifferenceWords | None, exported: str = ""
) -> Metric:
    """Once for all runs that share a load; 0 where the data were there."""
    return Metric(
        name=name,
        unit=unit,
        meaning=meaning,
        value=lambda run: getattr(run.data, name) if run.data else None,
        words=words,
        is_result=lambda _run, value: bool(value),
        measured_once=_one_load,
        exported=exported,
    )


def _rows_loaded(run: Run) -> int | None:
    return sum(run.data.rows.values()) or None if run.data else None


def _write_amplification(run: Run) -> float | None:
    """Nothing counts the bytes of the rows themselves."""
    if run.driven is None or run.driven.device_cost is None or run.data is None:
        return None
    rows, data_bytes = sum(run.data.rows.values()), run.data.data_bytes
    changed = run.driven.server_counters.get("rows_changed")
    if not (rows and data_bytes and changed):
        return None
    return run.driven.device_cost.written_bytes / (changed * data_bytes / rows)


def _checks(
    name: str, meaning: str, ok: bool | None, words: DifferenceWords | None = None
) -> Metric:
    """It is a result where an answer was compared with a right one."""
    return Metric(
        name=name,
        unit="count",
        meaning=meaning,
        value=lambda run: sum(check["ok"] is ok for check in run.checks),
        is_never_null=True,
        words=words,
        is_result=lambda run, _value: any(check["ok"] is not None for check in run.checks),
    )


SIZE_ON_DISK = _loaded(
    "size_on_disk_bytes", "bytes", "after the load", SIZE, "Data of the system, once loaded."
)
CREATION = Metric(
    name="creation_ns",
    unit="ns",
    meaning="to make the data directory of a server and to start it, until it answers",
    null="reached by URL, or the directory was a copy",
    value=lambda run: run.deployment.creation_ns if run.deployment else None,
    words=SPEED,
    measured_once=lambda run: run.deployment.creation_ns if run.deployment else None,
)
LOAD_TIME = Metric(
    name="load_time_ns",
    unit="ns",
    meaning="of loading, indexing and analyzing",
    value=lambda run: (run.data.made_ns or None) if run.data else None,
    measured_once=_one_load,
)
OF_DATA = (
    Metric(
        name="data_file_bytes", unit="bytes", meaning="of the data directory, at the end",
        value=kept("data_in_memory", "file_bytes"),
    ),
    Metric(
        name="data_cached_bytes", unit="bytes", meaning="of them, in the page cache",
        value=kept("data_in_memory", "cached_bytes"),
    ),
    Metric(
        name="commits", unit="count", meaning="transactions that ended ok and change data",
        null="not counted", value=driven(lambda whole: whole.commits),
    ),
    Metric(
        name="device_written_per_commit_bytes",
        unit="bytes",
        meaning="by the whole device under the data, for each transaction that changes data",
        null="one of both is not known, or nothing was committed",
        value=driven(
            lambda whole: (
                whole.device_cost.written_bytes / whole.commits
                if whole.device_cost and whole.commits
                else None
            )
        ),
        is_whole=False,
        words=SIZE,
    ),
    Metric(
        name="write_amplification", unit="ratio",
        meaning="bytes that the device under the data wrote for each byte of the rows that were "
        "changed; these are as large as the loaded ones are in their files, on average",
        null="the device, the rows that the server changed, or their size is not known",
        value=_write_amplification, is_whole=False, words=USE, column="write amplification",
        exported="Bytes that the device wrote for each byte of the rows that were changed.",
    ),
    Metric(
        name="commit_efficiency", unit="ratio",
        meaning="commits per second, divided by the flushes per second of the storage's probe",
        value=efficiency, is_whole=False,
        exported="Commits per second, divided by the flushes per second of the storage's probe.",
    ),
    Metric(name="rows_loaded", unit="count", meaning="in all tables", value=_rows_loaded),
    SIZE_ON_DISK,
    CREATION,
    _loaded("load_ns", "ns", "rows sent in one transaction", SPEED),
    _loaded("index_ns", "ns", "indexes and keys", SPEED),
    _loaded("analyze_ns", "ns", "statistics", None),
    LOAD_TIME,
    _checks("checks_right", "result checks", True),
    _checks("checks_wrong", "result checks", False, COUNT),
    _checks("checks_unknown", "no expected result", None),
)  # fmt: skip
