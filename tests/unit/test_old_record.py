"""A record of an older version opens, and its reports have the numbers that version printed
(`tests/data/records/README.md`)."""

from __future__ import annotations

import json
import lzma
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay.cli.program import run_program
from assay.record import Store, schema
from assay.report.build import build
from assay.report.values import ReportCell

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data" / "records"
EXPERIMENTS = range(1, 15)
RENAMED = {
    "ok/s": "TPS",
    "entries/s": "items/s",
    "smallest-largest": "min-max",
    "client": "client CPU",
    "server": "server CPU",
    "switches": "context switches",
    "course": "timeline",
    "response": "latency",
    "service": "service time",
    "lag": "schedule lag",
}
"""What is called otherwise since."""
COLUMN_SINCE = {
    ("driving", "retries"): "most_retries",
    ("service", "throughput_per_s"): "ended_per_s",
}
"""(view, column) → what it is called since."""
SHOWN_SINCE = {"mount options", "scheduler", "write cache"}
"""Columns that its reports did not have."""
WARNED_SINCE = {2: {"noisy-repetitions"}}
"""By the throughput, as the verdict says; before, by the elapsed time, which a duration sets."""
SAMPLES_NEEDED = {"p50_ns": 6, "p99_ns": 368, "schedule_lag_p99_ns": 368}
"""For a percentile of a second."""
LOADS = "loads"
PER_CELL = {"few-samples"}
"""Said of each cell since, with its name; before, of the one with the fewest samples."""
TICK_NS = 10_000_000
ABSENT = {"value": None, "reason": ""}
ANEW = ("cell_fingerprint", "verdict_reason")


@pytest.fixture(scope="module")
def printed() -> dict[str, Any]:
    """What the older version printed."""
    found: dict[str, Any] = json.loads(lzma.decompress((DATA / "step-6.json.xz").read_bytes()))
    return found


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "records.sqlite"
    path.write_bytes(lzma.decompress((DATA / "step-6.sqlite.xz").read_bytes()))
    return path


