"""Load generators on other machines, and networks that fail."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import able
import assay
from assay import registry
from assay.contracts.deployment import Address, Deployment
from assay.contracts.documents import ScriptDocument
from assay.contracts.engine import DriveDocument, DriveProgress, StopDocument
from assay.contracts.factors import GENERATORS
from assay.contracts.observation import Observation
from assay.contracts.systems.abilities import ChecksAddress
from assay.drive import generators as kept_parts
from assay.drive.generators import Terms
from assay.drive.observe import Generators, observe
from assay.env_vars import SERVER_ADDRESS
from assay.errors import ArgumentError
from assay.experiment import StorageChoice, SystemChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.judge.result_checks import why_failed
from assay.lab import measurement
from assay.plan.values import Cell
from assay.provision.engine import engine_programs
from assay.provision.engine.engine_calls import session
from assay.provision.engine.engine_programs import LocalFleet
from assay.provision.machine.ports import server_address
from assay.provision.running_system import provision
from assay.systems.options import TRANSPORT
from commands import why_missing
from programs import IP, NFT, TC, need_program
from waiting import wait_until

_FAR_PROGRAM = Path(__file__).parents[1] / "support" / "far_program.py"


class Network:
    def __init__(self, name: str, subnet: str, machines: int) -> None:
        self.address = f"{subnet}.1"
        """Of this machine, at the bridge."""
        self._name, self._subnet = name, subnet
        self.namespaces = [f"{name}-{number}" for number in range(1, machines + 1)]

    def link(self, machine: int) -> str:
        """Of that machine, at the bridge."""
        return f"{self._name}v{machine + 1}"

    def inside(self, machine: int, *command: str) -> None:
        run("ip", "netns", "exec", self.namespaces[machine], *command)

    def far_address(self, machine: int) -> str:
        return f"{self._subnet}.{machine + 2}"

    def command(self, machine: int) -> list[str]:
        """The beginning of a command of `LocalFleet`, for a program behind the network."""
        address = self.far_address(machine)
        return [sys.executable, str(_FAR_PROGRAM), self.namespaces[machine], address]

    def cut(self, machine: int) -> None:
        run("ip", "link", "set", self.link(machine), "down")

    def pids(self, machine: int) -> list[int]:
        """The processes that are there."""
        return [int(pid) for pid in run("ip", "netns", "pids", self.namespaces[machine]).split()]


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


@contextmanager
def network(machines: int) -> Iterator[Network]:
    """Skips the test where it cannot be made."""
    need_program(IP)
    if os.geteuid() != 0:
        pytest.skip("needs network namespaces (ip netns, as root)")
    # Of its own where two runs of the tests are in two PID namespaces and one network.
    name = f"as{secrets.token_hex(4)}"
    made = Network(name, f"10.{secrets.randbelow(128) + 128}.{secrets.randbelow(256)}", machines)
    with ExitStack() as stack:

        def make(*command: str, undo: tuple[str, ...]) -> None:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"needs network namespaces: {' '.join(command)}: {done.stderr.strip()}")
            stack.callback(subprocess.run, undo, capture_output=True, check=False)

        make("ip", "link", "add", name, "type", "bridge", undo=("ip", "link", "del", name))
        run("ip", "addr", "add", f"{made.address}/24", "dev", name)
        run("ip", "link", "set", name, "up")
        for number, namespace in enumerate(made.namespaces):
            make("ip", "netns", "add", namespace, undo=("ip", "netns", "del", namespace))
            link = made.link(number)
            make(
                "ip", "link", "add", link, "type", "veth", "peer", "eth0", "netns", namespace,
                undo=("ip", "link", "del", link),
            )  # fmt: skip
            run("ip", "link", "set", link, "master", name, "up")
            within = ("ip", "-n", namespace)
            run(*within, "addr", "add", f"{made.far_address(number)}/24", "dev", "eth0")
            run(*within, "link", "set", "eth0", "up")
            run(*within, "link", "set", "lo", "up")
        yield made


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

        monkeypatch.setattr(measurement, "generators_of_cell", of_cell)
        monkeypatch.setenv(SERVER_ADDRESS.name, net.address)
        yield net, endpoints


@pytest.mark.slow
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
    assert run.verdict == "unreliable" and run.outcomes.ok == 20
    assert {one.host for one in endpoints} == {net.address}
    passwords = {one.password for one in endpoints}
    assert passwords and None not in passwords and "" not in passwords
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("r.sqlite*"))
    assert net.address.encode() in kept, "where it listened is kept"
    assert not [one for one in passwords if one and one.encode() in kept]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_wrong_address_is_refused_before_there_is_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SERVER_ADDRESS.name, "nonsense")
    records = tmp_path / "r.sqlite"
    with pytest.raises(ArgumentError, match="expected an IP address of this machine"):
        assay.run("tpcb", on="null", clients=2, transactions=1, records=records)
    assert not records.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cassandra", "cubrid"])
def test_a_server_that_stays_on_loopback_is_refused_elsewhere(name: str) -> None:
    system = registry.system(name)
    assert isinstance(system, ChecksAddress)
    system.refuse_address(SystemChoice(name), "127.0.0.2")
    with pytest.raises(ArgumentError, match=f"{name}: the server .* not at 203.0.113.7"):
        system.refuse_address(SystemChoice(name), "203.0.113.7")


@pytest.mark.slow
@pytest.mark.parametrize(
    "address", ["203.0.113.7", "localhost", "0.0.0.0", "::", "fe80::1", "nonsense"]
)
def test_only_an_address_of_this_machine_is_listened_at(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SERVER_ADDRESS.name, address)
    with pytest.raises(ArgumentError, match="expected an IP address of this machine"):
        server_address()


class _Cluster:
    """Of machines of which none is this one."""

    is_this_machine = False
    stopped = 0

    def __init__(self, address: str, machines: int) -> None:
        pass

    def stop(self) -> None:
        _Cluster.stopped += 1


@pytest.mark.slow
def test_a_server_of_this_machine_alone_is_refused_to_other_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_programs, "RayFleet", _Cluster)
    monkeypatch.setattr(engine_programs, "why_not", lambda _: None)
    for transport in ("tcp", "socket"):
        with pytest.raises(ArgumentError, match="on this machine alone, and generators are on"):
            assay.run(
                "tpcb", on=f"null[protocol=postgresql,transport={transport}]", clients=2,
                generators=2, fleet="ray://far:6379", transactions=1, records=tmp_path / "r.sqlite",
            )  # fmt: skip
    assert _Cluster.stopped == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", able.one_of_each_line(REACHABLE))
def test_a_server_at_an_address_of_ipv6(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also behind the proxy that adds a distance, and by its URL."""
    if why := why_missing(name):
        pytest.skip(why)
    monkeypatch.setenv(SERVER_ADDRESS.name, "::1")
    result = assay.run(
        "ycsb", on=f"{name}[transport=tcp]", set={"recordcount": 50}, clients=4, generators=2,
        transactions=5, warm_up_s=0, probe_s=0, durability=False,
        rtt=["0", "1ms"] if name == "postgresql" else "1ms", records=tmp_path / "r.sqlite",
    )  # fmt: skip
    assert {one.outcomes.ok for one in result.runs} == {20}
    assert b'"::1"' in (tmp_path / "r.sqlite").read_bytes(), "where it listened is kept"


