"""What a statement costs through DB-API modules, compared with the drivers of Assay on the same
servers: the client's CPU time and the latency of one row read by its key, alternately."""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from assay import registry
from assay.contracts.deployment import Deployment
from assay.contracts.engine import DriveDocument, ScriptDocument, StopDocument
from assay.drive.observe import observe
from assay.env_vars import DBAPI_PASSWORD
from assay.errors import SystemMissing
from assay.experiment import StorageChoice, SystemChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision

ROUNDS = 3
SECONDS = 3
ROWS = 10_000
MODULES = {
    "sqlite": ("sqlite3",),
    "postgresql": ("psycopg2", "pg8000.dbapi"),
    "mariadb": ("pymysql",),
}
SCRIPT = f"\\set id random(1, {ROWS})\nSELECT value FROM point WHERE id = :id;\n"


def main(rounds: int = ROUNDS, seconds: int = SECONDS) -> None:
    """Prints one row for each system and driver."""
    print("| system | driver | client CPU, µs a statement | p50, µs | times Assay's driver |")
    print("|---|---|--:|--:|--:|")
    for name, modules in MODULES.items():
        try:
            _compare(name, modules, rounds, seconds)
        except SystemMissing as missing:
            print(f"| {name} | | {missing} | | |")


def _compare(name: str, modules: tuple[str, ...], rounds: int, seconds: int) -> None:
    with ExitStack() as stack:
        native = stack.enter_context(_native(name))
        sides = {registry.system(name).driver: native}
        for module in modules:
            if importlib.util.find_spec(module.partition(".")[0]) is None:
                print(f"| {name} | {module} | not installed | | |")
                continue
            choice = system_choice(f"dbapi:{module}[{_keywords(native)}]")
            sides[module] = stack.enter_context(provision(choice, StorageChoice(), connections=1))
        found: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side, deployment in sides.items():
                found[side].append(_measured(deployment, seconds))
    base = statistics.median(cost for cost, _ in next(iter(found.values())))
    for side, measured in found.items():
        cost = statistics.median(cost for cost, _ in measured)
        p50 = statistics.median(p50 for _, p50 in measured)
        print(f"| {name} | {side} | {cost:.1f} | {p50:.1f} | {cost / base:.1f} |", flush=True)


@contextmanager
def _native(name: str) -> Iterator[Deployment]:
    """The system with a table of rows."""
    with ExitStack() as stack:
        if name == "sqlite":
            file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "bench.db"
            sqlite3.connect(file).execute("VACUUM")
            choice = system_choice(f"sqlite:///{file}")
        else:
            choice = SystemChoice(name, options={"transport": "tcp"})
        deployment = stack.enter_context(provision(choice, StorageChoice(), connections=2))
        os.environ[DBAPI_PASSWORD.name] = deployment.address.password or ""
        with session(deployment.address) as opened:
            opened.execute("CREATE TABLE point (id INTEGER PRIMARY KEY, value INTEGER)")
            for first in range(1, ROWS + 1, 1000):
                values = ", ".join(f"({n}, {n})" for n in range(first, first + 1000))
                opened.execute(f"INSERT INTO point VALUES {values}")
        yield deployment


def _keywords(native: Deployment) -> str:
    at = native.address
    if at.file is not None:
        return f"database={at.file}"
    return f"host={at.host},port={at.port},user={at.user},database={at.database}"


def _measured(deployment: Deployment, seconds: int) -> tuple[float, float]:
    """(µs of the client's CPU for each statement, p50 in µs)."""
    document = DriveDocument(
        scripts=(ScriptDocument(name="read", path="read.sql", text=SCRIPT),),
        order="sequence",
        clients=1,
        protocol="prepared",
        stop=StopDocument(duration_s=float(seconds)),
        warm_up_s=0.5,
        seed=1,
    )
    observation = observe(deployment, document)
    cost = observation.client_cost
    statements = max(1, observation.statements)
    return (
        (cost.user_ns + cost.system_ns) / statements / 1e3,
        observation.transactions[0].latency.p50_ns / 1e3,
    )
