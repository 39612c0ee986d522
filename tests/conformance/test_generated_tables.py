"""Generated rows are the same in every system, also where Python makes them; changed rows are
counted."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from able import able, one_of_each_line, with_ability
from assay import registry
from assay.contracts.dialects import Column, Table
from assay.contracts.events import Events
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.factors import levels
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import Counters
from assay.env_vars import NEW_DATA
from assay.errors import RunFailed
from assay.experiment import Experiment
from assay.lab.pool import Pool, PooledSystem
from assay.load.dataset import DEFAULT_LOADING, Loading
from assay.load.load import load
from assay.load.row_sources.generated import measure, request_of
from assay.load.row_sources.protocol import DataRequest
from assay.load.tables import table_digest, verify_rows
from assay.plan import Cell, Plan, PlannedRun
from assay.provision.directory import server_directory
from assay.provision.engine.engine_calls import session
from assay.systems import System
from assay.workload import reader
from commands import need
from servers import ask, provisioned
from waiting import wait_until

WORKLOAD = r"""
title = "Every type"
source = "a test"
default_test = "all"

[data]
source = "generated"

[[tables]]
name = "order"
rows = "1000"
primary_key = ["id"]
unique = ["word, id"]
indexes = ["word desc, small", "long", "at desc"]

[tables.columns]
id = "int not null"
small = "smallint not null default 7"
big = "bigint"
price = "decimal(12,3)"
share = "float"
exact = "double"
code = "char(5)"
word = "varchar(20) not null default 'none'"
long = "text wide default 'it''s'"
day = "date not null default '2026-01-02'"
at = "timestamp"
yes = "bool not null default true"
raw = "bytes"

[tables.values]
id = ":row + 1"
small = "random(-32768, 32767)"
big = "case when :row % 7 = 0 then null else random(-9000000000000000000, 9000000000000000000) end"
price = "random(-100000, 100000) / 8.0"
share = "random(-1000, 1000) / 16.0"
exact = "random(1, 1000) / 1024.0"
code = "case when :row % 5 = 0 then null else text(0, 5) end"
word = "text(1, 20)"
long = "concat('a\\ttab', ' \" and \\\\ ', '☃ ', text(0, 300), '')"
at = "timestamp(:row * 86399 + 1)"
yes = ":row % 3 = 0"
raw = "case when :row % 2 = 0 then null else text(0, 50) end"

[[tables]]
name = "line"
per = "order"
rows = "random(0, 3)"
foreign_keys = ["order_id -> order(id)"]
primary_key = ["order_id", "key"]

[tables.columns]
order_id = "int not null"
key = "int not null"
note = "varchar(30)"

[tables.values]
order_id = ":id"
key = ":row"
note = "concat(:word, :row)"

