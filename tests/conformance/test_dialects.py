"""Statements of dialects, documents and arrays mean the same in every system; answers that differ
are found, and limits of schemas named."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from able import able, beside_their_line, with_ability
from assay import registry
from assay.contracts.dialects import Column, Index, Table
from assay.contracts.storage_facts import StorageFacts
from assay.dialects.limits import Limited, beyond
from assay.errors import AssayError, SystemRefused
from assay.experiment import StorageChoice, SystemChoice
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision
from assay.systems import System
from commands import IN_MEMORY, Assay, need
from servers import ask, provisioned, url_of, with_client
from step_workloads import TOP


def awkward() -> Table:
    """Reserved names, every type, and a column whose values are too long for an index entry."""
    simple = ["int", "bigint", "float", "double", "text", "date", "timestamp", "bool", "bytes"]
    types = [*simple, "decimal(9,2)", "char(3)", "varchar(9)"]
    columns = [Column(f"c_{number}", word) for number, word in enumerate(types)]
    return Table(
        name="order",
        columns=(
            Column("user", "int", not_null=True),
            Column("key", "int", not_null=True),
            Column("CODEN", "varchar(9)"),
            Column('two `"words"`', "text"),
            Column("entry", "text", wide=True),
            *columns,
        ),
        primary_key=("user", "key"),
        unique=(("entry",), ("CODEN",)),
        indexes=(
            Index("order_entry", ("entry", "CODEN"), unique=True),
            Index("order_words", ('two `"words"`',)),
        ),
    )


def test_the_server_accepts_the_dialects_statements(server: System, storage: StorageFacts) -> None:
    dialect, table, dice = server.dialect, awkward(), random.Random(1)
    user, key, order = map(dialect.identifier, ("user", "key", "order"))
    # Equal for longer than an index entry, and too random to be compressed into one.
    entries = ["ä☃" * 100 + "".join(dice.choices("äß☃☂", k=31_800)) for _ in range(2)]
    rows = ", ".join(f"({n}, {n}, '{n}', {dialect.literal(e)})" for n, e in enumerate(entries))
    engines = [spec.levels for spec in server.option_specs if spec.name == "engine"]
    with provisioned(server, storage) as deployment:
        for options in [{"engine": engine} for engine in engines[0]] if engines else [{}]:
            for statement in [
                *dialect.drop_table(table),
                *dialect.create_table(table, options),
                *dialect.create_indexes(table),
                f"INSERT INTO {order} ({user}, {key}, coden, entry) VALUES {rows}",
                *dialect.after_load([table]),
            ]:
                ask(deployment, statement)
            kept = ask(deployment, f"SELECT {key}, entry FROM {order} ORDER BY 1")
            assert kept == [("0", entries[0]), ("1", entries[1])]
            assert ask(deployment, dialect.exists("order")) == []
            assert ask(deployment, dialect.read_by_key("order", ["key"], "user", "1")) == [("1",)]
            awkward_name = 'two `"words"`'
            deletions = {
                1: dialect.delete_where("order", "entry", [entries[0], "it's \\ nowhere"]),
                0: dialect.delete_all("order"),
            }
            for left, statements in deletions.items():
                for statement in statements:
                    ask(deployment, statement)
                assert ask(deployment, dialect.count("order")) == [(str(left),)]
                expected = [("1", None)][:left]
                assert ask(deployment, dialect.read_all("order", ["key", awkward_name])) == expected
        for statement in dialect.drop_table(table):
            ask(deployment, statement)
        with pytest.raises(SystemRefused) as refused:
            ask(deployment, dialect.exists("order"))
        assert refused.value.error_class == "unknown object"


def test_a_script_makes_its_database_keeps_its_literals_and_stops_at_an_error(
    server: System, storage: StorageFacts
) -> None:
    text = "it's a \\ back\\nslash\r\nand \\' more"
    dialect, table = server.dialect, Table("t", (Column("a", "text"), Column("b", "text")))
    script = [
        *dialect.script_prologue("select", create=True),
        *(f"{statement};" for statement in dialect.create_table(table, {})),
        f"INSERT INTO t VALUES ({dialect.literal(text)}, {dialect.literal(None)});",
    ]
    failing = [
        *dialect.script_prologue("select", create=False),
        "SELECT nothing;",
        "INSERT INTO t VALUES ('not', 'reached');",
    ]
    with provisioned(server, storage) as deployment:
        for _ in range(2):
            done = with_client(server, deployment, "\n".join([*script, ""]))
            assert done.returncode == 0, done.stderr
        assert with_client(server, deployment, "\n".join([*failing, ""])).returncode != 0
        made = replace(
            deployment, endpoints=(structs.replace(deployment.address, database="select"),)
        )
        assert ask(made, "SELECT a, b FROM t") == [(text, None)]


ROWS = 2000
TABLE = """CREATE TABLE t (id integer PRIMARY KEY, k integer, name varchar(20), fee decimal(8,2),
share double precision, day date, at timestamp, remark varchar(9))"""
SCRIPT = (
    "\\set k random(0, 19)\n"
    f"\\set id random(1, {ROWS})\n"
    "SELECT * FROM t WHERE k = :k;\n"
    "SELECT name, fee, avg(share), sum(fee) FROM t WHERE id = :id GROUP BY name, fee;\n"
    "SELECT k, avg(fee), count(remark) FROM t GROUP BY k;\n"
)
SERVERS = ("postgresql", "mariadb")
WORDS = ("--clients", "2", "--transactions", "30", "--warm-up", "0", "--repetitions", "3")


def statements(rows: int) -> list[str]:
    """Create the table with its first rows."""
    values = ", ".join(
        f"({number}, {number % 20}, 'name {number}', {number * 7 % 1000}.{number % 100:02}, "
        f"{number / 8}, '2026-01-{number % 28 + 1:02}', '2026-02-03 04:05:{number % 60:02}', "
        f"{'NULL' if number % 3 else repr('x')})"
        for number in range(1, rows + 1)
    )
    return [TABLE, f"INSERT INTO t VALUES {values}"]


def sqlite_url(file: Path, rows: int = ROWS) -> str:
    with sqlite3.connect(file) as made:
        for statement in statements(rows):
            made.execute(statement)
    return f"sqlite:///{file}"


@pytest.fixture(params=SERVERS)
def urls(request: pytest.FixtureRequest, storage: StorageFacts) -> Iterator[tuple[str, str]]:
    """Of two databases of one server, the second half empty. They have two names of the host, as
    the host names a server in the results."""
    need(request.param)
    system = registry.system(request.param)
    with provisioned(system, storage, options={"transport": "tcp"}) as server:
        ask(server, "CREATE DATABASE half")
        for database, rows in ((server.address.database, ROWS), ("half", ROWS // 2)):
            with session(structs.replace(server.address, database=database)) as opened:
                for statement in statements(rows):
                    opened.execute(statement)
        yield url_of(system, server), url_of(system, server, host="localhost", database="half")


@pytest.fixture
def script(working_folder: Path) -> str:
    (working_folder / "read.sql").write_text(SCRIPT)
    return "read.sql"


def test_a_half_empty_side_is_no_winner(assay: Assay, urls: tuple[str, str], script: str) -> None:
    ran = assay("run", script, "--on", ",".join(urls), *WORDS)
    assert ran.status == 0, ran.err
    assert "answers-differ" in ran.out
    between = ("compare", "latest", "--between", "system")
    verdict = assay(*between, "--format", "json").document["ratios"][0]["verdict"]
    assert verdict.startswith("not comparable: rows of t: 2000 → 1000; answers to read:3 (SELECT ")
    assert "100 rows per answer → 50 rows per answer; and the answers to 2 further" in verdict
    assert assay(*between, "--fail-if", "throughput_per_s < 0.01x").status == 2
    passed_over = ("--despite", "answers", "--despite", "data")
    despite = assay(*between, *passed_over, "--format", "json").document["ratios"][0]
    assert "not comparable" not in despite["verdict"]


def test_systems_with_the_same_rows_give_the_same_answers(
    assay: Assay, urls: tuple[str, str], script: str, working_folder: Path
) -> None:
    """Averages have as many digits as a system likes, and times may have a zone."""
    url = sqlite_url(working_folder / "same.db")
    ran = assay("run", script, "--on", f"{urls[0]},{url}", *WORDS)
    assert ran.status == 0, ran.err
    assert "answers-differ" not in ran.out
    report = " ".join(assay("report").out.split())
    assert "the same: 3 statements, first 16 transactions of each of 2 clients, by values" in report


WORKLOAD = f"""\
{TOP}
[[tables]]
name = "data"
rows = "20"
primary_key = ["id"]

