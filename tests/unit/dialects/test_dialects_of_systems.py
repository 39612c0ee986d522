"""What the dialect of a system alone has: its types, its keys, its reserved words, the settings of
its sessions."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.dialects import Column, Dialect, Index, Partitioning, RecognisesReads, Table
from assay.contracts.documents import ScriptDocument
from assay.contracts.durability import Durability, SessionSettings
from assay.dialects.cql import CQL
from assay.dialects.cubrid import CUBRID
from assay.dialects.db2 import DB2
from assay.dialects.limits import BoundedIndexes
from assay.dialects.mongodb import MONGODB
from assay.dialects.mysql import MYSQL
from assay.dialects.oracle import ORACLE
from assay.dialects.postgresql import POSTGRESQL
from assay.dialects.sqlite import SQLITE
from assay.dialects.sqlserver import SQL_SERVER
from assay.drive import prepare
from assay.drive.prepare import session_settings_of_statements
from assay.errors import ArgumentError
from assay.judge.storage_checks import LEAST_COMMITS, durability_that_held
from assay.systems.dbapi.dialects import INGRES

COLUMNS = (
    Column("user", "int", not_null=True),
    Column("day", "date", not_null=True),
    Column("order", "varchar(9)"),
    Column("price", "decimal(9,2)"),
)


def test_the_first_column_of_the_primary_key_is_the_partition() -> None:
    table = Table(
        "sales",
        COLUMNS,
        primary_key=("user", "day"),
        indexes=(
            Index("sales_user_price", ("user", "price")),
            Index("sales_day_user", ("day", "user")),
            Index("sales_price_day", ("price", "day")),
            Index("sales_price", ("price",)),
        ),
    )
    assert CQL.create_table(table, {}) == [
        'CREATE TABLE sales (\n  user int,\n  day date,\n  "order" text,\n  price decimal,\n'
        "  PRIMARY KEY (user, day)\n)"
    ]
    assert CQL.create_indexes(table) == [
        "CREATE INDEX sales_price_day ON sales (price) USING 'sai'"
    ], "no index over what the key finds, and none twice"
    assert CQL.bulk_statement(table) == (
        'INSERT INTO sales (user, day, "order", price) VALUES (?, ?, ?, ?)'
    )


def test_a_declared_partition_has_its_order() -> None:
    partitioning = Partitioning(("user", "order"), ("price", "day"), frozenset({"day"}))
    table = Table("sales", COLUMNS, partitioning=partitioning)
    [made] = CQL.create_marked_table(table, {}, "it's ours")
    assert made.endswith(
        '  PRIMARY KEY ((user, "order"), price, day)\n'
        ") WITH CLUSTERING ORDER BY (price ASC, day DESC) AND comment = 'it''s ours'"
    )


def test_a_table_without_a_key_keeps_rows_that_are_equal() -> None:
    table = Table("log", COLUMNS[1:2])
    assert CQL.create_table(table, {}) == [
        "CREATE TABLE log (\n  day date,\n  row_id uuid,\n  PRIMARY KEY (row_id)\n)"
    ]
    assert CQL.bulk_statement(table) == "INSERT INTO log (day, row_id) VALUES (?, uuid())"


READS = (
    "select * from t where id = :id1 and (seq = 1 or col9 in (1, 2))",
    "SELECT count(*), max(a) FROM t WHERE a = 'incr(' GROUP BY b",
    "commit",
    '{"find": "jobs", "filter": {"user": :user}}',
    ' { "aggregate" : "jobs", "pipeline": [{"$match": {"out": 1}}], "cursor": {}}',
    '{"count": "jobs"}',
)
WRITES = (
    "select incr(read_count) from t",
    "select orders_id.next_value",
    "select own_function (1)",
    'select "own" (1), [own](2)',
    "select /* it's */ incr(a), 'x' from t",
    "select \"it's\", incr(a), 'x' from t",
    "select 1; delete from t",
    "with s as (select 1) update t set a = 1",
    "update t set a = 1",
    "selected",
    '{"insert": "find", "documents": [{"find": 1}]}',
    '{"aggregate": "jobs", "pipeline": [{"$out": "other"}], "cursor": {}}',
    '{"aggregate": "jobs", "pipeline": [{"\\u0024merge": {"into": "other"}}], "cursor": {}}',
    '{"findAndModify": "jobs", "remove": true}',
    "",
)


@pytest.mark.parametrize("statement", [*READS, *WRITES])
def test_a_statement_only_reads_where_nothing_in_it_can_write(statement: str) -> None:
    dialect = CUBRID if statement.strip()[:1].isalpha() else MONGODB
    assert isinstance(dialect, RecognisesReads)
    assert dialect.only_reads(statement) is (statement in READS)


def test_no_script_gives_a_column_a_bare_name_that_is_reserved() -> None:
    """Names after AS; those of types follow it in CAST."""
    folder = Path(registry.__file__).parent / "workloads"
    bare = re.compile(r"(?<!\w)as\s+([a-z_]\w*)", re.IGNORECASE)
    found = [
        f"{path.relative_to(folder)}: as {name}"
        for path in sorted(folder.rglob("*.sql"))
        if "overrides" not in path.parts and path.stem != "procedures"
        for line in path.read_text("utf-8").splitlines()
        if not line.startswith("--")
        for name in bare.findall(re.sub(r"cast\s*\(.*?\bas\b", "", line))
        if name in CUBRID.reserved_words - {"select"}
    ]
    assert found == []


TABLE = Table(
    name="strtab",
    columns=(
        Column("key", "text"),
        Column("order", "int"),
        Column("code", "char(6)"),
        Column("born", "date"),
        Column("price", "decimal(9,2)"),
        Column("entry", "text", not_null=True, wide=True),
    ),
    primary_key=("order",),
    unique=(("entry",),),
    indexes=(Index("strtab_key", ("key", "order")), Index("strtab_code", ("code",), unique=True)),
)


@pytest.fixture
def made() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for statement in SQLITE.drop_table(TABLE) + SQLITE.create_table(TABLE, {}):
        connection.execute(statement)
    for statement in SQLITE.create_indexes(TABLE) + SQLITE.after_load([TABLE]):
        connection.execute(statement)
    return connection


def test_a_table_is_made_with_its_names_keys_and_indexes(made: sqlite3.Connection) -> None:
    with closing(made):
        names = [row[1] for row in made.execute("PRAGMA table_info(strtab)")]
        assert names == [column.name for column in TABLE.columns]
        indexes = {row[1]: bool(row[2]) for row in made.execute("PRAGMA index_list(strtab)")}
        assert indexes.items() >= {"strtab_key": False, "strtab_code": True}.items()
        row = ("k", 7, "000042", "20261231", "1.50", "é'x")
        made.execute(SQLITE.bulk_statement(TABLE), row)
        # The key is the rowid: there is no further index.
        assert made.execute('SELECT rowid FROM strtab WHERE "order" = 7').fetchone() == (7,)
        stored = made.execute("SELECT * FROM strtab").fetchone()
        assert stored == ("k", 7, "000042", "20261231", 1.5, "é'x")
        for wrong in [("k", 8, "000043", None, None, "é'x"), ("k", 8, "000043", None, None, None)]:
            with pytest.raises(sqlite3.IntegrityError):
                made.execute(SQLITE.bulk_statement(TABLE), wrong)
        for statement in SQLITE.drop_table(TABLE):
            made.execute(statement)
        assert made.execute(
            "SELECT count(*) FROM sqlite_master WHERE tbl_name = 'strtab'"
        ).fetchone() == (0,)


def test_identifiers_are_quoted_where_the_parser_needs_it() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for word in ["entry", "key", "Group", "order", "a b", 'say "x"', "9th", "nothing", "größe"]:
            name = SQLITE.identifier(word)
            connection.execute(f"CREATE TABLE {name} ({name} TEXT)")
            connection.execute(f"INSERT INTO {name} ({name}) VALUES ('1')")
            assert connection.execute(f"SELECT {name} FROM {name}").fetchall() == [("1",)]
    assert SQLITE.identifier("bibtab") == "bibtab"
    assert SQLITE.identifier("key") == "key", "a keyword that may be a name stays as it is"


@pytest.mark.parametrize("text", [None, "", "it's", "''", "back\\slash", "line\nend", "é\t\x01"])
def test_a_literal_means_the_text(text: str | None) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(f"SELECT {SQLITE.literal(text)}").fetchone() == (text,)


ERROR_CLASSES = {
    "too many connections", "authentication", "lost connection", "timeout", "deadlock",
    "serialization", "constraint", "syntax", "unknown object", "permission", "data", "resources",
}  # fmt: skip
DIALECTS = (DB2, INGRES, ORACLE, SQL_SERVER)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_each_code_has_one_class_that_the_engine_knows(dialect: BoundedIndexes) -> None:
    assert set(dialect.error_classes.values()) <= ERROR_CLASSES
    assert all(code.strip() == code for code in dialect.error_classes)


def test_a_level_that_a_system_lacks_is_refused() -> None:
    for dialect, level in ((ORACLE, "read uncommitted"), (CUBRID, "serializable")):
        with pytest.raises(ArgumentError, match=level):
            dialect.session_isolation(level)
    assert CUBRID.begin_at("repeatable read") == [
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION",
    ]  # fmt: skip
    assert DB2.session_isolation("serializable") == ["SET CURRENT ISOLATION = RR"]
    assert ORACLE.begin_at("serializable") == [
        "START TRANSACTION", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    ]  # fmt: skip


JOBS = Table("jobs", (Column("id", "int"), Column("user", "int")))


@pytest.mark.parametrize(
    ("system", "text", "expected"),
    [
        ("postgresql", "SELECT user FROM jobs;", 'write "user"'),
        ("postgresql", 'SELECT "user" FROM jobs WHERE id = :user;', None),
        ("postgresql", "SELECT users FROM jobs;", None),
        ("mariadb", "SELECT user FROM jobs;", None),
    ],
)
def test_a_reserved_word_without_quotes_is_found(
    system: str, text: str, expected: str | None
) -> None:
    scripts = [ScriptDocument(name="read", path="read.sql", text=text)]
    found = prepare.hint_at_reserved_name([JOBS], scripts, registry.system(system).dialect)
    if expected is None:
        assert found is None
    else:
        assert found == (
            f"user, a column of jobs, is a reserved word of {system}: in read.sql {expected}"
        )


OFF = "SET synchronous_commit = off"


def found(*texts: str, dialect: Dialect = POSTGRESQL, **values: str) -> SessionSettings:
    return session_settings_of_statements([("mine", text) for text in texts], values, dialect)


def test_statements_outside_and_within_transactions() -> None:
    local = "set local synchronous_commit to off"
    update = "UPDATE t SET n = 1"
    assert found(OFF, update) == SessionSettings((OFF,))
    assert found("BEGIN", local, update, "COMMIT", OFF) == SessionSettings((OFF,), (local,))
    assert found("BEGIN", "ROLLBACK TO SAVEPOINT a", local, "END").after_begin == (local,)
    assert found(update, "SELECT 1") == SessionSettings()


def test_values_of_the_run_are_put_in() -> None:
    text = "SET synchronous_commit = :mode"
    assert found(text, mode="off").statements == (OFF,)
    assert found("SET timezone TO ':mode'", mode="off").statements == ("SET timezone TO ':mode'",)
    unknown = found(text)
    assert unknown.statements == ()
    assert unknown.why_unknown == f"its sessions execute {text}, whose value is chosen in the run"


@pytest.mark.parametrize(
    ("dialect", "statement", "expected"),
    [
        (POSTGRESQL, "select set_config('synchronous_commit', 'off', false)", True),
        (POSTGRESQL, "select set_config('a', (select f()), false)", False),
        (MYSQL, "SET SESSION sql_log_bin = 0", True),
        (MYSQL, "SET GLOBAL sync_binlog = 0", False),
        (MYSQL, "SET @@global.sync_binlog = 0", False),
        (SQLITE, "PRAGMA synchronous = OFF", True),
        (SQLITE, "PRAGMA journal_mode = WAL", False),
        (SQLITE, "PRAGMA journal_mode = MEMORY", True),
        (SQLITE, "UPDATE t SET n = 1", False),
    ],
)
def test_what_is_of_the_session_alone(dialect: Dialect, statement: str, expected: bool) -> None:
    assert bool(found(statement, dialect=dialect).statements) is expected


D3 = Durability("D3", commits=50, flushed_before_answer=50)


@pytest.mark.parametrize(
    ("commits", "clients", "flushes", "is_contradicted"),
    [
        (28_458, 1, 28, True),
        (28_458, 1, 28_458, False),
        (16_000, 16, 1_000, False),  # all sixteen shared each flush
        (16_000, 16, 500, False),  # and half of them changed nothing
        (16_000, 16, 499, True),
        (LEAST_COMMITS, 1, 0, True),
        (LEAST_COMMITS - 1, 1, 0, False),
    ],
)
def test_a_flush_ends_at_most_one_commit_of_each_client(
    commits: int, clients: int, flushes: int, is_contradicted: bool
) -> None:
    held = durability_that_held(D3, commits, clients, flushes)
    assert held.is_contradicted is is_contradicted
    assert held.durability_class == (None if is_contradicted else "D3")
    assert held.described == (
        f"contradicted (D3 was measured, but the device ended {flushes} flushes for {commits} "
        f"commits of {clients} client{'' if clients == 1 else 's'})"
        if is_contradicted
        else "D3 (flushed before every answer)"
    )
