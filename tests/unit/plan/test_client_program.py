"""The client program as a factor: a cell of its own, and refused where nothing could be run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.drive.prepare import Compiled
from assay.errors import ArgumentError, ExperimentError
from assay.experiment.from_command_line import Words, experiment
from assay.lab.preflight.refusal import why_refused
from assay.plan import PlannedRun, plan
from assay.workload import reader
from step_workloads import folder_of


def planned(target: str = "bibsql.parallel", **given: Any) -> list[tuple[PlannedRun, str | None]]:
    """Each run, and why it would be refused."""
    asked = {"on": ("sqlite",), "clients": "2", **given}
    found, workload = experiment(Words(target, **asked))
    return [(run, why_refused(Compiled(workload), run)) for run in plan(found, workload).runs]


def test_each_program_is_a_cell_of_its_own_with_the_same_work() -> None:
    runs = [run for run, _ in planned(client_program="engine,native")]
    assert [run.cell.levels["client_program"] for run in runs] == ["engine", "native"]
    assert len({run.cell.fingerprint for run in runs}) == 2
    assert len({run.seed for run in runs}) == 1
    ((before, _),) = planned()
    assert before.cell.fingerprint == runs[0].cell.fingerprint


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"on": ("postgresql",)}, None),
        ({"target": "bibsql.sequential", "cache": "cold"}, None),
        ({"target": "bibsql.checks"}, "bibsql.checks cannot be run by a system's own client"),
        ({"target": "bibsql.update", "clients": None}, "bibsql.update cannot be run by a system"),
        ({"target": "tpcb"}, "tpcb.tpcb-like cannot be run by a system's own client program"),
        ({"on": ("null",)}, "null has no client program that Assay could start"),
        ({"on": ("postgresql://u@h/d",)}, "is not started by Assay: its own client is not"),
        ({"memory": "1GB"}, "its memory is limited in Assay's process"),
        ({"protocol": "prepared", "threads": 2}, "with protocol = prepared, threads = 2"),
        ({"duration_s": 3.0}, "with duration_s = 3"),
        ({"think_time": "constant:1s"}, "with think_time = constant:1s"),
        ({"isolation": "serializable"}, "with isolation = serializable"),
    ],
)
def test_what_no_client_program_can_do_is_refused_with_the_reason(
    given: dict[str, Any], reason: str | None
) -> None:
    ((_, refused),) = planned(client_program="native", **given)
    assert refused is None if reason is None else reason in str(refused)


def test_other_statements_than_those_of_the_test_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    ((_, refused),) = planned(client_program="native", feed=str(tmp_path / "one.sql"))
    assert "runs the scripts of the test, and no others" in str(refused)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("naive", "unknown client program 'naive'"),
        ("", "expected a client program, found nothing"),
        ("native,native", "client-program: native is given twice"),
    ],
)
def test_a_program_that_there_is_not_is_refused(given: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        planned(client_program=given)


@pytest.mark.parametrize(
    ("keys", "script", "reason"),
    [
        ("", "SELECT 1 WHERE ':x' = '::y'; -- :z\n", ""),
        ("changes_data = true\n", "SELECT 1;\n", "it may change data"),
        ('protocol = "prepared"\n', "SELECT 1;\n", "its protocol is prepared"),
        ('think_time = "constant:1s"\n', "SELECT 1;\n", "more is said of its clients"),
        ("", "SELECT :number;\n", "read needs the value of :number"),
    ],
)
def test_a_test_says_only_what_a_client_program_can_run(
    tmp_path: Path, keys: str, script: str, reason: str
) -> None:
    said = {"changes_data": "false", "protocol": '"simple"', "passes": "1"}
    plain = "".join(f"{key} = {level}\n" for key, level in said.items() if not keys.startswith(key))
    folder = folder_of(
        tmp_path / "w",
        f'scripts = ["read.sql"]\nallows_native_client = true\n{plain}{keys}',
    )
    (folder / "read.sql").write_text(script)
    if not reason:
        assert reader.read(str(folder)).test("t").allows_native_client
        return
    with pytest.raises(ExperimentError, match=f"cannot run this test: {reason}") as refused:
        reader.read(str(folder))
    assert refused.value.line is not None
