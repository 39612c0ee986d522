"""Loading the paper's half million entries, against each system's own client reading a ready file.

Ours reads the 13 bibliographies, makes 52 replicas on the way and sends rows; the client's file was
written beforehand. Both fill the same table without indexes, in turn; the ratio is theirs ÷ ours.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay import registry
from assay.dialects.protocol import Table
from assay.experiment import Experiment, StorageChoice, SystemChoice
from assay.input.bibliography import resolve
from assay.load.dataset import DataRequest
from assay.load.stage import drop, fill
from assay.progress import Silent
from assay.provision.session import session
from assay.provision.site import Site
from assay.provision.stage import provision
from assay.workloads import reader

REPLICAS = 52
ROUNDS = 5

WORKLOAD = reader.read("bibsql")
BIBTAB = WORKLOAD.tables[0]

IMPORT = {
    "postgresql": ("tsv", "\\copy bibtab from '{file}'\n"),
    "mariadb": (
        "tsv",
        "set unique_checks=0, foreign_key_checks=0; "
        "load data local infile '{file}' into table bibtab character set utf8mb4;\n",
    ),
    "sqlite": ("csv", ".import --csv {file} bibtab\n"),
}
"""System → form of the ready file, and what its own client is told."""


def main(replicas: int = REPLICAS, rounds: int = ROUNDS) -> None:
    """Prints one row per system."""
    request = resolve(Experiment("bibsql", (), ()), WORKLOAD, Silent()).request(replicas=replicas)
    print(f"loading {request.entries * replicas} entries, medians of {rounds} alternating rounds\n")
    print("| system | ours, s | its own client, s | ours ÷ client in speed | range |")
    print("|---|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory(prefix="assay-bench-", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        files = ready_files(Path(folder), request)
        for name, (form, statement) in IMPORT.items():
            with provision(SystemChoice(name), StorageChoice(), connections=4) as site:
                text = statement.format(file=files[form])
                ours, theirs = alternate(
                    rounds,
                    lambda site=site: ours_once(site, request),
                    lambda site=site, text=text: client_once(site, text),
                )
            ratios = [slow / fast for fast, slow in zip(ours, theirs, strict=True)]
            print(
                f"| {name} | {statistics.median(ours):.1f} | {statistics.median(theirs):.1f} "
                f"| {statistics.median(ratios):.2f} | {min(ratios):.2f}–{max(ratios):.2f} |",
                flush=True,
            )


def alternate(
    rounds: int, ours: Callable[[], float], theirs: Callable[[], float]
) -> tuple[list[float], list[float]]:
    """Seconds of each, in turn; which goes first changes from round to round."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        turn = [(0, ours), (1, theirs)]
        for which, work in turn if number % 2 == 0 else reversed(turn):
            seconds[which].append(work())
    return seconds


@contextmanager
def empty_table(site: Site, tables: tuple[Table, ...]) -> Iterator[None]:
    """The tables as they are before a load, and gone afterwards."""
    dialect = registry.system(site.system).dialect
    drop(site, dialect, tables)
    with session(site.address) as opened:
        for table in tables:
            for statement in dialect.create_table(table, site.options):
                opened.execute(statement)
    yield
    drop(site, dialect, tables)


def ours_once(site: Site, request: DataRequest) -> float:
    """Seconds of our load, with all three tables."""
    with empty_table(site, WORKLOAD.tables):
        began = time.monotonic()
        fill(site, registry.system(site.system).dialect, WORKLOAD.tables, request.source)
        return time.monotonic() - began


def client_once(site: Site, text: str) -> float:
    """Seconds of the system's own client, with the one large table."""
    command, environment = registry.system(site.system).client_command(site.address)
    if "local infile" in text:
        command = [*command, "--local-infile=1"]
    with empty_table(site, WORKLOAD.tables):
        began = time.monotonic()
        subprocess.run(
            command, input=text.encode(), env={**os.environ, **environment}, check=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return time.monotonic() - began


def ready_files(folder: Path, request: DataRequest) -> dict[str, Path]:
    """The rows of the large table as tab separated text and as CSV, written by a server's COPY."""
    files = {form: folder / f"bibtab.{form}" for form in ("tsv", "csv")}
    with provision(SystemChoice("postgresql"), StorageChoice(), connections=4) as site:
        dialect = registry.system("postgresql").dialect
        command, environment = registry.system("postgresql").client_command(site.address)
        with empty_table(site, WORKLOAD.tables):
            fill(site, dialect, WORKLOAD.tables, request.source)
            for form, words in (("tsv", ""), ("csv", "with (format csv)")):
                subprocess.run(
                    command,
                    input=f"\\copy bibtab to '{files[form]}' {words}\n".encode(),
                    env={**os.environ, **environment},
                    stdout=subprocess.DEVNULL,
                    check=True,
                )
    return files


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
