"""What `assay plan` says of a machine that lacks a storage or memory, and of the space that is
needed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay.cli.program import run_program
from assay.record import DEFAULT_FILE_NAME
from assay.storages.block import machine
from commands import Assay

LOOP = "loop[fs=ext4,size=64M]"


@pytest.fixture(autouse=True)
def _in_working_folder(monkeypatch: pytest.MonkeyPatch, working_folder: Path) -> None:
    monkeypatch.chdir(working_folder)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(working_folder / "state"))


def planned(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[list[dict[str, Any]], str]:
    assert run_program(["plan", *words, "--format", "json"]) == 0
    out, said = capfd.readouterr()
    return json.loads(out), said


def test_runs_on_a_storage_that_cannot_be_made_are_shown_and_not_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "LOOP_CONTROL", tmp_path / "none")
    words = ["tpcb", "--on", "null,sqlite", "--storage", f"here,{LOOP}", "--transactions", "5"]
    found, said = planned(capfd, *words)
    assert [(run["storage"], run["state"]) for run in found] == [
        ("here", None), (LOOP, "unavailable"), ("here", None), (LOOP, "unavailable"),
    ]  # fmt: skip
    assert f"the storage {LOOP} is unavailable, so `assay run` would not begin: " in said
    assert all(run["reason"] in said and run["about_s"] is None for run in found if run["state"])
    assert f"space on {LOOP}" not in said
    assert run_program(["run", *words]) == 3
    assert "LOOP_CONTROL" not in said and LOOP in capfd.readouterr().err
    assert not Path(DEFAULT_FILE_NAME).exists()
    assert run_program(["run", *words, "--only", "here", "--no-probe"]) == 0


def test_storages_and_systems_that_are_missing_are_refused_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "LOOP_CONTROL", tmp_path / "none")
    monkeypatch.setenv("ASSAY_POSTGRESQL_BIN", str(tmp_path))
    words = ["tpcb", "--on", "sqlite,postgresql", "--storage", f"here,{LOOP}"]
    assert run_program(["run", *words]) == 3
    said = capfd.readouterr().err
    assert "2 systems and storages are not available on this machine:\n" in said
    assert "- postgresql: PostgreSQL's programs" in said
    assert f"- the storage {LOOP}: " in said
    found, _ = planned(capfd, *words)
    assert [run["state"] for run in found] == [
        None, "unavailable", "not installed", "not installed",
    ]  # fmt: skip


def test_memory_that_the_machine_has_not_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["tpcb", "--on", "sqlite", "--memory", "none,100TB"]
    found, said = planned(capfd, *words)
    assert [run["state"] for run in found] == [None, "unavailable"]
    assert "sqlite memory=100TB is unavailable, so `assay run` would not begin" in said
    assert run_program(["run", *words]) == 3


def test_space_is_that_of_the_rows_until_the_data_were_loaded_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ["tpcb.select-only", "--on", "sqlite", "--transactions", "5"]
    _, before = planned(capfd, *words, "--storage", "tmpfs")
    assert re.search(r"sqlite \d\S* MB \(text of its rows, without indexes\)", before)
    assert "copies of data" in before and "as much space again" in before
    assert run_program(["run", *words, "--no-probe"]) == 0
    capfd.readouterr()
    _, measured = planned(capfd, *words, "--storage", "tmpfs", "--clients", "3")
    assert "space on tmpfs" in measured and "text of its rows" not in measured
    _, other = planned(capfd, *words, "--storage", "tmpfs", "--set", "scale=2")
    assert "text of its rows" in other, "other data"


def test_runs_on_a_storage_that_this_machine_has_not_are_listed_with_the_reason(
    assay: Assay,
) -> None:
    words = ["tpcb.select-only", "--on", "sqlite", "--storage", "here:/no/such", "--duration", "9"]
    ended = assay("plan", *words, "--repetitions", "2")
    assert ended.status == 2
    assert "here:/no/such is unavailable, so `assay run` would not begin: " in ended.err
    assert "2 runs, at least 22 s" in ended.err, "the total is that of the file, wherever it is run"
    assert "unavailable" in ended.out
    ended = assay("run", *words)
    assert ended.status == 2
    assert "/no/such" in ended.err and "run 1" not in ended.err
