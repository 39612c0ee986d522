"""Sessions begin, end, are lost and are cancelled as the engine's clients need it."""

from __future__ import annotations

from dataclasses import replace

from assay.contracts.deployment import Address
from assay.contracts.dialects.protocol import Column, LongStatement
from assay.errors import SystemUnderTestError
from assay.lab.conformance.failures import CannotBeTried, NotMet
from assay.lab.conformance.requirement import requirement
from assay.lab.conformance.subject import TIMEOUT_S, Subject
from assay.provision.engine.session import session
from assay.provision.machine.ports import free_port

_STORED = ("tables", "stored rows")
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


@requirement(*_STORED)
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


@requirement(*_STORED, "cancel", spellings=(LongStatement,))
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


@requirement(*_STORED)
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
    wrong = replace(address, password=f"{address.password}-not", connect_timeout_s=TIMEOUT_S)
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
        return replace(address, unix=f"{address.unix}-not")
    if address.file is not None:
        return replace(address, file=f"{address.file}-not/database")
    if address.host is None:
        raise CannotBeTried("the driver is given no socket, file or port that can be changed")
    return replace(address, port=free_port(), connect_timeout_s=5.0)


def _insist_on_ok(status: int, expected: int) -> None:
    if status != expected:
        raise NotMet(f"expected {expected} transactions that end ok, found {status}")


REQUIREMENTS = (
    sessions_of_many_clients_can_be_open_at_once,
    each_transaction_can_have_a_session_of_its_own,
    an_error_is_of_its_statement_and_not_of_its_session,
    a_statement_that_takes_too_long_is_cancelled,
    where_there_is_no_system_the_connection_is_refused,
    a_wrong_password_is_refused,
)
