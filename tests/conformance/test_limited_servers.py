"""Private servers in a control group, and running servers whose processes are on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import registry
from assay.contracts.systems.abilities import BufferSize
from assay.errors import MachineLimit
from assay.experiment import ServerMachine, StorageChoice, SystemChoice
from assay.provision.limits import server_group
from assay.provision.provision import provision
from assay.provision.running_system import running_system
from commands import Assay, need
from servers import SERVERS

MB = 1 << 20
LIMITED = [name for name in SERVERS if isinstance(registry.system(name), BufferSize)]
TOO_SLOW = {"mysql": "it takes minutes to start at half a processor"}


def _need_groups() -> None:
    try:
        server_group.refuse_impossible(ServerMachine(64 * MB, 0.5))
    except MachineLimit as error:
        pytest.skip(error.message)


@pytest.mark.parametrize("system", [name for name in LIMITED if name not in TOO_SLOW])
def test_a_server_with_little_memory_works_or_names_the_limit(assay: Assay, system: str) -> None:
    need(system)
    _need_groups()
    ended = assay(
        "run", "tpcb", "--on", f"{system}[buffer=27MB]", "--memory", "256MB,28MB", "--cpus", "0.5",
        "--warm-up", "0", "--transactions", "20", "--format", "json",
    )  # fmt: skip
    enough, little = ended.runs
    assert enough.state == "done", ended.err
    assert enough.deployment is not None
    assert enough.deployment.memory_limit_bytes == 256 * MB
    assert enough.deployment.cpu_limit == 0.5
    assert little.state == "failed"
    assert "ended by the memory limit of 28MB" in little.reason
    assert ended.status == 3
    rows = ended.document["tables"]["runs"]
    assert [row["memory_bytes"] for row in rows] == [256 * MB, 28 * MB]
    assert [row["cpus"] for row in rows] == [0.5, 0.5]


def test_a_running_server_on_this_machine_is_sampled(assay: Assay, working_folder: Path) -> None:
    need("postgresql")
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    choice = SystemChoice("postgresql", options={"transport": "tcp"})
    with provision(choice, StorageChoice(), connections=4) as up:
        place = up.address
        url = (
            f"postgresql://{place.user}:{place.password}@{place.host}:{place.port}/{place.database}"
        )
        for words in ([], ["--rtt", "5ms"]):
            ended = assay(
                "run", "one.sql", "--on", url, "--warm-up", "0", "--transactions", "20", *words
            )
            assert ended.status == 0, ended.err
            [run] = ended.runs
            assert run.deployment is not None
            assert run.deployment.nodes[0].seen_program == "postgres"
            assert run.driven is not None
            assert run.driven.server_cost is not None, "its processes are seen"
            assert run.driven.server_cost.resident_peak_bytes > MB
            assert (run.deployment.delay is not None) == bool(words)


def test_mysql_takes_the_limit_for_the_memory_of_the_machine() -> None:
    """By default it sees the whole machine, and its own sizes follow that."""
    need("mysql")
    _need_groups()
    choice = SystemChoice("mysql", machine=ServerMachine(memory_bytes=768 * MB))
    with running_system(choice, StorageChoice(), connections=4) as running:
        assert running.deployment.memory_limit_bytes == 768 * MB
        assert running.directory is not None
        (log,) = running.directory.run.glob("server-*.log")
        assert f"has access to {768 * MB} bytes of physical memory" in log.read_text()


def test_memory_that_runs_out_in_a_run_is_named(assay: Assay, working_folder: Path) -> None:
    """The kernel ends one backend; the server that we started goes on."""
    need("postgresql")
    _need_groups()
    (working_folder / "large.sql").write_text("SELECT length(repeat('x', 200000000));\n")
    ended = assay("run", "large.sql", "--on", "postgresql", "--memory", "160MB,none",
                  "--clients", "1", "--warm-up", "0", "--transactions", "1")  # fmt: skip
    little, enough = ended.runs
    assert enough.state == "done", ended.err
    assert little.state == "failed"
    assert "a process was ended by the memory limit of 160MB" in str(little.reason)
    assert ended.status == 3


def test_memory_that_runs_out_in_a_load_is_named(assay: Assay) -> None:
    need("mariadb")
    _need_groups()
    ended = assay("run", "tpcb", "--on", "mariadb[buffer=143MB]", "--memory", "144MB",
                  "--set", "scale=5", "--warm-up", "0", "--transactions", "3")  # fmt: skip
    [run] = ended.runs
    assert run.state == "failed"
    assert run.driven is None
    assert "a process was ended by the memory limit of 144MB" in str(run.reason)
    assert "fix: a smaller buffer" in str(run.reason)
    assert ended.status == 3


@pytest.mark.parametrize("system", LIMITED)
def test_a_default_buffer_that_does_not_fit_is_refused_before_anything_starts(
    assay: Assay, system: str
) -> None:
    need(system)
    _need_groups()
    for command in ("plan", "run"):
        ended = assay(
            command,
            "tpcb",
            "--on",
            system,
            "--memory",
            "100MB",
            "--warm-up",
            "0",
            "--transactions",
            "3",
        )
        said = " ".join((ended.out + ended.err).split())
        assert "its default buffer of 128MB does not fit into a memory of 100MB" in said
        assert f"{system}[buffer=25MB]" in said
    assert ended.status == 2
