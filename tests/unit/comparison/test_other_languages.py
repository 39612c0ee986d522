"""Systems of other languages have the same rows in other tables, and are asked in other statements:
they are compared by what the workload declares, and by their answers."""

from __future__ import annotations

import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import invented_records as invented
from assay import comparison
from assay.comparison.sides.values import ComparedCell
from assay.experiment import SystemChoice
from assay.record import Store

CQL = SystemChoice("cassandra")
RIGHT, WRONG = "0123456789abcdef", "f" * 16
NOT_COMPARED = "answers not compared: the statements are in other languages"


def _sums(digest: str) -> list[dict[str, Any]]:
    return [{"transaction": "count", "transactions": 3, "rows": 3, "digest": digest}]


def _tables(system: str) -> dict[str, Any]:
    rows = {"jobs": 28000, "pages": 0} if system == "postgresql" else {"jobs_by_user": 28000}
    return {"fingerprint": ("a" if system == "postgresql" else "b") * 64, "rows": rows}


def compared(path: Path, cql: dict[str, Any], sql: dict[str, Any], **of_cql: Any) -> ComparedCell:
    """Interleaved repetitions on both; ``cql``, ``sql``: what else their data sets say."""
    planned = invented.plan([CQL, invented.POSTGRESQL], repetitions=3)
    # Seeds are equal where systems alone differ.
    runs = tuple(replace(run, seed=run.repetition) for run in planned.runs)
    planned = replace(planned, runs=runs)
    with Store(path / "r") as store:
        number = invented.begin(store, planned)
        for run in planned.runs:
            system = run.cell.system.name
            is_cql = system == CQL.name
            sums = of_cql.get("sums", _sums(RIGHT)) if is_cql else _sums(RIGHT)
            invented.write_run(
                store,
                run,
                round((9.0 if is_cql else 1.0) * (1 + run.repetition / 100) * invented.S),
                dataset={**_tables(system), **(cql if is_cql else sql)},
                observation={"answer_sums": sums},
            )
        store.end_experiment()
        record = store.experiment(number)
    side = comparison.side("A", "", [record])
    (cell,) = comparison.compare(side, None, between="system").cells
    return cell


ONE = {"declared_fingerprint": "c" * 64}


def test_equal_declared_content_and_equal_answers_leave_a_verdict(tmp_path: Path) -> None:
    cell = compared(tmp_path, ONE, ONE)
    assert (cell.not_comparable, cell.primary.verdict) == ("", "faster")
    assert cell.answers == "all answers of 1 script"


def test_other_answers_leave_no_verdict(tmp_path: Path) -> None:
    cell = compared(tmp_path, ONE, ONE, sums=_sums(WRONG))
    assert cell.blocked_by == ("answers",)
    assert "answers of count: 3 rows (ffffffff) → 3 rows (01234567)" in cell.not_comparable
    assert cell.answers == ""


@pytest.mark.parametrize(
    ("cql", "sql"),
    [
        (ONE, {"declared_fingerprint": "e" * 64}),
        (ONE, {}),  # as an earlier Assay recorded it
        ({}, {}),
    ],
)
def test_other_declared_content_leaves_no_verdict(
    tmp_path: Path, cql: dict[str, Any], sql: dict[str, Any]
) -> None:
    cell = compared(tmp_path, cql, sql)
    assert cell.blocked_by == ("data", "data")
    assert "input of the data: " in cell.not_comparable


def test_a_table_that_both_have_is_compared(tmp_path: Path) -> None:
    cell = compared(tmp_path, {**ONE, "rows": {"jobs_by_user": 28000, "pages": 7}}, ONE)
    assert cell.blocked_by == ("data",)
    assert "rows (postgresql: pages 0; cassandra: pages 7)" in _sentences(cell)


def _sentences(cell: ComparedCell) -> str:
    return "; ".join(
        f"{one.name} (postgresql: {one.b}; cassandra: {one.a})" for one in cell.differences
    )


def test_answers_that_are_not_known_are_a_note(tmp_path: Path) -> None:
    cell = compared(tmp_path, ONE, ONE, sums=[])
    assert (cell.not_comparable, cell.primary.verdict) == ("", "faster")
    assert NOT_COMPARED in cell.notes and cell.answers == ""


@pytest.mark.slow
@pytest.mark.parametrize("levels", ["cassandra,postgresql", "cassandra,ferretdb"])
def test_a_real_count_in_three_languages_leaves_a_verdict(tmp_path: Path, levels: str) -> None:
    """A record of `tests/data/papers`: jobs in five tables, in three, and as documents."""
    file = tmp_path / "records.sqlite"
    kept = Path(__file__).parents[2] / "data" / "papers" / "glidemon-count.sqlite.xz"
    file.write_bytes(lzma.decompress(kept.read_bytes()))
    with Store(file) as store:
        side = comparison.side("A", "", [store.experiment(1)])
    (cell,) = comparison.compare(side, None, between=f"system={levels}").cells
    assert (cell.not_comparable, cell.blocked_by) == ("", ())
    assert cell.primary.estimate is not None
    assert cell.answers == "all answers of 1 script"
