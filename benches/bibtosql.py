"""Reading BibTeX: `bibtosql`, which also prints the SQL, compared with two parsers that only parse.

Every program runs as a process of its own, alternately with ours on the same files: those of the 13
that it can read, enlarged so that the start of an interpreter does not count. The ratio is theirs ÷
ours. Then ours alone on 1 GB, which the parsers would have to hold in memory many times over.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay import _engine
from assay.contracts.events import Events
from assay.experiment import Experiment
from assay.load.bibsql.bibliography import resolve
from assay.workload import reader

ROUNDS = 5
COMPARED_BYTES = 100_000_000
LARGE_BYTES = 1_000_000_000

BIBTOSQL = [str(Path(sys.executable).with_name("bibtosql"))]
READING = [
    sys.executable,
    "-c",
    "import json, sys; from assay import _engine\n"
    "_engine.bib_scan(json.dumps({'files': sys.argv[1:]}))",
]
"""The reader alone, as in the parsers."""

OURS = {"bibtosql": BIBTOSQL, "reading alone": READING}

PARSERS = {
    "pybtex": """
import sys
from pybtex.database import parse_file
for file in sys.argv[1:]:
    parse_file(file, bib_format="bibtex")
""",
    "bibtexparser": """
import logging, sys
import bibtexparser
logging.disable()
for file in sys.argv[1:]:
    library = bibtexparser.parse_file(file)
    if library.failed_blocks:
        sys.exit(f"{len(library.failed_blocks)} blocks of {file} are not read")
""",
}


@dataclass(frozen=True)
class Usage:
    """What one process took."""

    elapsed_s: float
    resident_bytes: int
    status: int


@dataclass(frozen=True)
class Enlarged:
    """A generated file and its content."""

    path: Path
    entries: int
    size_bytes: int


def main(rounds: int = ROUNDS, large_bytes: int = LARGE_BYTES) -> None:
    """Prints the two tables."""
    bibliography = resolve(Experiment("bibsql", (), ()), reader.read("bibsql"), Events())
    files = bibliography.files
    print(f"{bibliography.description}: medians of {rounds} alternating rounds, whole processes\n")
    print(
        "| files it reads | parser | entries/s | MB/s | ours | entries/s | MB/s | ratio | range |"
    )
    print("|---:|---|---:|---:|---|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory(prefix="assay-bench-", dir="/var/tmp") as folder:
        for name, program in PARSERS.items():
            theirs = [sys.executable, "-c", program]
            readable = [file for file in files if run([*theirs, str(file)]).status == 0]
            share = f"| {len(readable)} of {len(files)} | {name} |"
            if not readable:
                print(share, "| | | | | | |")
                continue
            made = [
                enlarged([file], Path(folder) / file.name, COMPARED_BYTES // total_bytes(readable))
                for file in readable
            ]
            paths = [str(one.path) for one in made]
            commands = [[*command, *paths] for command in (theirs, *OURS.values())]
            theirs_s, *all_ours_s = alternate(rounds, commands)
            count, size = sum(one.entries for one in made), sum(one.size_bytes for one in made)
            for what, ours_s in zip(OURS, all_ours_s, strict=True):
                ratios = [slow / fast for fast, slow in zip(ours_s, theirs_s, strict=True)]
                print(
                    f"{share} {rates(count, size, theirs_s)} "
                    f"| {what} | {rates(count, size, ours_s)} "
                    f"| {statistics.median(ratios):.1f} | {min(ratios):.1f}–{max(ratios):.1f} |",
                    flush=True,
                )
        large(
            enlarged(files, Path(folder) / "large.bib", large_bytes // total_bytes(files)), rounds
        )


def large(file: Enlarged, rounds: int) -> None:
    """The second table: one very large file."""
    usages = [run([*BIBTOSQL, str(file.path)]) for _ in range(rounds)]
    if any(usage.status for usage in usages):
        raise SystemExit(f"bibtosql refuses {file.path}")
    speed = rates(file.entries, file.size_bytes, [usage.elapsed_s for usage in usages])
    resident = max(usage.resident_bytes for usage in usages)
    print("\n| one file, MB | entries | bibtosql, entries/s | MB/s | resident at most, MB |")
    print("|---:|---:|---:|---:|---:|")
    print(f"| {file.size_bytes / 1e6:.0f} | {file.entries} | {speed} | {resident / 1e6:.0f} |")


def enlarged(files: Sequence[Path], path: Path, count: int) -> Enlarged:
    """The entries of ``files``, ``count`` times over with small differences, as one file."""
    document = {"files": [str(file) for file in files], "replicas": {"count": max(1, count)}}
    with path.open("wb") as opened:
        made = json.loads(_engine.bib_replicate(json.dumps(document), opened.fileno()))
    return Enlarged(path, made["entries"], made["bytes"])


def total_bytes(files: Sequence[Path]) -> int:
    """Bytes of all files."""
    return sum(file.stat().st_size for file in files)


def alternate(rounds: int, commands: Sequence[Sequence[str]]) -> list[list[float]]:
    """Seconds of each, alternately; the first one changes from round to round."""
    seconds: list[list[float]] = [[] for _ in commands]
    for number in range(rounds):
        turn = list(enumerate(commands))
        for which, command in turn if number % 2 == 0 else reversed(turn):
            usage = run(command)
            if usage.status != 0:
                raise SystemExit(f"{command[0]} failed in a round and not before")
            seconds[which].append(usage.elapsed_s)
    return seconds


def run(command: Sequence[str]) -> Usage:
    """One process from its start to its end; its output is discarded."""
    began = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Usage(time.monotonic() - began, resident_bytes(used), process.returncode)


def resident_bytes(used: resource.struct_rusage) -> int:
    """The largest resident memory, which Linux reports in KiB."""
    return used.ru_maxrss * 1024


def rates(entries: int, size_bytes: int, elapsed_s: Sequence[float]) -> str:
    """Entries and megabytes per second as two cells."""
    median_s = statistics.median(elapsed_s)
    return f"{entries / median_s:,.0f} | {size_bytes / 1e6 / median_s:.1f}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
