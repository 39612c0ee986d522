"""CH-benCHmark on real systems: all answer the 22 questions alike, and the conditions of the
transactions hold beside the analysis."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay import registry
from commands import IN_MEMORY, Assay, need
from smaller_workloads import smaller_tpcc

FOLDER = Path(registry.__file__).parent / "workloads"
QUESTIONS = {f"q{number:02}" for number in range(1, 23)}


def test_systems_answer_the_22_questions_alike_and_another_answer_is_found(
    assay: Assay, tmp_path: Path
) -> None:
    """Systems of three dialects, which are loaded once: a question more, of which one of them has a
    mistake, is the one answer that differs."""
    systems = "duckdb", "sqlite", "postgresql"
    for system in systems:
        need(system)
    ended = assay(
        "run", f"{_with_a_mistake_for_sqlite(tmp_path)}.queries", "--on", ",".join(systems),
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 1, ended.err
    assert {run.verdict for run in ended.runs} == {"invalid"}
    assert MISTAKEN in ended.out and "q06" not in ended.out, [run.reason for run in ended.runs]
    compared = {check["id"]: check["ok"] for check in ended.runs[-1].checks}
    assert set(compared) > QUESTIONS
    assert [name for name, is_ok in compared.items() if not is_ok] == [MISTAKEN], compared
    assert ended.runs[-1].driven is not None
    rows = {one.transaction: one.rows for one in ended.runs[-1].driven.answer_sums}
    assert {name for name in QUESTIONS if not rows[name]} == {"q22"}, "others would compare nothing"


MISTAKEN = "other"


def _with_a_mistake_for_sqlite(folder: Path) -> Path:
    """With a copy of the sixth question."""
    copy = smaller_chbench(folder)
    changed(copy, '"q22"]\npasses = 1\nresult', f'"q22", "{MISTAKEN}"]\npasses = 1\nresult')
    right = (FOLDER / "chbench" / "q06.sql").read_text("utf-8")
    (copy / f"{MISTAKEN}.sql").write_text(right, encoding="utf-8")
    override = copy / "overrides" / "sqlite" / f"{MISTAKEN}.sql"
    override.parent.mkdir(parents=True, exist_ok=True)
    other = right.replace("and 100000", "and 4")
    assert other != right
    override.write_text("-- a mistake\n" + other, encoding="utf-8")
    return copy


def smaller_chbench(folder: Path) -> Path:
    """On a fiftieth of the rows of tpcc: `docs/guides/chbench.md` loads all."""
    smaller_tpcc(folder)
    copy = Path(shutil.copytree(FOLDER / "chbench", folder / "chbench"))
    changed(copy, 'extends = "tpcc"', 'extends = "../tpcc"')
    script = copy / "q20.sql"  # of 2,000 items none may be of one country
    text = script.read_text("utf-8")
    assert text.count("= 'GERMANY'") == 1
    script.write_text(text.replace("= 'GERMANY'", "> 'GERMANY'"), encoding="utf-8")
    return copy


def changed(workload: Path, right: str, ours: str) -> None:
    file = workload / "workload.toml"
    text = file.read_text("utf-8")
    assert text.count(right) == 1
    file.write_text(text.replace(right, ours), encoding="utf-8")


@pytest.mark.parametrize("system", ["mariadb", "sqlite"])
def test_all_conditions_of_tpcc_hold_beside_analysis(
    assay: Assay, tmp_path: Path, system: str
) -> None:
    need(system)
    ended = assay(
        "run", f"{smaller_chbench(tmp_path)}.mixed", "--on", system, "--clients",
        "terminals=2,analysts=1", "--warm-up", "0", "--duration", "1", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    checks = {check["id"]: check["ok"] for check in run.checks}
    expected = {path.stem for path in (FOLDER / "tpcc" / "checks").glob("[01]*.sql")}
    assert checks == dict.fromkeys(expected, True)
    assert run.driven is not None
    ended_ok = {one.name: one.completed for one in run.driven.outcomes_by_transaction}
    assert ended_ok["new-order"] and any(ended_ok.get(name) for name in QUESTIONS)
