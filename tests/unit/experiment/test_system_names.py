"""Systems, storages and cells that are shown together never share a name; each server has a
machine."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import invented_records as invented
from assay import comparison
from assay.cli import main
from assay.cli.options.experiment_references import title
from assay.drive.prepare import Compiled
from assay.errors import ArgumentError, ExperimentError, MachineLimit
from assay.experiment import (
    ServerMachine,
    StorageChoice,
    SystemChoice,
    as_file,
    settings_validation,
)
from assay.experiment import from_command_line as words
from assay.experiment import from_file as experiment_file
from assay.experiment.choices import checked_choices, identity, server_limits
from assay.lab.refusal import plan_here, why_refused
from assay.plan import cell_names, plan
from assay.plan.fingerprint import fingerprint_of_cell
from assay.plan.values import Cell
from assay.provision import limits
from assay.record import Store
from assay.record.file.kept_texts import json_text
from assay.registry import report_form
from assay.report import cell_runs
from assay.report.build import build
from assay.report.summaries import first_look
from assay.text.units import binary

H = "postgresql://me@127.0.0.1"


def test_servers_of_one_host_are_named_by_what_they_differ_in() -> None:
    for written, names in (
        ([f"{H}:5432/shop"], ["127.0.0.1"]),
        ([f"{H}:5432/shop", f"{H}:5433/shop"], ["127.0.0.1:5432", "127.0.0.1:5433"]),
        ([f"{H}/shop", f"{H}/test"], ["127.0.0.1/shop", "127.0.0.1/test"]),
        ([f"{H}/shop", "postgresql://you@127.0.0.1/shop"], ["me@127.0.0.1", "you@127.0.0.1"]),
        ([f"{H}/shop?sslmode=disable", f"{H}/shop?sslmode=prefer"],
         ["127.0.0.1?sslmode=disable", "127.0.0.1?sslmode=prefer"]),
        ([f"{H}:1/a", f"{H}:2/a", f"{H}:2/b"], ["127.0.0.1:1", "127.0.0.1:2/a", "127.0.0.1:2/b"]),
        (["postgresql://u@[::1]:1/d", "postgresql://u@[::1]:2/d"], ["[::1]:1", "[::1]:2"]),
        (["postgresql://a:geheim@h/d", "postgresql://a:secret@h/d", "postgresql://b:x@h/d"],
         ["a@h", "a@h", "b@h"]),
    ):  # fmt: skip
        labels = [choice.label for choice in checked_choices.system_choices(written)]
        assert labels == [f"postgresql at {name}" for name in names]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("postgresql:/opt/pg/a", [("", "/opt/pg/a", {})]),
        (
            "old=postgresql:/opt/pg/a,new=postgresql:/opt/pg/b[shared_buffers=16MB]",
            [("old", "/opt/pg/a", {}), ("new", "/opt/pg/b", {"shared_buffers": "16MB"})],
        ),
        ("postgresql:./a, postgresql:b/c", [("", "/files/a", {}), ("", "/files/b/c", {})]),
        ("postgresql:../a/", [("", "/a", {})]),
        ("postgresql:~/pg", [("", f"{Path.home()}/pg", {})]),
        ("postgresql:/opt/pg@15/a b", [("", "/opt/pg@15/a b", {})]),
        (
            'x=postgresql:"/a, b[1]"[jit=off],duckdb:/l/libduckdb.so',
            [("x", "/a, b[1]", {"jit": "off"}), ("", "/l/libduckdb.so", {})],
        ),
        ("postgresql://h/d,new=duckdb:/l", [("", "", {}), ("new", "/l", {})]),
    ],
)
def test_a_directory_of_programs_is_a_system(
    written: str, found: list[tuple[str, str, dict[str, str]]]
) -> None:
    choices = checked_choices.system_choices([written], Path("/files"))
    assert [(one.called, one.programs, one.settings) for one in choices] == found
    again = checked_choices.system_choices([as_file.system_word(one) for one in choices])
    assert again == choices


def test_programs_are_known_by_their_content_wherever_they_lie() -> None:
    a, b = checked_choices.system_choices(["postgresql:/a,postgresql:/b"])
    assert (a.label, b.label) == ("postgresql build=/a", "postgresql build=/b")
    assert identity.identity_of_choice(a) != identity.identity_of_choice(b)
    a, b = (replace(one, build="0123456789abcdef" * 4) for one in (a, b))
    assert identity.identity_of_choice(a) == identity.identity_of_choice(b)
    assert identity.system_labels([a]) == ["postgresql build=0123456789ab"]
    other = replace(b, build="f" * 64)
    assert identity.system_labels([a, replace(other, called="x")])[1] == "x"
    assert len(set(identity.system_labels([a, other]))) == 2
    named = replace(a, called="old", shown="old")
    assert identity.identity_of_choice(a) == identity.identity_of_choice(named)
    # Values with a space are not read as several settings.
    one, two = ({"name": "a b=1"}, {"name": "a", "b": "1"})
    choices = [SystemChoice("x", settings=each) for each in (one, two)]
    assert len(set(identity.system_labels(choices))) == 2


def test_what_is_no_directory_is_refused() -> None:
    for written, message, hint in (
        ("postgresql:/a,b", "unknown system 'b'", 'in double quotes: postgresql:"/a,b"'),
        ("postgresql:/a[1]", "expected KEY=VALUE", 'in double quotes: postgresql:"/a[1]"'),
        ("postgresql@15:/a", "a directory of programs has the version", "leave the version out"),
        ("postgresql:/a[version=15]", "a directory of programs has", "leave the version out"),
        ("sqlite:/a", "sqlite has no programs of which a directory", "sqlite://"),
        ("postgresql:a", "neither a name nor a URL", "SYSTEM:./DIRECTORY"),
        ("new=/opt/b", "expected a name or a URL", "NAME=SYSTEM:DIRECTORY"),
        ('postgresql:"/a', "neither a name nor a URL", "SYSTEM:./DIRECTORY"),
        ("postgresql:/me:geheim@h/db", "neither a name nor a URL", "scheme://"),
        ("postgresql:/a\0", "cannot be a directory", "name another"),
        ("x=postgresql:/a,x=postgresql:/b", "two systems are called 'x'", "a name of its own"),
    ):
        with pytest.raises(ArgumentError) as refused:
            checked_choices.system_choices([written])
        assert message in refused.value.message
        assert hint in str(refused.value.hint)
        assert "geheim" not in f"{refused.value.message}{refused.value.hint}"


def test_a_user_names_systems_and_the_name_is_no_level(tmp_path: Path) -> None:
    asked = f"old={H}:1/shop,new = {H}:2/shop, fast=sqlite[busy_timeout_s=2],null"
    choices = checked_choices.system_choices([asked])
    assert [choice.label for choice in choices] == ["old", "new", "fast", "null"]
    assert choices[0] == checked_choices.system_choice(f"{H}:1/shop")
    cells, unnamed = (
        [run.cell.fingerprint for run in plan(*words.asked(words.Words("tpcb", on=on))).runs]
        for on in ((f"a={H}:1/x,b={H}:2/x",), (f"{H}:1/x", f"{H}:2/x"))
    )
    assert cells == unnamed
    # Options mean a system by its name, which distinguishes its levels as well.
    two = ("a=sqlite,b=sqlite[page_size=512]",)
    given, _ = words.asked(words.Words("tpcb", on=two, set=("a.cache_size=1,2",)))
    assert [one.label for one in given.systems] == ["a cache_size=1", "a cache_size=2", "b"]
    file = tmp_path / "e.toml"
    file.write_text(
        f'workload = "tpcb"\nsystems = ["old={H}:1/shop", "sqlite"]\n[system.old]\nx = 1\n'
    )
    assert [one.label for one in experiment_file.read(file)[0].systems] == ["old", "sqlite"]


def test_names_that_mislead_are_refused() -> None:
    for written, said in (
        ([f"sqlite={H}/shop"], "cannot be called sqlite, which is another system"),
        ([f"old={H}:1/a,old={H}:2/a"], "two systems are called 'old'"),
        (["host=db password=geheim"], "connection string"),
        (["old=postgre"], "with a name of your own"),
    ):
        with pytest.raises(ArgumentError) as raised:
            checked_choices.system_choices(written)
        assert said in f"{raised.value.message} {raised.value.hint}"
        assert "geheim" not in str(raised.value)


SERVERS = tuple(SystemChoice("postgresql", url=f"{H}:{port}/shop") for port in (5432, 5433))


def test_two_servers_of_one_host_are_two_rows_in_every_face(tmp_path: Path) -> None:
    """As an earlier Assay kept them too: with one name."""
    path = tmp_path / "assay.sqlite"
    found = invented.experiment(path, invented.plan(SERVERS, repetitions=3), 2.0)
    names = ["postgresql at 127.0.0.1:5432", "postgresql at 127.0.0.1:5433"]
    assert [cell.name.split(", ")[0] for cell in cell_runs.cells(found, found.runs)] == names
    assert [len(cell.runs) for cell in cell_runs.cells(found, found.runs)] == [3, 3]
    report = build(found)
    for form in ("table", "markdown", "csv", "json", "openmetrics", "html"):
        shown = io.StringIO()
        report_form(form)(report, shown, detail=True)
        for name in names:
            assert name in shown.getvalue(), (form, name)
    brief = io.StringIO()
    first_look.render(found, report, brief, "")
    assert all(name in brief.getvalue() for name in names)
    with Store(path, must_exist=True) as store:
        assert {run.system_label for run in store.runs()} == set(names)
        one, other = store.find("run:1"), store.find("run:2")
    side = comparison.side("A", "", [found])
    made = comparison.compare(side, None, between="system")
    assert (made.a.title[:35], len(made.cells)) == (f"system {names[0]}", 1)
    assert title([one], path) != title([other], path)
    assert "run 1" in title([one], path)


def test_levels_that_are_nearly_equal_are_two_cells_with_two_names(tmp_path: Path) -> None:
    machines = [
        replace(invented.POSTGRESQL, machine=replace(invented.POSTGRESQL.machine, rtt_s=rtt_s))
        for rtt_s in (0.0010001, 0.0010002)
    ]
    found = invented.experiment(tmp_path / "a.sqlite", invented.plan(machines), 2.0)
    first, second = cell_runs.cells(found, found.runs)
    assert (first.factors["rtt"], second.factors["rtt"]) == ("1.0001ms", "1.0002ms")
    assert cell_names.level_text(1000001.0) == cell_runs.label(1000001.0).shown == "1000001"


def test_storages_of_one_name_in_two_experiments_are_set_apart(tmp_path: Path) -> None:
    sides = []
    for name in ("A", "B"):
        storage = StorageChoice("fast", "here", f"/mnt/{name}")
        planned = invented.plan([invented.SQLITE], [storage])
        found = invented.experiment(tmp_path / f"{name}.sqlite", planned, 2.0)
        sides.append(comparison.side(name, name, [found]))
    made = comparison.compare(*sides, between="storage")
    assert [one.title.split(",")[0] for one in (made.a, made.b)] == [
        "storage fast (here:/mnt/A)", "storage fast (here:/mnt/B)",
    ]  # fmt: skip


def test_a_parameter_cannot_be_called_as_another_factor(tmp_path: Path) -> None:
    script, file, own = tmp_path / "s.sql", tmp_path / "e.toml", tmp_path / "own"
    own.mkdir()
    for name in ("clients", "system", "storage", "cache", "rtt", "protocol"):
        script.write_text(f"select :{name};\n")
        with pytest.raises(ArgumentError, match=f"cannot be called {name}"):
            words.asked(words.Words(str(script), on=("null",), set=(f"{name}=7,8",)))
        file.write_text(f'script = "s.sql"\nsystems = ["null"]\n[parameters]\n{name} = [7, 8]\n')
        with pytest.raises(ExperimentError, match=f"cannot be called {name}") as raised:
            experiment_file.read(file)
        assert raised.value.line == 4
        (own / "workload.toml").write_text(
            f'[parameters.{name}]\ntype = "int"\ndefault = 1\nhelp = "h"\n'
        )
        with pytest.raises(ExperimentError, match=f"cannot be called {name}"):
            words.asked(words.Words(str(own), on=("null",)))


MB = 1 << 20
_LIMITED_DISK = "throttled[read_iops=100,size=512M]"


def test_each_combination_of_levels_is_a_cell_with_its_label() -> None:
    experiment, workload = words.experiment(
        words.Words("tpcb", on=("postgresql",), memory="none,64MB", cpus="2,0.5", rtt="0,1.5ms")
    )
    runs = plan(experiment, workload).runs
    assert [run.cell.system.label.removeprefix("postgresql") for run in runs] == [
        " cpus=2", " cpus=2 rtt=1.5ms", " cpus=0.5", " cpus=0.5 rtt=1.5ms", " memory=64MB cpus=2",
        " memory=64MB cpus=2 rtt=1.5ms", " memory=64MB cpus=0.5", " memory=64MB cpus=0.5 rtt=1.5ms",
    ]  # fmt: skip
    assert len({run.cell.fingerprint for run in runs}) == 8
    assert len({run.seed for run in runs}) == 1, "they do the same work"


def test_a_server_with_all_of_the_machine_keeps_its_fingerprint() -> None:
    experiment, workload = words.experiment(words.Words("tpcb", on=("postgresql",)))
    cell = plan(experiment, workload).runs[0].cell

    document = json.loads(json_text(cell.for_record()))
    assert document["system"].pop("machine") == {
        "memory_bytes": None, "cpus": None, "rtt_s": 0.0, "log_storage": None
    }  # fmt: skip
    assert fingerprint_of_cell(Cell.of_record(document, "cell")) == cell.fingerprint, (
        "a record of before there was a choice"
    )


def test_what_is_no_level_is_refused() -> None:
    """Or is one that no system can have."""
    for on, given, expected in (
        ("postgresql", {"memory": "much"}, "memory: expected none or a size in bytes from 1 MiB"),
        ("postgresql", {"memory": "1kB"}, "found '1kB'"),
        ("postgresql", {"cpus": "0"}, "cpus: expected none or a number of processors from 0.05"),
        ("postgresql", {"rtt": "-1ms"}, "rtt: expected 0 or a number of seconds from 0.0001 to 60"),
        ("postgresql", {"rtt": "0,1us"}, "found '1us'"),
        ("postgresql", {"memory": "64MB,64MB"}, "memory: 64MB is given twice"),
        ("duckdb", {"memory": "64MB"}, "--memory does not apply to tpcb.tpcb-like: only a server"),
        ("sqlite", {"cpus": "1"}, "--cpus does not apply to tpcb.tpcb-like: only a server"),
        ("postgresql://u@h/d", {"cpus": "1"}, "--cpus does not apply"),
        ("sqlite", {"rtt": "1ms"}, "--rtt does not apply"),
    ):
        with pytest.raises(ArgumentError) as refused:
            words.experiment(words.Words("tpcb", on=(on,), **given))
        assert expected in refused.value.message


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
    assert settings_validation.why_refused(url) is None, "nothing is asked of it"
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
    assert binary(int(23.54 * 1024) * MB) == "23.5 GiB"
    assert binary(999 * MB) == "999 MiB"
    assert "Traceback" not in said


def test_what_varies_of_a_machine_is_a_factor_and_leaves_the_name() -> None:
    far = ServerMachine(memory_bytes=64 << 20, cpus=2, rtt_s=0.0015)
    near = ServerMachine(memory_bytes=None, cpus=2, rtt_s=0)
    names = cell_names.varying_machines([far, near])
    assert names == ["memory", "rtt"]
    assert cell_names.machine_levels(far, names) == {"memory": "64MB", "rtt": "1.5ms"}
    assert cell_names.machine_levels(near, names) == {"memory": "none", "rtt": "0"}
    labels = {
        SystemChoice("mine", options={"a": "b"}, machine=one).label: one for one in (far, near)
    }
    assert {cell_names.label_without_machine(label, labels[label], names) for label in labels} == {
        "mine a=b cpus=2"
    }
    assert cell_names.varying_machines([far, far]) == []
    for label, machine in labels.items():
        assert cell_names.label_without_machine(label, machine, []) == label


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
        limits.refuse_impossible_limits(ServerMachine(200 * MB, 0.5))
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
    monkeypatch.setattr(limits, "MOUNT_TABLE", tmp_path / "mounts")
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
