"""The checks of bibsql as they are sent to servers that Assay cannot install: SQLite, with the
functions of each server by their vendors' documentation, returns the rows of the common checks."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

import invented_records as invented
from assay import registry
from assay.dialects import reads
from assay.drive.document import scripts_of
from assay.drive.prepare import Compiled
from assay.drive.read_only import may_change_data
from assay.experiment import StorageChoice, SystemChoice
from assay.judge import judge_run
from assay.judge.warnings.kinds import WarningKind, undeciding
from assay.lab.preflight.refusal import why_lacking
from assay.plan import drives
from assay.systems.dbapi.dialects import DIALECTS
from assay.workload import reader
from assay.workload.in_dialect import with_words
from assay.workload.values import Script

BIBSQL = reader.read("bibsql")
CHECKS = BIBSQL.test("checks")
FRAGMENTS = {
    "isbn": ["0123456789", "012345678X", "97801234567", "9780123456789", "979", "x", " ", ", "],
    "isbn13": ["0123456789", "012345678x", "9780123456789", "978", "X", "-", " "],
    "issn": ["0123-4567", "0123-456X", "123-456", "0", "-", "x"],
    "coden": ["ABCD", "ABCDEF", "AB", "1", "abcd", ","],
    "pages": ["1", "12", "-", "--", "345", "x", "iv"],
    "label": ["Knuth", ":", ":1984:", "1984:", "TAB", "19"],
    "year": ["1984", "1066", "19xx", "20xx", "2024", "198"],
    "doi": ["10.1145/", "10.", "doi.org/", "https://", "1", "/", "10.12x/"],
    "url": ["http://", "https://", "ftp://", "x", "HTTP://"],
    "bibtype": ["article", "book", "techreport"],
    "volume": ["1"], "number": ["2"], "journal": ["J"], "publisher": ["P"], "entry": ["a", "b"],
}  # fmt: skip


def like_of_sql_server(pattern: str, value: str | None) -> bool | None:
    """%, _, and sets of characters in brackets; the whole value must match."""
    if value is None:
        return None
    parts = re.findall(r"\[[^\]]*\]|.", pattern)
    wildcards = {"%": ".*", "_": "."}
    spelled = (one if len(one) > 1 else wildcards.get(one, re.escape(one)) for one in parts)
    return re.fullmatch("".join(spelled), value, re.DOTALL) is not None


def search(value: str | None, pattern: str) -> bool | None:
    return None if value is None else re.search(pattern, value) is not None


@pytest.fixture(scope="module")
def entries() -> Iterator[sqlite3.Connection]:
    """Values that nearly have the forms that the checks look for."""
    choose = random.Random(1)
    columns = [column.name.lower() for column in BIBSQL.tables[0].columns]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("regexp", 2, lambda pattern, value: search(value, pattern))
        connection.create_function("regexp_like", 2, search)
        connection.create_function("like", 2, like_of_sql_server)
        connection.create_function("charindex", 2, lambda part, text: text.find(part) + 1)
        connection.create_function("dbms_lob_compare", 2, lambda one, other: int(one != other))
        connection.create_collation("Latin1_General_BIN2", lambda a, b: (a > b) - (a < b))
        connection.execute(f"create table bibtab ({', '.join(columns)})")
        for number in range(3000):
            row = [
                "".join(choose.choices(FRAGMENTS[name], k=choose.choice((1, 1, 2, 3))))
                if name == "entry" or (name in FRAGMENTS and choose.random() < 0.8)
                else None
                for name in columns
            ]
            row[columns.index("filename")] = f"{number % 7}.bib"
            connection.execute(f"insert into bibtab values ({', '.join('?' * len(row))})", row)
        yield connection


def rows(entries: sqlite3.Connection, script: Script) -> list[tuple[object, ...]]:
    text = "\n".join(line for line in script.text.splitlines() if not line.startswith("\\"))
    text = text.replace("dbms_lob.compare", "dbms_lob_compare")
    text = re.sub(r"rid\((\w)\)", r"\1.rowid", text)
    text = re.sub(r"substring\((\w+) from (\d) for (\d)\)", r"substring(\1, \2, \3)", text)
    constants = {name: one.default for name, one in BIBSQL.parameters.items()}
    return sorted(entries.execute(text, constants).fetchall(), key=repr)


@pytest.mark.parametrize("dialect", ["db2", "ingres", "oracle", "sqlserver"])
def test_checks_of_a_dialect_find_the_rows_of_the_common_ones(
    entries: sqlite3.Connection, dialect: str
) -> None:
    found = {}
    for script in BIBSQL.scripts_for(CHECKS, DIALECTS[dialect]):
        common = BIBSQL.scripts[script.name]
        expected = rows(entries, structs.replace(common, text=with_words(common.text)))
        assert rows(entries, script) == expected, script.path
        found[script.name] = len(expected)
    rewritten = [name for of_dialect, name in BIBSQL.overrides if of_dialect == dialect]
    assert all(found[name] for name in rewritten), "a check that finds nothing compares nothing"


def test_no_regular_expression_is_sent_to_a_system_without_the_operator() -> None:
    for dialect in ("db2", "ingres", "oracle", "sqlserver"):
        for script in BIBSQL.scripts_for(CHECKS, DIALECTS[dialect]):
            assert " regexp " not in script.text, f"{dialect} {script.path}"


def test_a_check_that_a_dialect_cannot_express_is_left_out_alone() -> None:
    left_out = {
        name: set(BIBSQL.left_out(CHECKS, DIALECTS[name]))
        for name in ("db2", "ingres", "oracle", "sqlserver")
    }
    assert left_out["db2"] == left_out["oracle"] == set()
    assert left_out["sqlserver"] == {"S25"}
    assert "S27" in left_out["ingres"]
    system = SystemChoice("dbapi:sqlite3+sqlserver", url="dbapi:sqlite3?database=x")
    (run,) = invented.plan([system], [StorageChoice("here", "here")], test="checks").runs
    dialect = registry.system(system.name).dialect
    assert why_lacking(BIBSQL, run) is None
    (drive,) = drives.drives(BIBSQL, run)
    sent = [script.name for script in scripts_of(BIBSQL, drive, dialect)]
    assert sent == [name for name in CHECKS.scripts if name != "S25"]


@pytest.mark.parametrize("dialect", ["db2", "ingres", "oracle", "sqlserver"])
@pytest.mark.parametrize("test", ["tasks", "aggregate"])
def test_the_queries_of_glidemon_are_known_to_read_so_that_caches_can_be_warmed(
    dialect: str, test: str
) -> None:
    """Sessions of three of these systems cannot be made read-only."""
    system = SystemChoice(f"dbapi:sqlite3+{dialect}", url="dbapi:sqlite3?database=x")
    glidemon = reader.read("glidemon")
    storage = StorageChoice("here", "here")
    (run,) = invented.plan(
        [system], [storage], test=test, parameters={"scale": 0.01, "data_seed": 1, "queries": 9}
    ).runs
    run = replace(run, cell=replace(run.cell, levels={**run.cell.levels, "protocol": "prepared"}))
    assert not may_change_data(Compiled(glidemon), run)
    names = {
        name
        for table in glidemon.tables_for({}, "sql")
        for name in (table.name, *(column.name for column in table.columns))
    }
    spoken = registry.system(system.name).dialect
    assert {spoken.identifier(name) for name in names} == names, "scripts have them unquoted"


def test_what_may_write_is_not_known_to_read() -> None:
    writing = (
        "select a into copied from t", "select name from new table (insert into t values (1))",
        "select orders.nextval from dual", "select next value for orders", "select f(a) from t",
        "select q'{'}' || f() || q'{'}' from dual", "select a from t for update",
    )  # fmt: skip
    assert not any(map(reads.only_reads, writing))


def test_times_without_all_checks_decide_nothing(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    record = invented.experiment(tmp_path / "records.sqlite", planned, 1.0)
    (run,) = record.runs
    lacking = invented.changed(run, "observation", left_out=["S25"])
    _, warnings = judge_run(lacking)
    (warning,) = (one for one in warnings if one.name == WarningKind.SCRIPTS_LEFT_OUT.id)
    assert warning.detail.endswith("without S25")
    assert WarningKind.SCRIPTS_LEFT_OUT.id in undeciding()
