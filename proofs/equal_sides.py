"""Where both sides are the same, `assay compare` calls a difference in at most 5 % of the
comparisons; where they are not, it calls it.

Each case is an experiment of its own: tpcb on the null server, or on SQLite (in memory, as far as
this machine has a directory there), with two storages that are two folders of one file system,
5 repetitions of each, interleaved. The verdict is that of `assay compare --between storage` on the
throughput, which allows for 2 % of false ones: by the binomial distribution, more than 5 % of 200
cases are then called in 1 of 400 such proofs. (Of fewer cases, the proof allows for the number that
is exceeded in at most 1 of 100.) Further cases, one in each twenty, are of two null servers that
wait before each answer, one of them ten times as long: each must be called slower.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scipy import special

import assay
from assay import comparison
from assay.comparison.sides import Compared, Direction
from assay.judge.statistics.estimate import SIGNIFICANCE
from assay.record import Store
from proofs._proof import Found

CASES = 200
SHORT = 2

_CALLED = 0.05
"""The share of equal sides that may be called different."""
_FEW_CASES = 100
_BY_CHANCE = 0.01
_REPETITIONS = 5
_TRANSACTIONS = {"null": 30_000, "sqlite": 1_000}
"""About a tenth of a second of each system."""
_UNEQUAL = ["null[delay=constant:1ms]", "null[delay=constant:10ms]"]
_ONE_UNEQUAL_IN = 20
_MEMORY = Path("/dev/shm")


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Compares so many pairs of equal sides."""
    del timeout_s  # a case takes as long as its system
    outcomes: Counter[str] = Counter()
    called: list[str] = []
    faults: list[str] = []
    systems = tuple(_TRANSACTIONS)
    for number in range(first, first + cases):
        system = systems[number % len(systems)]
        found = _on_equal(system, number + seed)
        outcomes[f"the same: {system}: {found.verdict}"] += 1
        if found.direction is Direction.UNKNOWN:
            faults.append(f"{_command(number, seed)}\n{system}: {found.verdict}")
        elif found.direction is not Direction.NONE:
            called.append(f"{_command(number, seed)}: {system}: {found.verdict}")
            print(called[-1], file=sys.stderr, flush=True)
        if number % _ONE_UNEQUAL_IN == 0:
            verdict = _on_unequal(number + seed).verdict
            outcomes[f"not the same: {verdict}"] += 1
            if verdict != "slower":
                faults.append(
                    f"{_command(number, seed)}\n{_UNEQUAL[1]}: expected slower, found {verdict}"
                )
    most = int(_CALLED * cases) if cases > _FEW_CASES else most_by_chance(cases)
    outcomes[f"the same: called different, of at most {most}"] = len(called)
    if len(called) > most:
        faults.append("\n".join([f"{len(called)} of {cases} called different", *called]))
    return Found(cases, outcomes, faults)


def most_by_chance(cases: int) -> int:
    """Of so many cases, the number of calls that is exceeded in at most 1 of 100 proofs."""
    return next(
        most for most in range(cases + 1) if special.bdtrc(most, cases, SIGNIFICANCE) <= _BY_CHANCE
    )


def _on_equal(system: str, seed: int) -> Compared:
    with _folder() as folder:
        text = _experiment([system], ["a", "b"], _TRANSACTIONS[system], folder)
        return _compared(text, "storage", folder, seed)


def _on_unequal(seed: int) -> Compared:
    with _folder() as folder:
        return _compared(_experiment(_UNEQUAL, ["a"], 25, folder), "system", folder, seed)


def _experiment(systems: list[str], storages: list[str], transactions: int, folder: Path) -> str:
    declared = ""
    for name in storages:
        (folder / name).mkdir()
        declared += f'[storage.{name}]\nkind = "here"\ndirectory = "{folder / name}"\n'
    return (
        f'workload = "tpcb"\ntest = "simple-update"\nsystems = {systems}\nstorages = {storages}\n'
        f"clients = [1]\nrepetitions = {_REPETITIONS}\n"
        f"[drive]\ntransactions = {transactions}\nwarm_up_s = 0.02\n{declared}"
    )


def _compared(text: str, between: str, folder: Path, seed: int) -> Compared:
    """The primary metric of the only cell of the experiment, with its verdict."""
    file, records = folder / "equal.toml", folder / "records.sqlite"
    file.write_text(text, "utf-8")
    assay.run(str(file), seed=seed, probe_s=0, durability=False, records=records)
    with Store(records, must_exist=True) as store:
        side = comparison.side("A", "", [store.latest()])
    (cell,) = comparison.compare(side, None, between=between).cells
    return cell.primary


@contextmanager
def _folder() -> Iterator[Path]:
    in_memory = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
    with tempfile.TemporaryDirectory(dir=_MEMORY if in_memory else None) as name:
        Path(name).chmod(0o755)  # servers of root's runs have a user of their own
        yield Path(name)


def _command(number: int, seed: int) -> str:
    return f"python -m proofs equal_sides --first {number} --cases 1 --seed {seed}"
