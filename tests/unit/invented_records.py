"""Invented but complete records: what `lab.run` would pass to a `Store`, with round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.drive.sampler import TimedSample
from assay.experiment import Driving, Experiment, StorageChoice, SystemChoice
from assay.plan import Cell, Plan, PlannedRun, fingerprint
from assay.provision.deployment import Address, Deployment, Node, StorageFacts
from assay.record import ExperimentRecord, Store
from assay.systems.protocol import ProcessSample

S = 1_000_000_000
MACHINE = {
    "cpu_model": "Invented 9000",
    "architecture": "x86_64",
    "processors": 8,
    "processors_usable": 8,
    "memory_bytes": 16 * 10**9,
    "kernel": "6.1.0",
    "operating_system": "Invented Linux 12",
    "python": "3.11.9",
}
BUILD = {"assay": "0.1.0", "version": "0.1.0", "profile": "release"}
CHECKS = {"S01": ("ISBN without ISBN-13", 156), "S02": ("confused ISBN-13", 0)}
WORKLOAD: dict[str, Any] = {
    "name": "bibsql",
    "title": "bibliographies in SQL",
    "fingerprint": "f" * 64,
    "report": {"parallel": {}, "checks": {}},
    "published": {},
}
HERE = StorageChoice("here", "here")
SSD = StorageChoice("ssd", "here", "/mnt/ssd")
POSTGRESQL = SystemChoice("postgresql")
MARIADB = SystemChoice("mariadb", options={"engine": "MyISAM"})
SQLITE = SystemChoice("sqlite")


def plan(
    systems: Iterable[SystemChoice],
    storages: Iterable[StorageChoice] = (HERE,),
    *,
    test: str = "parallel",
    clients: Iterable[int] = (8,),
    repetitions: int = 1,
    parameters: Mapping[str, Any] | None = None,
    driving: Iterable[Driving] = (Driving(passes=1),),
) -> Plan:
    """Every combination, repetitions outermost."""
    systems, storages, clients = tuple(systems), tuple(storages), tuple(clients)
    cells = [
        Cell(
            "bibsql",
            test,
            system,
            storage,
            count,
            parameters or {},
            "simple",
            0,
            driving=driven,
        )
        for driven in driving
        for count in clients
        for storage in storages
        for system in systems
    ]
    cells = [replace(cell, fingerprint=fingerprint.of_cell(cell)) for cell in cells]
    experiment = Experiment("bibsql", (test,), systems, storages, clients, repetitions=repetitions)
    runs = [(cell, repetition) for repetition in range(1, repetitions + 1) for cell in cells]
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


def dataset(**changes: Any) -> dict[str, Any]:
    values = {
        "source": "real",
        "description": "13 files of the beebe collection",
        "fingerprint": "d" * 64,
        "entries": 9733,
        "rows": {"bibtab": 9733, "strtab": 1610, "namtab": 5000},
        "bytes_sent": 8_987_089,
        "schema_ns": 5_000_000,
        "load_ns": 973_300_000,
        "index_ns": 400_000_000,
        "analyze_ns": 100_000_000,
        "size_on_disk_bytes": 20_500_000,
        "skipped_entries": 0,
        "problems": [],
        "replicas": 1,
        "variant": "full",
    }
    return {**values, **changes}


def latency(middle_ns: int) -> dict[str, Any]:
    factors = {"min": 50, "p50": 100, "p90": 150, "p95": 180, "p99": 250, "p99_9": 280, "max": 400}
    times = {f"{name}_ns": middle_ns * percent // 100 for name, percent in factors.items()}
    return {**times, "mean_ns": middle_ns * 1.1, "overflow": 0, "histogram": "HISTFAAAA"}


def observation(cell: Cell, elapsed_ns: int, **changes: Any) -> dict[str, Any]:
    """All clients run the two checks once, without errors."""
    each = cell.clients
    scheduled = each * len(CHECKS)
    values = {
        "version": 2,
        "started_unix_ns": 1_700_000_000 * S,
        "elapsed_ns": elapsed_ns,
        "connect_ns": 4_000_000,
        "clients": each,
        "threads": 2,
        "outcomes": {
            "scheduled": scheduled,
            "ok": scheduled,
            "aborted": 0,
            "failed": 0,
            "unknown": 0,
            "skipped": 0,
        },
        "transactions": [
            {
                "name": name,
                "outcome": "ok",
                "count": each,
                "latency": latency(elapsed_ns // 100 * (place + 1)),
            }
            for place, name in enumerate(CHECKS)
        ],
        "passes": {"count": each, "latency": latency(elapsed_ns // 4)},
        "intervals": [
            {"second": second, "ok": 1, "failed": 0, "p50_ns": 1, "p99_ns": 2, "max_ns": 3}
            for second in range(math.ceil(elapsed_ns / S))
        ],
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
                "transaction": name,
                "statement": 0,
                "rows": rows,
                "digest": f"{rows:016x}",
                "answers": each,
                "differing": 0,
                "first_difference": None,
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
    }
    return {**values, **changes}


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
            ),
            device_read_bytes=4096,
            device_written_bytes=8192,
        )
        for at_s, threads, cpu_ns in ((0.25, 9, S), (1.25, 11, 3 * S))
    ]


def drive_document(cell: Cell, password: str | None = None) -> dict[str, Any]:
    return {
        "site": {"driver": cell.system.name, "password": password},
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


def write_run(store: Store, run: PlannedRun, elapsed_ns: int, **changes: Any) -> int:
    """One complete run; ``changes``: site, dataset, observation, checks, samples, warnings, end."""
    cell = run.cell
    run_id = store.begin_run(run)
    store.provisioned(deployment(cell, **changes.get("site", {})))
    store.loaded(dataset(**changes.get("dataset", {})))
    store.driving(drive_document(cell))
    store.observed(observation(cell, elapsed_ns, **changes.get("observation", {})))
    store.sampled(changes.get("samples", samples()))
    store.checked(changes.get("checks", checks()))
    store.end_run(
        *changes.get("end", ("done",)),
        verdict=changes.get("verdict", ("", "")),
        warnings=changes.get("warnings", ()),
    )
    return run_id


def begin(
    store: Store,
    planned: Plan,
    *,
    workload: Mapping[str, Any] | None = None,
    machine: Mapping[str, Any] | None = None,
) -> int:
    """The experiment of these runs begins."""
    return store.begin_experiment(
        planned.experiment,
        planned,
        {**MACHINE, **(machine or {})},
        workload={**WORKLOAD, **(workload or {})},
        build=BUILD,
    )


def experiment(
    path: Path,
    planned: Plan,
    elapsed: Mapping[tuple[str, str, int], Iterable[float]] | float,
    *,
    workload: Mapping[str, Any] | None = None,
    machine: Mapping[str, Any] | None = None,
    **changes: Any,
) -> ExperimentRecord:
    """A whole experiment through the store. ``elapsed``: (system name, storage name, clients) → one
    time in s per repetition, or one time for all."""
    with Store(path) as store:
        number = begin(store, planned, workload=workload, machine=machine)
        for run in planned.runs:
            cell = run.cell
            key = (cell.system.name, cell.storage.name, cell.clients)
            seconds = (
                list(elapsed[key])[run.repetition - 1] if isinstance(elapsed, Mapping) else elapsed
            )
            write_run(store, run, round(seconds * S), **changes)
        store.end_experiment()
        return store.experiment(number)
