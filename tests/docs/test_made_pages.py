"""Pages and pictures that programs make are those that are kept; guides name what there is."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.storages.abilities import Inspectable
from assay.experiment import from_file
from assay.report import charts
from assay.report.figure import LIMITED
from forked_programs import BIN
from plugins import assay
from programs import SYSTEMD_ANALYZE, need_program
from tools import picture, servers

ROOT = Path(__file__).parents[2]
FOLDERS = ("python", "crates", "tests", "docs", "fuzz", "packaging", "proofs", "benches", "tools")


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_paths_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`([\w.]+(?:/[\w.]+)*(?:/|\.(?:py|rs|md|sql|json|toml)))`", text)
    assert len(named) > 10
    # A name may leave out the folders that the sentence or the row above has named.
    paths = "".join(f"/{path.relative_to(ROOT)}/\n" for path in _files())
    missing = [name for name in named if not re.search(_pattern(name), paths)]
    assert not missing, missing


def _pattern(name: str) -> str:
    """A word in capitals is in the place of any name."""
    words = re.split(r"\b([A-Z]+)\b(?=[./]|$)", name.rstrip("/"))
    return "/" + "".join(r"\w+" if word.isupper() else re.escape(word) for word in words) + "/"


def _files() -> list[Path]:
    own = [ROOT / name for name in FOLDERS]
    found = [path for folder in own for path in folder.rglob("*")]
    return [*found, *own, *ROOT.glob("*.md"), *ROOT.glob("*.toml")]


_TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")
_MARK = re.compile(r'aria-roledescription="[^"]*"|<path ')


def test_it_is_what_is_drawn_from_its_numbers() -> None:
    """Texts and marks; widths depend on the fonts of a machine."""
    kept, drawn = picture.PICTURE.read_text(encoding="utf-8"), charts.svg(picture.figure())
    assert _TEXT.findall(kept) == _TEXT.findall(drawn), "make docs"
    assert len(_MARK.findall(kept)) == len(_MARK.findall(drawn)), "make docs"


def test_its_numbers_are_those_of_its_experiment() -> None:
    """Every system at every number of clients, each with its repetitions and a verdict."""
    experiment, _ = from_file.read(picture.EXPERIMENT)
    figure = picture.figure()
    assert [one.name for one in figure.series] == [one.label for one in experiment.systems]
    for line in figure.series:
        assert [point.x for point in line.points] == list(experiment.clients)
        for point in line.points:
            assert len(point.runs) == experiment.repetitions
            assert point.low is not None and point.high is not None
            assert point.low <= point.y <= point.high
            assert point.verdict in ("valid", *LIMITED)
    runs = [run for point in figure.points for run in point.runs]
    assert len(runs) == len(set(runs)), "no run stands behind two points"


FILES = sorted((ROOT / "python" / "assay" / "experiment" / "papers").glob("*.toml"))


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Kinds of storages that another user than root cannot have."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    storages = {name: registry.storage(name) for name in registry.storages()}
    return {
        name for name, storage in storages.items()
        if isinstance(storage, Inspectable) and "root" in (storage.why_unavailable() or "")
    }  # fmt: skip


def rows(page: str) -> dict[str, list[str]]:
    """The rows of its tables, by the name in their first column."""
    text = (ROOT / "docs" / "guides" / page).read_text(encoding="utf-8")
    return {
        name: [cell.strip() for cell in cells.split("|")]
        for name, cells in re.findall(r"^\| `([\w.-]+)` \|(.*)\|$", text, re.MULTILINE)
    }


def test_the_table_of_storages_says_which_need_root(kinds: set[str]) -> None:
    table = rows("storages.md")
    said = {name for name in registry.storages() if re.match("root(,|$)", table[name][1])}
    assert said == kinds


def test_papers_that_need_root_say_so(kinds: set[str]) -> None:
    table = rows("papers.md")
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        used = set(re.findall(r'^kind *= *"([\w-]+)"', text, re.MULTILINE))
        needs_root = bool(used & kinds)
        assert ("root" in table[file.name][0]) == needs_root, file.name
        assert ("needs root; without root: --storage here" in text) == needs_root, file.name


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "bibtosql.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    need_program(SYSTEMD_ANALYZE)
    service, timer = blocks("ini")
    # The program is looked for, and the user need not be there.
    (tmp_path / "bibliographies.service").write_text(
        service.replace("/usr/local/bin/bibtosql", str(BIN / "bibtosql"))
    )
    (tmp_path / "bibliographies.timer").write_text(timer)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", "bibliographies.service",
         "bibliographies.timer"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    [command] = re.findall(r"^ExecStart=(.*)$", service, re.M)
    state = tmp_path / "state"
    _try(command.replace("%S/bibliographies", str(state)).split(), state, tmp_path)


def test_the_script_for_cron_logs_a_failure(tmp_path: Path) -> None:
    [text] = blocks("sh")
    state, script = tmp_path / "state", tmp_path / "update-bibliographies"
    logged = tmp_path / "logged"
    logger = tmp_path / "bin" / "logger"
    logger.parent.mkdir()
    logger.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {logged}\n')
    logger.chmod(0o755)
    text = text.replace("/var/lib/bibliographies", str(state))
    text = text.replace("/usr/local/bin/bibtosql", str(BIN / "bibtosql"))
    script.write_text(text.replace("/srv/bibliographies", str(tmp_path / "srv")))
    script.chmod(0o755)
    _try([str(script)], state, tmp_path)
    assert not logged.exists()
    (tmp_path / "srv" / "a.bib").write_text("@Misc{a, title = {no end\n")
    ended = _run([str(script)], tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    for said in (ended.stderr, logged.read_text()):
        assert re.search(r"status 2: error: .*a\.bib:1:", said), said


def _try(command: list[str], state: Path, folder: Path) -> None:
    """The job runs twice on a new database; the second time a file has changed."""
    files = folder / "srv"
    files.mkdir()
    (files / "a.bib").write_text("@Misc{a, title = {A}}\n")
    state.mkdir()
    database = state / "library.db"
    made = [str(BIN / "bibtosql"), "--create", "--quiet", "--apply", str(database), str(files)]
    assert _run(made, folder).returncode == 0
    command = [word.replace("/srv/bibliographies", str(files)) for word in command]
    command = [word.replace("/usr/local/bin/bibtosql", str(BIN / "bibtosql")) for word in command]
    for _ in range(2):
        ended = _run(command, folder)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        assert (state / "last-update").exists()
        (files / "a.bib").write_text("@Misc{a, title = {A}}\n@Misc{b, title = {B}}\n")
    assert b"@Misc{b" in database.read_bytes()


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "locks"), "PATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


GUIDES = Path(__file__).parents[2] / "docs" / "guides"
ON = "dbapi:assay_firebird.embedded+firebird[database=bench.fdb]"


def write_files(page: str, to: Path) -> None:
    """Those that the page shows, by the name in their first line."""
    text = (GUIDES / page).read_text(encoding="utf-8")
    for name, content in re.findall(r"```\w+\n(?:#|--) (\S+\.\w+)\n(.*?)```", text, re.S):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text(content, encoding="utf-8")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The shop, and the package as if it were installed."""
    write_files("writing-a-workload.md", tmp_path)
    write_files("writing-a-dialect.md", tmp_path)
    package = (tmp_path / "assay-firebird").rename(tmp_path / "package")
    (package / "assay_firebird" / "__init__.py").touch()
    declared = (package / "pyproject.toml").read_text(encoding="utf-8")
    name, value = re.findall(r'entry-points."assay.dialects"\]\n(\w+) = "(\S+)"', declared)[0]
    information = package / "assay_firebird-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: assay-firebird\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[assay.dialects]\n{name} = {value}\n")
    return tmp_path


