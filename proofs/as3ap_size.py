"""AS3AP's equivalent database size is found alike by every search: on each system the sizes of all
searches differ by at most 10 %.

A case is a search of its own: the single-user tests of as3ap on SQLite or DuckDB, with a time limit
of 3 seconds in place of the 12 hours of the chapter, by `--goal 'elapsed < 3s' --goal-over tuples`
over 21 sizes from 50,000 to 430,000 tuples. Each trial has three repetitions, with data that are
generated and loaded anew (in memory, as far as this machine has a directory there). The size is
where the time would be at the limit, between the largest size that kept it and the smallest that
did not.

The limit is short so that five searches on each of two systems end in about an hour; a trial of 3
seconds is disturbed more by other programs than one of three minutes.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import assay
from proofs._proof import Found

CASES = 10
SHORT = 2

_SYSTEMS = ("sqlite", "duckdb")
_MOST_APART = 0.10
_LIMIT_S = 3.0
_TUPLES = [
    *range(50_000, 140_001, 10_000), *range(160_000, 260_001, 20_000),
    290_000, 320_000, 350_000, 390_000, 430_000,
]  # fmt: skip
_SHORT_LIMIT_S = 0.2
_SHORT_TUPLES = [10_000, 20_000]
"""Shows that a search ends."""
_MEMORY = Path("/dev/shm")


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """So many searches, the systems in turn."""
    del timeout_s  # a search takes as long as its trials
    is_short = cases < CASES
    sizes: dict[str, list[float]] = defaultdict(list)
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    for number in range(first, first + cases):
        system = _SYSTEMS[number % len(_SYSTEMS)]
        met, size = _search(system, number + seed, is_short=is_short)
        print(f"{number}: {system}: {met}, {size}", file=sys.stderr, flush=True)
        if size is None:
            outcomes[f"{system}: no size"] += 1
            if not is_short:
                faults.append(f"{_command(number, seed)}\n{system}: met at {met}, no size")
            continue
        sizes[system].append(size)
        outcomes[f"{system}: {size:,.0f} tuples"] += 1
    for system, found in sizes.items():
        apart = max(found) / min(found) - 1
        outcomes[f"{system}: the largest of {len(found)} is {apart:.1%} above the smallest"] = 1
        if apart > _MOST_APART and not is_short:
            faults.append(f"{system}: {apart:.1%} between the smallest and the largest size")
    return Found(cases, outcomes, faults)


def _search(system: str, seed: int, *, is_short: bool) -> tuple[float | None, float | None]:
    """The largest size that kept the limit, and the size at the limit."""
    limit_s = _SHORT_LIMIT_S if is_short else _LIMIT_S
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        Path(folder).chmod(0o755)  # systems of root's runs have a user of their own
        result = assay.run(
            "as3ap",
            on=system,
            storage=f"here:{folder}",
            set={"tuples": _SHORT_TUPLES if is_short else _TUPLES},
            goal=f"elapsed < {limit_s}s",
            goal_over="tuples",
            repetitions=1 if is_short else 3,
            seed=seed,
            probe_s=0,
            durability=False,
            records=Path(folder) / "records.sqlite",
        )
        (row,) = result.table("goals")
    return row["met_at"], row["at_limit"]


def _command(number: int, seed: int) -> str:
    return f"python -m proofs as3ap_size --cases 1 --first {number} --seed {seed}"
