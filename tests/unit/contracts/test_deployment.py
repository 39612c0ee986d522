"""A deployment: nodes, endpoints, and whether it is in this process."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.observation.parts.shape import ShapeError
from assay.contracts.storage_facts import StorageFacts
from assay.errors import Bug
from assay.load.load_options import Loading
from assay.load.row_sources.request import DataRequest
from assay.provision.provision import provision
from assay.record.file.json_text import json_text
from assay.record.runs import typed

STORAGES = [StorageFacts(name, "here", f"/{name}") for name in ("one", "two", "three")]
NODES = tuple(
    Node(f"node {pid}", storage, pid) for pid, storage in zip((11, 12, 13), STORAGES, strict=True)
)
ADDRESS = Address("postgresql", host="10.0.0.1", port=5432, user="reader", password="known to few")
ENDPOINTS = (ADDRESS, replace(ADDRESS, host="10.0.0.2"), replace(ADDRESS, port=5433))


def deployment(*endpoints: Address) -> Deployment:
    return Deployment(
        system="cluster",
        label="cluster",
        nodes=NODES,
        endpoints=endpoints,
        version="1",
        options={},
        settings_asked={},
        settings={},
    )


def test_the_engine_gets_all_endpoints_and_one_login() -> None:
    alone = deployment(ADDRESS).for_engine(["SET a = 1"])
    assert "endpoints" not in alone.plain
    assert (alone.host, alone.session_statements) == ("10.0.0.1", ("SET a = 1",))
    endpoints = deployment(*ENDPOINTS).for_engine(["SET a = 1"]).endpoints
    assert [(one.host, one.port) for one in endpoints] == [
        ("10.0.0.1", 5432),
        ("10.0.0.2", 5432),
        ("10.0.0.1", 5433),
    ]
    assert all(one.session_statements == ("SET a = 1",) for one in endpoints)
    for wrong in ((), (ADDRESS, replace(ADDRESS, user="another"))):
        with pytest.raises(Bug, match="endpoint"):
            deployment(*wrong)


def test_a_recorded_deployment_has_every_node_and_no_password() -> None:
    many = deployment(*ENDPOINTS)
    kept = json_text(many.for_record())
    assert "known to few" not in kept
    document = many.for_record()
    assert [one["port"] for one in document["endpoints"]] == [5432, 5432, 5433]
    assert document["address"] == document["endpoints"][0]
    assert (document["server_pid"], document["storage"]) == (11, STORAGES[0])
    assert '"name": "node 13"' in kept


@pytest.mark.parametrize(
    ("choice", "is_embedded"),
    [
        (SystemChoice("sqlite"), True),
        (SystemChoice("null"), True),
        (SystemChoice("null", url="null:///"), True),
        (SystemChoice("null", options={"protocol": "postgresql"}), False),
    ],
)
def test_is_embedded_means_in_this_process(choice: SystemChoice, is_embedded: bool) -> None:
    with provision(choice, StorageChoice(), connections=1) as made:
        assert made.is_embedded == is_embedded
        kept = typed.deployment(json.loads(json_text(made.for_record())), "deployment")
        assert kept == made
        request = DataRequest(
            {}, "generated", "", "f", 0, rows_expected={"t": 10**9}, is_divisible=True
        )
        assert Loading(sessions=4).sessions_for(made, request) == (1 if is_embedded else 4)


def test_a_deployment_that_cannot_be_is_refused_with_its_key() -> None:
    kept = json.loads(json_text(deployment(Address("null", unix="/s")).for_record()))
    for key, value, said in (
        ("nodes", [], "needs a node"),
        ("version", 3, "version"),
        ("endpoints", [{"driver": "null", "port": "x"}], "port"),
    ):
        with pytest.raises(ShapeError, match=f"kept.*{said}"):
            typed.deployment({**kept, key: value}, "kept")
