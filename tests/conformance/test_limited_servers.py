"""What servers are given is in effect: limits of their machine, profiles, changes that are
declared, versions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from able import able, one_of_each_line
from assay import registry
from assay.contracts.systems.abilities import BufferSize, HasProfiles, Profile
from assay.env_vars import NEW_DATA
from assay.errors import MachineLimit
from assay.experiment import ServerMachine, StorageChoice, SystemChoice
from assay.experiment.choices.profiles import applied
from assay.judge.run_warnings import mean_the_same
from assay.probe import durability, flushes
from assay.provision import limits
from assay.provision.running_system import provision, running_system
from assay.storages.loop import LOOP
from commands import IN_MEMORY, Assay, need, two_versions
from servers import SERVERS, two_builds
from step_workloads import folder_of

MB = 1 << 20
LIMITED = [name for name in SERVERS if isinstance(registry.system(name), BufferSize)]
TOO_SLOW = {"mysql": "it takes minutes to start at half a processor"}


def _need_groups() -> None:
    try:
        limits.refuse_impossible_limits(ServerMachine(64 * MB, 0.5))
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


@pytest.mark.parametrize("system", LIMITED)
def test_a_default_buffer_that_does_not_fit_is_refused_before_anything_starts(
    assay: Assay, system: str
) -> None:
    need(system)
    _need_groups()
    for command in ("plan", "run"):
        ended = assay(
            command, "tpcb", "--on", system, "--memory", "100MB", "--warm-up", "0",
            "--transactions", "3",
        )  # fmt: skip
        said = " ".join((ended.out + ended.err).split())
        assert "its default buffer of 128MB does not fit into a memory of 100MB" in said
        assert f"{system}[buffer=25MB]" in said
    assert ended.status == 2


SLOW = [("cassandra", "durable"), *(("mysql", one) for one in ("paper", "tuned", "unflushed"))]
"""With `--every-system`: each takes seconds of CPU time, and MySQL has another profile."""
PROFILES = [
    pytest.param(name, profile, marks=[pytest.mark.same_line] * ((name, profile.name) in SLOW))
    for name, system in registry.usable_systems()
    if isinstance(system, HasProfiles)
    for profile in system.profiles().values()
]
_POLL_S = 0.01
"""In place of a millisecond: the class is asked for, and not the delay of a flush."""
_TRIES = 3
"""A server's own checkpoint, every half a minute, may flush what commits left while they are
followed; on a busy machine they are followed for so long."""


@pytest.mark.flushes
@pytest.mark.parametrize(("name", "profile"), PROFILES, ids=lambda one: getattr(one, "name", one))
def test_its_settings_are_in_effect_and_its_commits_have_the_promised_class(
    name: str, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class is measured where this machine has a device for it; on data that the server made
    itself: on a copy, MySQL has flushed some seconds after a commit that nothing was to flush."""
    need(name)
    choice = applied(SystemChoice(name), profile.name)
    if "buffer" in choice.options:
        choice = replace(choice, options={**choice.options, "buffer": "64MB"})
    is_measured = bool(profile.durability) and LOOP.why_unavailable() is None
    storage = StorageChoice()  # not in memory: the log of a tuned MariaDB has 4 GB
    if is_measured:
        storage = StorageChoice("disk", kind="loop", options={"size": "600M"})
        monkeypatch.delenv(NEW_DATA.name, raising=False)
        monkeypatch.setattr(flushes, "_POLL_S", _POLL_S)
    with running_system(choice, storage, connections=2) as running:
        deployment = running.deployment
        assert deployment.durability_promised == profile.durability
        if is_measured:
            for _ in range(_TRIES):
                measured = durability.measure_durability(deployment, running.system)
                if measured.durability_class == profile.durability:
                    break
            assert measured.durability_class == profile.durability, measured.described
    other = {
        setting: (asked, deployment.settings.get(setting))
        for setting, asked in deployment.settings_asked.items()
        if setting not in deployment.settings_confirmed
        and not mean_the_same(str(asked), str(deployment.settings.get(setting)))
    }
    assert deployment.settings_asked
    assert other == {}


SYSTEMS = pytest.mark.parametrize("system", one_of_each_line(able("read only sessions")))
TWICE = ("--repetitions", "2", "--storage", "tmpfs")
ONE = "transactions = 1\nclients = [1]\n"
READS_ALL = "SELECT id FROM data;\n\\expect rows 10\n"


@SYSTEMS
def test_a_test_without_changes_data_gets_fresh_data(
    assay: Assay, tmp_path: Path, system: str
) -> None:
    need(system)
    sly = READS_ALL + "DELETE FROM data WHERE id = 1;\n"
    folder = folder_of(tmp_path / "w", f'scripts = ["sly.sql"]\n{ONE}', sly=sly)
    ended = assay("run", folder, "--on", system, *TWICE)
    assert ended.status == 0, ended.err


