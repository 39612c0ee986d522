"""Measurements are right: known delays are found in the latencies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from known_systems import IN_PROCESS, PROTOCOLS, NullSystem, Observation, drive, times

# Long enough that the machine's own delays are far below 1 %.
LEAST_MS, MOST_MS = 200, 300
SHARES = {"p50_ns": 0.5, "p90_ns": 0.9, "p95_ns": 0.95, "p99_ns": 0.99, "p99_9_ns": 0.999}


def deviations(protocol: str, null_system: NullSystem) -> dict[str, float]:
    """The relative deviation of each quantile from that of the distribution."""
    with null_system(protocol, delay=f"uniform:{LEAST_MS}ms..{MOST_MS}ms") as deployment:
        observation = drive(
            deployment,
            # A thread for each client, where the system is embedded.
            clients=300 if protocol == IN_PROCESS else 600,
            threads=1,
            protocol="prepared",
            warm_up_s=0.4,
            stop={"duration_s": 2.5},
        )
    found = times(observation)
    assert found["min_ns"] >= LEAST_MS * 1e6, "nothing is faster than the configured delay"
    return {
        key: found[key] / 1e6 / (LEAST_MS + share * (MOST_MS - LEAST_MS)) - 1
        for key, share in SHARES.items()
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_quantiles_of_a_known_distribution_are_found(
    protocol: str, null_system: NullSystem
) -> None:
    # Other programs delay one try or another; a mistake in Assay delays all of them.
    wrong = dict.fromkeys(SHARES, 1.0)
    for _ in range(3):
        found = deviations(protocol, null_system)
        wrong = {key: found[key] for key in wrong if abs(found[key]) >= 0.01}
        if not wrong:
            return
    pytest.fail(f"more than 1 % beside the distribution: {wrong}")


def test_a_stall_at_a_constant_rate_shows_in_the_latency_and_not_in_the_service_time(
    null_system: NullSystem,
) -> None:
    """On all null systems at once: together they take a tenth of a processor."""

    def driven(protocol: str) -> Observation:
        with null_system(protocol, stall="1.4s@1s") as deployment:
            return drive(
                deployment,
                clients=2,
                arrival={"kind": "constant", "offered_rate_per_s": 200},
                stop={"duration_s": 5},
            )

    with ThreadPoolExecutor(len(PROTOCOLS)) as pool:
        observations = dict(zip(PROTOCOLS, pool.map(driven, PROTOCOLS), strict=True))
    for protocol, observation in observations.items():
        assert observation["outcomes"]["ok"] >= 990, protocol
        # 280 of 1,000 transactions arrived during the stall, and two were running.
        response, service = times(observation), times(observation, what="service_time")
        assert response["p99_ns"] > 1.2e9, protocol
        assert service["p99_ns"] < 0.1e9, protocol
        assert service["max_ns"] == pytest.approx(1.4e9, rel=0.05), protocol
        assert times(observation, what="schedule_lag")["p99_ns"] > 1.2e9, protocol


def test_transactions_of_a_poisson_process_arrive_at_the_offered_rate(
    null_system: NullSystem,
) -> None:
    with null_system(PROTOCOLS[0]) as deployment:
        observation = drive(
            deployment,
            clients=20,
            arrival={"kind": "poisson", "offered_rate_per_s": 2000},
            stop={"duration_s": 4},
        )
    # Of 8,000 expected arrivals the deviation is 90.
    assert observation["outcomes"]["scheduled"] == pytest.approx(8000, abs=450)
    assert times(observation, what="schedule_lag")["p50_ns"] < 1e6