[tests.all]
title = "All"
help = "All of it"
scripts = ["*.sql"]
passes = 1
"""


class Rows:
    """The tables of the workload above, and the request for their rows."""

    def __init__(self, folder: Path) -> None:
        (folder / "workload.toml").write_text(WORKLOAD, encoding="utf-8")
        (folder / "one.sql").write_text("select 1;\n", encoding="utf-8")
        workload = reader.read(str(folder))
        self.tables: tuple[Table, ...] = workload.tables_for({})
        self.request: DataRequest = request_of(workload, {})
        self.checksums = {
            table.name: table.checksum
            for table in measure(workload.source_for({}, 1), with_checksums=True)
        }


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return Rows(tmp_path_factory.mktemp("every-type"))


SYSTEMS = able("typed columns", "bulk load", language="sql")


@pytest.fixture(params=one_of_each_line(SYSTEMS))
def system(request: pytest.FixtureRequest) -> System:
    """Each system that stores rows, one after another."""
    need(request.param)
    return registry.system(request.param)


@contextmanager
def pooled_on(
    system: System, storage: StorageFacts, loading: Loading = DEFAULT_LOADING
) -> Iterator[PooledSystem]:
    place = StorageChoice(name="here", kind="here", directory=storage.directory)
    choice = SystemChoice(system.name)
    cell = Cell("w", "all", choice, place, 4, {}, levels({"protocol": "simple", "threads": 1}))
    run = PlannedRun(cell, 1, 1, 0)
    with Pool(Plan(Experiment("w", ("all",), (choice,)), (run,)), loading) as pool:
        pooled = pool.made(run)
        pool.start(run)
        yield pooled


def digests(pooled: PooledSystem, tables: tuple[Table, ...]) -> dict[str, str]:
    dialect = pooled.system.dialect
    return {table.name: table_digest(pooled.deployment, dialect, table)[1] for table in tables}


def test_every_type_is_stored_as_generated(
    system: System, storage: StorageFacts, rows: Rows
) -> None:
    order, code = map(system.dialect.identifier, ("order", "code"))
    with pooled_on(system, storage) as pooled:
        for sessions in (1, 3):
            loading = Loading(sessions=sessions, is_verified=True)
            dataset = load(pooled.deployment, system, rows.tables, rows.request, loading=loading)
            assert dataset.rows == rows.request.rows_expected
            assert dataset.checksums == digests(pooled, rows.tables) == rows.checksums

        ask(pooled.deployment, f"UPDATE {order} SET {code} = 'other' WHERE id = 500")
        with pytest.raises(RunFailed, match="different rows in order"):
            verify_rows(pooled.deployment, system.dialect, rows.tables, rows.checksums)

        ask(pooled.deployment, f"INSERT INTO {order} (id) VALUES (5000)")
        asked = "SELECT small, word, day, yes FROM"
        ((small, word, day, yes),) = ask(pooled.deployment, f"{asked} {order} WHERE id = 5000")
        assert (small, word, day, yes in ("1", "t")) == ("7", "none", "2026-01-02", True)


@pytest.mark.parametrize(
    ("system", "is_kept"),
    [
        *((name, True) for name in SYSTEMS),
        *((one.values[0], False) for one in one_of_each_line(SYSTEMS) if not one.marks),
    ],
    indirect=["system"],
)
def test_a_copy_restores_the_loaded_data(
    system: System, storage: StorageFacts, rows: Rows, is_kept: bool
) -> None:
    folder = Path(storage.directory) / "datasets"
    loading = Loading(datasets=folder if is_kept else None)
    line = system.dialect.identifier("line")
    with pooled_on(system, storage, loading) as pooled:
        dataset = pooled.load(rows.tables, rows.request, Events(), is_wanted_again=True)
        assert (dataset.how, digests(pooled, rows.tables)) == ("loaded", rows.checksums)
        before = pooled.deployment.settings
        ask(pooled.deployment, f"DELETE FROM {line}")
        ask(pooled.deployment, "CREATE TABLE left_over (a INTEGER)")
        assert (
            pooled.load(rows.tables, rows.request, Events()) is dataset
        )  # not reported by anything
        pooled.forget()
        again = pooled.load(rows.tables, rows.request, Events())
        assert (again.how, again.rows) == ("restored", dataset.rows)
        assert again.restore_ns > 0
        assert digests(pooled, rows.tables) == rows.checksums
        assert pooled.deployment.settings == before
        with pytest.raises(Exception, match="left_over"):
            ask(pooled.deployment, "SELECT * FROM left_over")
    if is_kept:  # also for the next experiment
        with pooled_on(system, storage, loading) as pooled:
            assert pooled.load(rows.tables, rows.request, Events()).how == "restored"
            assert digests(pooled, rows.tables) == rows.checksums
        shutil.rmtree(folder)


def test_the_buffer_is_sized_from_the_data_and_has_counters(
    system: System, storage: StorageFacts, rows: Rows
) -> None:
    with pooled_on(system, storage) as pooled:
        dataset = pooled.load(rows.tables, rows.request, Events())
        usual = system.buffer_bytes(pooled.deployment)
        sized = pooled.size_buffer(dataset, 0.01)
        assert sized.buffer_bytes == system.buffer_bytes(pooled.deployment)
        assert sized.buffer_bytes is not None and sized.data_to_buffer is not None
        # As requested, up to the system's rounding.
        assert 0.009 < sized.data_to_buffer <= 0.01
        assert digests(pooled, rows.tables) == rows.checksums
        counts = isinstance(system, Counters)
        counted = system.counters(pooled.deployment) if counts else {}
        assert all(counted[name] > 0 for name in counted)
        pooled.size_buffer(dataset, None)
        assert system.buffer_bytes(pooled.deployment) == usual


def test_a_transaction_has_the_requested_isolation_level(
    system: System, storage: StorageFacts
) -> None:
    question = {
        "postgresql": "SHOW transaction_isolation",
        "mysql": "SELECT LOWER(REPLACE(trx_isolation_level, '-', ' ')) FROM "
        "information_schema.innodb_trx WHERE trx_mysql_thread_id = CONNECTION_ID()",
    }.get(system.dialect.name)
    with pooled_on(system, storage) as pooled, session(pooled.deployment.address) as opened:
        opened.execute("CREATE TABLE t (a INTEGER)")
        for level in system.dialect.isolation_levels:
            for statements in (
                system.dialect.begin_at(level),
                [*system.dialect.session_isolation(level), *system.dialect.begin_at("")],
            ):
                for statement in statements:
                    opened.execute(statement)
                opened.execute("INSERT INTO t VALUES (1)")
                if question is not None:
                    time.sleep(0.2)  # one of the counters may be a tenth of a second old
                    assert opened.execute(question).rows == [(level,)]
                for statement in system.dialect.rollback():
                    opened.execute(statement)


@pytest.mark.parametrize("name", with_ability(Counters, language="sql"))
def test_inserted_updated_and_deleted_rows_are_counted(name: str, storage: StorageFacts) -> None:
    need(name)
    system = registry.system(name)
    with provisioned(system, storage) as deployment:
        with session(deployment.address) as opened:
            opened.execute("CREATE TABLE t (a int)")
        before = system.counters(deployment)["rows_changed"]
        with session(deployment.address) as opened:
            for number in range(2000):
                opened.execute(f"INSERT INTO t VALUES ({number})")
            opened.execute("UPDATE t SET a = a + 1 WHERE a < 500")
            opened.execute("DELETE FROM t WHERE a < 100")
            assert opened.execute("SELECT count(*) FROM t").rows == [("1901",)]

        def grown() -> int:
            return int(system.counters(deployment)["rows_changed"] - before)

        wait_until(lambda: grown() >= 2599, "the server has counted all changes")
        # With some of the server's own tables.
        assert grown() < 2599 * 1.02


TYPES = "int bigint decimal(30,2) double text varchar(9) date timestamp bool bytes"
TABLE = Table("t", tuple(Column(f"c{n}", one) for n, one in enumerate(TYPES.split())))
EMPTY = Table("empty", (Column("c0", "int"),))
PLAIN = Table("plain", (Column("a", "int"), Column("b", "bytes")))
"""Without a decimal: some protocols have a shorter form for such rows."""
BYTES = b"\x00\\\xff\n"
NOON = datetime(2026, 1, 31, 12, 0, 0, 250_000)
ROWS = [
    [-1, 2**62, Decimal("1.50"), 0.1, "it's\t\\N\n", "ä☃", date(2026, 1, 31), NOON, True, BYTES],
    [0, None, 3, 2, "", "9", None, None, False, b""],
    [None] * 10,
]


@pytest.mark.parametrize("name", able("typed columns", "bulk load", language="sql"))
def test_each_type_is_stored(name: str, storage: StorageFacts) -> None:
    need(name)
    system = registry.system(name)
    rows_of = {"t": iter(ROWS), "plain": [[1, BYTES], [2, None]]}
    request = DataRequest(lambda: rows_of, "files", "rows", "f", 3)
    with provisioned(system, storage) as deployment:
        verified = Loading(is_verified=True)
        dataset = load(deployment, system, (EMPTY, TABLE, PLAIN), request, loading=verified)
        assert dataset.rows == {"empty": 0, "t": 3, "plain": 2}
        hexadecimal = {"postgresql": "encode({}, 'hex')"}.get(name, "lower(hex({}))").format
        rows = ask(deployment, "SELECT c0, c1, c3, c4, c5 FROM t")
        assert set(rows) == {
            ("-1", str(2**62), "0.1", "it's\t\\N\n", "ä☃"),
            ("0", None, "2" if name != "sqlite" else "2.0", "", "9"),
            (None,) * 5,
        }
        for table, column, found in [("t", "c9", {"005cff0a", ""}), ("plain", "b", {"005cff0a"})]:
            question = f"SELECT {hexadecimal(column)} FROM {table} WHERE {column} IS NOT NULL"
            assert {text for (text,) in ask(deployment, question)} == found


def test_a_server_begins_with_a_copy(
    server: System, storage: StorageFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    monkeypatch.setenv(NEW_DATA.name, str(kept))
    choice = SystemChoice(server.name, options={"transport": "tcp"})
    for number in (1, 2):
        with server_directory(storage) as directory:
            with server.provision(choice, directory, connections=None) as up:
                ask(up, "CREATE TABLE of_its_own (id integer)")
                assert up.address.port
                assert ask(up, "SELECT count(*) FROM of_its_own") == [("0",)]
            is_copy = (directory.data / "copied").exists()
        if not kept.exists():
            pytest.skip(f"of {server.name} nothing is kept")
        assert is_copy is (number == 2)
        (only,) = kept.iterdir()
        (only / "copied").touch()
