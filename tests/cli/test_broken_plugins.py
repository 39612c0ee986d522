"""Packages of others: their workloads run by name; one that breaks the contract is named, and the
rest works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plugins import WORKLOAD, assay, write_package, write_workload

MODULE = """
import contextlib
from assay.load.row_sources.protocol import RowSource
from assay.load.row_sources.protocol import DataRequest
from assay.systems.null.system import NULL

class Like:
    def __init__(self, name, **members):
        self.name = name
        self.__dict__.update(members)

    def __getattr__(self, name):
        if name in ("dialect", "driver", "capabilities", "option_specs", "check"):
            return getattr(NULL, name)
        raise AttributeError(name)

    def provision(self, choice, directory, *, connections):
        if self.name == "quits":
            raise SystemExit(0)
        if self.name == "raises":
            return {}["no such key"]
        return contextlib.nullcontext() if self.name == "yields-none" else None

class Rows(RowSource):
    name = "rows"

    def open(self, workload, experiment, listener):
        return self

    def request(self, asked):
        return DataRequest(lambda: {"parts": self.rows()}, "files", "x", "x", 1)

    def rows(self):
        yield ["bolt", 1]
        raise LookupError("no more bolts")

BRK = object()
RENAMED = Like("other")
MAGIC = Like("magic", capabilities=NULL.capabilities | {"magic"}, driver="telepathy")
QUITS, RAISES, NOTHING, YIELDS = map(Like, ("quits", "raises", "nothing", "yields-none"))
ROWS = Rows()
"""
ENTRY_POINTS = """
[assay.systems]
absent = no_such_module:X
brk = broken_plugins:BRK
renamed = broken_plugins:RENAMED
magic = broken_plugins:MAGIC
quits = broken_plugins:QUITS
raises = broken_plugins:RAISES
nothing = broken_plugins:NOTHING
yields-none = broken_plugins:YIELDS

[assay.row_sources]
rows = broken_plugins:ROWS
"""
PACKAGE = "(package broken-plugins 1.2)"
PARTS = WORKLOAD.format(source="rows", columns='name = "text"\namount = "int"')


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the package and the workload `parts`."""
    write_package(tmp_path, "broken-plugins", "1.2", MODULE, ENTRY_POINTS)
    write_workload(tmp_path, PARTS)
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    return tmp_path


def test_the_other_systems_are_listed_and_the_broken_ones_named(here: Path) -> None:
    done = assay(here, "list", "systems")
    assert done.returncode == 0, done.stderr
    assert "sqlite" in done.stdout and "raises" in done.stdout
    assert "brk" not in done.stdout
    assert f"the plugin 'absent' {PACKAGE} cannot be imported from no_such" in done.stderr
    assert f"the plugin 'brk' {PACKAGE} breaks its contract" in done.stderr
    assert "dialect is missing" in done.stderr
    assert "unknown" not in assay(here, "run", "one.sql", "--on", "sqlite", "-t", "1").stderr


@pytest.mark.parametrize(
    ("system", "messages"),
    [
        ("absent", ["ModuleNotFoundError: No module named 'no_such_module'"]),
        ("brk", ["- capabilities is missing", "- dialect is missing"]),
        ("renamed", ["- name: expected 'renamed', as in its entry point, found 'other'"]),
        ("magic", ["- driver: the engine has none called 'telepathy'", "- capabilities: 'magic'"]),
    ],
)
def test_a_system_that_breaks_its_contract_is_refused(
    here: Path, system: str, messages: list[str]
) -> None:
    done = assay(here, "run", "one.sql", "--on", system, "-t", "1")
    assert done.returncode == 3, done.stderr
    assert f"error: the plugin {system!r} {PACKAGE}" in done.stderr
    assert all(message in done.stderr for message in messages), done.stderr


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("quits", f"the plugin 'quits' {PACKAGE} failed in provision(): SystemExit: 0"),
        ("raises", f"the plugin 'raises' {PACKAGE} failed in provision(): KeyError: 'no such key'"),
        ("nothing", "'nothing': expected provision() or attach() to return a context manager"),
        ("yields-none", "'yields-none': expected provision() or attach() to yield a Deployment"),
    ],
)
def test_what_provision_raises_fails_the_run(here: Path, system: str, message: str) -> None:
    done = assay(here, "run", "one.sql", "--on", system, "--on", "sqlite", "-t", "1")
    assert done.returncode == 3, done.stderr
    assert message in done.stderr
    assert "internal error" not in done.stderr
    assert "sqlite" in done.stdout, "the next run follows"


