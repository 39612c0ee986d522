"""A row source of another package: a reader of CSV files, registered by an entry point and used by
a workload through the command line."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from plugins import WORKLOAD, assay, write_package, write_workload

MODULE = """
import csv, hashlib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from assay.errors import InputError
from assay.load.row_sources.protocol import RowSource
from assay.load.row_sources.request import DataRequest

class Csv(RowSource):
    name = "csv"
    reads_input = True

    def open(self, workload, experiment, listener):
        self.table, self.file = workload.tables[0].name, Path(experiment.input_paths[0])
        return self

    def request(self, asked):
        digest = hashlib.sha256(self.file.read_bytes()).hexdigest()
        rows = lambda: {self.table: self.rows()}
        return DataRequest(rows, "files", self.file.name, digest, 3, (str(self.file),))

    def rows(self):
        for line, (name, *price) in enumerate(csv.reader(self.file.open()), 1):
            try:
                yield [name or None, *map(Decimal, price)]
            except InvalidOperation:
                raise InputError(f"{price[0]!r} is no price", file=self.file, line=line) from None

CSV = Csv()
"""
ENTRY_POINTS = "[assay.row_sources]\ncsv = csv_rows:CSV\n"
PARTS = WORKLOAD.format(source="csv", columns='name = "text"\nprice = "decimal(9,2)"')
UNEXPECTED = """\
SELECT * FROM parts WHERE NOT coalesce(name = 'bolt' AND price = 0.1, false)
AND NOT coalesce(name = 'nut' AND price = 12.5, false) AND NOT (name IS NULL AND price = 3);
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the package, the workload `parts` and a file of rows."""
    write_package(tmp_path, "csv-rows", "1", MODULE, ENTRY_POINTS)
    write_workload(tmp_path, PARTS)
    (tmp_path / "parts" / "checks").mkdir()
    (tmp_path / "parts" / "checks" / "rows.sql").write_text(UNEXPECTED)
    (tmp_path / "parts.csv").write_text("bolt,0.10\nnut,12.50\n,3.00\n")
    return tmp_path


def test_a_foreign_source_fills_a_table(here: Path) -> None:
    done = assay(here, "run", "parts", "--on", "sqlite", "--input", "parts.csv", "--verify")
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(here / "assay-records.sqlite")) as record:
        [(text,)] = record.execute("SELECT document FROM datasets").fetchall()
    dataset = json.loads(text)
    assert dataset["rows"] == {"parts": 3}
    assert (dataset["source"], dataset["files"]) == ("files", ["parts.csv"])


def test_mistakes_of_a_foreign_source_are_reported(here: Path) -> None:
    for rows, message in [
        ("bolt,0.10\nnut,a dozen\n", "parts.csv:2: 'a dozen' is no price"),
        ("bolt,0.10\nnut\n", "rows of the table parts: row 2: expected 2 cells, found 1"),
    ]:
        (here / "parts.csv").write_text(rows)
        done = assay(here, "run", "parts", "--on", "sqlite", "--input", "parts.csv")
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    (here / "parts" / "workload.toml").write_text(PARTS.replace('"csv"', '"cvs"'))
    done = assay(here, "run", "parts", "--on", "sqlite")
    assert done.returncode == 2
    assert "did you mean 'csv'?" in done.stderr


YIELDED = "yield [name or None, *map(Decimal, price)]"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("dict(name=name, price=1)", "row 1: expected a list or tuple of 2 cells, found dict {"),
        ("'ab'", "row 1: expected a list or tuple of 2 cells, found str 'ab'"),
        ("[object(), 2]", "row 1: cell 1: expected text, found object <object object at"),
        ("[[1], 2]", "row 1: cell 1: expected text, found list [1]"),
        ("['\\ud800', 2]", r"row 1: cell 1: expected text, found str '\ud800'"),
        ("[name, 'notanumber']", "row 1: cell 2: expected decimal(9,2), found str 'notanumber'"),
        ("[name, 2**70]", "row 1: cell 2: expected decimal(9,2), found int 1180591620717411303424"),
        ("[name, float('nan')]", "row 1: cell 2: expected decimal(9,2), found float nan"),
    ],
)
def test_rows_that_do_not_fit_the_table_are_refused(here: Path, row: str, message: str) -> None:
    assert YIELDED in MODULE
    (here / "package" / "csv_rows.py").write_text(MODULE.replace(YIELDED, f"yield {row}"))
    done = assay(here, "run", "parts", "--on", "sqlite", "--input", "parts.csv")
    expected = f"error: the source of rows 'csv': rows of the table parts: {message}"
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "(str(self.file),))",
            "(str(self.file),), rows_expected={self.table: 4})",
            "rows of the table parts: rows_expected says 4, the source made 3",
        ),
        (
            "{self.table: self.rows()}",
            "{'shelves': []}",
            "rows for the table shelves, which is not",
        ),
        (
            "{self.table: self.rows()}",
            "{self.table: 3}",
            "parts: expected something to iterate over",
        ),
        ("{self.table: self.rows()}", "[1]", "expected a mapping from table to rows, found list"),
    ],
)
def test_tables_that_are_not_as_announced_are_refused(
    here: Path, old: str, new: str, message: str
) -> None:
    assert old in MODULE
    (here / "package" / "csv_rows.py").write_text(MODULE.replace(old, new))
    done = assay(here, "run", "parts", "--on", "sqlite", "--input", "parts.csv")
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert "error: the source of rows 'csv': " in done.stderr


@pytest.mark.parametrize("command", ["plan", "run"])
def test_an_update_of_rows_that_cannot_change_is_refused_before_the_load(
    here: Path, command: str
) -> None:
    text = PARTS.replace('scripts = ["count.sql"]\npasses = 1\n', 'procedure = "update"\n')
    (here / "parts" / "workload.toml").write_text(text.replace("changes_data = false\n", ""))
    done = assay(here, command, "parts", "--on", "sqlite", "--input", "parts.csv")
    assert done.returncode == 2, done.stderr
    assert "the test count updates its rows: rows from the source 'csv' cannot be" in done.stderr
