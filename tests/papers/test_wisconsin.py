"""The Wisconsin benchmark on real systems: every query has its number of tuples, and the relations
are left as they were."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from able import able_to_run, one_of_each_line
from assay import registry
from commands import IN_MEMORY, Assay, need

FOLDER = Path(registry.__file__).parent / "workloads" / "wisconsin"
CHECKS = {path.stem for path in (FOLDER / "checks").iterdir()} | {"tenktup1 after 0"}


@pytest.mark.parametrize("system", one_of_each_line(able_to_run("wisconsin.queries")))
def test_every_query_has_its_tuples_and_nothing_is_changed(assay: Assay, system: str) -> None:
    need(system)
    ended = assay("run", "wisconsin", "--on", system, *IN_MEMORY)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert {check["id"]: check["ok"] for check in run.checks} == dict.fromkeys(CHECKS, True)
    assert run.driven is not None and not run.driven.outcomes.lost, run.driven
    named = {one.name for one in run.driven.transactions}
    assert {f"q{number:02}" for number in range(1, 33)} < named


@pytest.mark.parametrize(
    ("file", "right", "wrong", "found"),
    [
        ("q12.sql", "< :tuples / 10", "<= :tuples / 10", "results"),
        ("q24.sql", "group by onepercent", "group by tenpercent", "q24"),
        ("undo_q31.sql", "set unique2 = :tuples", "set unique2 = -:tuples", "tenktup1 after 0"),
        ("workload.toml", "(:row, :tuples, 2)", "(:row, :tuples, 2) / 2", "02-keys"),
        ("workload.toml", "2 * :onepercent + 1", "2 * :onepercent", "03-derived"),
    ],
)
def test_a_mistake_is_found(
    assay: Assay, tmp_path: Path, file: str, right: str, wrong: str, found: str
) -> None:
    folder = tmp_path / "wisconsin"
    shutil.copytree(FOLDER, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert right in text
    (folder / file).write_text(text.replace(right, wrong), encoding="utf-8")
    ended = assay("run", folder, "--on", "sqlite", *IN_MEMORY)
    assert ended.status == 1, ended.err
    (run,) = ended.runs
    errors = [] if run.driven is None else [one.transaction for one in run.driven.errors]
    wrong_checks = [check["id"] for check in run.checks if check["ok"] is False]
    assert found in [*errors, *wrong_checks, *run.reason.split()]
