"""Every transaction is accounted for, whatever fails, and only successful ones are `ok`."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from known_systems import (
    IN_PROCESS,
    PROTOCOLS,
    WITH_TRANSACTIONS,
    Deployment,
    NullServer,
    NullSystem,
    drive,
    times,
)

TWO_STATEMENTS = "BEGIN;\nUPDATE t SET a = 1;\nCOMMIT;\n"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_if_a_client_is_refused_nothing_is_driven(protocol: str, null_system: NullSystem) -> None:
    with null_system(protocol, refuse_after="3") as deployment:
        observation = drive(deployment, clients=5, stop={"transactions": 10})
    assert observation["ended_by"] == "refused"
    assert observation["outcomes"]["scheduled"] == 0
    states = [one["state"] for one in observation["client_ends"]]
    assert states.count("refused") == 2
    assert [one["class"] for one in observation["errors"]] == ["too many connections"]


def test_nothing_listens_at_the_address(tmp_path: Path) -> None:
    deployment = {"driver": PROTOCOLS[0], "unix": str(tmp_path / "nobody.sock"), "user": "anybody"}
    observation = drive(deployment, clients=2, stop={"transactions": 1})
    assert observation["ended_by"] == "refused"
    assert [one["class"] for one in observation["errors"]] == ["connection refused"]


@pytest.mark.parametrize("protocol", [each for each in WITH_TRANSACTIONS if each != IN_PROCESS])
def test_a_killed_server_leaves_unknown_transactions(protocol: str, tmp_path: Path) -> None:
    server = NullServer(protocol, tmp_path / "null.sock", {"delay": "constant:5ms"})

    def kill_later(text: str) -> None:
        if json.loads(text)["done"] > 100:
            server.kill()

    try:
        observation = drive(
            server.deployment, TWO_STATEMENTS, kill_later, clients=8, stop={"duration_s": 20}
        )
    finally:
        server.close()
    outcomes = observation["outcomes"]
    assert observation["ended_by"] == "lost"
    # Each client has lost its transaction, unless it was between two.
    assert outcomes["ok"] > 100 and 1 <= outcomes["unknown"] + outcomes["failed"] <= 8


@pytest.mark.parametrize("protocol", WITH_TRANSACTIONS)
def test_lost_sessions_and_errors_are_counted_by_outcome(
    protocol: str, null_system: NullSystem
) -> None:
    options = {"fail": "deadlock@0.1,constraint@0.1", "lose": "#400"}
    with null_system(protocol, **options) as deployment:
        observation = drive(deployment, TWO_STATEMENTS, clients=4, stop={"transactions": 10_000})
    outcomes = observation["outcomes"]
    assert outcomes["ok"] > 0
    classes: Counter[str] = Counter()
    for one in observation["errors"]:
        # In one class some can be undone and others unknown, depending on the statement.
        classes[one["class"]] += one["count"]
    assert classes["deadlock"] > 0 and classes["constraint"] > 0
    assert classes["lost connection"] == 4
    lost = outcomes["unknown"] + outcomes["failed"]
    assert lost >= sum(classes.values()) - 4


@pytest.mark.parametrize("protocol", WITH_TRANSACTIONS)
def test_a_retried_deadlock_is_one_transaction_and_two_attempts(
    protocol: str, null_system: NullSystem
) -> None:
    with null_system(protocol, fail="deadlock@#2") as deployment:
        observation = drive(
            deployment,
            TWO_STATEMENTS,
            stop={"transactions": 5},
            retries={"most": 3, "classes": ["deadlock"]},
        )
    outcomes = observation["outcomes"]
    assert (outcomes["ok"], outcomes["retries"], outcomes["attempts"]) == (5, 1, 6)


@pytest.mark.alone  # what is quick must not be delayed by others
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_failed_transaction_is_not_in_the_histogram_of_ok(
    protocol: str, null_system: NullSystem
) -> None:
    with null_system(protocol, stall="300ms@#10", fail="data@#10") as deployment:
        observation = drive(deployment, clients=3, stop={"transactions": 20})
    assert observation["outcomes"]["failed"] == 3
    assert times(observation)["max_ns"] < 0.2e9
    assert times(observation, "failed")["min_ns"] >= 0.3e9
    assert max(one["max_ns"] for one in observation["intervals"]) < 0.2e9


def test_the_accounts_of_a_real_server_balance(server: Deployment) -> None:
    pid = server.pop("pid")
    scripts = {
        "doubled": "\\set id random(1, 5)\nINSERT INTO once VALUES (:id);\n",
        "crossed": (
            "\\set first random(1, 2)\nBEGIN;\n"
            "UPDATE pairs SET n = n + 1 WHERE id = :first;\n"
            "UPDATE pairs SET n = n + 1 WHERE id = 3 - :first;\nCOMMIT;\n"
        ),
    }

    killed: list[int] = []

    def kill_later(text: str) -> None:
        if json.loads(text)["elapsed_s"] > 4 and not killed:
            os.kill(pid, signal.SIGQUIT)
            killed.append(pid)  # a later second of the run finds it gone

    observation = drive(server, scripts, kill_later, clients=8, stop={"duration_s": 60})
    classes = {one["class"]: one["count"] for one in observation["errors"]}
    assert classes["constraint"] > 0 and classes["deadlock"] > 0
    assert observation["ended_by"] == "lost"
    doubled = {
        one["outcome"]: one["count"]
        for one in observation["transactions"]
        if one["name"] == "doubled"
    }
    assert doubled["ok"] <= 5, "each number once, however often it was tried"
