"""Load generators behind a network that is cut, loses packets, or is slow."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.contracts.deployment import Deployment
from assay.contracts.engine.document import ScriptDocument
from assay.contracts.engine.drive import DriveDocument, DriveProgress, StopDocument
from assay.contracts.observation import Observation
from assay.drive.fleet import kept_parts
from assay.drive.fleet.values import Terms
from assay.drive.observe import Generators, observe
from assay.env_vars import SERVER_ADDRESS
from assay.experiment import StorageChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.judge.check.verdict import why_failed
from assay.provision.engine.local_fleet import LocalFleet
from assay.provision.engine.session import session
from assay.provision.provision import provision
from commands import why_missing
from networks import Network, network, run
from programs import NFT, TC, need_program
from waiting import wait_until

pytestmark = pytest.mark.slow

SERVER = "postgresql"
MACHINES = 2
CLIENTS = 4
ACTIVE = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT%' AND state = 'active'"


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Network, Deployment]]:
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


def test_a_link_that_is_cut_loses_the_generator_behind_it(
    far: tuple[Network, Deployment], tmp_path: Path
) -> None:
    net, deployment = far
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
    (kept,) = [kept_parts.read(one).observation for one in tmp_path.iterdir()]
    assert lost.ok <= kept.outcomes.ok <= lost.ok + lost.unknown
    assert kept.outcomes.ok + kept.outcomes.unknown <= lost.ok + lost.unknown


@pytest.mark.parametrize("fault", ["loss", "bandwidth"])
def test_a_bad_network_changes_no_count(fault: str, far: tuple[Network, Deployment]) -> None:
    net, deployment = far
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