@SYSTEMS
def test_groups_run_concurrently_and_dumps_have_their_result(
    assay: Assay, tmp_path: Path, system: str
) -> None:
    need(system)
    declared = """
[[tests.t.steps]]
do = "load"
[[tests.t.steps]]
do = "drive"
duration_s = 0.5
[[tests.t.steps.groups]]
name = "readers"
scripts = ["read.sql"]
clients = 3
[[tests.t.steps.groups]]
name = "writers"
scripts = ["write.sql"]
clients = 2
arrival = "poisson"
offered_rate_per_s = 30
[[tests.t.steps]]
do = "restart"
[[tests.t.steps]]
do = "drive"
name = "list"
scripts = ["write.sql"]
clients = 4
queue = 100
"""
    ended = assay("run", folder_of(tmp_path / "w", declared), "--on", system, "--storage", "tmpfs")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert [one.state for one in run.steps] == ["done"] * 4
    first, last = (one.driven for one in run.steps if one.driven is not None)
    readers, writers = first.groups
    assert readers.outcomes.ok > 0
    assert writers.outcomes.ok > 0
    assert last.outcomes.ok == 100


WORK = (
    "run", "tpcb.simple-update", "--clients", "1",
    "--warm-up", "0", "--duration", "0.2", *IN_MEMORY,
)  # fmt: skip


@pytest.mark.parametrize("system", ["duckdb", "postgresql"])
def test_two_versions_run_side_by_side_and_are_compared(assay: Assay, system: str) -> None:
    old, new = two_versions(system)
    ended = assay(*WORK, "--on", f"{system}@{old},{system}@{new}", "--repetitions", "2")
    assert ended.status == 0, ended.err + ended.out
    runs = ended.runs
    assert {run.system_label for run in runs} == {f"{system}@{old}", f"{system}@{new}"}
    for run in runs:
        assert run.deployment is not None
        assert run.system_label.partition("@")[2] in run.deployment.version
    assert len({run.cell_fingerprint for run in runs}) == 2
    rows = json.loads(assay("report", "latest", "--format", "json").out)["tables"]["runs"]
    assert {row["system"] for row in rows} == {f"{system}@{old}", f"{system}@{new}"}
    first, second = old.rpartition(".")[0], new.rpartition(".")[0]
    compared = assay("compare", "1", "--between", f"{system}@{first},{system}@{second}")
    assert f"{system}.version {old}" in compared.out, compared.err
    assert f"{system}.version {new}" in compared.out


@pytest.fixture
def builds() -> Iterator[tuple[Path, Path]]:
    with two_builds() as found:
        yield found


def test_two_builds_of_one_version_are_two_systems(
    assay: Assay, builds: tuple[Path, Path], working_folder: Path
) -> None:
    old, new = builds
    (working_folder / "link").symlink_to(new)
    (working_folder / "builds.toml").write_text(
        f'workload = "tpcb"\ntest = "simple-update"\nrepetitions = 2\nclients = 1\n'
        f'systems = ["old=postgresql:{old}", "new=postgresql:./link/bin[jit=off]"]\n'
        "[drive]\nwarm_up_s = 0\nduration_s = 0.2\n"
    )
    ended = assay("run", "builds.toml", *IN_MEMORY)
    assert ended.status == 0, ended.err + ended.out
    runs = ended.runs
    assert {run.system_label for run in runs} == {"old", "new"}
    known = {run.system_label: run.cell.system.build[:12] for run in runs}
    assert known["old"] != known["new"]
    for run in runs:
        assert run.deployment is not None
        assert run.deployment.version.endswith(f", build {known[run.system_label]}")
        place = (old if run.system_label == "old" else new).resolve()
        assert f"PKGLIBDIR = {place}/lib\n" in run.deployment.built
    compared = " ".join(assay("compare", "1", "--between", "system").out.split())
    assert f"build {known['old']} →" in compared
    assert f"build {known['new']}" in compared
    named = ", ".join(f"{name} {build}" for name, build in known.items())
    assert f"builds {named}" in " ".join(assay("report", "1").out.split())
    listed = json.loads(assay("list", "runs", "--format", "json").out)
    assert {row["system"]: row["build"] for row in listed} == known
    twice = assay("plan", "tpcb", "--on", f"postgresql:{new},postgresql:{new}/bin")
    assert twice.status == 2
    assert f"postgresql build={known['new']} is given twice" in twice.err
    assert assay("capsule", "pack", "1", "-o", "built.assay").status == 0
    again = assay("capsule", "rerun", "built.assay", "--no-probe")
    assert again.status == 2
    assert "starts only programs that you name" in " ".join(again.err.split())


def test_versions_in_an_experiment_file_with_names_and_settings(assay: Assay) -> None:
    old, new = two_versions("duckdb")
    ended = assay(
        "run", "tpcb.select-only", "--duration", "0.3", "--warm-up", "0", *IN_MEMORY,
        "--on", f"before=duckdb@{old}[threads=1],after=duckdb@{new}[threads=1]",
    )  # fmt: skip
    assert ended.status == 0, ended.err + ended.out
    assert [run.system_label for run in ended.runs] == ["before", "after"]
    settings = [run.deployment.settings["threads"] for run in ended.runs if run.deployment]
    assert settings == ["1", "1"]