[tables.columns]
id = "int not null"
d = "json"
n = "int[]"
t = "text[]"

[tables.values]
id = ":row"
d = "document('id', :row, 'in', document('x', :row / 2.0, 'tags', list('a', :row)))"
n = "list(:row, null, -1)"
t = "list(concat('it''s \\"', :row), '')"

[tests.t]
title = "T"
help = "Reads and changes documents"
scripts = ["read", "write"]
passes = 5
"""
CHECK = """
\\if :d -> 'id' <> :id OR :d -> 'in' -> 'x' <> :id / 2.0 OR :d -> 'in' -> 'tags' ISNULL
\\abort
\\endif
\\if :n -> 0 <> :id OR :n -> -1 <> -1 OR :n -> 3 NOTNULL
\\abort
\\endif
\\if :t -> 0 <> concat('it''s "', :id)
\\abort
\\endif
"""
WRITE = """
\\set id random(0, 19)
\\set d document('id', :id, 'in', document('tags', list(document('y', 1)), 'x', :id / 2.0))
\\set n list(:id, -1)
\\set t list(concat('it''s "', :id))
"""
SCRIPTS = {
    "read.sql": f"\\set id random(0, 19)\nSELECT d, n, t FROM data WHERE id = :id \\gset{CHECK}",
    "read.json": "\\set id random(0, 19)\n"
    '{"find": "data", "filter": {"id": :id},\n'
    ' "projection": {"_id": 0, "d": 1, "n": 1, "t": 1}} \\gset' + CHECK,
    "write.sql": WRITE + "UPDATE data SET d = :d, n = :n, t = :t WHERE id = :id;\n"
    "\\if :rows_changed <> 1\n\\abort\n\\endif\n",
    "write.json": WRITE + '{"update": "data",\n'
    ' "updates": [{"q": {"id": :id}, "u": {"$set": {"d": :d, "n": :n, "t": :t}}}]}\n'
    "\\if :rows_changed <> 1\n\\abort\n\\endif\n",
}
_SYSTEMS = [name for language in ("sql", "json") for name in able("documents", language=language)]
_ANOTHER = beside_their_line(_SYSTEMS)


@pytest.mark.parametrize(
    ("system", "protocol"),
    [
        pytest.param(
            name,
            protocol,
            marks=[
                *((pytest.mark.same_line,) if name in _ANOTHER and protocol == "extended" else ())
            ],
        )
        for name in _SYSTEMS
        for protocol in ("prepared", "extended")
    ],
)
def test_a_workload_of_documents_is_the_same_on_every_system(
    system: str, protocol: str, assay: Assay, tmp_path: Path
) -> None:
    need(system)
    (tmp_path / "workload.toml").write_text(WORKLOAD)
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text)
    ended = assay("run", tmp_path, "--on", system, "--verify", "--protocol", protocol)
    assert ended.status == 0, ended.out + ended.err
    (run,) = ended.runs
    assert run.observation is not None
    outcomes = run.observation.outcomes
    assert (outcomes.ok, outcomes.aborted, outcomes.failed) == (10, 0, 0), ended.out


WIDE = """\
title = "Wide"
source = "nowhere"
default_test = "t"

