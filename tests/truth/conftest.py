"""Null systems, and a real server, for the tests of measurements."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from known_systems import IN_PROCESS, Deployment, NullServer, NullSystem

from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.errors import SystemMissing
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision

_WITHOUT_A_CLOCK = {"test_accounts", "test_agents", "test_seeds", "test_slices"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is compared with a clock is measured while no other test runs."""
    for item in items:
        is_here = item.path.is_relative_to(Path(__file__).parent)
        if is_here and item.path.stem not in _WITHOUT_A_CLOCK:
            item.add_marker(pytest.mark.alone)


@pytest.fixture
def null_system(tmp_path: Path) -> NullSystem:
    """``with null_system("postgresql", delay="constant:1ms") as deployment``; ``none``: in here."""

    @contextmanager
    def started(protocol: str, **options: str) -> Iterator[Deployment]:
        if protocol == IN_PROCESS:
            yield {
                "driver": "null",
                "options": {"rows": "1", "deployment": str(tmp_path), **options},
            }
            return
        server = NullServer(protocol, tmp_path / f"{protocol}.sock", options)
        try:
            yield server.deployment
        finally:
            server.close()

    return started


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    with tempfile.TemporaryDirectory(prefix="assay-test-", dir="/var/tmp") as made:
        Path(made).chmod(0o755)  # the servers' user must be able to enter
        monkeypatch.setenv("ASSAY_DATA_DIRECTORY", made)
        try:
            with provision(
                SystemChoice("postgresql"), StorageChoice(), connections=20
            ) as deployment:
                with session(deployment.address) as opened:
                    opened.execute("CREATE TABLE once (id integer PRIMARY KEY)")
                    opened.execute("CREATE TABLE pairs (id integer PRIMARY KEY, n integer)")
                    opened.execute("INSERT INTO pairs SELECT n, 0 FROM generate_series(1, 2) AS n")
                yield {**deployment.address.for_engine().plain, "pid": deployment.server_pid}
        except SystemMissing as error:
            pytest.skip(str(error))