def test_what_a_row_source_raises_fails_the_run(here: Path) -> None:
    done = assay(here, "run", "parts", "--on", "sqlite")
    assert done.returncode == 3, done.stderr
    message = f"the plugin 'rows' {PACKAGE} failed in rows(): LookupError: no more bolts"
    assert f"{message} (broken_plugins.py, line" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "        return self\n",
            "        pass\n",
            "expected ExperimentRows from open(), found None",
        ),
        (
            "        return DataRequest(",
            "        (",
            "expected a DataRequest from request(), found N",
        ),
    ],
)
def test_what_a_row_source_gives_instead_of_rows_is_named(
    here: Path, old: str, new: str, message: str
) -> None:
    assert old in MODULE
    (here / "package" / "broken_plugins.py").write_text(MODULE.replace(old, new))
    done = assay(here, "run", "parts", "--on", "sqlite")
    assert (done.returncode, message in done.stderr) == (3, True), done.stderr
    assert "internal error" not in done.stderr


def test_a_python_program_catches_what_a_plugin_raises(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raises = MODULE.replace("        return self\n", '        raise OSError("gone")\n')
    (here / "package" / "broken_plugins.py").write_text(raises)
    program = (
        "import assay, assay.errors\n"
        "try: assay.run('parts', on='sqlite')\n"
        "except assay.errors.PluginFailed as error: print(error)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(here / "package"))
    done = subprocess.run([sys.executable, "-c", program], cwd=here, capture_output=True, text=True)
    assert "failed in open(): OSError: gone" in done.stdout, done.stderr


WORKLOAD_ENTRY_POINTS = "[assay.workloads]\nparts = parts_workloads.parts\n"
PARTS_PACKAGE = "parts-workloads 1.2"
PARTS_WORKLOAD = WORKLOAD.format(source="none", columns='name = "text"')


@pytest.fixture
def with_parts(tmp_path: Path) -> Path:
    """A folder with the package, whose folder `parts` is the workload."""
    write_package(tmp_path, "parts-workloads", "1.2", "", WORKLOAD_ENTRY_POINTS)
    (tmp_path / "package" / "parts_workloads.py").unlink()
    folder = tmp_path / "package" / "parts_workloads" / "parts"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "workload.toml").write_text(PARTS_WORKLOAD)
    (folder / "count.sql").write_text("SELECT count(*) FROM parts;\n")
    return tmp_path


def test_it_is_listed_with_its_package_and_run_by_its_name(with_parts: Path) -> None:
    listed = assay(with_parts, "list", "workloads", "--format", "csv")
    assert listed.returncode == 0, listed.stderr
    [head, *lines] = listed.stdout.splitlines()
    assert head.endswith(",package")
    [of_package] = [line for line in lines if line.startswith("parts.count")]
    assert of_package.endswith(f",{PARTS_PACKAGE}")
    done = assay(with_parts, "run", "parts.count", "--on", "sqlite")
    assert done.returncode == 0, done.stderr
    checked = assay(with_parts, "check", "parts")
    assert checked.returncode == 0, checked.stderr
    (with_parts / "few.toml").write_text('workload = "parts"\nsystems = ["sqlite"]\n')
    planned = assay(with_parts, "plan", "few.toml")
    assert planned.returncode == 0, planned.stderr


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("workload.toml", PARTS_WORKLOAD.replace("passes", "pases"), "unknown key 'pases'"),
        ("count.sql", "\\set x 1 +\nSELECT 1;\n", "count.sql:1:"),
    ],
)
def test_a_mistake_names_the_package(with_parts: Path, file: str, text: str, message: str) -> None:
    (with_parts / "package" / "parts_workloads" / "parts" / file).write_text(text)
    done = assay(with_parts, "run", "parts", "--on", "sqlite")
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert f"the workload is of the package {PARTS_PACKAGE}" in done.stderr


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
    with_parts: Path, entry: str, message: str
) -> None:
    information = with_parts / "package" / "parts_workloads-1.2.dist-info"
    (information / "entry_points.txt").write_text(f"[assay.workloads]\n{entry}\n")
    listed = assay(with_parts, "list", "workloads")
    assert listed.returncode == 0, listed.stderr
    assert "tpcb.tpcb-like" in listed.stdout
    assert f"(package {PARTS_PACKAGE})" in listed.stderr
    assert message in listed.stderr
    done = assay(with_parts, "run", entry.partition(" ")[0], "--on", "sqlite")
    assert (done.returncode, message in done.stderr) == (3, True), done.stderr
