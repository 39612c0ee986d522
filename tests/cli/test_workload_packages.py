"""A workload of another package, registered by an entry point: it is run by its name, and what is
wrong with it names the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins import WORKLOAD, assay, write_package

ENTRY_POINTS = "[assay.workloads]\nparts = parts_workloads.parts\n"
PACKAGE = "parts-workloads 1.2"
PARTS = WORKLOAD.format(source="none", columns='name = "text"')


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the package, whose folder `parts` is the workload."""
    write_package(tmp_path, "parts-workloads", "1.2", "", ENTRY_POINTS)
    (tmp_path / "package" / "parts_workloads.py").unlink()
    folder = tmp_path / "package" / "parts_workloads" / "parts"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "workload.toml").write_text(PARTS)
    (folder / "count.sql").write_text("SELECT count(*) FROM parts;\n")
    return tmp_path


def test_it_is_listed_with_its_package_and_run_by_its_name(here: Path) -> None:
    listed = assay(here, "list", "workloads", "--format", "csv")
    assert listed.returncode == 0, listed.stderr
    [head, *lines] = listed.stdout.splitlines()
    assert head.endswith(",package")
    [of_package] = [line for line in lines if line.startswith("parts.count")]
    assert of_package.endswith(f",{PACKAGE}")
    done = assay(here, "run", "parts.count", "--on", "sqlite")
    assert done.returncode == 0, done.stderr
    checked = assay(here, "check", "parts")
    assert checked.returncode == 0, checked.stderr
    (here / "few.toml").write_text('workload = "parts"\nsystems = ["sqlite"]\n')
    planned = assay(here, "plan", "few.toml")
    assert planned.returncode == 0, planned.stderr


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("workload.toml", PARTS.replace("passes", "pases"), "unknown key 'pases'"),
        ("count.sql", "\\set x 1 +\nSELECT 1;\n", "count.sql:1:"),
    ],
)
def test_a_mistake_names_the_package(here: Path, file: str, text: str, message: str) -> None:
    (here / "package" / "parts_workloads" / "parts" / file).write_text(text)
    done = assay(here, "run", "parts", "--on", "sqlite")
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert f"the workload is of the package {PACKAGE}" in done.stderr


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("parts = absent_workloads.parts", "absent_workloads.parts cannot be found"),
        ("parts = json.decoder", "found a module called json.decoder"),
        ("parts = parts_workloads", "there is no workload.toml in "),
        ("others = parts_workloads.parts", "expected a folder of that name"),
    ],
)
def test_an_entry_point_without_a_workload_is_named_and_hides_no_other(
    here: Path, entry: str, message: str
) -> None:
    information = here / "package" / "parts_workloads-1.2.dist-info"
    (information / "entry_points.txt").write_text(f"[assay.workloads]\n{entry}\n")
    listed = assay(here, "list", "workloads")
    assert listed.returncode == 0, listed.stderr
    assert "tpcb.tpcb-like" in listed.stdout
    assert f"(package {PACKAGE})" in listed.stderr
    assert message in listed.stderr
    done = assay(here, "run", entry.partition(" ")[0], "--on", "sqlite")
    assert (done.returncode, message in done.stderr) == (3, True), done.stderr


def test_the_tab_key_finds_its_tests_and_nothing_where_it_is_wrong(here: Path) -> None:
    line = ("completion", "bash", "--line", "assay run parts.")
    assert assay(here, *line).stdout.split() == ["parts.count"]
    (here / "package" / "parts_workloads" / "parts" / "workload.toml").write_text("title = 3\n")
    done = assay(here, *line)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
