"""Several endpoints: which clients use which, and what each of them did there."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from assay import _engine
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.engine.drive import DriveDocument, GroupDocument
from assay.contracts.observation import Observation, read_observation
from assay.contracts.observation.merging.simultaneous import merge
from assay.contracts.role import PRIMARY, STANDBY, ClusterMember, Role
from assay.contracts.storage_facts import StorageFacts
from assay.drive.endpoints import sessions_at_each
from assay.drive.parts import split

HOSTS = {"a": PRIMARY, "b": STANDBY, "c": STANDBY}
DELAYS_MS = {"a": 1, "b": 4, "c": 12}
WRITERS = {"name": "writers", "scripts": ["write"], "clients": 2, "stop": {"passes": 30}}
READERS = {
    "name": "readers",
    "scripts": ["read", "write"],
    "clients": 5,
    "read": "replica",
    "stop": {"passes": 10},
}


def endpoint(host: str) -> dict[str, Any]:
    options = {"deployment": f"endpoint {host}", "delay": f"constant:{DELAYS_MS[host]}ms"}
    is_replica = HOSTS[host] == STANDBY
    return {"driver": "null", "name": host, "is_replica": is_replica, "options": options}


def driven(hosts: str = "abc", **changes: Any) -> Observation:
    """Of the null system, whose endpoints answer after different times."""
    document = {
        "deployment": {"driver": "null", "endpoints": [endpoint(host) for host in hosts]},
        "scripts": [
            {"name": "read", "path": "read.sql", "text": "SELECT 1;\n"},
            {"name": "write", "path": "write.sql", "text": "SELECT 2;\n"},
        ],
        "groups": [WRITERS, READERS],
        "seed": 1,
        **changes,
    }
    return read_observation(json.loads(_engine.drive(json.dumps(document))))


def test_each_endpoint_has_the_counts_and_the_times_of_its_own_clients() -> None:
    writers, readers = driven().groups
    assert [(one.name, one.is_replica, one.clients, one.ok) for one in writers.endpoints] == [
        ("a", False, 2, 60)
    ]
    # Clients are numbered over all groups: these are 2 to 6.
    assert [(one.name, one.is_replica, one.clients, one.ok) for one in readers.endpoints] == [
        ("b", True, 3, 60),
        ("c", True, 2, 40),
    ]
    assert readers.outcomes.ok == 100
    assert [one.name for one in readers.outcomes_by_transaction] == ["read", "write"]
    for one in (*writers.endpoints, *readers.endpoints):
        least_ns = one.all_ok.latency.min_ns
        assert least_ns >= DELAYS_MS[one.name] * 1_000_000
        assert one.all_ok.count == one.ok
    b, c = readers.endpoints
    assert b.all_ok.latency.p50_ns is not None
    assert b.all_ok.latency.p50_ns < c.all_ok.latency.min_ns
    rates = sum(one.throughput_per_s for one in readers.endpoints)
    assert rates == pytest.approx(readers.throughput_per_s)


def test_of_an_open_loop_the_arrivals_of_all_endpoints_are_those_of_the_group() -> None:
    changes: dict[str, Any] = {
        "arrival": {"kind": "constant", "offered_rate_per_s": 400.0},
        "stop": {"transactions": 20},
    }
    _, readers = driven(groups=[WRITERS, {**READERS, **changes}]).groups
    assert readers.outcomes.scheduled == 100
    assert sum(one.ok for one in readers.endpoints) == readers.outcomes.ok == 100


def test_one_endpoint_changes_nothing() -> None:
    groups = [{**WRITERS, "read": "primary"}]
    assert driven("a", groups=groups).groups[0].endpoints == ()
    with pytest.raises(_engine.EngineError, match=r"groups\[1\]\.read"):
        driven("a")


def test_what_several_machines_did_at_an_endpoint_adds_up() -> None:
    whole = driven(groups=[READERS])
    parts = split(
        DriveDocument(scripts=(), seed=1, groups=(GroupDocument(order="sequence", **READERS),)), 2
    )
    driven_parts = [driven(groups=[json.loads(part.json)["groups"][0]], seed=1) for part in parts]
    (group,) = merge(driven_parts).groups
    found = {one.name: (one.clients, one.ok, one.all_ok.count) for one in group.endpoints}
    (alone,) = whole.groups
    assert found == {one.name: (one.clients, one.ok, one.all_ok.count) for one in alone.endpoints}
    assert sum(one.throughput_per_s for one in group.endpoints) == pytest.approx(
        group.throughput_per_s
    )


def test_the_sessions_of_each_server_are_those_that_the_engine_opens() -> None:
    """Both count by the rule: client c uses the endpoint at c mod n of those it reads at."""
    address = Address("null")
    deployment = Deployment(
        system="null",
        label="null",
        nodes=tuple(Node(host, StorageFacts.of_url()) for host in HOSTS),
        endpoints=tuple(replace(address, host=host) for host in HOSTS),
        members=tuple(ClusterMember(host, Role(role)) for host, role in HOSTS.items()),
        version="1",
        options={},
        settings_asked={},
        settings={},
    )
    for read in ("primary", "replica", "any"):
        groups = [WRITERS, {**READERS, "read": read}]
        document = DriveDocument(
            scripts=(),
            seed=1,
            groups=tuple(GroupDocument(order="sequence", **one) for one in groups),
        )
        counted = [clients for _, clients in sessions_at_each(deployment, document)]
        opened = dict.fromkeys(HOSTS, 0)
        for group in driven(groups=groups).groups:
            for one in group.endpoints:
                opened[one.name] += one.clients
        assert counted == list(opened.values()), read
    apart = GroupDocument(order="sequence", **{**READERS, "read": {"read": "replica"}})
    document = DriveDocument(scripts=(), seed=1, groups=(apart,))
    # Each of the five has one for what it writes, and one for what it reads.
    assert [count for _, count in sessions_at_each(deployment, document)] == [5, 3, 2]
