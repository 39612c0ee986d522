"""Systems through DB-API modules: the same rows, answers and errors as through the engine's own
drivers."""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from assay import _engine, registry
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Column, Dialect, Table
from assay.env_vars import DBAPI_PASSWORD
from assay.errors import SystemMissing
from assay.experiment import StorageChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.load.load import fill
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision
from assay.record import DEFAULT_FILE_NAME
from assay.systems.dbapi.modules import KNOWN
from commands import Assay, is_delayed
from servers import directory_for_servers, provisioned

TABLE = Table(
    "all_types",
    (
        Column("id", "int", not_null=True), Column("small", "smallint"), Column("big", "bigint"),
        Column("price", "decimal(9,2)"), Column("ratio", "double"), Column("name", "varchar(40)"),
        Column("story", "text"), Column("born", "date"), Column("seen", "timestamp"),
        Column("is_good", "bool"), Column("raw", "bytes"),
    ),
    primary_key=("id",),
)  # fmt: skip
NAMES = [column.name for column in TABLE.columns]
TYPES = [column.type for column in TABLE.columns]
ROWS = 2_500
"""More than two batches."""


@dataclass(frozen=True)
class Reached:
    """One database, reached through a module and by the engine's own driver."""

    word: str
    """As in ``--on``."""
    through: Deployment
    dialect: Dialect
    native: Deployment
    native_dialect: Dialect


MODULES = {name: module.dialect for name, module in KNOWN.items() if module.is_verified}
"""Those that are said to be run here, and the name of their dialect."""
SYSTEM_OF = {"mysql": "mariadb"}
"""Dialect → the system that speaks it, if it is not called so."""
SOME = ("psycopg2", "sqlite3")
"""Of a server and in this process: where what differs between modules is tried elsewhere."""


def on_some(*modules: str) -> pytest.MarkDecorator:
    """Runs a workload through these modules, and through the others with `--every-system`."""
    return pytest.mark.parametrize(
        "reached",
        [
            pytest.param(one, marks=() if one in modules else pytest.mark.same_line)
            for one in MODULES
        ],
        indirect=True,
        scope="module",
    )


def _reached(word: str) -> Any:
    return provision(system_choice(word), StorageChoice(), connections=1)


@pytest.fixture(scope="module", params=MODULES)
def reached(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reached]:
    """Started once for all tests of a module."""
    module, dialect = request.param, MODULES[request.param]
    name = SYSTEM_OF.get(dialect, dialect)
    try:
        importlib.import_module(module)
    except ImportError:
        pytest.skip(f"the Python module {module} is not installed")
    system, folder = registry.system(name), tmp_path_factory.mktemp("dbapi")
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("ASSAY_STATE_DIRECTORY", str(folder / "state"))
        if name == "sqlite":
            file = folder / "test.db"
            sqlite3.connect(file).execute("VACUUM")
            word = f"dbapi:{module}[database={file}]"
            native = stack.enter_context(_reached(f"sqlite:///{file}"))
        else:
            storage = stack.enter_context(directory_for_servers())
            try:
                native = stack.enter_context(
                    provisioned(system, storage, options={"transport": "tcp"})
                )
            except SystemMissing as missing:
                pytest.skip(str(missing))
            at = native.address
            patch.setenv(DBAPI_PASSWORD.name, at.password or "")
            word = (
                f"dbapi:{module}[host={at.host},port={at.port},user={at.user},"
                f"database={at.database}]"
            )
        through = stack.enter_context(_reached(word))
        yield Reached(
            word, through, registry.system(through.system).dialect, native, system.dialect
        )


def rows() -> Iterator[tuple[object, ...]]:
    for number in range(ROWS):
        yield (
            number, number % 100 - 50, number * 2**40, Decimal(number) / 100, number / 8,
            f"naïve {number} ? % :x 'q' \\", "long " * (number % 50), f"20{number % 90 + 10}-01-31",
            f"2026-11-22 01:02:03.{number % 1000:03}", number % 2 == 0,
            bytes([number % 256, 0, 255]),
        )[: len(NAMES)]  # fmt: skip
    yield (ROWS, *[None] * (len(NAMES) - 1))


def _made(deployment: Deployment, dialect: Dialect) -> None:
    with session(deployment.address) as opened:
        for statement in [*dialect.drop_table(TABLE), *dialect.create_table(TABLE, {})]:
            opened.execute(statement)


def _digest(deployment: Deployment, dialect: Dialect) -> tuple[int, str]:
    with session(deployment.address) as opened:
        return opened.digest(dialect.read_all(TABLE.name, NAMES), TYPES)


