"""CH-benCHmark on real systems: all answer the 22 questions alike, and the conditions of the
transactions hold beside the analysis."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay import registry
from commands import IN_MEMORY, Assay, need

FOLDER = Path(registry.__file__).parent / "workloads"
QUESTIONS = {f"q{number:02}" for number in range(1, 23)}


def test_systems_answer_the_22_questions_alike(assay: Assay) -> None:
    """Systems of three dialects."""
    systems = "duckdb", "sqlite", "postgresql"
    for system in systems:
        need(system)
    ended = assay("run", "chbench.queries", "--on", ",".join(systems), *IN_MEMORY)
    assert ended.status == 0, ended.err
    compared = {check["id"]: check["ok"] for check in ended.runs[-1].checks}
    assert set(compared) > QUESTIONS and all(compared.values()), compared
    assert ended.runs[-1].driven is not None
    rows = {one.transaction: one.rows for one in ended.runs[-1].driven.answer_sums}
    assert [name for name in QUESTIONS if not rows[name]] == ["q22"], "others would compare nothing"


@pytest.mark.parametrize("system", ["mariadb", "sqlite"])
def test_all_conditions_of_tpcc_hold_beside_analysis(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", "chbench.mixed", "--on", system, "--clients", "terminals=2,analysts=1", "--warm-up",
        "0", "--duration", "5", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    checks = {check["id"]: check["ok"] for check in run.checks}
    expected = {path.stem for path in (FOLDER / "tpcc" / "checks").glob("[01]*.sql")}
    assert checks == dict.fromkeys(expected, True)
    assert run.driven is not None
    ended_ok = {one.name: one.completed for one in run.driven.outcomes_by_transaction}
    assert ended_ok["new-order"] and any(ended_ok.get(name) for name in QUESTIONS)


def test_another_answer_is_found(assay: Assay, tmp_path: Path) -> None:
    need("duckdb")
    for name in ("tpcc", "chbench"):
        shutil.copytree(FOLDER / name, tmp_path / name)
    file = tmp_path / "chbench" / "workload.toml"
    text = file.read_text("utf-8")
    file.write_text(text.replace('extends = "tpcc"', 'extends = "../tpcc"'), encoding="utf-8")
    other = (FOLDER / "chbench" / "q06.sql").read_text("utf-8").replace("and 100000", "and 4")
    override = tmp_path / "chbench" / "overrides" / "duckdb" / "q06.sql"
    override.parent.mkdir()
    override.write_text("-- a mistake\n" + other, encoding="utf-8")
    ended = assay("run", f"{tmp_path / 'chbench'}.queries", "--on", "sqlite,duckdb", *IN_MEMORY)
    assert ended.status == 1, ended.err
    assert {run.verdict for run in ended.runs} == {"invalid"}
    assert "q06" in ended.out and "q05" not in ended.out, [run.reason for run in ended.runs]
