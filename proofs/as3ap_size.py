"""AS3AP's equivalent database size is found alike by every search: on each system the sizes of all
searches differ by at most 10 %.

A case is a search of its own: the single-user tests of as3ap on PostgreSQL or MariaDB, with a time
limit of three minutes in place of the 12 hours of the chapter, by
`--goal 'elapsed < 180s' --goal-over tuples`. Data are generated and loaded anew for each size, on a
modelled disk of 7200 rpm, and the server has less memory than data: then the disk, which is the
same in every search, takes most of the time, and other programs on the processors disturb little.
Four searches go on at once, each on a disk of its own; this needs root. The size is where the time
would be at the limit, between the largest size that kept it and the smallest that did not.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import assay
from proofs._proof import Found

CASES = 10
SHORT = 1

_MOST_APART = 0.10
_AT_ONCE = 4


@dataclass(frozen=True)
class _Setting:
    """Where one system searches, and among which sizes."""

    system: str
    limit_s: float
    tuples: tuple[int, ...]
    storage: str = "modelled[profile=hdd-7200,size=1500M]"
    memory: str | None = None


_WHOLE = (
    _Setting("postgresql[profile=small]", 180, (170_000, 190_000, 210_000, 220_000), memory="40MB"),
    _Setting("mariadb[buffer=64MB]", 180, (120_000, 140_000, 170_000, 200_000)),
)
_SHORT = (_Setting("sqlite", 0.2, (10_000, 20_000), storage="here"),)
"""Show that a search ends."""


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """So many searches, the systems in turn."""
    del timeout_s  # a search takes as long as its trials
    is_short = cases < len(_WHOLE) * 2
    settings = _SHORT if is_short else _WHOLE
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    # Processes, as an experiment handles the signals of its process.
    with ProcessPoolExecutor(_AT_ONCE, multiprocessing.get_context("spawn")) as workers:
        searching: dict[_Setting, list[Future[float | None]]] = {each: [] for each in settings}
        for number in range(first, first + cases):
            setting = settings[number % len(settings)]
            searching[setting].append(workers.submit(_search, setting, number, number + seed))
        for setting, searches in searching.items():
            found = _judged(setting, [search.result() for search in searches], outcomes)
            if not is_short:
                faults += found
    return Found(cases, outcomes, faults)


def _judged(setting: _Setting, sizes: Sequence[float | None], outcomes: Counter[str]) -> list[str]:
    """What is wrong with the sizes of one system; ``outcomes`` gets them."""
    outcomes.update(
        f"{setting.system}: {'no size' if size is None else f'{size:,.0f} tuples'}"
        for size in sizes
    )
    there = [size for size in sizes if size is not None]
    faults = [f"{setting.system}: a search ended without a size"] * (len(sizes) - len(there))
    if there:
        apart = max(there) / min(there) - 1
        outcomes[f"{setting.system}: the largest is {apart:.1%} above the smallest"] = 1
        if apart > _MOST_APART:
            faults.append(f"{setting.system}: {apart:.1%} between the smallest and the largest")
    return faults


def _search(setting: _Setting, number: int, seed: int) -> float | None:
    """The size at the limit; None: the limit is not between two of the sizes."""
    with tempfile.TemporaryDirectory() as folder:
        result = assay.run(
            "as3ap",
            on=setting.system,
            storage=setting.storage,
            memory=setting.memory,
            set={"tuples": [*setting.tuples]},
            goal=f"elapsed < {setting.limit_s}s",
            goal_over="tuples",
            seed=seed,
            probe_s=0,
            durability=False,
            records=Path(folder) / "records.sqlite",
        )
        (row,) = result.table("goals")
        took = {
            f"{run.parameters['tuples']:,}": f"{run.state}: {run.reason}"
            if run.elapsed_ns is None
            else f"{run.elapsed_ns / 1e9:.1f} s"
            for run in result.runs
        }
    met, size = row["met_at"], row["at_limit"]
    print(f"{number}: {setting.system}: {met}, {size}: {took}", file=sys.stderr, flush=True)
    return None if size is None else float(size)
