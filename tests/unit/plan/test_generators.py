"""Load generators as a factor: the same work from each number of them, and refused where clients
cannot be distributed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.drive.prepare import Compiled
from assay.errors import ArgumentError
from assay.experiment.from_command_line import Words, experiment
from assay.lab.preflight.refusal import why_refused
from assay.plan import PlannedRun, plan

SERVER = "null[protocol=postgresql]"


def planned(target: str = "tpcb", **given: Any) -> list[tuple[PlannedRun, str | None]]:
    """Each run, and why it would be refused."""
    asked = {"on": (SERVER,), "clients": "4", **given}
    found, workload = experiment(Words(target, **asked))
    return [(run, why_refused(Compiled(workload), run)) for run in plan(found, workload).runs]


def test_each_number_is_a_cell_of_its_own_with_the_same_work() -> None:
    runs = [run for run, _ in planned(generators="1,4")]
    assert [run.cell.levels["generators"] for run in runs] == [1, 4]
    assert len({run.cell.fingerprint for run in runs}) == 2
    assert len({run.seed for run in runs}) == 1
    ((before, _),) = planned()
    assert before.cell.fingerprint == runs[0].cell.fingerprint


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, None),
        ({"on": ("null",)}, "null works in the client's own process: 4 generators would be"),
        ({"on": ("sqlite",)}, "works in the client's own process"),
        ({"fleet": "https://h:1"}, "a fleet is ray://HOST:PORT; found 'https://h:1'"),
        ({"clients": "3"}, "4 generators cannot share 3 clients"),
        ({"target": "tpcc.paced", "clients": None, "on": ("postgresql",)}, "be in one process"),
        ({"target": "bibsql.parallel", "client_program": "native", "on": ("postgresql",)},
         "4 generators cannot drive a system's own client programs"),
    ],
)  # fmt: skip
def test_clients_that_cannot_be_distributed_are_refused_with_the_reason(
    given: dict[str, Any], reason: str | None
) -> None:
    ((_, refused),) = planned(generators="4", **given)
    assert refused is None if reason is None else reason in str(refused)


def test_scripts_whose_clients_share_numbers_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "next.sql"
    file.write_text("\\next n\nSELECT :n;\n")
    ((_, refused),) = planned("", script=(str(file),), generators="2")
    assert "clients share numbers (\\next)" in str(refused)


def test_what_to_do_about_a_loss_needs_generators() -> None:
    with pytest.raises(ArgumentError, match="one process drives all clients"):
        experiment(Words("tpcb", on=(SERVER,), on_lost="continue"))
