"""A test that goes without a capability in one language: where it runs, and what its scripts and
its judge know of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

import invented_records as invented
from assay import registry
from assay.drive.document import document_of, scripts_of
from assay.drive.prepare import _what_is_compiled
from assay.errors import ExperimentError
from assay.experiment import StorageChoice, SystemChoice
from assay.judge import judge_run
from assay.judge.warnings.kinds import WarningKind
from assay.lab.preflight.refusal import why_lacking
from assay.plan import PlannedRun, drives
from assay.workload import reader

WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "pay"

[data]
source = "none"

[tests.pay]
title = "Pay"
help = "All of it"
scripts = ["pay"]
passes = 1
needs = ["transactions"]
retries = 5
"""
GOES_WITHOUT = '\n[tests.pay.goes_without]\njson = ["transactions"]\n'
SQL = "\\begin\nupdate t set a = 1;\n\\commit\n"
JSON = """\
\\if :has_transactions
\\begin
\\endif
{"update": "t", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]};
\\if :has_transactions
\\commit
\\endif
"""


def workload(folder: Path, more: str = GOES_WITHOUT) -> reader.Workload:
    (folder / "workload.toml").write_text(WORKLOAD + more, encoding="utf-8")
    (folder / "pay.sql").write_text(SQL, encoding="utf-8")
    (folder / "pay.json").write_text(JSON, encoding="utf-8")
    return reader.read(str(folder))


def run_on(system: str, url: str | None = None) -> PlannedRun:
    storage = StorageChoice("here", "here")
    (run,) = invented.plan([SystemChoice(system, url=url)], [storage], test="pay").runs
    driving = structs.replace(run.cell.driving, retries=5)
    levels = {**run.cell.levels, "protocol": "prepared"}
    return replace(run, cell=replace(run.cell, driving=driving, levels=levels))


def test_only_systems_of_that_language_may_lack_it(tmp_path: Path) -> None:
    declared = workload(tmp_path)
    assert why_lacking(declared, run_on("ferretdb")) is None
    assert why_lacking(declared, run_on("postgresql")) is None
    assert "transactions" in str(why_lacking(declared, run_on("msql")))
    undeclared = workload(tmp_path, "")
    assert "transactions" in str(why_lacking(undeclared, run_on("ferretdb")))


@pytest.mark.parametrize(
    ("system", "url", "has_it"),
    [
        ("ferretdb", None, False),
        ("mongodb", "mongodb://127.0.0.1/shop", False),
        ("mongodb", "mongodb://127.0.0.1/shop?replicaSet=rs0", True),
        ("postgresql", None, True),
    ],
)
def test_scripts_know_it_and_what_is_half_done_is_not_repeated(
    tmp_path: Path, system: str, url: str | None, has_it: bool
) -> None:
    declared, run = workload(tmp_path), run_on(system, url)
    (drive,) = drives.drives(declared, run)
    assert why_lacking(declared, run) is None
    dialect = registry.system(system).dialect
    document = document_of(declared, drive, dialect, scripts_of(declared, drive, dialect))
    assert document.variables["has_transactions"] is has_it
    assert ("retries" in document.json) is has_it


def test_what_is_compiled_for_one_server_is_not_taken_for_another(tmp_path: Path) -> None:
    """They are of one system and dialect, and one of them has transactions."""
    declared = workload(tmp_path)
    alone, of_a_set = (
        _what_is_compiled(
            *drives.drives(declared, run_on("mongodb", f"mongodb://127.0.0.1/{more}"))
        )
        for more in ("shop", "shop?replicaSet=rs0")
    )
    assert alone != of_a_set


def test_the_run_says_what_it_went_without(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    record = invented.experiment(tmp_path / "records.sqlite", planned, 1.0)
    (run,) = record.runs
    lacking = invented.changed(run, "observation", went_without=["transactions"])
    _, warnings = judge_run(lacking)
    (warning,) = (one for one in warnings if one.name == WarningKind.WENT_WITHOUT.id)
    assert "without transactions (several statements" in warning.detail


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('json = ["restart"]', "does not need 'restart'"),
        ('jsn = ["transactions"]', "no dialect is called 'jsn'"),
    ],
)
def test_a_mistake_is_placed(tmp_path: Path, line: str, complaint: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        workload(tmp_path, f"\n[tests.pay.goes_without]\n{line}\n")
    assert complaint in str(refused.value)
    assert refused.value.line == 17
