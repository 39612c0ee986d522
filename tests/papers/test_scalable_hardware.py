"""Scalable Hardware on real systems: users change their own sets, as often as was acknowledged;
too many of them, and a change in a foreign set, are found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay import registry
from commands import IN_MEMORY, Assay, need

FOLDER = Path(registry.__file__).parent / "workloads" / "scalable-hardware"
CHECKS = {path.stem for path in (FOLDER / "checks").iterdir()}
WORDS = (
    "--set", "tuples=1000", "--set", "users=3", "--clients", "2", "--warm-up", "0",
    "--transactions", "60", *IN_MEMORY,
)  # fmt: skip


@pytest.mark.parametrize("system", ["postgresql", "duckdb", "mariadb"])
def test_users_change_their_own_sets(assay: Assay, system: str) -> None:
    need(system)
    ended = assay("run", "scalable-hardware", "--on", system, *WORDS)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert {check["id"]: check["ok"] for check in run.checks} == dict.fromkeys(CHECKS, True)
    assert run.driven is not None and run.driven.outcomes.ok == 120
    assert {one.name for one in run.driven.transactions} == {
        "look-up", "change", "report", "modify-100", "fetch-100",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("file", "right", "wrong", "found"),
    [
        ("workload.toml", ":users * :tuples", ":tuples", "01-a-set-for-each-user"),
        ("change.sql", "col_signed + 1", "col_signed + 2", "03-changes"),
        ("modify-100.sql", "col_int + 1", "col_int + 2", "04-modifications"),
        ("modify-100.sql", "(:client_id % :users)", "(:client_id + 1)", "05-own-sets"),
    ],
)
def test_a_mistake_is_found(
    assay: Assay, tmp_path: Path, file: str, right: str, wrong: str, found: str
) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / "scalable-hardware"))
    text = (folder / file).read_text("utf-8")
    assert right in text
    (folder / file).write_text(text.replace(right, wrong), encoding="utf-8")
    ended = assay("run", folder, "--on", "sqlite", *WORDS)
    assert ended.status == 1, ended.err
    (run,) = ended.runs
    wrong_checks = {check["id"] for check in run.checks if check["ok"] is False}
    assert found in {*wrong_checks, *run.reason.split()}
