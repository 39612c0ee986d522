"""A library in the client's process has the memory limit of that process."""

from __future__ import annotations

import pytest

from assay.errors import MachineLimit
from assay.experiment import ServerMachine
from assay.provision import limits
from commands import Assay

MB = 1 << 20


@pytest.fixture(autouse=True)
def _groups() -> None:
    try:
        limits.refuse_impossible_limits(ServerMachine(64 * MB))
    except MachineLimit as error:
        pytest.skip(error.message)


def test_a_run_on_a_library_has_its_limit_and_too_many_sessions_are_refused(assay: Assay) -> None:
    """The kernel would end this process."""
    ended = assay(
        "run", "tpcb", "--on", "sqlite", "--memory", "96MB,64MB", "--clients", "8",
        "--warm-up", "0", "--transactions", "20", "--format", "json", is_forked=False,
    )  # fmt: skip
    enough, little = ended.runs
    assert enough.state == "done", ended.err
    assert enough.deployment is not None
    assert enough.deployment.memory_limit_bytes == 96 * MB
    assert little.state == "refused"
    assert "8 sessions may need 72MB of this process, and its limit is 64MB" in little.reason
    assert ended.status == 0


def test_data_in_memory_are_refused(assay: Assay) -> None:
    ended = assay("run", "tpcb", "--on", "sqlite", "--memory", "96MB", "--storage", "tmpfs")
    assert ended.status == 2
    assert "data on tmpfs count as memory of the process that writes them" in ended.err
    assert "--memory none" in ended.err
