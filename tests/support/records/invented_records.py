"""Invented but complete records: what `lab.run` would pass to a `Store`, with round numbers.

Long because each part of a record has one value here, which all tests of reports change from.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import msgspec
from msgspec import structs

import observations
from assay import registry
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.factors import levels
from assay.contracts.observation import VERSION, DeviceCounts, Observed, read_observed
from assay.contracts.recorded import Build, Machine
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.protocol import ProcessSample
from assay.drive.sampling import TimedSample
from assay.experiment import Driving, Experiment, StorageChoice, SystemChoice
from assay.judge import judge_run
from assay.judge.ended_runs import Judged
from assay.load.dataset import Dataset
from assay.plan import Cell, Plan, PlannedRun, fingerprint, layout
from assay.probe.measure import DEPTHS, Flushes, Measured, Probe, RandomReads
from assay.provision.machine.sampling import MachineSample
from assay.record import ExperimentRecord, Run, Store
from assay.record import store as record_store
from assay.record.planned_runs import ExperimentFacts
from assay.record.writer import Change, Writer
from assay.workload.workload_record import WorkloadRecord

T = TypeVar("T")
S = 1_000_000_000
MACHINE: Machine = {
    "cpu_model": "Invented 9000", "architecture": "x86_64", "processors": 8, "processors_usable": 8,
    "memory_bytes": 16 << 30, "kernel": "6.1.0", "operating_system": "Invented Linux 12",
    "python": "3.11.9",
}  # fmt: skip
BUILD: Build = {"assay": "0.1.0", "version": "0.1.0", "profile": "release"}
CHECKS = {"S01": ("ISBN without ISBN-13", 156), "S02": ("confused ISBN-13", 0)}
WORKLOAD = WorkloadRecord(
    name="bibsql",
    title="bibliographies in SQL",
    fingerprint="f" * 64,
    report={"parallel": {}, "checks": {}},
)
FACTS = ExperimentFacts(MACHINE, WORKLOAD, BUILD, fingerprint.Content("", "", "", ""))
HERE = StorageChoice("here", "here")
SSD = StorageChoice("ssd", "here", "/mnt/ssd")
POSTGRESQL = SystemChoice("postgresql")
MARIADB = SystemChoice("mariadb", options={"engine": "MyISAM"})
SQLITE = SystemChoice("sqlite")


def workload_with(**changes: Any) -> WorkloadRecord:
    return WorkloadRecord.of_record({**WORKLOAD.for_record(), **changes})


def plan(
    systems: Iterable[SystemChoice],
    storages: Iterable[StorageChoice] = (HERE,),
    *,
    test: str = "parallel",
    clients: Iterable[int] = (8,),
    repetitions: int = 1,
    parameters: Mapping[str, Any] | None = None,
    driving: Iterable[Driving] = (Driving(passes=1),),
    is_sequential: bool = False,
) -> Plan:
    """Every combination, repetitions outermost; ``is_sequential``: innermost."""
    systems, storages, clients = tuple(systems), tuple(storages), tuple(clients)
    cells = [
        Cell(
            "bibsql",
            test,
            system,
            storage,
            count,
            parameters or {},
            levels({"protocol": "simple", "threads": 0}),
            driving=driven,
        )
        for driven in driving
        for count in clients
        for storage in storages
        for system in systems
    ]
    cells = [replace(cell, fingerprint=fingerprint.fingerprint_of_cell(cell)) for cell in cells]
    experiment = Experiment("bibsql", (test,), systems, storages, clients, repetitions=repetitions)
    runs = [(cell, repetition) for repetition in range(1, repetitions + 1) for cell in cells]
    if is_sequential:
        runs.sort(key=lambda run: cells.index(run[0]))
    return Plan(
        experiment,
        tuple(
            PlannedRun(cell, repetition, seed=2**64 - 1 - position, position=position)
            for position, (cell, repetition) in enumerate(runs)
        ),
    )


def deployment(cell: Cell, *, password: str | None = None, **changes: Any) -> Deployment:
    is_file = cell.system.name == "sqlite"
    values: dict[str, Any] = {
        "system": cell.system.name,
        "label": cell.system.label,
        "endpoints": (
            Address(
                driver={"mariadb": "mysql"}.get(cell.system.name, cell.system.name),
                unix=None if is_file else "/run/socket",
                file="/data/bibtex" if is_file else None,
                user="reader",
                password=password,
                database="bibtex",
            ),
        ),
        "version": f"{cell.system.name} 1.2.3",
        "options": dict(cell.system.options),
        "settings_asked": {},
        "settings": {"max_connections": "1000", "password_encryption": "strong"},
        "connection_limit": None if is_file else 1000,
        "is_embedded": is_file,
    }
    given = StorageFacts(
        cell.storage.name, "here", "/data", "ext4", "/dev/sda1", "rw", 10**12, 5 * 10**11
    )
    storage = changes.pop("storage", given)
    nodes = (Node("node", storage, None if is_file else 4711),)
    return Deployment(**{**values, "nodes": nodes, **changes})


def dataset(**changes: Any) -> Dataset:
    values = {
        "source": "real", "description": "13 files of the beebe collection",
        "fingerprint": "d" * 64, "items": 9733,
        "rows": {"bibtab": 9733, "strtab": 1610, "namtab": 5000}, "bytes_sent": 8_987_089,
        "schema_ns": 5_000_000, "load_ns": 973_300_000, "index_ns": 400_000_000,
        "analyze_ns": 100_000_000, "size_on_disk_bytes": 20_500_000, "skipped_items": 0,
        "problems": [], "replicas": 1, "variant": "full",
    }  # fmt: skip
    return Dataset.of_record({**values, **changes}, "data set")


def latency(middle_ns: int, count: int = 0) -> dict[str, Any]:
    factors = {"min": 50, "p50": 100, "p90": 150, "p95": 180, "p99": 250, "p99_9": 280, "max": 400}
    times = {f"{name}_ns": middle_ns * percent // 100 for name, percent in factors.items()}
    mean_ns = middle_ns * 1.1
    sums = {"count": count, "sum_ns": round(count * mean_ns), "mean_ns": mean_ns}
    return {**times, **sums, "overflow": 0, "histogram": "HISTFAAAA"}


def observation(cell: Cell, elapsed_ns: int, **changes: Any) -> dict[str, Any]:
    """All clients run the two checks once, without errors."""
    each = cell.clients
    scheduled = each * len(CHECKS)
    values = {
        "version": VERSION,
        "started_unix_ns": 1_700_000_000 * S,
        "elapsed_ns": elapsed_ns,
        "connect_ns": 4_000_000,
        "clients": each,
        "threads": 2,
        "outcomes": {"scheduled": scheduled, "ok": scheduled},
        "transactions": [
            {
                "name": name,
                "outcome": "ok",
                "count": each,
                "latency": latency(elapsed_ns // 100 * (place + 1), each),
            }
            for place, name in enumerate(CHECKS)
        ],
        "passes": {"count": each, "latency": latency(elapsed_ns // 4, each)},
        "intervals": changes["intervals"]
        if "intervals" in changes
        else [{"second": second, "ok": 1} for second in range(math.ceil(elapsed_ns / S))],
        "errors": [],
        "client_ends": [
            {
                "client": client,
                "elapsed_ns": elapsed_ns,
                "passes": 1,
                "transactions": 2,
                "state": "done",
            }
            for client in range(each)
        ],
        "results": [
            {
                "transaction": name, "statement": 0, "rows": rows, "digest": f"{rows:016x}",
                "answers": each, "differing": 0, "first_difference": None,
            }
            for name, (_, rows) in CHECKS.items()
        ],
        "client_cost": {
            "user_ns": elapsed_ns // 50,
            "system_ns": elapsed_ns // 100,
            "resident_peak_bytes": 30_000_000,
            "voluntary_switches": 10,
            "involuntary_switches": 1,
        },
        "ended_by": "stop",
    }  # fmt: skip
    return {**values, **changes}


def report_of(cell: Cell, elapsed_ns: int, **changes: Any) -> Observed:
    """The same, typed."""
    return observed(observation(cell, elapsed_ns, **changes))


def observed(plain: Mapping[str, Any]) -> Observed:
    """The document with every key that it must have; one that says it did not drive any clients as
    it is."""
    document = plain if "kind" in plain else completed(plain)
    return read_observed(document, registry.step_reports())


def completed(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Of what is left out there is nothing."""
    return {
        "drained_ns": 0,
        "statements": 0,
        "reconnects": 0,
        "arrival": {"kind": "closed", "offered_rate_per_s": None},
        "resolution": {"lowest_ns": 512, "significant_digits": 3, "highest_ns": 3600 * S},
        "littles_law": None,
        "transactions_per_client": {"least": 2, "median": 2, "most": 2},
        "in_flight": {"count": 0, "oldest_ns": 0, "begun_in_warm_up": 0},
        "carried_over": {"count": 0, "longest_ns": 0},
        "groups": [],
        **dict.fromkeys(
            ("outcomes_by_transaction", "per_statement", "stalls", "suspensions", "outages"), ()
        ),
        **plain,
        **_measured(plain),
        "intervals": [_interval(one) for one in plain["intervals"]],
        "errors": [observations.error(**one) for one in plain["errors"]],
        "client_ends": [{"group": "", **one} for one in plain["client_ends"]],
        "client_cost": {
            **dict.fromkeys(("resident_bytes", "resident_grown_bytes"), 0),
            **dict.fromkeys(("voluntary_switches", "involuntary_switches"), 0),
            "resident_peak_bytes": 0,
            "per_transaction_ns": 0.0,
            "waited_for_processor_ns": 0,
            "machine_busy_ns": None,
            **plain["client_cost"],
        },
        **(
            {"groups": [_group(plain, one) for one in plain["groups"]]} if "groups" in plain else {}
        ),
    }