def output(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_program(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("number", EXPERIMENTS)
def test_every_number_of_its_reports_is_the_same(
    number: int, records: Path, printed: dict[str, Any]
) -> None:
    with Store(records, must_exist=True) as store:
        report = build(store.experiment(number))
    expected = printed["reports"][str(number)]
    found = {table.name: table for section in report.sections for table in section.tables}
    assert list(found) == [
        one["name"].replace("_course", "_timeline") for one in expected["tables"]
    ]
    for table, before in zip(found.values(), expected["tables"], strict=True):
        titles = [" ".join(column.title.split()) for column in table.columns]
        for row, cells in zip(table.rows, before["rows"], strict=True):
            shared = dict(zip(titles, row.cells, strict=True)) if table.name == LOADS else {}
            assert {
                **row.block,
                **{
                    title: _run(_plain(cell)) if title == "run" else _plain(cell)
                    for title, cell in zip(titles, row.cells, strict=True)
                    if title not in SHOWN_SINCE
                },
            } == {
                RENAMED.get(title, title): _run(_expected(cell))
                if title == "run"
                else _expected(_of_one_load(cell, shared.get(title)))
                for title, cell in _today(cells).items()
                if RENAMED.get(title, title) in titles or not _is_empty(cell)
            }
    warnings = {one.name: list(one.details) for one in report.warnings}
    before = {one["name"]: one["details"] for one in expected["warnings"]}
    assert set(warnings) - set(before) <= WARNED_SINCE.get(number, set())
    assert {name: warnings[name] for name in before if name not in PER_CELL} == {
        name: details for name, details in before.items() if name not in PER_CELL
    }
    for name in PER_CELL & set(before):
        for detail in before[name]:
            is_cut = warnings[name][-1].startswith("and ")
            assert is_cut or any(one.endswith(detail) for one in warnings[name])


def _today(cells: dict[str, Any]) -> dict[str, Any]:
    """Files that could not be counted were 0 then, less than a tick of CPU time was a number."""
    if cells.get("open files") == {"value": 0, "unit": "count"}:
        cells = {**cells, "open files": ABSENT}
    match cells.get("server"):
        case {"value": float(each_ns), "n": count} if each_ns * count < TICK_NS:
            cells = {**cells, "server": ABSENT, "client share": ABSENT}
    return cells


def _is_empty(cell: Any) -> bool:
    """Where nothing else stands in a column, it is left out since."""
    return _expected(cell) in (None, "")


def _plain(cell: ReportCell) -> Any:
    """As in JSON: a number with its count and range, a label, or None."""
    if cell.number is not None:
        judged = cell.number.judged
        found = {**vars(cell.number), "verdict": judged.word, "reason": judged.reason}
        return {k: v for k, v in found.items() if k != "judged" and v not in (None, "")}
    if cell.is_absent:
        return None
    return cell.level if isinstance(cell.level, int | float) else _text(cell.shown)


def _of_one_load(cell: Any, found: ReportCell | None) -> Any:
    """The numbers of runs that shared a load: since, it is one of them."""
    if found is None or found.number is None or not isinstance(cell, dict) or "low" not in cell:
        return cell
    is_one = found.number.n == 1 < cell["n"] and cell["low"] <= found.number.value <= cell["high"]
    return _plain(found) if is_one else cell


def _run(cell: Any) -> Any:
    """The number of a run, which one table had as text; today it is a number in all of them."""
    return cell["value"] if isinstance(cell, dict) else cell


def _expected(cell: Any) -> Any:
    if isinstance(cell, dict) and cell["value"] is not None:
        # A reason that several runs share is said once since.
        reasons = "; ".join(dict.fromkeys(cell.get("reason", "").split("; ")))
        return {**cell, **({"reason": reasons} if reasons else {})}
    return None if isinstance(cell, dict) else _text(cell)


def _text(shown: Any) -> Any:
    """Without the sign or the number of a footnote; a count is a number, however it is written."""
    text = re.sub(r"( \[\d+\])|[~!]$", "", str(shown))
    is_number = re.fullmatch(r"\d+(\.\d+)?", text)
    return float(text) if is_number else RENAMED.get(text, text)


def test_its_runs_are_listed_with_their_states_and_verdicts(
    records: Path, printed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(
        output(capsys, "list", "runs", "--format", "json", "--records", str(records))
    )
    for run in [*found, *printed["runs"]]:
        del run["began"]  # in the reader's time zone
    for run in printed["runs"]:  # a script by itself is called by its file today
        run["test"] = run["test"].removesuffix(".script")
        run["verdict"] = run["verdict"] or None  # null where there is none, today
    assert found == sorted(printed["runs"], key=lambda run: int(run["experiment"]))


def test_a_long_reason_is_cut_in_a_list(
    records: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = output(capsys, "list", "runs", "--records", str(records)).splitlines()
    assert max(map(len, lines)) < 160
    (failed,) = [line for line in lines if "the server does not start" in line]
    assert failed.endswith("…")


@pytest.mark.parametrize("form", ["table", "csv", "markdown"])
def test_it_is_reported_in_every_form(
    form: str, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in EXPERIMENTS:
        words = ("report", str(number), "--format", form, "--records", str(records))
        assert "tpcb-like" in output(capsys, *words) or number not in (2, 3, 14)


@pytest.mark.parametrize("run", ["1", "8", "11", "24", "25", "26"])
def test_its_runs_are_shown(run: str, records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("show", run, "--format", "json", "--records", str(records))
    shown = json.loads(output(capsys, *words))
    assert shown["id"] == int(run)
    for step in shown["steps"]:
        assert (step["do"], "observation" in step) == ("drive", False), "it is shown once"


def test_it_can_be_written_to_and_merged(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new.sqlite"
    for _ in range(2):
        output(capsys, "merge", str(records), "--records", str(new))
    listed = json.loads(output(capsys, "list", "runs", "--format", "json", "--records", str(new)))
    assert len(listed) == 27
    assert run_program(["merge", str(new), "--records", str(records)]) == 0  # opens it for writing


def test_its_tables_and_views_keep_their_columns_and_values(records: Path) -> None:
    """All except what step 7 recomputed: the fingerprints of cells, and why failed runs are
    invalid; the name that step 16 changed; open files that were not counted (step 19); and
    names of columns and percentiles of few transactions (step 23)."""
    with closing(sqlite3.connect(records, isolation_level=None)) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            )
        ]
        before = {name: _rows(connection, name) for name in names}
        schema.prepare(connection, records, schema.steps())
        for name, rows in before.items():
            assert [
                {column: row[COLUMN_SINCE.get((name, column), column)] for column in rows[0]}
                for row in _rows(connection, name)
            ] == [_since_then(row) for row in rows]
        assert not connection.execute("PRAGMA foreign_key_check").fetchall()


def test_its_equal_cells_have_equal_fingerprints_across_experiments(records: Path) -> None:
    with Store(records) as store:
        cells = {run.id: run.cell_fingerprint for run in store.runs()}
    assert len(set(cells.values())) == 23
    assert (
        cells[24] == cells[25] == cells[26]
    )  # repetitions, and a second experiment with the same cell
    assert cells[3] == cells[6] != cells[4]


def _since_then(row: dict[str, Any]) -> dict[str, Any]:
    return {column: _value_since(row, column, value) for column, value in row.items()}


def _value_since(row: dict[str, Any], column: str, value: Any) -> Any:
    if column == "open_files" and value == 0:
        return None
    if "second" in row and column in SAMPLES_NEEDED:
        ended = sum(row[one] for one in ("ok", "aborted", "failed", "unknown"))
        samples = ended if column.startswith("schedule_lag") else row["ok"]
        return value if samples >= SAMPLES_NEEDED[column] else None
    return value.replace("patience_s", "timeout_s") if isinstance(value, str) else value


def _rows(connection: sqlite3.Connection, name: str) -> list[dict[str, Any]]:
    cursor = connection.execute(f"SELECT * FROM {name}")
    columns = [column for column, *_ in cursor.description if column not in ANEW]
    places = [place for place, (column, *_) in enumerate(cursor.description) if column in columns]
    return [
        {column: row[place] for column, place in zip(columns, places, strict=True)}
        for row in cursor.fetchall()
    ]
