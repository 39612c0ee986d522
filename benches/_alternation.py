"""Takes two programs; measures them alternately; returns their costs, and ratios for a table."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.contracts.deployment import Address
from benches._client_peers import Work
from benches._process import Run, run

START_RUNS = 3

_DRIVE = "import sys; from assay import _engine; print(_engine.drive(sys.stdin.read()))"
OURS = [sys.executable, "-c", _DRIVE]


@dataclass(frozen=True)
class Cost:
    """One side in one round."""

    cost_us: float
    user_us: float
    """The program's own part of the cost, without the kernel's."""
    rate_per_s: float


@dataclass(frozen=True)
class Side:
    """One of the programs that are compared."""

    few: Callable[[], Run]
    """The fewest transactions that the clients can do: the cost of starting, connecting and
    preparing."""
    during: Callable[[int], Run]
    """This many seconds of work."""


def alternate(sides: Sequence[Side], rounds: int, seconds: int) -> list[list[Cost]]:
    """The costs of each side, alternately; the first one changes from round to round."""
    starts = [min((side.few() for _ in range(START_RUNS)), key=_cpu_s) for side in sides]
    costs: list[list[Cost]] = [[] for _ in sides]
    sides[-1].during(1)  # so that the server's memory is warm for the first side
    for number in range(rounds):
        first = number % len(sides)
        for which in [*range(first, len(sides)), *range(first)]:
            done = sides[which].during(seconds)
            costs[which].append(_cost(done, starts[which], seconds))
    return costs


def _cpu_s(run: Run) -> float:
    return run.cpu_s


def _cost(done: Run, start: Run, seconds: int) -> Cost:
    cpu_s, user_s = done.cpu_s - start.cpu_s, done.user_s - start.user_s
    each_us = 1e6 / done.transactions
    return Cost(cpu_s * each_us, user_s * each_us, done.transactions / seconds)


def ratios(ours: Sequence[Cost], theirs: Sequence[Cost], what: str) -> list[float]:
    """Ours ÷ theirs, round by round."""
    return [
        getattr(one, what) / getattr(other, what) for one, other in zip(ours, theirs, strict=True)
    ]


def judged(
    found: Sequence[float], *, at_most: float | None = None, at_least: float | None = None
) -> list[str]:
    """The result, the target, and whether the median reaches it."""
    median = statistics.median(found)
    is_met = (at_most is None or median <= at_most) and (at_least is None or median >= at_least)
    aim = at_most if at_most is not None else at_least
    return [spread(found), f"{aim:.2f}", verdict(is_met)]


def spread(values: Sequence[float]) -> str:
    """The median and its range."""
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def verdict(is_met: bool) -> str:
    """One word."""
    return "met" if is_met else "missed"


def document(address: Address, work: Work, clients: int, stop: dict[str, int]) -> dict[str, Any]:
    """A drive document with one script, as `assay run SCRIPT` makes it."""
    return {
        "deployment": address.for_engine().plain,
        "scripts": [{"name": work.name, "path": "bench.sql", "text": work.script}],
        "variables": work.variables,
        "order": "mix",
        "clients": clients,
        "protocol": "prepared",
        "stop": stop,
        "seed": 1,
    }


def run_ours(drive: dict[str, Any]) -> Run:
    """One run of ours, in a process of its own."""
    done = run(OURS, None, json.dumps(drive))
    outcomes = done.observation["outcomes"]
    if outcomes["ok"] == 0:
        raise SystemExit(f"error: no transaction succeeded: {done.observation['errors']}")
    return Run(
        done.cpu_s,
        done.user_s,
        done.elapsed_s,
        outcomes["ok"],
        done.resident_peak_bytes,
        done.observation,
    )


def own_cost_us(run: Run) -> float:
    """From our observation: the cost of the measurement alone, without opening the connections."""
    cost = run.observation["client_cost"]
    return float(cost["user_ns"] + cost["system_ns"]) / 1e3 / run.transactions
