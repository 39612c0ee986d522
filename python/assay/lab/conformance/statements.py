"""Statements, their answers and errors; loads, complete or nothing; and sessions that begin,
end, are lost and are cancelled as the engine's clients need it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import structs

from assay.contracts.deployment import Address
from assay.contracts.dialects import Column, LongStatement, SingleRows, Table
from assay.errors import SystemUnderTestError
from assay.lab.conformance.requirement import (
    TIMEOUT_S,
    CannotBeTried,
    NotMet,
    RefusedStatement,
    Row,
    Subject,
    insist_on_class,
    requirement,
)
from assay.load.load import fill
from assay.load.tables import drop
from assay.provision.engine.engine_calls import session
from assay.provision.machine.ports import free_port

_STORED = ("tables", "stored rows")


def _numbered(subject: Subject, name: str, rows: int) -> Table:
    table = subject.made(name, Column("value", "int"))
    subject.load(table, [(number, 0) for number in range(rows)])
    return table


@requirement("tables")
def an_empty_table_has_no_rows(subject: Subject) -> None:
    table = subject.made("empty", Column("value", "int"))
    subject.insist_on_count(table, 0)
    if found := subject.rows(table):
        raise NotMet(f"an empty table gives the rows {found}")


@requirement(*_STORED, "prepared statements")
def a_key_is_found_by_a_bound_value_and_another_is_not(subject: Subject) -> None:
    table = _numbered(subject, "bound", 100)
    text = subject.dialect.read_by_key(table.name, ["id"], "id", ":id")
    for protocol in ("prepared", "extended"):
        for number, expected in [(0, [("0",)]), (99, [("99",)]), (100, []), (-1, [])]:
            if (found := subject.ask(text, {"id": number}, protocol)) != expected:
                raise NotMet(f"{protocol}: of the key {number} it gives the rows {found}")


@requirement(*_STORED, spellings=(SingleRows,))
def single_rows_are_inserted_and_updated_with_bound_values(subject: Subject) -> None:
    dialect = subject.dialect
    assert isinstance(dialect, SingleRows)
    table = subject.made("single", Column("value", "int"), Column("words", "text"))
    text, large = "it's ☃ \\ 🐘", "x" * (1 << 20)
    insert = dialect.insert_row(table, [":id", ":value", ":words"])
    update = dialect.update_row(table, "words", ":words", "id", ":id")
    subject.ask(insert, {"id": 1, "value": 7, "words": text})
    subject.ask(insert, {"id": 2, "value": -7, "words": large})
    subject.ask(insert, {"id": 3, "value": None, "words": None}, "extended")
    subject.ask(update, {"id": 3, "words": text})
    expected = [("1", "7", text), ("2", "-7", large), ("3", None, text)]
    if (found := subject.rows(table)) != expected:
        shown = [(key, value, len(words or "")) for key, value, words in found]
        raise NotMet(f"expected three rows as they were inserted, found {shown}")


@requirement(*_STORED)
def what_is_no_statement_is_refused_as_syntax(subject: Subject) -> None:
    insist_on_class(subject.refusal("this is no statement"), "syntax")


@requirement(*_STORED)
def a_table_that_is_not_there_is_an_unknown_object(subject: Subject) -> None:
    insist_on_class(subject.refusal(subject.dialect.exists("verify_nothing")), "unknown object")


@requirement(*_STORED)
def a_dropped_table_is_gone(subject: Subject) -> None:
    table = _numbered(subject, "dropped", 1)
    for _ in range(2):
        drop(subject.deployment, subject.dialect, [table])
    insist_on_class(subject.refusal(subject.dialect.exists(table.name)), "unknown object")


@requirement(*_STORED, "unique keys", spellings=(SingleRows,))
def a_second_row_of_a_key_is_refused_as_a_constraint(subject: Subject) -> None:
    assert isinstance(subject.dialect, SingleRows)
    table = _numbered(subject, "unique", 1)
    again = subject.dialect.insert_row(table, ["0", "1"])
    insist_on_class(subject.refusal(again), "constraint")
    if (found := subject.rows(table)) != [("0", "0")]:
        raise NotMet(f"the refused row has changed the table to {found}")


@requirement(*_STORED, "not null")
def null_is_refused_where_a_column_must_not_be(subject: Subject) -> None:
    table = subject.made("not_null", Column("value", "int", not_null=True))
    error = subject.refusal_of_load(table, [(1, None)])
    insist_on_class(RefusedStatement.of(error), "constraint")
    subject.insist_on_count(table, 0)


@requirement(*_STORED)
def rows_are_deleted_by_their_texts_and_all_at_once(subject: Subject) -> None:
    table = subject.make(
        Table(
            name="verify_deleted",
            columns=(Column("id", "int", not_null=True), Column("words", "varchar(40)", True)),
            primary_key=("words",),
        )
    )
    subject.load(table, [(1, "it's"), (2, "a \\"), (3, "other")])
    for expected, statements in (
        (1, subject.dialect.delete_where(table.name, "words", ["it's", "a \\", "nowhere"])),
        (0, subject.dialect.delete_all(table.name)),
    ):
        subject.execute(*statements)
        subject.insist_on_count(table, expected)


OF_STATEMENTS = (
    an_empty_table_has_no_rows,
    a_key_is_found_by_a_bound_value_and_another_is_not,
    single_rows_are_inserted_and_updated_with_bound_values,
    what_is_no_statement_is_refused_as_syntax,
    a_table_that_is_not_there_is_an_unknown_object,
    a_dropped_table_is_gone,
    a_second_row_of_a_key_is_refused_as_a_constraint,
    null_is_refused_where_a_column_must_not_be,
    rows_are_deleted_by_their_texts_and_all_at_once,
)


_LOADED = ("tables", "stored rows")
_MANY = 5000
_TYPES: Mapping[str, Callable[[int], object]] = {
    "smallint": lambda n: n % 1000,
    "int": lambda n: -n,
    "bigint": lambda n: n << 40,
    "decimal(12,3)": lambda n: f"{n}.{n % 1000:03}",
    "float": lambda n: n / 4,
    "double": lambda n: n / 8,
    "char(6)": lambda n: f"c{n:05}",
    "varchar(20)": lambda n: f"é{n}",
    "text": lambda n: "☃" * (n % 7),
    "date": lambda n: f"{1900 + n % 200}-0{1 + n % 9}-1{n % 10}",
    "timestamp": lambda n: f"2026-0{1 + n % 9}-11 1{n % 10}:00:00.{n % 1000:03}",
    "bool": lambda n: n % 2 == 0,
    "bytes": lambda n: bytes([n % 256]) * (n % 5),
}
"""A value of each neutral type for every row number."""


def _row(number: int) -> Row:
    """Every seventh value is NULL, of each column in another row."""
    cells = [
        None if (number + place) % 7 == 0 else value(number)
        for place, value in enumerate(_TYPES.values())
    ]
    return (number, *cells)


@requirement(*_LOADED)
def thousands_of_rows_of_every_type_are_loaded(subject: Subject) -> None:
    columns = [Column(f"c{place}", word) for place, word in enumerate(_TYPES)]
    subject.load(subject.made("every_type", *columns), [_row(number) for number in range(_MANY)])


class _SourceEnds(Exception):
    """What the source of the rows raises."""


def _breaking(rows: int) -> Iterator[Row]:
    for number in range(rows):
        yield (number, 0)
    raise _SourceEnds


@requirement(*_LOADED, "transactions")
def a_load_whose_source_breaks_leaves_nothing(subject: Subject) -> None:
    table = subject.made("broken", Column("value", "int"))
    try:
        fill(subject.deployment, subject.dialect, [table], lambda: {table.name: _breaking(_MANY)})
    except _SourceEnds:
        subject.insist_on_count(table, 0)
        subject.load(table, [(1, 1)])
    else:
        raise NotMet("expected the error of the source, and the load has ended without")


@requirement(*_LOADED, "transactions", "unique keys")
def a_load_with_a_refused_row_leaves_nothing(subject: Subject) -> None:
    table = subject.made("refused", Column("value", "int"))
    rows: list[Row] = [(number, 0) for number in range(_MANY)]
    error = subject.refusal_of_load(
        table, [*rows, (_MANY // 2, 1), *((n + _MANY, 0) for n in range(9))]
    )
    insist_on_class(RefusedStatement.of(error), "constraint")
    subject.insist_on_count(table, 0)
    subject.load(table, [(1, 1)])


OF_LOADING = (
    thousands_of_rows_of_every_type_are_loaded,
    a_load_whose_source_breaks_leaves_nothing,
    a_load_with_a_refused_row_leaves_nothing,
)


_STORED_BY_SESSIONS = ("tables", "stored rows")
_SESSIONS = 20


@requirement("tables")
def sessions_of_many_clients_can_be_open_at_once(subject: Subject) -> None:
    table = subject.made("many", Column("value", "int"))
    question = subject.question(table)
    observed = subject.drive([question], clients=_SESSIONS, stop={"passes": 10})
    _insist_on_ok(observed.outcomes.ok, 10 * _SESSIONS)


@requirement("tables")
def each_transaction_can_have_a_session_of_its_own(subject: Subject) -> None:
    table = subject.made("own", Column("value", "int"))
    question = subject.question(table)
    more = {"connect_each_transaction": True, "stop": {"passes": _SESSIONS}}
    _insist_on_ok(subject.drive([question], **more).outcomes.ok, _SESSIONS)


@requirement(*_STORED_BY_SESSIONS)
def an_error_is_of_its_statement_and_not_of_its_session(subject: Subject) -> None:
    """Every second transaction fails, each with its class and without effect."""
    table = subject.made("errors", Column("value", "int"))
    observed = subject.drive(
        [subject.question(table), subject.dialect.exists("verify_nothing")],
        protocol="simple",
        stop={"passes": 10},
    )
    _insist_on_ok(observed.outcomes.ok, 10)
    found = [(one.class_, one.certainty, one.count) for one in observed.errors]
    if found != [("unknown object", "undone", 10)]:
        raise NotMet(
            f"expected 10 errors of the class unknown object without effect, found {found}"
        )
    if observed.reconnects:
        raise NotMet(f"the client had to reconnect {observed.reconnects} times")


@requirement(*_STORED_BY_SESSIONS, "cancel", spellings=(LongStatement,))
def a_statement_that_takes_too_long_is_cancelled(subject: Subject) -> None:
    """At the end of the run; behind it the table can be dropped at once, which a statement still
    at work would not let happen."""
    assert isinstance(subject.dialect, LongStatement)
    table = subject.made("long", Column("value", "int"))
    subject.load(table, [(number, number) for number in range(1000)])
    statement = subject.dialect.long_statement(table, "value")
    observed = subject.drive(
        [statement], protocol="simple", order="mix", stop={"duration_s": 0.3}, drain_s=0.3
    )
    if observed.unfinished is None or observed.unfinished.cancelled != 1:
        raise NotMet(f"expected that it is cancelled, found {observed.unfinished}")
    if observed.outcomes.unknown != 1:
        raise NotMet(f"expected one transaction of unknown effect, found {observed.outcomes}")
    subject.execute(*subject.dialect.drop_table(table))


@requirement(*_STORED_BY_SESSIONS)
def where_there_is_no_system_the_connection_is_refused(subject: Subject) -> None:
    nowhere = _nowhere(subject.deployment.address)
    try:
        with session(nowhere):
            pass
    except SystemUnderTestError as error:
        found = getattr(error, "error_class", type(error).__name__)
        if found != "connection refused":
            raise NotMet(
                f"expected the class connection refused, found {found}: {error}"
            ) from error
    else:
        raise NotMet("a session was opened where nothing listens")


@requirement(needs_url=True)
def a_wrong_password_is_refused(subject: Subject) -> None:
    address = subject.deployment.address
    if not address.password:
        raise CannotBeTried("the URL has no password")
    wrong = structs.replace(
        address, password=f"{address.password}-not", connect_timeout_s=TIMEOUT_S
    )
    try:
        with session(wrong) as opened:
            opened.execute(subject.dialect.exists("verify_nothing"))
    except SystemUnderTestError as error:
        found = getattr(error, "error_class", type(error).__name__)
        if found not in ("authentication", "permission"):
            raise NotMet(f"expected the class authentication, found {found}: {error}") from error
    else:
        raise NotMet("a session was opened with a wrong password")


def _nowhere(address: Address) -> Address:
    """The address with a socket, a folder or a port at which there is nothing."""
    if address.unix is not None:
        return structs.replace(address, unix=f"{address.unix}-not")
    if address.file is not None:
        return structs.replace(address, file=f"{address.file}-not/database")
    if address.host is None:
        raise CannotBeTried("the driver is given no socket, file or port that can be changed")
    return structs.replace(address, port=free_port(), connect_timeout_s=5.0)


def _insist_on_ok(status: int, expected: int) -> None:
    if status != expected:
        raise NotMet(f"expected {expected} transactions that end ok, found {status}")


OF_SESSIONS = (
    sessions_of_many_clients_can_be_open_at_once,
    each_transaction_can_have_a_session_of_its_own,
    an_error_is_of_its_statement_and_not_of_its_session,
    a_statement_that_takes_too_long_is_cancelled,
    where_there_is_no_system_the_connection_is_refused,
    a_wrong_password_is_refused,
)
