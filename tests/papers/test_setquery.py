"""The Set Query Benchmark on real systems: all answer the 69 queries alike, and a relation or a
query that is wrong is found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay import registry
from commands import IN_MEMORY, Assay, need

FOLDER = Path(registry.__file__).parent / "workloads" / "setquery"
SIZE = "rows=10000"


def test_systems_answer_the_69_queries_alike(assay: Assay) -> None:
    """Systems of four dialects."""
    systems = "duckdb", "sqlite", "postgresql", "mariadb"
    for system in systems:
        need(system)
    ended = assay("run", "setquery", "--on", ",".join(systems), "--set", SIZE, *IN_MEMORY)
    assert ended.status == 0, ended.err
    last = {check["id"]: check["ok"] for check in ended.runs[-1].checks}
    assert len(last) == 69 + 9 and all(last.values()), last
    for run in ended.runs:
        assert run.driven is not None and run.driven.outcomes.ok == 69
        assert run.driven.headline_count == 69


@pytest.mark.parametrize(
    ("file", "right", "wrong", "found"),
    [
        ("workload.toml", 'k25 = "random(1, 25)"', 'k25 = "random(1, 12)"', "03-shares"),
        ("checks/04-q1.sql", "where k5 = 2", "where k5 = 3", "04-q1"),
        ("checks/09-q6.sql", "where k1k = 49", "where k1k = 48", "09-q6"),
    ],
)
def test_a_mistake_is_found(
    assay: Assay, tmp_path: Path, file: str, right: str, wrong: str, found: str
) -> None:
    folder = tmp_path / "setquery"
    shutil.copytree(FOLDER, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert right in text
    (folder / file).write_text(text.replace(right, wrong, 1), encoding="utf-8")
    ended = assay("run", folder, "--on", "sqlite", "--set", SIZE, *IN_MEMORY)
    assert ended.status == 1, ended.err
    (run,) = ended.runs
    assert found in run.reason
