"""Load generators behind a network, which drive a server that Assay started here."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path

import pytest

import able
import assay
from assay import registry
from assay.contracts.deployment import Address, Deployment
from assay.contracts.factors import GENERATORS
from assay.contracts.systems.abilities import ChecksAddress
from assay.drive.fleet.values import Terms
from assay.drive.observe import Generators
from assay.env_vars import SERVER_ADDRESS
from assay.errors import ArgumentError
from assay.experiment import SystemChoice
from assay.lab.driving import generators
from assay.plan.values import Cell
from assay.provision.engine.local_fleet import LocalFleet
from assay.provision.machine.ports import server_address
from assay.systems.options import TRANSPORT
from commands import why_missing
from networks import Network, network

pytestmark = pytest.mark.slow

REACHABLE = [
    name
    for name in able.STORING
    if TRANSPORT.name in {one.name for one in registry.system(name).option_specs}
]


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Network, list[Address]]]:
    """Two machines on which generators are started, and the endpoints that these were given."""
    with network(2) as net:
        endpoints: list[Address] = []

        def of_cell(cell: Cell, deployment: Deployment, run: int) -> Generators | None:
            endpoints.extend(deployment.endpoints)
            if cell.level(GENERATORS) == 1:
                return None
            fleet = LocalFleet(2, before=[net.command(0), net.command(1)])
            return Generators(fleet, Terms(run=run), are_on_one_machine=False)

        monkeypatch.setattr(generators, "of_cell", of_cell)
        monkeypatch.setenv(SERVER_ADDRESS.name, net.address)
        yield net, endpoints


@pytest.mark.parametrize("name", REACHABLE)
def test_generators_of_other_machines_reach_a_server_of_ours(
    name: str, far: tuple[Network, list[Address]], tmp_path: Path
) -> None:
    if why := why_missing(name):
        pytest.skip(why)
    net, endpoints = far
    result = assay.run(
        "ycsb", on=f"{name}[transport=tcp]", set={"recordcount": 50}, clients=4, generators=2,
        transactions=5, warm_up_s=0, probe_s=0, durability=False, records=tmp_path / "r.sqlite",
    )  # fmt: skip
    (run,) = result.runs
    assert run.verdict == "indicative" and run.outcomes.ok == 20
    assert {one.host for one in endpoints} == {net.address}
    passwords = {one.password for one in endpoints}
    assert passwords and None not in passwords and "" not in passwords
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("r.sqlite*"))
    assert net.address.encode() in kept, "where it listened is kept"
    assert not [one for one in passwords if one and one.encode() in kept]


def test_what_asks_for_no_password_does_not_listen_beyond_loopback(
    far: tuple[Network, list[Address]], tmp_path: Path
) -> None:
    net, _ = far
    with pytest.raises(ArgumentError, match=f"asks for no password.*{net.address}"):
        assay.run(
            "tpcb", on="null[protocol=postgresql,transport=tcp]", clients=2, transactions=1,
            records=tmp_path / "r.sqlite",
        )  # fmt: skip
    assert not (tmp_path / "r.sqlite").exists(), "before anything is started"


def test_a_wrong_address_is_refused_before_there_is_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SERVER_ADDRESS.name, "nonsense")
    records = tmp_path / "r.sqlite"
    with pytest.raises(ArgumentError, match="expected an IP address of this machine"):
        assay.run("tpcb", on="null", clients=2, transactions=1, records=records)
    assert not records.exists()


@pytest.mark.parametrize("name", ["cassandra", "cubrid"])
def test_a_server_that_stays_on_loopback_is_refused_elsewhere(name: str) -> None:
    system = registry.system(name)
    assert isinstance(system, ChecksAddress)
    system.refuse_address(SystemChoice(name), "127.0.0.2")
    with pytest.raises(ArgumentError, match=f"{name}: the server .* not at 203.0.113.7"):
        system.refuse_address(SystemChoice(name), "203.0.113.7")


@pytest.mark.parametrize(
    "address", ["203.0.113.7", "localhost", "0.0.0.0", "::", "fe80::1", "nonsense"]
)
def test_only_an_address_of_this_machine_is_listened_at(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SERVER_ADDRESS.name, address)
    with pytest.raises(ArgumentError, match="expected an IP address of this machine"):
        server_address()


def test_the_address_is_one_of_loopback_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SERVER_ADDRESS.name, raising=False)
    assert ipaddress.ip_address(server_address()).is_loopback


class _Cluster:
    """Of machines of which none is this one."""

    is_this_machine = False
    stopped = 0

    def __init__(self, address: str, machines: int) -> None:
        pass

    def stop(self) -> None:
        _Cluster.stopped += 1


def test_a_server_of_this_machine_alone_is_refused_to_other_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generators, "RayFleet", _Cluster)
    monkeypatch.setattr(generators.ray_fleet, "why_not", lambda _: None)
    for transport in ("tcp", "socket"):
        with pytest.raises(ArgumentError, match="on this machine alone, and generators are on"):
            assay.run(
                "tpcb", on=f"null[protocol=postgresql,transport={transport}]", clients=2,
                generators=2, fleet="ray://far:6379", transactions=1, records=tmp_path / "r.sqlite",
            )  # fmt: skip
    assert _Cluster.stopped == 2


@pytest.mark.parametrize("name", REACHABLE)
def test_a_server_at_an_address_of_ipv6(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also behind the proxy that adds a distance, and by its URL."""
    if why := why_missing(name):
        pytest.skip(why)
    monkeypatch.setenv(SERVER_ADDRESS.name, "::1")
    result = assay.run(
        "ycsb", on=f"{name}[transport=tcp]", set={"recordcount": 50}, clients=4, generators=2,
        transactions=5, warm_up_s=0, probe_s=0, durability=False, rtt=["0", "1ms"],
        records=tmp_path / "r.sqlite",
    )  # fmt: skip
    assert [one.outcomes.ok for one in result.runs] == [20, 20]
    assert b'"::1"' in (tmp_path / "r.sqlite").read_bytes(), "where it listened is kept"
