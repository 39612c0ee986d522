"""Rows of foreign sources and of programs are loaded, and rows of a record exported."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assay.cli.output import rows
from assay.cli.program import run_program
from commands import Assay
from plugins import WORKLOAD, assay, write_package, write_workload

ROWS: list[rows.Row] = [
    {"name": "a|b", "count": 7, "more": ("x", "y")},
    {"name": "longer name", "count": 12345, "hidden": None},
]


def written(
    form: str,
    found: list[rows.Row] = ROWS,
    columns: tuple[str, ...] = ("name", "count", "more"),
    optional: tuple[str, ...] = (),
) -> str:
    stream = io.StringIO()
    rows.write(found, columns, form, stream, optional=optional)
    return stream.getvalue()


def test_limits_begin_with_what_cannot_be_made_or_searched(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["list", "limits", "--format", "table"]) == 0
    text = capsys.readouterr().out
    assert "yes" in text and "True" not in text and "False" not in text
    lines = {}
    for detail in ("", "--detail"):
        assert run_program(["list", "limits", "bibsql", *filter(None, [detail])]) == 0
        lines[detail] = capsys.readouterr().out.splitlines()
    assert len(lines[""]) < 12 < len(lines["--detail"])
    assert "author, booktitle, title and " in lines[""][1]


def test_markdown_keeps_its_columns() -> None:
    assert written("markdown").splitlines()[2] == "| a\\|b | 7 | x, y |"


def test_markdown_shows_what_would_be_a_sign_of_its_own() -> None:
    text = written("markdown", [{"text": "\\set n <limit> ~5"}], ("text",))
    assert text.splitlines()[2] == "| \\\\set n \\<limit> \\~5 |"


def test_csv_and_json_can_be_read_back() -> None:
    assert list(csv.reader(io.StringIO(written("csv"))))[2] == ["longer name", "12345", ""]
    assert json.loads(written("json"))[1] == {"name": "longer name", "count": 12345, "hidden": None}


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_table_is_as_wide_as_the_terminal_at_most(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    long = {"name": "n", "count": 7, "more": "some words " * 9, "list": "a|bb|ccc|" * 5}
    lines = written("table", [*ROWS, long], ("name", "count", "more", "list")).splitlines()
    assert max(map(len, lines)) <= width
    words = "".join("".join(lines).split())
    assert "a|bb|ccc|" in words and words.count("some") == 9, "nothing is cut off"


def test_cells_that_are_wrapped_begin_in_the_same_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "36")
    assert written("table", [{"name": "x", "count": 1, "more": "level=one|two|three|four"}]) == (
        "name  count  more\n"
        "x         1  level=one|two|three|\n"
        "             four\n"
    )  # fmt: skip


def test_rows_for_which_there_is_no_room_become_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    shown = written("table", [{"a": one * 12, "b": one * 12} for one in "xy"], ("a", "b", "c"))
    assert shown == (f"a  {'x' * 12}\nb  {'x' * 12}\n\na  {'y' * 12}\nb  {'y' * 12}\n")


def test_what_all_rows_share_is_said_once_and_words_stay_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    systems = ("127.0.0.1 and Debian 15.18-0+deb12u1", "postgresql at 127.0.0.1")
    found: list[rows.Row] = [
        {
            "run": n, "same": "tpcb", "empty": "", "long_name_of_it": n, "system": text,
            "more": "e" * n,
        }
        for n, text in enumerate(systems, 1)
    ]  # fmt: skip
    for width in (40, 30):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = written("table", found, tuple(found[0]), ("more",))
        shared, _, *table = shown.splitlines()
        assert shared == "in all rows: same tpcb"
        assert ("more" in table[0]) == (width == 40), "left out before a word is broken"
        assert max(map(len, table)) <= width
        whole = "\n".join(table)
        assert "postgresql at" in whole and "127.0.0.1" in whole and "15.18-0+deb12u1" in whole


def test_in_a_pipe_each_row_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert len(written("table", [{"a": "x " * 200, "b": "y"}], ("a", "b")).splitlines()) == 2


MODULE = """
import csv, hashlib
from decimal import Decimal, InvalidOperation
from pathlib import Path
from assay.errors import InputError
from assay.load.row_sources.protocol import RowSource
from assay.load.row_sources.protocol import DataRequest

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
    for text, message in [
        ("bolt,0.10\nnut,a dozen\n", "parts.csv:2: 'a dozen' is no price"),
        ("bolt,0.10\nnut\n", "rows of the table parts: row 2: expected 2 cells, found 1"),
    ]:
        (here / "parts.csv").write_text(text)
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


DATA = """source = "program"
package = "rowgen==1.2"
command = ["rowgen", "{scale}"]
files = "{table}.txt"
ends_line = true

[parameters.scale]
type = "float"
default = 2.0
help = "Rows"
"""
ROWGEN_PARTS = WORKLOAD.format(source="program", columns='id = "int"\nname = "text"').replace(
    'source = "program"\n', DATA
)
PROGRAM = '#!/bin/sh\nfor one in $(seq $1); do echo "$one|bolt $one|"; done > parts.txt\n'
CHECK = "select * from parts where name <> 'bolt ' || cast(id as char(1));\n"


@pytest.fixture
def with_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    _program(tmp_path, PROGRAM)
    write_workload(tmp_path, ROWGEN_PARTS)
    (tmp_path / "parts" / "checks").mkdir()
    (tmp_path / "parts" / "checks" / "names.sql").write_text(CHECK)
    return tmp_path


def _program(with_program: Path, text: str) -> None:
    program = with_program / "cache" / "systems" / "rowgen" / "1.2" / "bin" / "rowgen"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(text)
    program.chmod(0o755)


@pytest.mark.usefixtures("with_program")
def test_its_lines_are_rows(assay: Assay) -> None:
    ended = assay("run", "./parts", "--on", "sqlite", "--set", "scale=2,3")
    assert ended.status == 0, ended.err
    assert [run.data.rows for run in ended.runs if run.data] == [{"parts": 2}, {"parts": 3}]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("#!/bin/sh\necho the disk is full >&2\nexit 3\n", "status 3: the disk is full"),
        ("#!/bin/sh\ntouch others.txt\n", "parts.txt: rowgen has not written it; it wrote others"),
        (PROGRAM.replace("bolt $one|", "bolt $one|1|"), "row 1: expected 2 cells, found 3"),
    ],
)
def test_a_program_that_fails_is_reported(
    with_program: Path, assay: Assay, program: str, message: str
) -> None:
    _program(with_program, program)
    ended = assay("run", "./parts", "--on", "sqlite")
    assert (ended.status, message in ended.err) == (2, True), ended.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{scale}", "{scales}", "{scales} is neither a parameter nor a constant"),
        ("==1.2", "", "expected a Python package with its version, found 'rowgen'"),
    ],
)
def test_mistakes_in_its_declaration_are_refused(
    with_program: Path, assay: Assay, old: str, new: str, message: str
) -> None:
    (with_program / "parts" / "workload.toml").write_text(ROWGEN_PARTS.replace(old, new))
    ended = assay("plan", "./parts", "--on", "sqlite")
    assert (ended.status, message in ended.err) == (2, True), ended.err
