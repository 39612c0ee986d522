"""The package of the guide for dialects, built from its page, is found and runs the guide's shop on
the Firebird of a wheel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plugins import assay
from tools import servers

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
