"""What surrounds a measurement grows with the number of runs, and not with its square: CPU time of
three sizes a factor of ten apart has an exponent of at most 1.2.

Each case is a command at 30, 300 and 3,000 runs (`run`: an experiment with so many repetitions on
the null server; `report`, `page`, `csv`: of this experiment; `plan`: of a file with so many
repetitions), or at 10, 100 and 1,000 experiments of one run (`merge`, `list`, `trend`), which take
three times as long to make. The exponent is that of the CPU time of the larger steps, user and
system, without what the command takes at the smallest size:
log((t3 - t1) / (t2 - t1)) / log((n3 - n1) / (n2 - n1)), which is 1 where each run costs the same.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import assay
from proofs._proof import Found

_RUNS = (30, 300, 3000)
_EXPERIMENTS = (10, 100, 1000)
_MOST = 1.2
_LEAST_S = 0.2
"""A difference of CPU times below it says nothing of growth."""
_ONE_RUN = ("--on", "null", "--transactions", "10", "--warm-up", "0")
_UNMEASURED = ("--no-probe", "--no-durability")


class _Records:
    """Records of each size, made when they are first used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.run_s: dict[int, float] = {}

    def runs(self, size: int) -> Path:
        """One experiment of so many runs."""
        file = self._folder / f"runs-{size}.sqlite"
        if not file.exists():
            words = ("run", "tpcb", *_ONE_RUN, *_UNMEASURED, "--repetitions", str(size))
            self.run_s[size] = _cpu_s(*words, "--records", str(file))
        return file

    def experiments(self, size: int) -> Path:
        """So many experiments of one run."""
        file = self._folder / f"experiments-{size}.sqlite"
        if not file.exists():
            for _ in range(size):
                assay.run(
                    "tpcb", on="null", transactions=10, warm_up_s=0, repetitions=1,
                    probe_s=0, durability=False, records=file,
                )  # fmt: skip
        return file

    def empty(self, size: int) -> Path:
        """A file that does not exist."""
        return self._folder / f"merged-{size}.sqlite"


def _run(records: _Records, size: int) -> float:
    records.runs(size)
    return records.run_s[size]


def _of_runs(*words: str) -> Callable[[_Records, int], float]:
    def measure(records: _Records, size: int) -> float:
        return _cpu_s(*words, "--records", str(records.runs(size)))

    return measure


def _of_experiments(*words: str) -> Callable[[_Records, int], float]:
    def measure(records: _Records, size: int) -> float:
        return _cpu_s(*words, "--records", str(records.experiments(size)))

    return measure


def _merge(records: _Records, size: int) -> float:
    source = str(records.experiments(size))
    return _cpu_s("merge", source, "--records", str(records.empty(size)))


def _plan(_records: _Records, size: int) -> float:
    return _cpu_s("plan", "tpcb", *_ONE_RUN, "--repetitions", str(size))


_OPERATIONS: Mapping[str, Callable[[_Records, int], float]] = {
    "plan": _plan,
    "run": _run,
    "report": _of_runs("report"),
    "csv": _of_runs("report", "--format", "csv"),
    "page": _of_runs("report", "--format", "html"),
    "merge": _merge,
    "list": _of_experiments("list", "runs"),
    "trend": _of_experiments("trend"),
}
_OF_EXPERIMENTS = ("merge", "list", "trend")
CASES = len(_OPERATIONS)
SHORT = 1


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Measures so many of the operations at three sizes each."""
    del timeout_s, seed  # an operation takes as long as it has runs; nothing is drawn
    outcomes, faults = {}, []
    with tempfile.TemporaryDirectory() as folder:
        records = _Records(Path(folder))
        for number, name in list(enumerate(_OPERATIONS))[first : first + cases]:
            sizes = _EXPERIMENTS if name in _OF_EXPERIMENTS else _RUNS
            taken_s = [_OPERATIONS[name](records, size) for size in sizes]
            grown = exponent(sizes, taken_s)
            shown = ", ".join(f"{seconds:.2f}" for seconds in taken_s)
            outcome = f"{name}: {shown} s of CPU time, exponent {grown:.2f}"
            print(outcome, file=sys.stderr, flush=True)
            outcomes[outcome] = 1
            if grown > _MOST:
                faults.append(f"python -m proofs growth --first {number} --cases 1\n{outcome}")
    return Found(cases, outcomes, faults)


def exponent(sizes: Sequence[int], taken_s: Sequence[float]) -> float:
    """0 where the largest size takes hardly more than the smallest."""
    n1, n2, n3 = sizes
    t1, t2, t3 = taken_s
    if t3 - t1 < _LEAST_S:
        return 0.0
    return math.log((t3 - t1) / max(t2 - t1, _LEAST_S)) / math.log((n3 - n1) / (n2 - n1))


def _cpu_s(*words: str) -> float:
    """User and system time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(Path(sys.executable).with_name("assay")), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"assay {' '.join(words)}: status {done.returncode}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
