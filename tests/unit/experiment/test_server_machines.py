"""Memory, processors and distance of a server are factors: levels, cells, labels and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.drive.prepare import Compiled
from assay.errors import ArgumentError, MachineLimit
from assay.experiment import Experiment, ServerMachine, SystemChoice
from assay.experiment import from_command_line as words
from assay.experiment import from_file as experiment_file
from assay.experiment.choices import server_limits
from assay.experiment.settings import unused_settings
from assay.lab.preflight.optional_levels import plan_here
from assay.lab.preflight.refusal import why_refused
from assay.plan import plan, server_machines
from assay.plan.fingerprint import of_document
from assay.provision.limits import hierarchies, server_group
from assay.record.file.json_text import json_text
from assay.text.sizes import about

MB = 1 << 20
_LIMITED_DISK = "throttled[read_iops=100,size=512M]"


def _asked(*, on: str = "postgresql", **given: str) -> Experiment:
    experiment, _ = words.experiment(words.Words("tpcb", on=(on,), **given))
    return experiment


def test_each_combination_of_levels_is_a_cell_with_its_label() -> None:
    experiment, workload = words.experiment(
        words.Words("tpcb", on=("postgresql",), memory="none,64MB", cpus="2,0.5", rtt="0,1.5ms")
    )
    runs = plan(experiment, workload).runs
    assert [run.cell.system.label.removeprefix("postgresql") for run in runs] == [
        " cpus=2",
        " cpus=2 rtt=1.5ms",
        " cpus=0.5",
        " cpus=0.5 rtt=1.5ms",
        " memory=64MB cpus=2",
        " memory=64MB cpus=2 rtt=1.5ms",
        " memory=64MB cpus=0.5",
        " memory=64MB cpus=0.5 rtt=1.5ms",
    ]
    assert len({run.cell.fingerprint for run in runs}) == 8
    assert len({run.seed for run in runs}) == 1, "they do the same work"


def test_a_server_with_all_of_the_machine_keeps_its_fingerprint() -> None:
    experiment, workload = words.experiment(words.Words("tpcb", on=("postgresql",)))
    cell = plan(experiment, workload).runs[0].cell
    import json

    document = json.loads(json_text(cell.for_record()))
    assert document["system"].pop("machine") == {
        "memory_bytes": None, "cpus": None, "rtt_s": 0.0, "log_storage": None
    }  # fmt: skip
    assert of_document(document) == cell.fingerprint, "a record of before there was a choice"


def test_a_file_says_the_same_and_the_command_line_replaces_it(tmp_path: Path) -> None:
    file = tmp_path / "asked.toml"
    file.write_text(
        'workload = "tpcb"\nsystems = ["postgresql"]\n'
        'memory = ["none", "1GB"]\ncpus = 2\nrtt = [0, "1ms"]\n'
    )
    found, _ = experiment_file.read(file)
    assert found.levels == {"memory": (None, 1024 * MB), "cpus": (2.0,), "rtt": (0, 0.001)}
    replaced, _ = words.experiment(words.Words(str(file), memory="64MB"))
    assert (replaced.levels["memory"], replaced.levels["rtt"]) == ((64 * MB,), (0, 0.001))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"memory": "much"}, "memory: expected none or a size in bytes from 1 MiB"),
        ({"memory": "1kB"}, "found '1kB'"),
        ({"cpus": "0"}, "cpus: expected none or a number of processors from 0.05"),
        ({"rtt": "-1ms"}, "rtt: expected 0 or a number of seconds from 0.0001 to 60"),
        ({"rtt": "0,1us"}, "found '1us'"),
        ({"memory": "64MB,64MB"}, "memory: 64MB is given twice"),
    ],
)
def test_what_is_no_level_is_refused(given: dict[str, str], expected: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        _asked(**given)
    assert expected in refused.value.message


@pytest.mark.parametrize(
    ("on", "given", "expected"),
    [
        ("duckdb", {"memory": "64MB"}, "--memory does not apply to tpcb.tpcb-like: only a server"),
        ("sqlite", {"cpus": "1"}, "--cpus does not apply to tpcb.tpcb-like: only a server"),
        ("postgresql://u@h/d", {"cpus": "1"}, "--cpus does not apply"),
        ("sqlite", {"rtt": "1ms"}, "--rtt does not apply"),
    ],
)
def test_levels_that_no_system_can_have_are_refused_before_the_first_run(
    on: str, given: dict[str, str], expected: str
) -> None:
    with pytest.raises(ArgumentError) as refused:
        _asked(on=on, **given)
    assert expected in refused.value.message


def test_a_library_beside_a_server_is_refused_with_the_reason() -> None:
    experiment, workload = words.experiment(
        words.Words("tpcb", on=("postgresql,sqlite,duckdb",), memory="200MB")
    )
    reasons = [why_refused(Compiled(workload), run) for run in plan(experiment, workload).runs]
    assert reasons == [
        None,
        None,
        "duckdb memory=200MB: it runs in the client's own process, and its memory cannot be "
        "bounded: a limit would end the client",
    ]


@pytest.mark.parametrize(
    ("on", "given", "expected"),
    [
        ("sqlite", {"memory": "10MB"}, "8 sessions may need 72MB of this process"),
        ("sqlite[cache_size=10000]", {"memory": "72MB"}, "8 sessions may need 665MB"),
        ("sqlite", {"memory": "1GB", "storage": ("tmpfs",)}, "data on tmpfs count as memory"),
        (
            "sqlite",
            {"memory": "1GB", "storage": ("here:/dev/shm",)},
            "data on here:/dev/shm count as",
        ),
        ("mariadb", {"memory": "2MB"}, "no server starts in --memory 2MB; it needs more than"),
        ("sqlite", {"storage": (_LIMITED_DISK,)}, "sqlite cannot use the storage"),
        ("mariadb", {"memory": "1GB", "cache": "warm"}, "memory=1GB cannot be warmed: pages of"),
        ("mariadb://u@h/d", {"cache": "warm"}, "cannot be warmed: its files are not on this"),
        ("null", {"cache": "warm", "target": "tpcb.select-only"}, "null stores no rows, so there"),
        ("postgresql[buffer=64MB]", {"memory": "64MB"}, "a buffer of 64MB does not fit into"),
        ("postgresql[shared_buffers=9000]", {"memory": "64MB"}, "a buffer of 72000kB does not"),
        ("mariadb[innodb-buffer-pool-size=1G]", {"memory": "1GB"}, "a buffer of 1GB does not fit"),
        ("cassandra", {"memory": "300MB", "target": "e831.select"}, "256MB are its heap"),
        ("postgresql[buffer=64MB]", {"memory": "65MB"}, None),
        ("sqlite", {"memory": "72MB"}, None),
        ("mariadb", {"cache": "warm"}, None),
        ("mariadb", {"memory": "1GB", "cache": "warm", "target": "tpcb.select-only"}, None),
    ],
)
def test_what_a_run_would_refuse_is_known_from_the_plan(
    on: str, given: dict[str, Any], expected: str | None
) -> None:
    asked = {"target": "tpcb", "on": (on, "postgresql"), **given}
    experiment, workload = words.experiment(words.Words(**asked))
    refused = why_refused(Compiled(workload), plan(experiment, workload).runs[0])
    assert refused is None if expected is None else expected in str(refused)


def test_a_running_server_cannot_be_limited_and_can_be_moved_away() -> None:
    url = SystemChoice("postgresql", url="postgresql://u@h/d")
    assert server_limits.why_memory_not_limited(url) is not None
    assert server_limits.why_cpus_not_limited(url) is not None
    assert server_limits.why_not_moved(url) is None
    assert unused_settings.why_refused(url) is None, "nothing is asked of it"
    assert ServerMachine().words == ()


def test_more_than_this_machine_has_is_refused_with_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = ["run", "tpcb", "--on", "null[protocol=postgresql]", "--cpus", "4000"]
    monkeypatch.setattr("sys.argv", ["assay", *program])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 3
    assert "--cpus 4000" in said
    assert about(int(23.54 * 1024) * MB) == "23.5GB"
    assert about(999 * MB) == "999MB"
    assert "Traceback" not in said


def test_what_varies_of_a_machine_is_a_factor_and_leaves_the_name() -> None:
    far = ServerMachine(memory_bytes=64 << 20, cpus=2, rtt_s=0.0015)
    near = ServerMachine(memory_bytes=None, cpus=2, rtt_s=0)
    names = server_machines.varying([far, near])
    assert names == ["memory", "rtt"]
    assert server_machines.levels(far, names) == {"memory": "64MB", "rtt": "1.5ms"}
    assert server_machines.levels(near, names) == {"memory": "none", "rtt": "0"}
    labels = {
        SystemChoice("mine", options={"a": "b"}, machine=one).label: one for one in (far, near)
    }
    assert {server_machines.label_without(label, labels[label], names) for label in labels} == {
        "mine a=b cpus=2"
    }
    assert server_machines.varying([far, far]) == []
    for label, machine in labels.items():
        assert server_machines.label_without(label, machine, []) == label


OPTIONAL = """
workload = "tpcb"
test = "select-only"
systems = ["null", "postgresql"]
optional = ["memory", "cpus"]
memory = ["200MB", "900TB"]
cpus = [0.5]
"""


def _planned(file: Path, text: str, **given: Any) -> tuple[list[str], list[tuple[str, str, str]]]:
    file.write_text(text)
    made = plan_here(*words.experiment(words.Words(str(file), **given)))
    said = [(one.name, one.full, one.reason) for one in made.experiment.scaled]
    return [run.cell.system.label for run in made.runs], said


def test_optional_levels_that_a_system_cannot_have_are_left_out_with_the_reason(
    tmp_path: Path,
) -> None:
    try:
        server_group.refuse_impossible(ServerMachine(200 * MB, 0.5))
    except MachineLimit as error:
        pytest.skip(error.message)
    labels, said = _planned(tmp_path / "a.toml", OPTIONAL)
    assert labels == ["null", "postgresql memory=200MB cpus=0.5"]
    reasons = {(name, level): reason for name, level, reason in said}
    assert reasons.keys() == {
        ("memory of null", "200MB"), ("memory", "900TB"), ("cpus of null", "0.5"),
    }  # fmt: skip
    assert reasons["memory", "900TB"].startswith("this machine has ")
    assert reasons["cpus of null", "0.5"].startswith("it runs in the client's own process")
    typed, _ = _planned(tmp_path / "a.toml", OPTIONAL, memory="900TB", on=("postgresql",))
    assert typed == ["postgresql memory=900TB cpus=0.5"], "what is typed is not optional"


def test_without_control_groups_optional_levels_are_left_out_and_said_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mounts").write_text("")
    monkeypatch.setattr(hierarchies, "_MOUNTS", tmp_path / "mounts")
    labels, said = _planned(tmp_path / "a.toml", OPTIONAL)
    assert labels == ["null", "postgresql"]
    assert any("no control groups" in reason for *_, reason in said)
    records = str(tmp_path / "r.sqlite")
    driven = ["--on", "null", "--duration", "0.1", "--warm-up", "0", "--no-probe"]
    file = str(tmp_path / "a.toml")
    assert _assay("run", file, *driven, "--records", records) == 0
    first_look = _on_one_line(capsys.readouterr().out)
    assert "left out: memory 200MB, memory 900TB, cpus 0.5;" in first_look
    assert _assay("report", "--records", records) == 0
    reported = _on_one_line(capsys.readouterr().out)
    assert "left out: memory 200MB (this machine has no control groups" in reported
    assert _assay("plan", file, *driven[:2], "--memory", "200MB") != 0


def _assay(*words: str) -> int:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr("sys.argv", ["assay", *words])
        main()
    return int(ended.value.code or 0)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
