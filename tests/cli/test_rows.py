"""Lists in their four forms."""

from __future__ import annotations

import csv
import io
import json

import pytest

from assay.cli.output import rows
from assay.cli.program import run_program

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


def test_limits_begin_with_what_cannot_be_made_or_searched(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["limits", "--format", "table"]) == 0
    text = capsys.readouterr().out
    assert "yes" in text and "True" not in text and "False" not in text
    lines = {}
    for detail in ("", "--detail"):
        assert run_program(["limits", "bibsql", *filter(None, [detail])]) == 0
        lines[detail] = capsys.readouterr().out.splitlines()
    assert len(lines[""]) < 12 < len(lines["--detail"])
    assert "author, booktitle, title and " in lines[""][1]


def test_markdown_keeps_its_columns() -> None:
    assert written("markdown").splitlines()[2] == "| a\\|b | 7 | x, y |"


def test_markdown_shows_what_would_be_a_sign_of_its_own() -> None:
    stream = io.StringIO()
    rows.write([{"text": "\\set n <limit> ~5"}], ("text",), "markdown", stream)
    assert stream.getvalue().splitlines()[2] == "| \\\\set n \\<limit> \\~5 |"


def test_csv_and_json_can_be_read_back() -> None:
    assert list(csv.reader(io.StringIO(written("csv"))))[2] == ["longer name", "12345", ""]
    assert json.loads(written("json"))[1] == {"name": "longer name", "count": 12345, "hidden": None}


@pytest.mark.parametrize("form", rows.FORMS)
def test_no_rows_are_no_error(form: str) -> None:
    stream = io.StringIO()
    rows.write([], ("name",), form, stream)
    assert stream.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_table_is_as_wide_as_the_terminal_at_most(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    long = [{"name": "n", "count": 7, "more": "some words " * 9, "list": "a|bb|ccc|" * 5}]
    stream = io.StringIO()
    rows.write([*ROWS, *long], ("name", "count", "more", "list"), "table", stream)
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    words = "".join("".join(lines).split())
    assert "a|bb|ccc|" in words and words.count("some") == 9, "nothing is cut off"


def test_cells_that_are_wrapped_begin_in_the_same_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "36")
    stream = io.StringIO()
    row = {"name": "x", "count": 1, "more": "level=one|two|three|four"}
    rows.write([row], ("name", "count", "more"), "table", stream)
    assert stream.getvalue() == (
        "name  count  more\n"
        "x         1  level=one|two|three|\n"
        "             four\n"
    )  # fmt: skip


def test_rows_for_which_there_is_no_room_become_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    stream = io.StringIO()
    found = [{"a": one * 12, "b": one * 12} for one in "xy"]
    rows.write(found, ("a", "b", "c"), "table", stream)
    assert stream.getvalue() == (f"a  {'x' * 12}\nb  {'x' * 12}\n\na  {'y' * 12}\nb  {'y' * 12}\n")


def test_what_all_rows_share_is_said_once_and_words_stay_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    systems = ("127.0.0.1 and Debian 15.18-0+deb12u1", "postgresql at 127.0.0.1")
    found: list[rows.Row] = [
        {
            "run": n,
            "same": "tpcb",
            "empty": "",
            "long_name_of_it": n,
            "system": text,
            "more": "e" * n,
        }
        for n, text in enumerate(systems, 1)
    ]
    for width in (40, 30):
        monkeypatch.setenv("COLUMNS", str(width))
        stream = io.StringIO()
        rows.write(found, tuple(found[0]), "table", stream, optional=("more",))
        shared, _, *table = stream.getvalue().splitlines()
        assert shared == "in all rows: same tpcb"
        assert ("more" in table[0]) == (width == 40), "left out before a word is broken"
        assert max(map(len, table)) <= width
        whole = "\n".join(table)
        assert "postgresql at" in whole and "127.0.0.1" in whole and "15.18-0+deb12u1" in whole


def test_in_a_pipe_each_row_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    stream = io.StringIO()
    rows.write([{"a": "x " * 200, "b": "y"}], ("a", "b"), "table", stream)
    assert len(stream.getvalue().splitlines()) == 2
