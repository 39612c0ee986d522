"""Which statements of a script set something for its session, and where they stand."""

from __future__ import annotations

import pytest

from assay.contracts.dialects.protocol import Dialect
from assay.contracts.durability import Durability, SessionSettings
from assay.dialects.mysql import MYSQL
from assay.dialects.postgresql import POSTGRESQL
from assay.dialects.sqlite import SQLITE
from assay.drive.prepare import session_settings_of_statements
from assay.judge.evidence.durability import LEAST_COMMITS, as_it_held

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


def test_a_script_that_ends_within_a_transaction_says_nothing_of_the_next() -> None:
    made = session_settings_of_statements([("a", "BEGIN"), ("b", OFF)], {}, POSTGRESQL)
    assert made == SessionSettings((OFF,))


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
    held = as_it_held(D3, commits, clients, flushes)
    assert held.is_contradicted is is_contradicted
    assert held.durability_class == (None if is_contradicted else "D3")
    assert held.described == (
        f"contradicted (D3 was measured, but the device ended {flushes} flushes for {commits} "
        f"commits of {clients} client{'' if clients == 1 else 's'})"
        if is_contradicted
        else "D3 (flushed before every answer)"
    )


def test_a_weaker_class_promises_no_flush() -> None:
    weaker = Durability("D2", commits=50, longest_delay_ns=200_000_000)
    assert as_it_held(weaker, 10_000, 1, 0) == weaker
