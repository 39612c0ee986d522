"""Loading, compared with each system's own client that reads a prepared file: two million rows of
six columns, and the half million entries of the bibliography, of 49.

Ours generates the rows during the load (52 replicas of 13 bibliographies; a text of 16 letters and
five integers from a seed); the client's file was written before. Both fill the same table without
indexes, alternately, in one session and one transaction; the ratio is theirs ÷ ours in time, so
ours ÷ theirs in speed.

    python -m benches.loading --rounds 7 --only sqlite
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay import _engine, registry
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Column, Table
from assay.contracts.events import Events
from assay.experiment import Experiment, StorageChoice, SystemChoice
from assay.load.bibsql.bibliography import resolve
from assay.load.load import fill
from assay.load.tables import drop
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision
from assay.workload import reader

ROUNDS = 5
REPLICAS = 52
ROWS = 2_000_000

IMPORT = {
    "postgresql": ("tsv", "\\copy {table} from '{file}'\n"),
    # Without unique_checks=0: with it the server collects and sorts all rows first, at twice
    # the cost.
    "mariadb": (
        "tsv",
        "load data local infile '{file}' into table {table} character set utf8mb4;\n",
    ),
    "sqlite": ("csv", ".import --csv {file} {table}\n"),
}
"""System → form of the prepared file, and the statement for its own client."""

SIX_COLUMNS = {
    "name": ("char(16)", "text(16, 16)"),
    "number": ("int", ":row"),
    "start": ("int", "random(1, 1000000)"),
    "ending": ("int", "random(1, 1000000)"),
    "remainder": ("int", ":row % 4096"),
    "share": ("int", "random(1, 100)"),
}
"""Name → type, and the expression of the value."""


@dataclass(frozen=True)
class Work:
    """One set of rows, and the target for its load."""

    title: str
    tables: tuple[Table, ...]
    """The client fills only the first one."""
    source: Mapping[str, Any]
    ready: Callable[[Path], Mapping[str, Path]]
    """Writes the client's files into a folder, by their form."""
    targets: Mapping[str, float]
    """System → least ratio."""


def main(rounds: int = ROUNDS, only: Sequence[str] = ()) -> None:
    """Prints a table for each work, a line for each system (``only`` these, if it names any)."""
    for make in (six_columns, bibliography):
        work = make()
        print(f"### {work.title}; medians of {rounds} alternating rounds\n")
        print(
            "| system | ours, s | its own client, s | ours ÷ client in speed | range | target | |"
        )
        print("|---|---:|---:|---:|---|---:|---|")
        with tempfile.TemporaryDirectory(prefix="assay-bench-", dir="/var/tmp") as folder:
            Path(folder).chmod(0o755)
            files = work.ready(Path(folder))
            for name in only or IMPORT:
                print(row(name, work, files, rounds), flush=True)
        print()


def row(name: str, work: Work, files: Mapping[str, Path], rounds: int) -> str:
    """One system's line of the table."""
    form, statement = IMPORT[name]
    with provision(SystemChoice(name), StorageChoice(), connections=4) as deployment:
        text = statement.format(table=work.tables[0].name, file=files[form])
        ours, theirs = alternate(
            rounds, lambda: ours_once(deployment, work), lambda: client_once(deployment, work, text)
        )
    ratios = [slow / fast for fast, slow in zip(ours, theirs, strict=True)]
    ratio, target = statistics.median(ratios), work.targets[name]
    return (
        f"| {name} | {statistics.median(ours):.2f} | {statistics.median(theirs):.2f} "
        f"| {ratio:.2f} | {min(ratios):.2f}–{max(ratios):.2f} "
        f"| ≥ {target} | {'met' if ratio >= target else 'missed'} |"
    )


