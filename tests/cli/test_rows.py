"""Lists in their four forms."""

from __future__ import annotations

import csv
import io
import json

import pytest

from assay.cli import rows

ROWS: list[rows.Row] = [
    {"name": "a|b", "count": 7, "more": ("x", "y")},
    {"name": "longer name", "count": 12345, "hidden": None},
]


def written(form: str) -> str:
    stream = io.StringIO()
    rows.write(ROWS, ("name", "count", "more"), form, stream)
    return stream.getvalue()


def test_a_table_aligns_numbers_to_the_right() -> None:
    assert written("table") == (
        "name         count  more\n"
        "a|b              7  x, y\n"
        "longer name  12345\n"
    )  # fmt: skip


def test_markdown_keeps_its_columns() -> None:
    assert written("markdown").splitlines()[2] == "| a\\|b | 7 | x, y |"


def test_csv_and_json_can_be_read_back() -> None:
    assert list(csv.reader(io.StringIO(written("csv"))))[2] == ["longer name", "12345", ""]
    assert json.loads(written("json"))[1] == {"name": "longer name", "count": 12345, "hidden": None}


@pytest.mark.parametrize("form", rows.FORMS)
def test_no_rows_are_no_error(form: str) -> None:
    stream = io.StringIO()
    rows.write([], ("name",), form, stream)
    assert stream.getvalue()
