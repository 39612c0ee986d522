"""The benchmark of the client's cost fails where a bound is missed, and says which."""

from __future__ import annotations

import sys

import pytest

from benches import client_cost
from benches._bounds import Bound, Measured, Rounds, judge

SPREAD = (0.9, 1.1, 0.95, 1.05, 1.0, 0.92, 1.08, 1.02, 0.98)
"""How rounds differ: the machine is slower or faster for all sides."""


def rounds(rate_per_s: float, cost_us: float, latency_ms: float = 1.0) -> Rounds:
    return [
        Measured(rate_per_s * factor * jitter, cost_us / factor, latency_ms / factor)
        for factor, jitter in zip(SPREAD, (1.01, 0.99, 1.0) * 3, strict=True)
    ]


def missed(ours: Rounds, pgbench: Rounds, floor: Rounds, paced_ms: float = 1.0) -> list[str]:
    verdicts = client_cost.verdicts_of(
        {
            client_cost.OURS: ours, client_cost.PGBENCH: pgbench, client_cost.FLOOR: floor,
            client_cost.OURS_PACED: rounds(1e3, 5, paced_ms),
            client_cost.PGBENCH_PACED: rounds(1e3, 5),
        }
    )  # fmt: skip
    return [line.rpartition(":")[0] for line in client_cost.missed("select only, 8", verdicts)]


PGBENCH, FLOOR = rounds(100e3, 5.0), rounds(103e3, 3.5)


def test_throughput_bought_with_cost_is_missed_and_latency_too() -> None:
    assert missed(rounds(120e3, 4.6), PGBENCH, FLOOR, paced_ms=1.2) == [
        "select only, 8: cost ≤ 1.15 of floor",
        "select only, 8: cost ≤ 0.75 of pgbench",
        "select only, 8: latency ≤ 1 of paced pgbench",
    ]


def test_pgbench_s_cost_is_no_bound_where_the_floor_does_not_reach_it() -> None:
    assert missed(rounds(102e3, 4.2), PGBENCH, rounds(103e3, 4.0)) == []


def test_a_bound_within_the_interval_is_open_and_not_missed() -> None:
    slower = [
        Measured(side.rate_per_s * noise, 4.0) for side, noise in zip(PGBENCH, SPREAD, strict=True)
    ]
    bound = Bound("throughput", lambda side: side.rate_per_s, "pgbench", 1.01, is_least=True)
    verdict = judge(bound, slower, PGBENCH)
    assert (verdict.word, verdict.is_missed) == ("open", False)
    with pytest.raises(ValueError, match="two rounds"):
        judge(bound, slower[:1], PGBENCH[:1])


def test_missed_bounds_are_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    from benches import __main__ as command

    monkeypatch.setattr(sys, "argv", ["benches", "client_cost"])
    monkeypatch.setattr(client_cost, "main", lambda: ["select only, 8: throughput ≥ 1 of pgbench"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert "client_cost: select only, 8: throughput" in str(ended.value.code)
    monkeypatch.setattr(client_cost, "main", lambda: [])
    command.main()