def alternate(
    rounds: int, ours: Callable[[], float], theirs: Callable[[], float]
) -> tuple[list[float], list[float]]:
    """Seconds of each, alternately; the first one changes from round to round."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        turn = [(0, ours), (1, theirs)]
        for which, work in turn if number % 2 == 0 else reversed(turn):
            seconds[which].append(work())
    return seconds


@contextmanager
def empty_table(deployment: Deployment, tables: tuple[Table, ...]) -> Iterator[None]:
    """Creates the tables before a load, and drops them afterwards."""
    dialect = registry.system(deployment.system).dialect
    drop(deployment, dialect, tables)
    with session(deployment.address) as opened:
        for table in tables:
            for statement in dialect.create_table(table, deployment.options):
                opened.execute(statement)
    yield
    drop(deployment, dialect, tables)


def ours_once(deployment: Deployment, work: Work) -> float:
    """Seconds of our load, with all tables."""
    with empty_table(deployment, work.tables):
        began = time.monotonic()
        fill(deployment, registry.system(deployment.system).dialect, work.tables, work.source)
        return time.monotonic() - began


def client_once(deployment: Deployment, work: Work, text: str) -> float:
    """Seconds of the system's own client, with the one large table."""
    command, environment = registry.system(deployment.system).client_command(deployment.address)
    if "local infile" in text:
        command = [*command, "--local-infile=1"]
    with empty_table(deployment, work.tables):
        began = time.monotonic()
        subprocess.run(
            command, input=text.encode(), env={**os.environ, **environment}, check=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return time.monotonic() - began


def six_columns() -> Work:
    """The rows generated from a seed."""
    table = Table(
        name="six_columns",
        columns=tuple(Column(name, of, not_null=True) for name, (of, _) in SIX_COLUMNS.items()),
    )
    columns = [
        {"name": name, "type": of, "value": value} for name, (of, value) in SIX_COLUMNS.items()
    ]
    source = {
        "kind": "generated",
        "seed": 1,
        "file": __file__,
        "tables": [{"name": table.name, "rows": str(ROWS), "columns": columns}],
    }

    def ready(folder: Path) -> dict[str, Path]:
        files = {form: folder / f"{table.name}.{form}" for form in ("tsv", "csv")}
        asked = json.dumps({"table": table.name, "form": "csv"})
        with files["csv"].open("wb") as out:
            _engine.generate(json.dumps(source), asked, out.fileno())
        # No text here has a comma or needs quotes.
        with files["csv"].open("rb") as lines, files["tsv"].open("wb") as out:
            out.writelines(line.replace(b",", b"\t") for line in lines)
        return files

    targets = {"postgresql": 1.2, "mariadb": 1.0, "sqlite": 2.5}
    return Work(f"{ROWS:,} rows of six columns", (table,), source, ready, targets)


def bibliography() -> Work:
    """The rows that are read and replicated; a server's COPY writes their files."""
    workload = reader.read("bibsql")
    request = resolve(Experiment("bibsql", (), ()), workload, Events()).request(replicas=REPLICAS)
    table = workload.tables[0].name

    def ready(folder: Path) -> dict[str, Path]:
        files = {form: folder / f"{table}.{form}" for form in ("tsv", "csv")}
        system = registry.system("postgresql")
        with provision(SystemChoice("postgresql"), StorageChoice(), connections=4) as deployment:
            command, environment = system.client_command(deployment.address)
            with empty_table(deployment, workload.tables):
                fill(deployment, system.dialect, workload.tables, request.source)
                for form, words in (("tsv", ""), ("csv", "with (format csv)")):
                    subprocess.run(
                        command,
                        input=f"\\copy {table} to '{files[form]}' {words}\n".encode(),
                        env={**os.environ, **environment},
                        stdout=subprocess.DEVNULL,
                        check=True,
                    )
        return files

    title = f"{request.entries * REPLICAS:,} entries of the bibliography"
    targets = dict.fromkeys(IMPORT, 1.0)
    return Work(title, workload.tables, request.source, ready, targets)


if __name__ == "__main__":
    words = argparse.ArgumentParser(description="Loading against each system's own client")
    words.add_argument("--rounds", type=int, default=ROUNDS, metavar="N")
    words.add_argument("--only", action="append", default=[], choices=IMPORT, metavar="SYSTEM")
    asked = words.parse_args()
    main(asked.rounds, asked.only)