def test_rows_of_all_types_are_loaded_and_read_as_by_the_own_driver(reached: Reached) -> None:
    found = []
    for deployment, dialect in (
        (reached.native, reached.native_dialect),
        (reached.through, reached.dialect),
    ):
        _made(deployment, dialect)
        fill(deployment, dialect, [TABLE], lambda: {TABLE.name: rows()})
        found.append(_digest(reached.native, reached.native_dialect))
        found.append(_digest(reached.through, reached.dialect))
    assert found[0][0] == ROWS + 1
    assert found == [found[0]] * 4


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("INSERT INTO all_types (id) VALUES (1), (1)", "constraint"),
        ("SELEC 1", "syntax"),
        ("SELECT * FROM no_such_table", "unknown object"),
        ("SELECT no_such_column FROM all_types", "unknown object"),
    ],
)
def test_an_error_has_the_class_that_the_own_driver_gives_it(
    reached: Reached, statement: str, expected: str
) -> None:
    _made(reached.native, reached.native_dialect)
    for deployment, dialect in (
        (reached.native, reached.native_dialect),
        (reached.through, reached.dialect),
    ):
        with session(deployment.address) as opened:
            for made in dialect.create_indexes(TABLE) if deployment is reached.native else ():
                opened.execute(made)
            with pytest.raises(_engine.EngineError) as raised:
                opened.execute(statement)
            assert raised.value.error_class == expected, raised.value
            assert opened.execute("SELECT 1").rows == [("1",)], "the session goes on"


def test_a_transaction_is_rolled_back_and_a_later_one_committed(reached: Reached) -> None:
    _made(reached.native, reached.native_dialect)
    with session(reached.through.address) as opened:
        for end, expected in (("ROLLBACK", []), ("COMMIT", [("1",)])):
            for statement in [
                *reached.dialect.begin(),
                "INSERT INTO all_types (id) VALUES (1)",
                end,
            ]:
                opened.execute(statement)
            with session(reached.native.address) as other:
                assert other.execute("SELECT id FROM all_types").rows == expected


def test_a_foreign_table_is_not_replaced(reached: Reached, assay: Assay) -> None:
    with session(reached.native.address) as opened:
        opened.execute("DROP TABLE IF EXISTS pgbench_tellers")
        opened.execute("CREATE TABLE pgbench_tellers (tid INTEGER)")
        opened.execute("INSERT INTO pgbench_tellers VALUES (7)")
    done = assay("run", "tpcb", "--on", reached.word, "--duration", "1")
    assert done.status == 2, done.err
    assert "pgbench_tellers already" in done.err
    with session(reached.native.address) as opened:
        assert opened.execute("SELECT tid FROM pgbench_tellers").rows == [("7",)]
        opened.execute("DROP TABLE pgbench_tellers")


def test_counts_of_bibsql_are_those_of_the_own_driver(
    reached: Reached, assay: Assay, beebe: Path
) -> None:
    _same_answers(reached, assay, "bibsql", "--bib", beebe / "texbook1.bib", "--clients", "2")


@on_some("psycopg2")
def test_every_answer_of_glidemons_tasks_is_that_of_the_own_driver(
    reached: Reached, assay: Assay
) -> None:
    if "pg8000" in reached.word:
        pytest.skip("it binds numbers without a type: `:a + :b` is ambiguous")
    few = ("--set", "scale=0.0005", "--set", "queries=60")
    _same_answers(reached, assay, "glidemon.tasks", *few, "--clients", "3")


def _same_answers(reached: Reached, assay: Assay, *words: str | Path) -> None:
    """Two systems in one experiment are compared."""
    ended = assay("run", *words, "--on", f"{reached.native.system},{reached.word}")
    assert ended.status == 0, ended.err
    own, through = ended.runs
    assert through.checks and any(check["found"] for check in through.checks)
    assert [check["found"] for check in own.checks] == [check["found"] for check in through.checks]


@on_some(*SOME)
def test_concurrent_sets_leave_the_rows_of_a_single_client_and_nothing_is_left_behind(
    reached: Reached, assay: Assay, tmp_path: Path
) -> None:
    for _ in range(6):
        ended = assay(
            "run", "e831.reliability", "--on", reached.word, "--set", "updates=40", "--set",
            "sets=disjoint,transactions", "--set", "records=200", "--clients", "4",
        )  # fmt: skip
        if not is_delayed(ended):
            break
    assert ended.status == 0, ended.err
    for run in ended.runs:
        found = run.driven
        assert found is not None and found.outcomes.ok == 4 * 40
        assert found.rules == {"unexpired": 0, "unmatched": 0}
    if password := reached.native.address.password:
        assert password not in ended.out + ended.err
        assert password.encode() not in (tmp_path / DEFAULT_FILE_NAME).read_bytes()
    with session(reached.native.address) as opened, pytest.raises(_engine.EngineError) as raised:
        opened.execute(f"SELECT * FROM {reached.native_dialect.quoted('data')}")
    assert raised.value.error_class == "unknown object"