def test_the_shop_runs_on_firebird(here: Path) -> None:
    for library, package in servers.LIBRARIES.items():
        if not servers.loads(library):
            pytest.skip(f"{library} is not on this machine: apt-get install {package}")
    words = ("run", "shop", "--on", ON, "--clients", "34", "--retries", "1000", "--verify")
    done = assay(here, *words)
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr
    shown = assay(here, "report", "--format", "json")
    assert "Firebird 5" in shown.stdout, shown.stdout


def test_a_dialect_of_a_package_is_one_of_the_names(here: Path) -> None:
    (here / "shop" / "overrides" / "firebird").mkdir(parents=True)
    text = "-- needs a cast\n" + (here / "shop" / "buy.sql").read_text()
    (here / "shop" / "overrides" / "firebird" / "buy.sql").write_text(text)
    checked = assay(here, "check", "shop")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    refused = assay(here, "plan", "shop", "--on", "dbapi:sqlite3+firebrid")
    assert refused.returncode == 2
    assert "did you mean 'firebird'?" in refused.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("FIREBIRD = FirebirdDialect()", "FIREBIRD = object()", "expected an object of a class"),
        ('name = "firebird"', 'name = "firebrid"', "expected 'firebird', as in its entry point"),
        ('"microseconds"', '"nanoseconds"', "'nanoseconds' is no capability"),
        ("\nfrom msgspec", "\n1 / 0\nfrom msgspec", "ZeroDivisionError"),
    ],
)
def test_a_dialect_that_breaks_its_contract_is_named(
    here: Path, old: str, new: str, message: str
) -> None:
    file = here / "package" / "assay_firebird" / "dialect.py"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    done = assay(here, "plan", "shop", "--on", "dbapi:sqlite3+firebird[database=x.db]")
    assert (done.returncode, message in done.stderr) == (3, True), done.stderr
    assert "the plugin 'firebird' (package assay-firebird 1.0)" in done.stderr
    assert assay(here, "list", "systems").returncode == 0
