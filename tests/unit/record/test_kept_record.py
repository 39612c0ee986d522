"""A record of an earlier version opens, and its reports have the numbers that version printed
(`tests/data/README.md`)."""

from __future__ import annotations

import json
import lzma
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay.cli.program import run_program
from assay.record import Store
from assay.record.file import schema
from shown_report import kept_record

pytestmark = pytest.mark.slow
DATA = Path(__file__).parents[2] / "data" / "records"
EXPERIMENTS = range(1, 14)
RUNS = 26
GONE: dict[str, dict[str, Any]] = {"observations": {"agent": 0}}
"""Columns that later versions have no more, with the one value that was kept in them."""


ONE_REPETITION = "one repetition"


def renamed(row: dict[str, Any]) -> dict[str, Any]:
    """In the words of this version: indicative is unreliable, one repetition limits no number."""
    if "one-repetition" in (warnings := str(row.get("warnings", ""))):
        others = (one for one in json.loads(warnings) if one["name"] != "one-repetition")
        row = row | {"warnings": json.dumps([*others], separators=(",", ":"))}
    if row.get("verdict") != "indicative":
        return row
    reasons = row.get("verdict_reason", "").split("; ")
    limits = [reason for reason in reasons if reason != ONE_REPETITION]
    row = row | {"verdict": "unreliable" if limits else "valid"}
    said = {"verdict_reason": "; ".join(limits or [ONE_REPETITION])}
    return row | (said if "verdict_reason" in row else {})


@pytest.fixture(scope="module")
def printed() -> dict[str, Any]:
    """What the earlier version printed."""
    kept: dict[str, Any] = json.loads(lzma.decompress((DATA / "version-25.json.xz").read_bytes()))
    return kept


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return kept_record(tmp_path / "records.sqlite")


def output(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_program(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("number", EXPERIMENTS)
def test_every_number_of_its_reports_is_the_same(
    number: int, records: Path, printed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """A later version may have more tables, columns and warnings, and none less."""
    words = ("report", str(number), "--format", "json", "--records", str(records))
    report = json.loads(output(capsys, *words))
    expected = printed["reports"][str(number)]
    for name, rows in expected["tables"].items():
        shown = report["tables"][name]
        assert len(shown) == len(rows), name
        for row, before in zip(shown, map(renamed, rows), strict=True):
            assert {key: row[key] for key in before} == before, name
    warnings = {warning["name"] for warning in report["warnings"]}
    before = {warning["name"] for warning in expected["warnings"]} - {"one-repetition"}
    assert before <= warnings


def test_its_runs_are_listed_with_their_states_and_verdicts(
    records: Path, printed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("list", "runs", "--format", "json", "--records", str(records))
    listed = json.loads(output(capsys, *words))
    for run, before in zip(listed, map(renamed, printed["runs"]), strict=True):
        del before["began"]  # in the reader's time zone
        assert {key: run[key] for key in before} == before


@pytest.mark.parametrize("form", ["table", "csv", "markdown"])
def test_it_is_reported_in_every_form(
    form: str, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in EXPERIMENTS:
        words = ("report", str(number), "--format", form, "--records", str(records))
        assert "tpcb-like" in output(capsys, *words) or number not in (2, 3, 13)


def test_it_can_be_written_to_and_merged(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new.sqlite"
    for _ in range(2):
        output(capsys, "merge", str(records), "--records", str(new))
    listed = json.loads(output(capsys, "list", "runs", "--format", "json", "--records", str(new)))
    assert len(listed) == RUNS
    assert run_program(["merge", str(new), "--records", str(records)]) == 0  # opens it for writing


def test_its_tables_keep_their_columns_and_values(records: Path) -> None:
    with closing(sqlite3.connect(records, isolation_level=None)) as connection:
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        before = {name: _rows(connection, name) for name in names}
        schema.prepare(connection, records, schema.migrations())
        for name, rows in before.items():
            gone = GONE.get(name, {})
            assert all(gone.items() <= row.items() for row in rows)
            columns = [column for column in (rows[0] if rows else ()) if column not in gone]
            kept = [{column: row[column] for column in columns} for row in _rows(connection, name)]
            expected = [renamed({column: row[column] for column in columns}) for row in rows]
            assert kept == expected, name
        assert not connection.execute("PRAGMA foreign_key_check").fetchall()


def test_its_equal_cells_have_equal_fingerprints_across_experiments(records: Path) -> None:
    with Store(records) as store:
        cells = {run.id: run.cell_fingerprint for run in store.runs()}
    # Repetitions, and another experiment with the same cell.
    assert cells[23] == cells[24] == cells[25] != cells[12]
    assert cells[3] == cells[6] != cells[4]


def _rows(connection: sqlite3.Connection, name: str) -> list[dict[str, Any]]:
    cursor = connection.execute(f"SELECT * FROM {name}")
    columns = [column for column, *_ in cursor.description]
    return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
