"""A test declares who runs what its scripts queue: clients beside those of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import registry
from assay.contracts.experiment import ScriptFile
from assay.drive.document import document_of
from assay.errors import ExperimentError
from assay.experiment import Experiment, SystemChoice
from assay.plan.drives import drives
from assay.plan.layout import plan
from assay.workload import ad_hoc_script, reader
from assay.workload.steps import Deferred

WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "all"

[data]
source = "none"

[tests.all]
title = "All"
help = "All of it"
mix = { order = 9, look = 1 }
clients = [3]
transactions = 5
"""


def _read(folder: Path, more: str) -> reader.Workload:
    (folder / "workload.toml").write_text(WORKLOAD + more, encoding="utf-8")
    for name in ("look", "deliver"):
        (folder / f"{name}.sql").write_text("select 1;\n")
    (folder / "order.sql").write_text("\\set w 1\n\\defer deliver w\n")
    return reader.read(str(folder))


def test_they_are_a_group_beside_the_clients_of_the_run(tmp_path: Path) -> None:
    more = 'deferred = { scripts = ["deliver.sql"], clients = 2, latency_limit_s = 80 }\n'
    workload = _read(tmp_path, more + 'response_limits = { deliver = "p90 < 80s" }\n')
    test = workload.test("all")
    assert test.deferred == Deferred(("deliver",), 2, 80.0)
    assert set(test.scripts) == {"order", "look"}
    asked = Experiment(workload=str(tmp_path), tests=("all",), systems=(SystemChoice("sqlite"),))
    (run,) = plan(asked, workload).runs
    assert (run.cell.clients, run.most_clients) == (3, 5)
    (planned,) = drives(workload, run)
    dialect = registry.system("sqlite").dialect
    scripts = workload.scripts_for(planned, dialect)
    clients, others = document_of(workload, planned, dialect, scripts).groups or ()
    assert (clients.name, clients.clients, clients.weights) == (
        "clients",
        3,
        {"order": 9, "look": 1},
    )
    assert (others.scripts, others.clients, others.latency_limit_s) == (("deliver",), 2, 80.0)
    assert others.arrival and others.arrival.kind == "deferred"


def test_other_scripts_queue_nothing(tmp_path: Path) -> None:
    workload = _read(tmp_path, 'deferred = { scripts = ["deliver"] }\n')
    given = [ScriptFile(str(tmp_path / "look.sql"))]
    assert ad_hoc_script.with_scripts(workload, given, ["all"]).test("all").deferred is None


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('deferred = { scripts = ["delivery"] }', "no script is called 'delivery'"),
        ("deferred = { clients = 2 }", "scripts is missing"),
        ('deferred = { scripts = ["deliver"], clients = 0 }', "clients = 0"),
        ('deferred = { scripts = ["look"] }', "look is deferred, and run by the clients"),
        ('deferred = { scripts = ["deliver"], limit = 3 }', "limit"),
        (
            'deferred = { scripts = ["deliver"] }\n'
            'steps = [{ do = "drive", scripts = ["look"] }, { do = "drive", name = "b" }]',
            "deferred needs a single drive step",
        ),
    ],
)
def test_a_mistake_is_placed(tmp_path: Path, line: str, complaint: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        _read(tmp_path, line)
    assert complaint in str(refused.value)
    assert refused.value.line == 14
