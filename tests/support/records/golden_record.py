"""Invented experiments that have all parts a report may have: what reports show is kept whole in
``tests/data/reports.txt``, and ``pytest --keep-outputs`` writes it anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

import invented_records as invented
import observations
from assay.contracts.durability import Durability
from assay.contracts.storage_facts import StorageFacts
from assay.experiment import Driving, StorageChoice, StoragePrice, SystemChoice
from assay.record import ExperimentRecord

S, MS = invented.S, 1_000_000
OPEN = Driving(
    duration_s=20.0, warm_up_s=5.0, arrival="constant", offered_rate_per_s=100.0, retries=3
)
OUTCOMES = {
    "scheduled": 2000, "ok": 1950, "aborted": 10, "failed": 0, "unknown": 0, "skipped": 40,
    "late": 60, "retries": 7, "attempts": 1967,
}  # fmt: skip
DEVICE = {
    "device": "vda", "read_bytes": 1960 * 4096, "written_bytes": 1960 * 8192, "reads": 1960,
    "writes": 3920, "flushes": 980, "busy_ns": 10 * S, "queue_ns": 40 * S,
}  # fmt: skip
MACHINE = {
    "user_ns": 40 * S, "system_ns": 16 * S, "idle_ns": 80 * S, "iowait_ns": 24 * S, "steal_ns": 0,
    "load_1min_peak": 3.59, "cached_peak_bytes": 7_182_000_000, "dirty_peak_bytes": 1_000_000,
    "load_5min_peak": 1.05, "used_peak_bytes": 11_000_000_000, "free_least_bytes": 4_536_000_000,
    "swap_used_peak_bytes": 0, "context_switches": 4000,
}  # fmt: skip
ERROR = {
    "class": "timeout", "code": "57014", "message": "canceling statement", "count": 2,
    "transaction": "move", "first_at_ns": 5,
}  # fmt: skip
UNSAFE = SystemChoice("postgresql", settings={"fsync": "off"})
SLOW, FAST = StorageChoice("slow", "loop"), StorageChoice("fast", "tmpfs")
FLUSHED = Durability(
    "D3", commits=50, flushed_before_answer=50, payload_bytes=50 * 1024, written_bytes=50 * 8192,
    begun_unix_ns=S, taken_unix_ns=7201 * S,
)  # fmt: skip
WRITTEN = Durability("D1", commits=48, payload_bytes=48 * 1024, written_bytes=48 * 4096)


def transaction(name: str, count: int, **changes: Any) -> dict[str, Any]:
    times = {key: invented.latency(ns) for key, ns in changes.pop("times").items()}
    return {"name": name, "outcome": "ok", "count": count, **times, **changes}


def seconds(each: list[int]) -> list[dict[str, Any]]:
    return [{"second": second, "group": "", "ok": ok} for second, ok in enumerate(each)]


def open_loop(**changes: Any) -> dict[str, Any]:
    """An observation of 20 s with an outage, late arrivals and retries."""
    times = {"latency": 4 * MS, "service_time": 2 * MS, "schedule_lag": 1 * MS}
    return {
        "outcomes": OUTCOMES,
        "passes": None,
        "transactions": [transaction("move", 1950, times=times)],
        "intervals": seconds([100] * 8 + [0] * 3 + [100] * 9),
        "outages": [{"from_ns": 8 * S, "to_ns": 11 * S}],
        "reconnects": 4,
        "results": [],
        "server_cost": {
            "cpu_ns": 980 * MS, "read_bytes": 0, "resident_peak_bytes": 98 * MS,
            "per_transaction_ns": 500_000,
        },
        "device_cost": {"device": "vda", "read_bytes": 0, "written_bytes": 1960 * 8192},
        "client_cost": {
            "user_ns": 19_600_000, "system_ns": 19_600_000, "resident_peak_bytes": 30 * MS,
            "voluntary_switches": 1960, "involuntary_switches": 0,
        },
        "server_counters": {"buffer_hits": 990, "buffer_misses": 10},
        **changes,
    }  # fmt: skip


def _everything(**changes: Any) -> dict[str, Any]:
    times = {"latency": 4 * MS, "service_time": 2 * MS, "schedule_lag": MS}
    move = transaction("move", 1900, times=times)
    look = transaction("look", 50, times=dict.fromkeys(times, 7 * S))
    group = {"clients": 4, "outcomes": OUTCOMES, "transactions": [move]}
    statement = {
        "transaction": "move", "statement": 0, "line": 4, "count": 1900,
        "text": "UPDATE t\n  SET a = a + $1 WHERE b = $2",
        "service_time": invented.latency(300_000, 1900),
    }  # fmt: skip
    limits = [
        {"transaction": name, "percentile": "p90", "limit_ns": 5 * S} for name in ("move", "look")
    ]
    return open_loop(
        transactions=[move, look],
        outcomes_by_transaction=[
            {"name": "move", **observations.outcomes(ok=1900, aborted=10)},
            {"name": "look", **observations.outcomes(ok=50)},
        ],
        groups=[{"name": name, **group} for name in ("readers", "writers")],
        per_statement=[statement],
        headline={"title": "sales", "transactions": ["move"]},
        response_limits=limits,
        device_cost=DEVICE,
        machine_cost=MACHINE,
        data_in_memory={"file_bytes": 694_737_740, "cached_bytes": 596_000_000},
        commits=1950,
        **changes,
    )


def _checks(found: dict[str, int]) -> list[dict[str, Any]]:
    return [{**one, "note": f"{one['expected']} rows expected"} for one in invented.checks(found)]


def everything(path: Path) -> ExperimentRecord:
    """Two repetitions of an open loop, on two storages and with less durable commits."""
    planned = invented.plan(
        [invented.POSTGRESQL, UNSAFE], [SLOW, FAST], test="load", driving=[OPEN], repetitions=2
    )
    left_out = (UNSAFE, FAST)
    runs = (one for one in planned.runs if (one.cell.system, one.cell.storage) != left_out)
    runs = tuple(replace(one, position=place) for place, one in enumerate(runs))
    planned = replace(planned, runs=runs)
    prices = {"slow": StoragePrice(1.0, "EUR"), "fast": StoragePrice(4.0, "EUR")}
    planned = replace(planned, experiment=replace(planned.experiment, prices=prices))
    probes = {
        "slow": structs.replace(invented.probe("slow", 50.0, 3000.0), begun_unix_ns=S),
        "fast": structs.replace(invented.probe("fast", 200.0, spread=0.8), begun_unix_ns=S),
    }
    with invented.at_once(path) as store:
        invented.begin(store, planned)
        for run in planned.runs:
            cell = run.cell
            is_slow = cell.storage_name == "slow"
            there = StorageFacts(
                cell.storage_name, "loop", "/data", "ext4" if is_slow else "tmpfs", "/dev/loop3",
                is_own_device=is_slow,
            )  # fmt: skip
            deployment = {
                "durability": WRITTEN if cell.system == UNSAFE else FLUSHED,
                "durability_lowered_by": ("fsync = off",) * (cell.system == UNSAFE),
                "storage": there,
                "cpu_limit": 0.5,
            }
            failed = {**OUTCOMES, "ok": 1947, "failed": 2, "unknown": 1}
            changes = {"outcomes": failed, "errors": [ERROR]} if cell.system == UNSAFE else {}
            invented.write_run(
                store, run, (19 + run.repetition if is_slow else 16) * S, deployment=deployment,
                observation=_everything(**changes),
                checks=_checks({"S01": 155} if cell.system == UNSAFE else {}),
                probes=probes,
            )  # fmt: skip
        cells = store.latest().cells
        store.judged({fingerprint: cell for (fingerprint, _), cell in cells.items()})
        store.end_experiment()
        return fixed(store.latest())


def one_run(path: Path) -> ExperimentRecord:
    """Of two groups of clients, with errors and a wrong answer, on a busy device of its own."""
    planned = invented.plan([invented.POSTGRESQL])
    plain = invented.observation(planned.runs[0].cell, 2 * S)
    group = {key: plain[key] for key in ("outcomes", "transactions")}
    observed = {
        "outcomes": {"scheduled": 16, "ok": 13, "aborted": 0, "failed": 2, "unknown": 1},
        "errors": [ERROR],
        "groups": [{"name": name, **group} for name in ("readers", "writers")],
        "device_cost": {**DEVICE, "reads": 13, "writes": 32, "busy_ns": round(1.9 * S)},
    }
    own = StorageFacts("here", "loop", "/data", "ext4", "/dev/loop3", is_own_device=True)
    return fixed(
        invented.experiment(
            path, planned, 2.0, observation=observed, checks=_checks({"S01": 155}),
            deployment={"storage": own}, end=("failed", "3 transactions failed"),
            warnings=[("stalled", "4 s"), ("errors", "2 failed"), ("from-the-future", "hover")],
        )
    )  # fmt: skip


PAPER = {
    "report": {
        "parallel": {
            "title": "Parallel SQL benchmark", "reproduces": "Beebe 2011, Table 2",
            "blocks": "clients", "unit": "s", "speed_up": True,
        }
    },
    "published": {
        "parallel": {
            "source": "N. H. F. Beebe, 2011, Table 2",
            "conditions": "other machines",
            "unit": "s",
            "columns": ["disk", "Fusion-io"],
            "rows": [
                {"system": "MySQL", "clients": 8, "values": [178, 184], "speed_up": [0.96]},
                {"system": "PostgreSQL", "clients": 8, "values": [240, 45], "speed_up": [5.33]},
                {"system": "PostgreSQL", "clients": 16, "values": [757, 135], "speed_up": [5.61]},
            ],
        }
    },
}  # fmt: skip
"""What the workload of `of_a_paper` declares and publishes."""
_ELAPSED = {
    ("postgresql", "here", 8): (4.0, 4.2, 4.1), ("mariadb", "here", 8): (8.0, 8.1, 10.0),
    ("postgresql", "ssd", 8): (2.0, 2.1, 2.05), ("mariadb", "ssd", 8): (7.9, 8.0, 8.1),
    ("postgresql", "here", 16): (8.0, 8.2, 8.4), ("mariadb", "here", 16): (16.0, 16.2, 16.1),
    ("postgresql", "ssd", 16): (4.0, 4.2, 4.1), ("mariadb", "ssd", 16): (12.3, 12.4, 12.5),
}  # fmt: skip


def of_a_paper(path: Path) -> ExperimentRecord:
    """Two systems, two storages, two client counts, three repetitions, and published numbers."""
    systems, storages = [invented.POSTGRESQL, invented.MARIADB], [invented.HERE, invented.SSD]
    planned = invented.plan(systems, storages, clients=(8, 16), repetitions=3)
    return fixed(invented.experiment(path, planned, _ELAPSED, workload=PAPER))


def of_a_quick_test(path: Path) -> ExperimentRecord:
    """One system, one run, and a warning of a later version."""
    planned = invented.plan([invented.SQLITE], test="checks", clients=(1,))
    warnings = [("fits-in-memory", "20.5 MB of 16 GB"), ("from-the-future", "hover boards")]
    return fixed(invented.experiment(path, planned, 1.5, warnings=warnings))


def fixed(experiment: ExperimentRecord) -> ExperimentRecord:
    """Without what differs from one test run to the next."""
    return structs.replace(experiment, begun_unix_ns=1_700_000_000 * S, path=Path("records.sqlite"))
