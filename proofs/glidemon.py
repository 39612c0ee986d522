"""The rows of the workload glidemon have the numbers of the paper at every scale, exactly: jobs,
jobs of the last 14 days, analysis jobs among them, analysis jobs of the last day, tasks and users.

Each case loads one scale into SQLite, with a data seed of its own, and its consistency checks count
the rows there: `checks/counts.sql`, `checks/jobs_per_task.sql` and `checks/times.sql`. The first
case has the least scale; the last case of a whole run has the scale of the paper, 14,000,000 jobs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from assay.record import Store
from proofs._proof import Found

CASES = 5
SHORT = 1

_LEAST = 0.001
_SCALE_OF_THE_PAPER = 1.0
_DRAWN = 0.02
"""The largest scale that is drawn."""


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Loads this many scales."""
    del timeout_s  # a load takes as long as it has rows
    outcomes, faults = {}, []
    for number in range(first, first + cases):
        scale = _scale(number, seed)
        outcome, fault = _load(scale, number + 1)
        outcomes[f"scale {scale:g}, {outcome}"] = 1
        if fault:
            faults.append(f"python -m proofs glidemon --first {number} --cases 1\n{fault}")
    return Found(cases, outcomes, faults)


def _scale(number: int, seed: int) -> float:
    if number == 0:
        return _LEAST
    if number == CASES - 1:
        return _SCALE_OF_THE_PAPER
    return round(Random(f"glidemon/{seed}/{number}").uniform(_LEAST, _DRAWN), 6)


def _load(scale: float, data_seed: int) -> tuple[str, str]:
    """How the load ended, and what was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records.sqlite"
        done = subprocess.run(
            [
                *(str(Path(sys.executable).with_name("assay")), "run", "glidemon.load"),
                *("--on", "sqlite", "--set", f"scale={scale}", "--set", f"data_seed={data_seed}"),
                *("--records", str(records)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return f"exit status {done.returncode}", done.stderr
        with Store(records, must_exist=True) as store:
            (run,) = store.latest().runs
        if run.data is None:
            return "nothing loaded", done.stdout
        jobs = run.data.rows["jobs"]
        expected = round(14_000_000 * scale)
        fault = "" if jobs == expected else f"{jobs} jobs, expected {expected}"
        size_gb = (run.data.size_on_disk_bytes or 0) / 1e9
        return f"{jobs:,} jobs, all counts right, {size_gb:.3g} GB on disk", fault