SERVER = "postgresql"
MACHINES = 2
CLIENTS = 4
ACTIVE = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT%' AND state = 'active'"


@pytest.fixture
def far_generators(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Network, Deployment]]:
    if why := why_missing(SERVER):
        pytest.skip(why)
    with network(MACHINES) as net:
        monkeypatch.setenv(SERVER_ADDRESS.name, net.address)
        choice = system_choice(f"{SERVER}[transport=tcp]")
        with provision(choice, StorageChoice(), connections=20) as deployment:
            _ask(deployment, "CREATE TABLE t (v bigint)")
            yield net, deployment


def _driven(
    net: Network,
    deployment: Deployment,
    stop: StopDocument,
    progress: Callable[[DriveProgress], bool | None] = lambda _: None,
    kept_in: Path | None = None,
) -> Observation:
    text = "\\set v random(1, 1000000000)\nINSERT INTO t VALUES (:v);\n"
    document = DriveDocument(
        scripts=(ScriptDocument(name="insert", path="insert.sql", text=text),),
        order="sequence",
        clients=CLIENTS,
        stop=stop,
        seed=secrets.randbits(32),
    )
    fleet = LocalFleet(MACHINES, before=[net.command(one) for one in range(MACHINES)])
    terms = Terms(run=1, kept_in=kept_in)
    return observe(deployment, document, progress, generators=Generators(fleet, terms))


