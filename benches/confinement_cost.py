"""What it costs that a capsule is confined: the same work confined and free, alternately."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from assay.record import DEFAULT_FILE_NAME, Store

_ROUNDS = 10
_SECONDS = 5
_MOST_COST = 0.01
"""Of the throughput."""
_SYSTEMS = ("sqlite", "postgresql")


def main(rounds: int = _ROUNDS, seconds: int = _SECONDS) -> list[str]:
    """Prints a table; returns the bounds that were missed."""
    missed = []
    print("| system | confined / free | 95 % interval of the mean |\n|---|---|---|")
    for system in _SYSTEMS:
        with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
            ratios = _ratios(Path(name), system, rounds, seconds)
        mean = statistics.mean(ratios)
        half = 2 * statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 1.0
        print(f"| {system} | {mean:.4f} | {mean - half:.4f} to {mean + half:.4f} |", flush=True)
        if mean + half < 1 - _MOST_COST:
            missed.append(f"{system}: confined has {mean:.1%} of the throughput")
    return missed


def _ratios(folder: Path, system: str, rounds: int, seconds: int) -> list[float]:
    """Which of the two comes first changes with each round."""
    work = ("tpcb.select-only", "--on", system, "--quick", "--clients", "2")
    _assay(folder, "run", *work, "--duration", str(seconds), "--storage", "tmpfs")
    _assay(folder, "pack", "latest", "-o", "work.assay")
    found = []
    for number in range(rounds):
        sides = [("--trust",), ()]
        rates = {words: _rate(folder, *words) for words in sides[:: 1 if number % 2 else -1]}
        found.append(rates[()] / rates["--trust",])
    return found


def _rate(folder: Path, *words: str) -> float:
    """Transactions per second of one run."""
    _assay(folder, "rerun", "work.assay", *words)
    with Store(folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert run.driven is not None
    return run.driven.outcomes.ok / (run.driven.elapsed_ns / 1e9)


def _assay(folder: Path, *words: str) -> None:
    quiet = () if words[0] == "pack" else ("--no-probe", "--no-durability", "--progress", "0")
    subprocess.run(
        [sys.executable, "-m", "assay", *words, *quiet],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