[data]
source = "generated"

[[tables]]
name = "t"
rows = "3"

[tables.columns]
c = "varchar(9000)"
d = "varchar(9000)"

[tables.values]
c = "'a'"
d = "'b'"

[tests.t]
title = "T"
help = "Loads"
steps = [{ do = "load" }]
"""


def of_columns(number: int) -> Table:
    return Table("t", tuple(Column(f"c{place}", "smallint") for place in range(number)))


def of_width(length: int) -> Table:
    return Table("t", (Column("c", f"varchar({length})", not_null=True),))


def of_name(length: int) -> Table:
    """Two columns that differ in their last character: a system that cuts names refuses them."""
    return Table("t", tuple(Column("c" * (length - 1) + last, "int") for last in "ab"))


@pytest.mark.parametrize("system", with_ability(Limited, language="sql"))
def test_a_table_at_a_limit_can_be_made_and_one_above_it_cannot(system: str) -> None:
    need(system)
    under_test = registry.system(system)
    dialect = under_test.dialect
    assert isinstance(dialect, Limited)
    limits = dialect.limits
    made = [
        (of_columns, limits.columns),
        (of_width, limits.varchar_length),
        (of_name, limits.identifier_length),
    ]
    storage = StorageChoice("tmpfs", kind="tmpfs")
    with provision(SystemChoice(system), storage, connections=None) as deployment:
        for table, limit in made:
            if limit is None:
                continue
            assert beyond([table(limit)], dialect) == ()
            assert beyond([table(limit + 1)], dialect)[0].can_be_made is False
            with session(deployment.address) as opened:
                for statement in dialect.create_table(table(limit), deployment.options):
                    opened.execute(statement)
                for statement in dialect.drop_table(table(limit)):
                    opened.execute(statement)
            with pytest.raises(AssayError), session(deployment.address) as opened:
                for statement in dialect.create_table(table(limit + 1), deployment.options):
                    opened.execute(statement)


def test_texts_that_cannot_be_searched_are_named(assay: Assay) -> None:
    """Why the paper rejected such systems."""
    ended = assay("list", "limits", "bibsql", "--dialect", "db2", "--format", "json")
    assert ended.status == 1, ended.err
    places = {(row["table"], row["column"], row["what"]) for row in ended.document}
    assert ("bibtab", "entry", "searched text") in places
    assert ("bibtab", "title", "indexed text") in places
    within = assay("list", "limits", "bibsql", "--dialect", "postgresql")
    assert (within.status, "goes beyond the limits of postgresql" in within.err) == (0, True)
    undeclared = assay("list", "limits", "bibsql", "--dialect", "cql")
    assert (undeclared.status, "'cql'" in undeclared.err) == (2, True)


def test_a_run_whose_table_cannot_be_made_is_refused_with_its_width_and_the_limit(
    assay: Assay, tmp_path: Path
) -> None:
    (tmp_path / "wide").mkdir()
    file = tmp_path / "wide" / "workload.toml"
    file.write_text(WIDE)
    ended = assay("run", "wide", "--on", "mysql,sqlite", "--no-durability", *IN_MEMORY)
    assert ended.status == 0, ended.err
    refused, done = ended.runs
    assert done.state == "done"
    assert refused.state == "refused"
    assert "t: row of 72004 bytes, at most 65535 bytes" in refused.reason
