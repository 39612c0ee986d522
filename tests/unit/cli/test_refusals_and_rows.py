"""What `assay run` refuses before anything is kept, and what `assay plan` says of each run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.program import run_program


def test_what_no_system_can_do_as_asked_is_no_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "r.sqlite"
    asked = ["tpcb.select-only", "--on", "sqlite,null", "--client-program", "native"]
    assert run_program(["run", *asked, "--records", str(record)]) == 2
    assert "cannot be run by a system's own client program" in capsys.readouterr().err
    assert not record.exists()


def test_a_server_by_url_is_planned_on_no_storage_of_this_machine(
    capsys: pytest.CaptureFixture[str],
) -> None:
    systems = "sqlite,postgresql://u@h.invalid/d"
    assert run_program(["plan", "tpcb.select-only", "--on", systems, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["storage"] for row in rows] == ["here", None]


def test_an_experiment_file_named_as_a_workload_is_pointed_at(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["plan", "kreymer-1995", "--on", "null"]) == 2
    said = capsys.readouterr().err
    assert "kreymer-1995 is an experiment file, no workload" in said
    assert "hint: kreymer-1995.toml" in said
