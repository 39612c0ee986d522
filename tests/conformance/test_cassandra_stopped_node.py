"""A cluster of two nodes, of which one stands still under load: a write that timed out may have
happened, and a later read says how many had. One that is killed is named."""

from __future__ import annotations

import json
import signal
import threading

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.storage_facts import StorageFacts
from assay.provision.engine.session import session
from assay.provision.processes import process
from assay.systems.cassandra import CASSANDRA
from commands import need
from servers import provisioned
from waiting import wait_until

CLIENTS = 6
SCRIPT = """\
\\set id :client_id * 1000000 + :transaction_number
INSERT INTO t (id, client) VALUES (:id, :client_id);
\\think 10 ms
"""
"""As many writes as the nodes can take would show nothing more."""


def test_a_write_that_timed_out_is_unknown_until_it_is_read(storage: StorageFacts) -> None:
    need("cassandra")
    options = {"nodes": "2", "consistency": "all"}
    # Shorter than the time after which the nodes hold the still one for dead, and refuse.
    settings = {"write_request_timeout": "1000ms"}
    with provisioned(CASSANDRA, storage, settings, options) as deployment:
        assert [one.name for one in deployment.nodes] == ["node-1", "node-2"]
        assert len({one.host for one in deployment.endpoints}) == 2
        with session(deployment.address) as opened:
            opened.execute("CREATE TABLE t (id int PRIMARY KEY, client int)")
        CASSANDRA.wait_for_schema(deployment)
        outcomes = _outcomes_with_a_node_that_stands_still(deployment)
        with session(deployment.address) as opened:
            rows = int(opened.execute("SELECT count(*) FROM t").rows[0][0] or 0)
        _one_that_is_killed_is_named(deployment)
    ok, unknown = outcomes["ok"], outcomes["unknown"]
    assert unknown >= CLIENTS, f"each client was in a write when the node stopped: {outcomes}"
    assert ok <= rows <= ok + unknown, f"{rows} rows of {outcomes}"
    assert rows > ok, "the other node has taken writes that timed out"
    assert ok + unknown + outcomes["failed"] == outcomes["scheduled"]
    print(f"{rows - ok} of {unknown} writes with an unknown outcome had happened; {outcomes}")


def _one_that_is_killed_is_named(deployment: Deployment) -> None:
    killed = process.find(deployment.nodes[1].pid)
    assert killed is not None
    killed.send(signal.SIGKILL)
    why = wait_until(lambda: CASSANDRA.why_it_died(deployment), "its end is known")
    assert why is not None and "node-2" in why and "SIGKILL" in why


def _outcomes_with_a_node_that_stands_still(deployment: Deployment) -> dict[str, int]:
    """For some seconds in the middle; then it goes on, so that all nodes can be read again."""
    document = {
        # The clients are those of the node that goes on.
        "deployment": {
            **deployment.for_engine().plain,
            "endpoints": deployment.for_engine().plain["endpoints"][:1],
        },
        "scripts": [{"name": "insert", "path": "insert.cql", "text": SCRIPT}],
        "lexer": "cql",
        "order": "mix",
        "clients": CLIENTS,
        "threads": 1,
        "protocol": "prepared",
        "stop": {"duration_s": 5},
        "seed": 1,
    }
    still = process.find(deployment.nodes[1].pid)
    assert still is not None
    timers = [
        threading.Timer(seconds, still.send, [number])
        for seconds, number in ((1, signal.SIGSTOP), (4, signal.SIGCONT))
    ]
    for timer in timers:
        timer.start()
    try:
        observation = json.loads(_engine.drive(json.dumps(document)))
    finally:
        for timer in timers:
            timer.cancel()
        still.send(signal.SIGCONT)
    outcomes: dict[str, int] = observation["outcomes"]
    return outcomes
