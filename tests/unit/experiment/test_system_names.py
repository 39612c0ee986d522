"""Systems, storages and cells that are shown together never share a name."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

import invented_records as invented
from assay import comparison
from assay.cli.options.experiment_references import title
from assay.contracts.factors import NAMES
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import StorageChoice, SystemChoice, from_command_line
from assay.experiment import from_file as experiment_file
from assay.experiment.choices import checked_choices, system_identity, system_names
from assay.plan import cell_names, plan
from assay.record import Store
from assay.registry import report_form
from assay.report.build import build
from assay.report.cells import cell_runs
from assay.report.summaries import first_look

H = "postgresql://me@127.0.0.1"


def _labels(*written: str) -> list[str]:
    return [choice.label for choice in checked_choices.system_choices(written)]


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ([f"{H}:5432/shop"], ["127.0.0.1"]),
        ([f"{H}:5432/shop", f"{H}:5433/shop"], ["127.0.0.1:5432", "127.0.0.1:5433"]),
        ([f"{H}/shop", f"{H}/test"], ["127.0.0.1/shop", "127.0.0.1/test"]),
        ([f"{H}/shop", "postgresql://you@127.0.0.1/shop"], ["me@127.0.0.1", "you@127.0.0.1"]),
        (
            [f"{H}/shop?sslmode=disable", f"{H}/shop?sslmode=prefer"],
            ["127.0.0.1?sslmode=disable", "127.0.0.1?sslmode=prefer"],
        ),
        (
            [f"{H}:1/a", f"{H}:2/a", f"{H}:2/b"],
            ["127.0.0.1:1", "127.0.0.1:2/a", "127.0.0.1:2/b"],
        ),
        (["postgresql://u@[::1]:1/d", "postgresql://u@[::1]:2/d"], ["[::1]:1", "[::1]:2"]),
        (
            ["postgresql://a:geheim@h/d", "postgresql://a:secret@h/d", "postgresql://b:x@h/d"],
            ["a@h", "a@h", "b@h"],
        ),
    ],
)
def test_servers_of_one_host_are_named_by_what_they_differ_in(
    written: list[str], names: list[str]
) -> None:
    assert _labels(*written) == [f"postgresql at {name}" for name in names]


def test_files_of_one_name_are_named_by_the_fewest_folders() -> None:
    for paths, names in (
        (["d1/s.db", "d2/s.db"], ["d1/s.db", "d2/s.db"]),
        (["/x/a/s.db", "/y/a/s.db", "/z/t.db"], ["x/a/s.db", "y/a/s.db", "t.db"]),
    ):
        found = system_names.labels([SystemChoice("f", url=f"f:///{path}") for path in paths])
        assert found == [f"f at {name}" for name in names]
    assert _labels(
        "dbapi:pymysql[host=h,port=1,user=u]", "dbapi:pymysql[host=h,port=2,user=u]"
    ) == [
        "dbapi:pymysql at h?port=1",
        "dbapi:pymysql at h?port=2",
    ]


def test_values_with_a_space_are_not_read_as_several_settings() -> None:
    first = SystemChoice("x", settings={"name": "a b=1"})
    other = SystemChoice("x", settings={"name": "a", "b": "1"})
    assert len(set(system_names.labels([first, other]))) == 2


def test_a_user_names_systems_and_the_name_is_no_level(tmp_path: Path) -> None:
    asked = f"old={H}:1/shop,new = {H}:2/shop, fast=sqlite[busy_timeout_s=2],null"
    choices = checked_choices.system_choices([asked])
    assert [choice.label for choice in choices] == ["old", "new", "fast", "null"]
    assert choices[0] == checked_choices.system_choice(f"{H}:1/shop")
    cells = [
        run.cell
        for run in plan(
            *from_command_line.asked(from_command_line.Words("tpcb", on=(f"a={H}:1/x,b={H}:2/x",)))
        ).runs
    ]
    unnamed = plan(
        *from_command_line.asked(from_command_line.Words("tpcb", on=(f"{H}:1/x", f"{H}:2/x")))
    ).runs
    assert [one.fingerprint for one in cells] == [run.cell.fingerprint for run in unnamed]
    # Options mean a system by its name, which distinguishes its levels as well.
    given = from_command_line.Words(
        "tpcb", on=("a=sqlite,b=sqlite[page_size=512]",), set=("a.cache_size=1,2",)
    )
    assert [one.label for one in from_command_line.asked(given)[0].systems] == [
        "a cache_size=1",
        "a cache_size=2",
        "b",
    ]
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
    sides = [
        comparison.side(
            name,
            name,
            [
                invented.experiment(
                    tmp_path / f"{name}.sqlite",
                    invented.plan(
                        [invented.SQLITE], [StorageChoice("fast", "here", f"/mnt/{name}")]
                    ),
                    2.0,
                )
            ],
        )
        for name in ("A", "B")
    ]
    made = comparison.compare(*sides, between="storage")
    assert [one.title.split(",")[0] for one in (made.a, made.b)] == [
        "storage fast (here:/mnt/A)",
        "storage fast (here:/mnt/B)",
    ]


def test_the_name_of_a_system_is_no_part_of_its_fingerprint() -> None:
    asked = {"name": "x", "url": "x://h/d", "options": {}, "settings": {}}
    assert system_identity.of_system(asked) == system_identity.of_system(
        {**asked, "called": "old", "shown": "old"}
    )


@pytest.mark.parametrize("name", ["clients", "system", "storage", "cache", "rtt", "protocol"])
def test_a_parameter_cannot_be_called_as_another_factor(name: str, tmp_path: Path) -> None:
    script = tmp_path / "s.sql"
    script.write_text(f"select :{name};\n")
    with pytest.raises(ArgumentError, match=f"cannot be called {name}"):
        from_command_line.asked(
            from_command_line.Words(str(script), on=("null",), set=(f"{name}=7,8",))
        )
    file = tmp_path / "e.toml"
    file.write_text(f'script = "s.sql"\nsystems = ["null"]\n[parameters]\n{name} = [7, 8]\n')
    with pytest.raises(ExperimentError, match=f"cannot be called {name}") as raised:
        experiment_file.read(file)
    assert raised.value.line == 4
    own = tmp_path / "own"
    own.mkdir()
    (own / "workload.toml").write_text(
        f'[parameters.{name}]\ntype = "int"\ndefault = 1\nhelp = "h"\n'
    )
    with pytest.raises(ExperimentError, match=f"cannot be called {name}"):
        from_command_line.asked(from_command_line.Words(str(own), on=("null",)))


def test_parameters_of_earlier_records_hide_no_other_factor(tmp_path: Path) -> None:
    cells = invented.plan(
        [invented.SQLITE], clients=(1, 2), parameters={"clients": 7, "system": "x"}
    )
    found = invented.experiment(tmp_path / "a.sqlite", cells, 2.0)
    first, second = cell_runs.cells(found, found.runs)
    assert (first.factors["clients"], second.factors["clients"]) == (1, 2)
    assert first.factors["parameter clients"] == 7
    assert set(first.factors) - {"parameter clients", "parameter system"} <= set(NAMES)