def _measured(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Outcomes and times, of all clients or of a group."""
    transactions = [_transaction(one) for one in plain["transactions"]]
    ok = [one for one in transactions if one["outcome"] == "ok"]
    slowest = max((one["latency"]["p50_ns"] for one in ok), default=0)
    count = sum(one["count"] for one in ok)
    times = ok[0] if len(ok) == 1 else _transaction({"latency": latency(slowest, count)})
    keys = ("latency", "service_time", "schedule_lag")
    all_ok = {"count": count, **{key: times[key] for key in keys}}
    found = {"transactions": transactions, "all_ok": all_ok, **plain}
    return {
        "outcomes": observations.outcomes(**plain["outcomes"]),
        "transactions": transactions,
        "all_ok": found["all_ok"],
    }


def _transaction(plain: Mapping[str, Any]) -> dict[str, Any]:
    count = plain.get("count", plain["latency"]["count"])
    times = {
        key: {**one, "count": count}
        for key, one in plain.items()
        if key in ("latency", "service_time", "schedule_lag") and one is not None
    }
    return {"late": 0, "schedule_lag": None, "service_time": times["latency"], **plain, **times}


def _group(plain: Mapping[str, Any], group: Mapping[str, Any]) -> dict[str, Any]:
    own = {**plain, **group}
    outcomes = observations.outcomes(**own["outcomes"])
    return {
        "name": group["name"], "clients": own["clients"],
        "arrival": {"kind": "closed", "offered_rate_per_s": None}, "elapsed_ns": own["elapsed_ns"],
        "throughput_per_s": outcomes["ok"] / (own["elapsed_ns"] / S), "outcomes_by_transaction": [],
        "passes": None, "errors": [], **_measured(own),
    }  # fmt: skip


def _interval(plain: Mapping[str, Any]) -> dict[str, Any]:
    counts = ("aborted", "failed", "unknown", "late", "skipped", "retries", "clients_connected")
    times = ("p50_ns", "p99_ns", "max_ns", "stalled_ns", "suspended_ns")
    return {
        "group": "",
        **dict.fromkeys((*counts, *times), 0),
        **dict.fromkeys(("latency", "schedule_lag", "schedule_lag_p99_ns")),
        **plain,
    }


PLACE: dict[str, Any] = {
    "id": 0, "experiment_id": 1, "workload": "null",
    "planned": PlannedRun(
        Cell(
            "null", "one", SystemChoice("null"), HERE, 8, {},
            levels({"protocol": "simple", "threads": 0}),
        ),
        repetition=1, seed=1, position=0,
    ),
    "system_label": "null", "storage": "here", "cell_fingerprint": "", "state": "done",
}  # fmt: skip
"""Of a run that is in no record."""


def changed(run: Run, part: str, **values: Any) -> Run:
    """The run with other values in its ``observation``, its ``dataset`` or its ``deployment``."""
    if part == "observation":
        assert run.driven is not None
        return structs.replace(run, observation=observed({**run.driven.document, **values}))
    if part == "dataset":
        assert run.data is not None
        kept = {**run.data.for_record(), **values}
        return structs.replace(run, data=Dataset.of_record(kept, "data set"))
    before = getattr(run, part)
    found = (replace if is_dataclass(before) else msgspec.structs.replace)(before, **values)
    return structs.replace(run, **{part: found})


def of_cell(run: Run, **values: Any) -> Run:
    """The run, of a cell with other levels."""
    return planned_as(run, cell=replace(run.cell, **values))


def planned_as(run: Run, **values: Any) -> Run:
    """The run, with another place in its plan."""
    return structs.replace(run, planned=replace(run.planned, **values))


def each_run(record: ExperimentRecord, change: Callable[[Run], Run]) -> ExperimentRecord:
    """The record with other runs."""
    return structs.replace(record, runs=tuple(map(change, record.runs)))


def disturbed(run: Run, share: float) -> Run:
    """The run while other programs used this share of the machine's processors."""
    assert run.driven is not None
    states = dict.fromkeys(("user_ns", "system_ns", "idle_ns", "iowait_ns", "steal_ns"), 0)
    peaks = {"load_1min_peak": 0.0, "cached_peak_bytes": 0, "dirty_peak_bytes": 0}
    others_ns = round(share * run.driven.elapsed_ns * MACHINE["processors"])
    cost = {**states, **peaks, "other_programs_ns": others_ns}
    return judged_again(changed(run, "observation", machine_cost=cost))


def judged_again(found: Run) -> Run:
    verdict, warnings = judge_run(found)
    return structs.replace(
        found, warnings=tuple(warnings), verdict=verdict.word, verdict_reason=verdict.reason
    )


def checks(found: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
    return [
        {
            "id": name,
            "title": title,
            "expected": expected,
            "found": (found or {}).get(name, expected),
            "ok": (found or {}).get(name, expected) == expected,
            "note": "",
        }
        for name, (title, expected) in CHECKS.items()
    ]


def samples() -> list[TimedSample]:
    return [
        TimedSample(
            at_s,
            ProcessSample(
                processes=9,
                threads=threads,
                resident_bytes=98_000_000,
                virtual_bytes=597_000_000,
                open_files=250,
                cpu_ns=cpu_ns,
                read_bytes=4096,
                files=2,
                handles={"bibtab.MYD": 249, "bibtab.MYI": 1},
            ),
            DeviceCounts(4096, 8192, 1, 2, 3, 4, 5),
            MachineSample(1, 2, 3, 4, 5, 0.5, 6, 7),
        )
        for at_s, threads, cpu_ns in ((0.25, 9, S), (1.25, 11, 3 * S))
    ]


def drive_document(cell: Cell, password: str | None = None) -> dict[str, Any]:
    return {
        "deployment": {"driver": cell.system.name, "password": password},
        "scripts": [
            {
                "name": name,
                "path": f"workloads/bibsql/{name}.sql",
                "text": f"select '{name}';",
                "weight": 1,
            }
            for name in CHECKS
        ],
        "order": "sequence",
        "clients": cell.clients,
    }


def probe(
    name: str,
    flushes_per_s: float,
    reads_per_s: float = 1000.0,
    *,
    spread: float = 0.0,
    **changes: Any,
) -> Probe:
    """A deeper queue reads more, by its depth. ``spread``: of the flushes, to either side."""
    measured = {"count": 500, "mean_ns": 1_000_000}
    return Probe(
        storage=name,
        begun_unix_ns=time.time_ns(),
        program="fio-1.0",
        seconds=2.0,
        file_bytes=256_000_000,
        random_reads=tuple(
            RandomReads(
                depth=depth,
                per_s=reads_per_s * depth,
                bytes_per_s=reads_per_s * depth * 8192,
                **measured,
            )
            for depth in DEPTHS
        ),
        sequential_read=Measured(per_s=500.0, bytes_per_s=5e8, **measured),
        sequential_write=Measured(per_s=400.0, bytes_per_s=4e8, **measured),
        flushes=Flushes(
            per_s=flushes_per_s,
            bytes_per_s=flushes_per_s * 8192,
            low_per_s=flushes_per_s * (1 - spread),
            high_per_s=flushes_per_s * (1 + spread),
            **measured,
        ),
        **changes,
    )


def write_run(store: Store, run: PlannedRun, elapsed_ns: int, **changes: Any) -> int:
    """One complete run; ``changes``: probes (by the name of the storage), deployment, dataset,
    observation, checks, samples, storage_requests, warnings, end; ``cells``: gets it when it has
    ended, as the laboratory's."""
    cell = run.cell
    run_id = store.begin_run(run)
    if cell.storage.name in changes.get("probes", {}):
        store.probed(changes["probes"][cell.storage.name])
    store.provisioned(deployment(cell, **changes.get("deployment", {})))
    store.loaded(dataset(**changes.get("dataset", {})))
    store.driving(drive_document(cell))
    store.observed(report_of(cell, elapsed_ns, **changes.get("observation", {})))
    store.sampled(changes.get("samples", samples()))
    store.accounted(changes.get("storage_requests", ()))
    store.checked(changes.get("checks", checks()))
    judged: Judged = {}
    if cells := changes.get("cells"):
        judged = cells.ended(run.position, judged_again(store.run_so_far("done")))
    store.end_run(
        *changes.get("end", ("done",)),
        verdict=changes.get("verdict", ("", "")),
        warnings=changes.get("warnings", ()),
        cells=judged,
    )
    return run_id


def begin(
    store: Store,
    planned: Plan,
    *,
    workload: WorkloadRecord | Mapping[str, Any] | None = None,
    machine: Mapping[str, Any] | None = None,
) -> int:
    """The experiment of these runs begins. ``workload``: or what it has beside `WORKLOAD`."""
    if not isinstance(workload, WorkloadRecord):
        workload = workload_with(**(workload or {}))
    facts = structs.replace(FACTS, machine={**MACHINE, **(machine or {})}, workload=workload)
    return store.begin_experiment(planned.experiment, planned, facts)


class _AtOnce(Writer):
    """Writes all in one transaction, with no copy for the case that the file is lost: what is in
    the file then is the same, and takes half the time."""

    def change(self, change: Change[T]) -> T:
        if not self.connection.in_transaction:
            self.connection.execute("BEGIN")
        return change(self.connection)

    def read(self, question: Change[T]) -> T:
        return question(self.connection)

    def experiment_begins(self, experiment_id: int) -> None:
        pass

    def close(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("COMMIT")
        super().close()


def at_once(path: Path) -> Store:
    """A store for tests of what is in a record, and not of how it comes there."""
    with mock.patch.object(record_store, "Writer", _AtOnce):
        return Store(path)


def experiment(
    path: Path,
    planned: Plan,
    elapsed: Mapping[tuple[str, str, int], Iterable[float]] | float,
    *,
    workload: WorkloadRecord | Mapping[str, Any] | None = None,
    machine: Mapping[str, Any] | None = None,
    of_run: Callable[[PlannedRun], Mapping[str, Any]] = lambda _: {},
    **changes: Any,
) -> ExperimentRecord:
    """A whole experiment through the store. ``elapsed``: (system name, storage name, clients) → one
    time in s per repetition, or one time for all. ``of_run``: what a run has beside ``changes``."""
    with at_once(path) as store:
        number = begin(store, planned, workload=workload, machine=machine)
        for run in planned.runs:
            cell = run.cell
            key = (cell.system.name, cell.storage.name, cell.clients)
            seconds = (
                list(elapsed[key])[run.repetition - 1] if isinstance(elapsed, Mapping) else elapsed
            )
            write_run(store, run, round(seconds * S), **changes, **of_run(run))
        found = store.experiment(number)
        store.judged({fingerprint: cell for (fingerprint, _), cell in found.cells.items()})
        store.end_experiment()
        return structs.replace(found, ended_unix_ns=time.time_ns(), is_under_way=False)


class SimulatedRuns:
    """The runs of a plan and those that are added to it, as `assay.lab.repetitions` adds them,
    without a record."""

    def __init__(self, runs: Iterable[PlannedRun]) -> None:
        self.runs = {run.position: run for run in runs}

    def further(self, run: PlannedRun) -> PlannedRun:
        return self._kept(layout.further(run, 1, self._repetition(run), self._position))

    def in_place_of(self, run: PlannedRun) -> PlannedRun:
        return self._kept(layout.in_place(run, self._repetition(run), self._position))

    @property
    def _position(self) -> int:
        return 1 + max(self.runs)

    def _repetition(self, run: PlannedRun) -> int:
        of_cell = (one for one in self.runs.values() if one.cell == run.cell)
        return 1 + max(one.repetition for one in of_cell)

    def _kept(self, run: PlannedRun) -> PlannedRun:
        self.runs[run.position] = run
        return run
