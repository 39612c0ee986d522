"""A step of another package reports what it found: its metrics, warnings and tables are everywhere,
it says why a run failed, and its record can be read without the package."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.contracts.observation import UnreadReport
from assay.record import Store
from plugins import assay, write_package
from step_workloads import folder_of

MODULE = """
from dataclasses import dataclass

from assay.contracts.metric import SIZE, ReportColumn
from assay.contracts.observation import StepReport, StepTable
from assay.contracts.metric import WarningText
from assay.lab.run_context.context import RunState
from assay.provision.engine.engine_calls import session
from assay.workload.steps import Names, Step, common


class CensusReport(StepReport, frozen=True, tag_field="kind", tag="census"):
    metrics = (
        ReportColumn(name="census_rows", unit="count", meaning="rows of the table",
               value=lambda report: report.rows, words=SIZE),
    )
    warning_texts = {
        "odd-census": WarningText("the number of rows is odd", "add a row", limits=True)
    }
    is_beside = True

    rows: int
    most: int

    def why_failed(self):
        return f"{self.rows} rows are more than {self.most}" if self.rows > self.most else None

    def warnings(self):
        if self.rows % 2:
            yield "odd-census", f"{self.rows} rows"

    def shown(self):
        yield StepTable("Census", ("table", "rows"), (("data", self.rows),))


class Unregistered(StepReport, frozen=True, tag_field="kind", tag="unheard"):
    rows: int


@dataclass(frozen=True)
class Census(Step):
    do = "census"
    most: int = 100

    @classmethod
    def read(cls, section, names: Names):
        return cls(most=int(section.scalar("most", 100)), **common(section, names))

    def take(self, state: RunState):
        with session(state.up().deployment.address) as opened:
            ((rows,),) = opened.execute("SELECT count(*) FROM data").rows
        made = Unregistered if self.name == "unheard" else None
        report = made(rows=1) if made else CensusReport(rows=int(rows), most=self.most)
        state.observed(self.label, report)
"""
ENTRY_POINTS = """
[assay.steps]
census = census:Census

[assay.step_reports]
census = census:CensusReport
"""
TEST = """\
scripts = ["add.sql"]
transactions = 5
changes_data = true

[[tests.t.steps]]
do = "load"

[[tests.t.steps]]
do = "drive"

[[tests.t.steps]]
do = "census"
{keys}
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write_package(tmp_path, "census", "1.2", MODULE, ENTRY_POINTS)
    return tmp_path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package and two experiments."""
    folder = tmp_path_factory.mktemp("recorded")
    write_package(folder, "census", "1.2", MODULE, ENTRY_POINTS)
    for _ in range(2):
        done = run(folder)
        assert done.returncode == 0, done.stderr
    return folder


def run(here: Path, keys: str = "") -> subprocess.CompletedProcess[str]:
    folder_of(
        here / "small",
        TEST.format(keys=keys),
        add="INSERT INTO data SELECT max(id) + 1, 0 FROM data;\n",
    )
    return assay(
        here, "run", "small", "--on", "sqlite", "--records", "r.sqlite", "--repetitions", "2"
    )


def sentence(done: subprocess.CompletedProcess[str]) -> str:
    """Its output, not wrapped."""
    return " ".join(done.stdout.split())


def test_what_it_reports_is_where_own_metrics_and_warnings_are(recorded: Path) -> None:
    here = recorded
    shown = assay(here, "report", "latest", "--records", "r.sqlite", "--detail")
    assert shown.returncode == 0, shown.stderr
    assert "Census" in shown.stdout and "the number of rows is odd" in shown.stdout
    assert "add a row" in shown.stdout
    document = json.loads(
        assay(here, "report", "latest", "--records", "r.sqlite", "--format", "json").stdout
    )
    for row in document["tables"]["runs"]:
        # The numbers of the run are those of its clients.
        assert (row["census_rows"], row["ok"], row["verdict"]) == (15, 5, "unreliable")
        assert "odd-census" in row["warnings"]
    words = ("compare", "1", "2", "--records", "r.sqlite", "--format", "json")
    compared = assay(here, *words, "--fail-if", "census_rows > 1.1x")
    assert compared.returncode == 5, compared.stderr  # two repetitions of a count decide nothing
    ratios = json.loads(compared.stdout)["ratios"]
    assert "census_rows" in {ratio["metric"] for ratio in ratios}


def test_it_says_why_its_run_failed(here: Path) -> None:
    done = run(here, "most = 12")
    assert done.returncode == 1
    assert "15 rows are more than 12" in done.stdout + done.stderr


def test_a_record_is_readable_without_its_package(recorded: Path, tmp_path: Path) -> None:
    here = tmp_path
    shutil.copy(recorded / "r.sqlite", here)
    shown = assay(here, "report", "latest", "--records", "r.sqlite", "--detail")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "no package that is installed, and can be used, has the kind 'census'" in sentence(shown)
    assert "rows" in shown.stdout and "100" in shown.stdout
    compared = assay(here, "compare", "1", "2", "--records", "r.sqlite")
    assert compared.returncode == 0, compared.stderr
    with Store(here / "r.sqlite", must_exist=True) as store:
        report = store.latest().runs[0].reports[0]
    assert isinstance(report, UnreadReport)
    assert report.document == {"kind": "census", "rows": 15, "most": 100}


def test_a_record_is_readable_where_its_package_reports_otherwise_now(
    recorded: Path, here: Path
) -> None:
    shutil.copy(recorded / "r.sqlite", here)
    module = here / "package" / "census.py"
    module.write_text(module.read_text().replace("    most: int\n", "    most: str\n"))
    shown = assay(here, "report", "latest", "--records", "r.sqlite")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "the package of 'census' expects it otherwise" in sentence(shown)


def test_a_report_that_could_not_be_read_again_is_refused(here: Path) -> None:
    done = run(here, 'name = "unheard"')
    assert done.returncode != 0
    assert '[project.entry-points."assay.step_reports"]' in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("declared", "broken", "said"),
    [
        ('name="census_rows"', 'name="ok"', "expected names that begin with census_, found 'ok'"),
        ('unit="count", ', "", "census_rows: expected a unit, a meaning and a value"),
    ],
)
def test_a_broken_report_is_named_and_disturbs_no_other_command(
    here: Path, declared: str, broken: str, said: str
) -> None:
    module = here / "package" / "census.py"
    module.write_text(module.read_text().replace(declared, broken))
    done = run(here)
    assert done.returncode != 0
    assert said in done.stdout + done.stderr
    assert assay(here, "list", "systems").returncode == 0