def _ask(deployment: Deployment, statement: str) -> int:
    with session(deployment.address) as opened:
        rows = opened.execute(statement).rows
    return int(rows[0][0]) if rows else 0


def _rows_at_last(deployment: Deployment) -> int:
    while _ask(deployment, ACTIVE):
        time.sleep(0.05)
    return _ask(deployment, "SELECT count(*) FROM t")


def _wait_until_left(net: Network) -> None:
    """Each generator ends by itself where it cannot be reached: no one else could end it there."""
    wait_until(lambda: not any(net.pids(one) for one in range(MACHINES)), "no generator is left")


@pytest.mark.slow
def test_a_link_that_is_cut_loses_the_generator_behind_it(
    far_generators: tuple[Network, Deployment], tmp_path: Path
) -> None:
    net, deployment = far_generators
    cut: list[float] = []

    def progress(report: DriveProgress) -> None:
        if report.elapsed_s > 1.0 and not cut:
            net.cut(1)
            cut.append(report.elapsed_s)

    found = _driven(net, deployment, StopDocument(duration_s=60.0), progress, tmp_path)
    _, lost = found.generators
    assert lost.lost_after_s is not None and lost.lost_after_s > cut[0]
    words = f"load machine 2 of 2 lost after {lost.lost_after_s:.0f} s"
    assert why_failed(found, (), None) == words
    rows = _rows_at_last(deployment)
    ok = sum(one.ok for one in found.generators)
    assert 0 < ok <= rows <= ok + sum(one.unknown for one in found.generators)
    _wait_until_left(net)
    # It kept what it knows, and that is no more than the bound: what it sent is not in doubt there.
    (kept,) = [kept_parts.read_kept_part(one).observation for one in tmp_path.iterdir()]
    assert lost.ok <= kept.outcomes.ok <= lost.ok + lost.unknown
    assert kept.outcomes.ok + kept.outcomes.unknown <= lost.ok + lost.unknown


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["loss", "bandwidth"])
def test_a_bad_network_changes_no_count(
    fault: str, far_generators: tuple[Network, Deployment]
) -> None:
    net, deployment = far_generators
    if fault == "loss":
        need_program(NFT)
        rules = (
            "add table ip bad",
            "add chain ip bad in { type filter hook input priority 0; }",
            f"add rule ip bad in ip saddr {net.address} numgen random mod 100 < 3 counter drop",
        )
        for one in range(MACHINES):
            net.inside(one, "nft", "; ".join(rules))
    else:
        need_program(TC)
        shape = ["root", "tbf", "rate", "256kbit", "burst", "2000", "limit", "6000"]
        for one in range(MACHINES):
            net.inside(one, "tc", "qdisc", "add", "dev", "eth0", *shape)
    found = _driven(net, deployment, StopDocument(transactions=100))
    assert found.ended_by == "stop" and not found.lost_generators
    assert found.outcomes.ok == CLIENTS * 100 == _rows_at_last(deployment)
    assert found.outcomes.unknown == found.outcomes.failed == 0
    for namespace in net.namespaces:
        if fault == "loss":
            said = run("ip", "netns", "exec", namespace, "nft", "list", "ruleset")
            assert "counter packets 0 " not in said and "counter packets" in said
        else:
            assert "overlimits 0 " not in run(
                "tc", "-s", "-n", namespace, "qdisc", "show", "dev", "eth0"
            )
    _wait_until_left(net)
