"""`assay generate` writes rows to files, whole or in parts."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path

import pytest

from assay.cli.program import run_program
from assay.dialects.sqlite import SQLITE
from assay.workload import reader

WORKLOAD = """\
title = "Parents and children"
source = "a test"
default_test = "all"

[data]
source = "generated"

[parameters.scale]
type = "int"
default = 1
help = "How large"

[[tables]]
name = "parents"
rows = "503 * :scale"

[tables.columns]
id = "int not null"
name = "text"

[tables.values]
id = ":row"
name = "case when :row % 5 = 0 then null else concat(text(0, 9), ',\\"''') end"

[[tables]]
name = "children"
per = "parents"
rows = "random(0, 4)"

[tables.columns]
parent = "int not null"
number = "int not null"
share = "decimal(9,2)"

[tables.values]
parent = ":id"
number = ":row"
share = "random(0, 1000) / 8.0"

[tests.all]
title = "All"
help = "All"
scripts = ["*.sql"]
passes = 1
"""


@pytest.fixture
def workload(tmp_path: Path) -> str:
    (tmp_path / "workload.toml").write_text(WORKLOAD, encoding="utf-8")
    (tmp_path / "one.sql").write_text("select 1;\n", encoding="utf-8")
    return str(tmp_path)


def generated(workload: str, *words: str) -> bytes:
    file = Path(workload) / "out"
    assert run_program(["generate", workload, *words, "--force", "--output", str(file)]) == 0
    return file.read_bytes()


@pytest.mark.parametrize("form", ["csv", "sql"])
@pytest.mark.parametrize("table", ["parents", "children"])
@pytest.mark.parametrize("parts", [1, 2, 7, 100])
def test_concatenated_parts_equal_the_whole(
    workload: str, table: str, form: str, parts: int
) -> None:
    words = ["--table", table, "--format", form]
    if form == "sql":
        words += ["--dialect", "sqlite"]
    whole = generated(workload, *words)
    in_parts = [generated(workload, *words, "--part", f"{n}/{parts}") for n in range(1, parts + 1)]
    assert b"".join(in_parts) == whole
    if form == "csv":
        assert whole.split(b"\n")[0] in (b"id,name", b"parent,number,share")


def test_the_seed_determines_the_rows_and_a_parameter_their_number(workload: str) -> None:
    words = ["--table", "parents"]
    one = generated(workload, *words, "--seed", "7")
    assert one == generated(workload, *words, "--seed", "7")
    assert one != generated(workload, *words, "--seed", "8")
    longer = generated(workload, *words, "--seed", "7", "--set", "scale=2")
    assert longer.startswith(one) and longer != one


def test_both_forms_have_the_same_rows(workload: str) -> None:
    read = reader.read(workload)
    opened = sqlite3.connect(":memory:")
    for table in read.tables:
        for statement in SQLITE.create_table(table, {}):
            opened.execute(statement)
        words = ["--table", table.name]
        text = generated(workload, *words, "--format", "sql", "--dialect", "sqlite")
        opened.executescript(text.decode())
        printed = generated(workload, *words, "--no-header").decode().splitlines(keepends=True)
        kept = opened.execute(f"SELECT * FROM {table.name}").fetchall()
        rows = list(csv.reader(printed))
        assert len(rows) == len(kept)
        for row, values in zip(rows, kept, strict=True):
            assert all(map(is_same, row, values)), (row, values)


def is_same(text: str, value: object) -> bool:
    if isinstance(value, int | float):
        return float(text) == value
    return text == ("" if value is None else value)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--table", "parnets"], "unknown table 'parnets'", "did you mean 'parents'"),
        ([], "expected --table", "parents"),
        (["--table", "parents", "--part", "3/2"], "expected K/N", "1/4"),
        (["--table", "parents", "--part", "two"], "expected K/N", "1/4"),
        (["--table", "parents", "--set", "scale=1,2"], "expected one value", ""),
        (["--table", "parents", "--set", "sacle=1"], "unknown parameter", "did you mean 'scale'"),
        (["--table", "parents", "--format", "sql", "--dialect", "x"], "unknown dialect", "sqlite"),
    ],
)
def test_tables_that_cannot_be_generated_are_refused(
    workload: str, words: list[str], message: str, hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["generate", workload, *words]) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert hint in printed.err


def test_an_external_source_generates_no_rows(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_program(["generate", "bibsql", "--table", "bibtab"]) == 2
    assert "generates no rows" in capfd.readouterr().err
