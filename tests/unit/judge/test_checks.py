"""Checks are counted and compared: with what is expected, between two sides, and for the dialect
of a system that runs elsewhere."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay import registry
from assay.cli.commands import run
from assay.contracts.observation import Observation
from assay.contracts.observation.merging import merge
from assay.dialects import statements
from assay.drive.document import scripts_of
from assay.drive.prepare import Compiled, may_change_data
from assay.experiment import StorageChoice, SystemChoice
from assay.judge import judge_run
from assay.judge.agreement import AnsweringRun, agreement_of_statements, differing_statements
from assay.judge.result_checks import Check, not_run
from assay.judge.warning_kinds import WarningKind, undeciding
from assay.lab.refusal import why_lacking
from assay.plan import drives
from assay.record import ExperimentRecord
from assay.record.runs import records
from assay.report import comparison_report
from assay.report.build import build
from assay.report.sections import answers as check_counts
from assay.systems.dbapi.dialects import DIALECTS
from assay.workload import reader
from assay.workload.in_dialect import with_words
from assay.workload.values import Script
from observations import observation
from two_sides import within

READ = "SELECT v FROM t WHERE k = :k"
ORDERED = "SELECT v FROM t ORDER BY v LIMIT 3"
SAME, OTHER = "00000000000000aa", "00000000000000bb"


def first(transactions: int, digest: str = SAME, **changes: Any) -> dict[str, Any]:
    """What the first transactions were answered: a row each."""
    counts = {"transactions": transactions, "answers": transactions, "rows": transactions}
    return {**counts, "digest": digest, "fractions": 0, "fraction_sum": 0.0,
            "clients": 32, **changes}  # fmt: skip


def answer(text: str = READ, *, rows_each: float = 1, **changes: Any) -> dict[str, Any]:
    """A thousand answers to one statement; a row more or less is as frequent."""
    rows = round(1000 * rows_each)
    return {
        "transaction": "read", "statement": 0, "line": 2, "text": text, "answers": 1000,
        "rows": rows, "rows_squared": 1000.0 * (rows_each**2 + 1), "varies": False,
        "first": [first(1)], **changes,
    }  # fmt: skip


def side(*changes: dict[str, Any], seed: int = 1, commits: int = 0) -> list[AnsweringRun]:
    """One run whose only statement was answered so."""
    answers = [answer(**one) for one in changes] or [answer()]
    return [AnsweringRun(seed, observation(answers=answers, commits=commits))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"first": [first(1, OTHER)]}),
        ({"first": [first(1), first(2)]}, {"first": [first(1), first(2, OTHER)]}),
        ({}, {"first": [first(1, rows=0)]}),
        ({"first": [first(1, fractions=1, fraction_sum=2.5)]},
         {"first": [first(1, fractions=1, fraction_sum=2.6)]}),
        ({"first": []}, {"first": [], "rows_each": 0.5}),
        ({"text": "SELECT now(), v FROM t"}, {"text": "SELECT now(), v FROM t", "rows_each": 0.5}),
        # The order makes a limit comparable.
        ({"text": ORDERED}, {"text": ORDERED, "first": [first(1, OTHER)]}),
    ],
)  # fmt: skip
def test_answers_that_differ(one: dict[str, Any], other: dict[str, Any]) -> None:
    (found,) = differing_statements(side(one), side(other))
    assert found.statement.startswith("read:2 (SELECT ")
    assert found.a != found.b


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"first": [first(1), first(2)]}, {"first": [first(1)]}),
        ({"first": [first(1, fractions=1, fraction_sum=1.3333)]},
         {"first": [first(1, fractions=1, fraction_sum=1.3333333333333333)]}),
        ({"first": []}, {"first": [], "rows_each": 1.1}),
        *(
            ({"text": text}, {"text": text, "first": [first(1, OTHER)]})
            for text in (
                "SELECT now(), v FROM t", "SELECT random()", "SELECT v FROM t LIMIT 3",
            )
        ),
        ({}, {"varies": True, "first": [first(1, OTHER)]}),
    ],
)  # fmt: skip
def test_what_is_no_difference(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert not differing_statements(side(one), side(other))
    assert agreement_of_statements(side(one), side(other))


def test_values_are_compared_of_one_seed_and_of_reads_alone() -> None:
    """Another seed asks for other rows, and what one client wrote another reads."""
    other = {"first": [first(1, OTHER)]}
    assert not differing_statements(side(), side(other, seed=2))
    assert not differing_statements(side(), side(other, commits=5))
    assert differing_statements(side(commits=5), side({"rows_each": 0.5}, commits=5))


def test_how_far_answers_were_compared_is_said() -> None:
    both = side({"first": [first(1), first(2)]})
    of_two = "1 statement, first 2 transactions of each of 32 clients, by values"
    assert agreement_of_statements(both, both) == of_two
    for clients, whose in ((8, " of each of 8 clients"), (1, " of 1 client"), (0, "")):
        some = side({"first": [first(1, clients=clients)]})
        said = f"1 statement, first 1 transaction{whose}, by values"
        assert agreement_of_statements(some, some) == said
    writing, by_rows = side(commits=5), "1 statement, rows per answer, not their values"
    assert agreement_of_statements(writing, writing) == by_rows
    assert agreement_of_statements(side(), [AnsweringRun(1, observation())]) == ""
    # Values of other clients are not compared.
    all_clients = side({"first": [first(1, answers=32, rows=32)]})
    eight = side({"first": [first(1, OTHER, answers=8, rows=8, clients=8)]})
    assert not differing_statements(all_clients, eight)
    assert agreement_of_statements(all_clients, eight) == by_rows


def test_answers_of_two_client_machines_are_summed_as_far_as_both_have_them() -> None:
    """Digests of transactions are summed in the engine, too, and wrap around."""

    def machine(digest: str, *, stages: int, is_first: bool) -> Observation:
        ends = [{"client": int(not is_first), "group": "", "elapsed_ns": 1, "passes": 1,
                 "transactions": 1, "state": "done"}]  # fmt: skip
        firsts = [first(2**stage, digest) for stage in range(stages)]
        return observation(answers=[answer(first=firsts)], client_ends=ends)

    parts = [machine("ffffffffffffffff", stages=2, is_first=True),
             machine("0000000000000003", stages=1, is_first=False)]  # fmt: skip
    (found,) = merge(parts).answers
    assert (found.answers, found.rows, found.rows_squared) == (2000, 2000, 4000.0)
    assert [(one.transactions, one.rows, one.digest) for one in found.first] == [
        (1, 2, "0000000000000002")
    ]


def on_two(path: Path, *of_each: dict[str, Any]) -> ExperimentRecord:
    """Systems by turns, each with its answers."""
    systems = [invented.POSTGRESQL, invented.MARIADB]
    planned = invented.plan(systems, repetitions=3)
    elapsed = {("postgresql", "here", 8): (1.0, 1.1, 1.0), ("mariadb", "here", 8): (0.5, 0.5, 0.6)}
    found = invented.experiment(path, planned, elapsed)
    by_system = dict(zip(["postgresql", "mariadb"], of_each, strict=True))
    runs = (
        invented.changed(run, "observation", answers=[answer(**by_system[run.system])], commits=0)
        for run in found.runs
    )
    same_questions = tuple(invented.planned_as(run, seed=run.repetition) for run in runs)
    return structs.replace(found, runs=same_questions)


def test_a_side_with_fewer_rows_is_not_called_faster(tmp_path: Path) -> None:
    experiment = on_two(tmp_path / "r", {}, {"first": [first(1, rows=0)], "rows_each": 0.5})
    (cell,) = within(experiment, "system").cells
    assert cell.primary.verdict == (
        "not comparable: answers to read:2 (SELECT v FROM t WHERE k = :k): "
        "1 row per answer → 0.5 rows per answer"
    )
    (cell,) = within(experiment, "system", despite=["answers"]).cells
    assert cell.primary.verdict == "faster"
    (warning,) = (one for one in build(experiment).warnings if one.name == "answers-differ")
    assert "mariadb" in warning.details[0] and "postgresql" in warning.details[0]
    # Which side is wrong is not known: neither number is invalid, and no run has failed.
    cells = build(experiment).tidy["tables"]["cells"]
    assert {str(one["verdict"]) for one in cells} == {"unreliable"}
    assert records.exit_status(map(records.end_of, experiment.runs)) == 0
    said = " ".join((run.command.help or "").split())
    assert "nothing is ranked (warning answers-differ), and the status stays" in said


def test_sides_with_the_same_answers_are_ranked_and_say_so(tmp_path: Path) -> None:
    experiment = on_two(tmp_path / "r", {}, {})
    made = within(experiment, "system")
    assert made.cells[0].primary.verdict == "faster"
    facts = comparison_report.build(made).facts
    assert (
        facts["answers"]
        == "the same: 1 statement, first 1 transaction of each of 32 clients, by values"
    )
    report = build(experiment)
    assert "answers-differ" not in {one.name for one in report.warnings}


def check(id_: str, ok: bool | None, expected: int | None = 0) -> Check:
    return Check(id=id_, title="", expected=expected, found=0, ok=ok, note="")


def runs(**by_system: list[Check]) -> Any:
    return [
        SimpleNamespace(system_on_machine=label.rstrip("_"), checks=checks, data=None)
        for label, checks in by_system.items()
    ]


RIGHT = [check("rows", True), check("sums", True)]
MISSING = [not_run("rows", "", "no joins"), not_run("sums", "", "no joins")]
WRONG = [check("rows", False), check("sums", True)]


def answers(*oks: bool | None) -> list[Check]:
    return [check(f"q{number}", ok, None) for number, ok in enumerate(oks)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (runs(a=[]), ""),
        (runs(a=RIGHT, a_=RIGHT, b=MISSING),
         "2 of 2 right, each in all its runs; b: 2 not run: no joins"),
        (runs(a=RIGHT, a_=RIGHT, b=WRONG), "3 of 4 right, each in all its runs; wrong: rows (b)"),
        (runs(a=WRONG), "1 of 2 right; wrong: rows"),
        (runs(a=RIGHT, b=RIGHT, c=RIGHT, cassandra=MISSING),
         "6 of 6 right; cassandra: 2 not run: no joins"),
        (runs(a=MISSING), "a: 2 not run: no joins"),
        (runs(a=[check("lost-update", None), *RIGHT]),
         "2 of 2 right; 1 only counted: lost-update 0"),
        (runs(a=[check("set 1", None, 1400)]), "1 not decided: set 1"),
        (runs(a=answers(None, None)), "2 without an expected result"),
        (runs(a=answers(None, None), b=answers(True, True)),
         "2 answers compared: the same on all 2 systems"),
        (runs(a=answers(None), a_=answers(True)), "1 answer compared: the same in all runs"),
        (runs(a=answers(None, None), b=answers(True, False)),
         "1 of 2 compared answers the same on all 2 systems; different: q1"),
    ],
)  # fmt: skip
def test_checks_are_counted_by_system_and_answers_are_compared(found: Any, expected: str) -> None:
    assert check_counts.check_words(found) == expected


def test_an_unknown_edition_of_the_data_is_the_reason() -> None:
    """Expected results are those of an edition: another Debian has another one."""
    (run,) = runs(a=answers(None, None))
    run.data = invented.dataset(source="real", fingerprint="62fd01e9", items=10_002)
    assert check_counts.check_words([run]) == (
        "2 without an expected result; none is known for this edition of the data "
        "(10002 items, digest 62fd01e9)"
    )
    run.checks = RIGHT
    assert "edition" not in check_counts.check_words([run])


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


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["db2", "ingres", "oracle", "sqlserver"])
def test_checks_of_a_dialect_find_the_rows_of_the_common_ones(
    entries: sqlite3.Connection, dialect: str
) -> None:
    found = {}
    scripts = BIBSQL.scripts_for(CHECKS, DIALECTS[dialect])
    for script in scripts:
        common = BIBSQL.scripts[script.name]
        expected = rows(entries, structs.replace(common, text=with_words(common.text)))
        assert rows(entries, script) == expected, script.path
        found[script.name] = len(expected)
    rewritten = [name for of_dialect, name in BIBSQL.overrides if of_dialect == dialect]
    rewritten += [one.name for one in scripts if " like " in one.text]
    assert all(found[name] for name in rewritten), "a check that finds nothing compares nothing"


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
def test_the_queries_of_glidemon_are_known_to_read_so_that_caches_can_be_warmed(
    dialect: str,
) -> None:
    """Sessions of three of these systems cannot be made read-only."""
    system = SystemChoice(f"dbapi:sqlite3+{dialect}", url="dbapi:sqlite3?database=x")
    glidemon = reader.read("glidemon")
    parameters = {"scale": 0.01, "data_seed": 1, "queries": 9}
    for test in ("tasks", "aggregate"):
        (run,) = invented.plan([system], test=test, parameters=parameters).runs
        levels = {**run.cell.levels, "protocol": "prepared"}
        run = replace(run, cell=replace(run.cell, levels=levels))
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
    assert not any(map(statements.only_reads, writing))


def test_times_without_all_checks_decide_nothing(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    record = invented.experiment(tmp_path / "records.sqlite", planned, 1.0)
    (run,) = record.runs
    lacking = invented.changed(run, "observation", left_out=["S25"])
    _, warnings = judge_run(lacking)
    (warning,) = (one for one in warnings if one.name == WarningKind.SCRIPTS_LEFT_OUT.id)
    assert warning.detail.endswith("without S25")
    assert WarningKind.SCRIPTS_LEFT_OUT.id in undeciding()
