"""What it costs that a capsule is confined, in CPU time of clients and server for a transaction.

Each system runs twice side by side, free and confined, and clients drive the two alternately in
short slices, so that what else the machine does meets both.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack

from assay import _engine, registry
from assay.contracts.deployment import Deployment
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.observation import decode_observation
from assay.provision import confinement
from assay.provision.engine.engine_calls import once, session
from assay.provision.install import cache
from assay.provision.running_system import provision
from benches._alternation import spread

_SYSTEMS = ("sqlite", "postgresql", "mariadb")
_ROUNDS = 100
_SLICE_S = 0.5
_CLIENTS = 2
_ROWS = 1000
_MOST = 1.01
"""Of the free one's cost."""
_SCRIPTS = {
    "read": f"\\set k random(1, {_ROWS})\nSELECT v FROM kv WHERE k = :k;",
    "write": f"\\set k random(1, {_ROWS})\nUPDATE kv SET v = v + 1 WHERE k = :k;",
}
_TABLE = (
    "CREATE TABLE kv (k INTEGER PRIMARY KEY, v INTEGER)",
    f"INSERT INTO kv WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < "
    f"{_ROWS - 1}) SELECT k, 0 FROM n",
)


def main(rounds: int = _ROUNDS) -> list[str]:
    """Prints a table; returns the bounds that were missed."""
    missed = []
    with ExitStack() as stack:
        free = {name: _up(stack, name) for name in _SYSTEMS}
        confinement.begin(needs_network=True, readable=(cache.cache_folder(),))
        confined = {name: _up(stack, name) for name in _SYSTEMS}
        print("| system | work | confined / free, median (range) | mean (95 % interval) |")
        print("|---|---|---|---|")
        for name in _SYSTEMS:
            for work, script in _SCRIPTS.items():
                found = _ratios(free[name], confined[name], script, rounds)
                logs = [math.log(one) for one in found]
                mean = statistics.mean(logs)
                half = 1.96 * statistics.stdev(logs) / len(logs) ** 0.5
                low, high = math.exp(mean - half), math.exp(mean + half)
                interval = f"{math.exp(mean):.4f} ({low:.4f} to {high:.4f})"
                print(f"| {name} | {work} | {spread(found)} | {interval} |", flush=True)
                if low > _MOST:
                    missed.append(f"{name}, {work}: confined costs {math.exp(mean):.1%}")
    return missed


def _up(stack: ExitStack, name: str) -> Deployment:
    storage = StorageChoice("tmpfs")
    deployment = stack.enter_context(provision(SystemChoice(name), storage, connections=_CLIENTS))
    with session(deployment.address) as opened:
        for statement in _TABLE:
            opened.execute(statement)
    return deployment


def _ratios(free: Deployment, confined: Deployment, script: str, rounds: int) -> list[float]:
    """Of pairs of slices; which of the two comes first changes."""
    found = []
    for number in range(rounds):
        sides = [(free, _engine.drive), (confined, _drive_confined)]
        costs = {}
        for deployment, drive in sides if number % 2 else sides[::-1]:
            costs[deployment.nodes[0].directory] = _cost_s(deployment, drive, script)
        found.append(costs[confined.nodes[0].directory] / costs[free.nodes[0].directory])
    return found


def _cost_s(deployment: Deployment, drive: Callable[[str], str], script: str) -> float:
    document = {
        "deployment": deployment.address.for_engine().plain,
        "scripts": [{"name": "work", "path": "work.sql", "text": script}],
        "variables": {},
        "order": "mix",
        "clients": _CLIENTS,
        "protocol": "prepared",
        "stop": {"duration_s": _SLICE_S},
        "seed": 1,
    }
    before_s = _cpu_s(deployment)
    observed = decode_observation(drive(json.dumps(document)))
    used_s = _cpu_s(deployment) - before_s
    if not observed.outcomes.ok:
        raise SystemExit(f"error: no transaction succeeded: {observed.errors}")
    return used_s / observed.outcomes.ok


def _cpu_s(deployment: Deployment) -> float:
    """Of this process, and of the server's."""
    sample = None
    if not deployment.is_embedded:
        sample = registry.system(deployment.system).sample(deployment)
    return time.process_time() + (sample.cpu_ns / 1e9 if sample else 0.0)


def _drive_confined(document: str) -> str:
    return once(lambda _: _engine.drive(document))
