"""Several servers in one URL: what they must be to each other, and what is said where they are
not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from assay.contracts import server_url
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.role import PRIMARY, STANDBY, Role
from assay.contracts.storage_facts import StorageFacts
from assay.errors import PasswordNeeded, SystemRefused
from assay.systems import cluster

P = Role(PRIMARY)
S = Role(STANDBY, follows="a:1", why_read_only="it is in recovery")


def deployment(address: Address, role: Role | None) -> Deployment:
    return Deployment(
        system="s",
        label="s",
        nodes=(Node("s", StorageFacts.of_url()),),
        endpoints=(address,),
        version="1",
        options={},
        settings_asked={},
        settings={},
        is_private=False,
        role=role,
        connection_limit={"a": 100, "b": 30}.get(str(address.host)),
    )


def attached(
    roles: Mapping[str, Role | SystemRefused | None], clusters: Mapping[str, str | None] = {}
) -> Deployment:
    def attach(address: Address) -> Deployment:
        role = roles[str(address.host)]
        if isinstance(role, SystemRefused):
            raise role
        return deployment(address, role)

    addresses = [Address("null", host=host, port=1, password=f"p {host}") for host in roles]
    return cluster.attached(
        addresses, "s://a,b/d", attach, lambda address: clusters.get(str(address.host), "one")
    )


def test_the_primary_is_the_first_endpoint_and_each_has_its_name_and_role() -> None:
    found = attached({"b": S, "a": P, "c": S})
    assert [one.host for one in found.endpoints] == ["a", "b", "c"]
    assert [(one.name, one.role.name) for one in found.members] == [
        ("a:1", PRIMARY), ("b:1", STANDBY), ("c:1", STANDBY)
    ]  # fmt: skip
    assert [one.name for one in found.nodes] == ["a:1", "b:1", "c:1"]
    assert found.role == P
    assert found.connection_limit == 30
    endpoints = found.for_engine().plain["endpoints"]
    assert [(one["name"], one.get("is_replica", False)) for one in endpoints] == [
        ("a:1", False), ("b:1", True), ("c:1", True)
    ]  # fmt: skip
    assert [one["password"] for one in endpoints] == ["p a", "p b", "p c"]
    assert "p a" not in str(found.for_record())


@pytest.mark.parametrize(
    ("roles", "clusters", "said"),
    [
        ({"a": P, "b": P}, {}, "found 2 primaries; a:1: primary; b:1: primary"),
        ({"b": S, "c": S}, {}, "found no primary; b:1: standby of a:1 (it is in recovery)"),
        ({"a": P, "b": None}, {}, "b:1: it does not say what it is"),
        ({"a": P, "b": S}, {"b": "two"}, "found those of 2; a:1: one; b:1: two"),
        ({"a": P, "b": S}, {"b": None}, "b:1 does not tell this user of which cluster it is"),
        (
            {"a": SystemRefused("no route", error_class="connection refused"), "b": S},
            {},
            "expected every server that it names; a:1: no route; b:1: standby of a:1",
        ),
    ],
)
def test_what_is_no_cluster_is_refused(
    roles: dict[str, Role | SystemRefused | None], clusters: dict[str, str | None], said: str
) -> None:
    with pytest.raises(SystemRefused) as refused:
        attached(roles, clusters)
    assert said in refused.value.message
    assert refused.value.hint


def test_a_login_that_is_refused_is_not_taken_for_a_server_that_is_down() -> None:
    with pytest.raises(PasswordNeeded):
        attached({"a": PasswordNeeded("who?"), "b": S})


def test_a_url_of_several_hosts_is_one_url_for_each() -> None:
    text = "mariadb://u:p%40@a,[::1]:2,c:3/d?ssl-mode=disabled"
    assert server_url.of_each_host(text) == (
        "mariadb://u:p%40@a/d?ssl-mode=disabled",
        "mariadb://u:p%40@[::1]:2/d?ssl-mode=disabled",
        "mariadb://u:p%40@c:3/d?ssl-mode=disabled",
    )
