"""Transactions are atomic and isolated, and a server keeps what was committed through a stop and
through a crash; it says what it is, how large its data are and what it uses."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psutil
from msgspec import Struct

from assay import _engine
from assay.contracts.dialects import Column, SingleRows, Table
from assay.contracts.engine import DeploymentDocument
from assay.contracts.systems.abilities import BufferSize, CrashReport, Restartable, Sampled, Sized
from assay.lab.conformance.requirement import (
    TIMEOUT_S,
    CannotBeTried,
    NotMet,
    RefusedStatement,
    Subject,
    insist_on_class,
    refused,
    requirement,
)
from assay.systems.options import BUFFER, size_bytes

_NEEDS = ("tables", "stored rows", "transactions")
_TRY_AGAIN = ("deadlock", "serialization")


def _table(subject: Subject, name: str, rows: int) -> tuple[Table, SingleRows]:
    """A table of rows whose value is 0, and the dialect that changes them."""
    dialect = subject.dialect
    assert isinstance(dialect, SingleRows)
    table = subject.made(name, Column("value", "int"))
    subject.load(table, [(number, 0) for number in range(1, rows + 1)])
    return table, dialect


@requirement(*_NEEDS, spellings=(SingleRows,))
def what_is_rolled_back_has_no_effect(subject: Subject) -> None:
    table, rows = _table(subject, "rolled_back", 1)
    dialect = subject.dialect
    changes = [rows.insert_row(table, ["2", "2"]), rows.update_row(table, "value", "7", "id", "1")]
    subject.execute(*dialect.begin(), *changes, *dialect.rollback())
    _insist_on(subject, table, [("1", "0")])
    subject.execute(*dialect.begin(), *changes)  # the session ends in its transaction
    _insist_on(subject, table, [("1", "0")])
    subject.execute(*dialect.begin(), *changes, *dialect.commit())
    _insist_on(subject, table, [("1", "7"), ("2", "2")])


@requirement(*_NEEDS, spellings=(SingleRows,))
def what_is_not_committed_is_not_seen(subject: Subject) -> None:
    table, rows = _table(subject, "not_seen", 1)
    with subject.session() as writer:
        for statement in [*subject.dialect.begin(), rows.insert_row(table, ["2", "2"])]:
            writer.execute(statement)
        subject.insist_on_count(table, 1)
        for statement in subject.dialect.commit():
            writer.execute(statement)
        subject.insist_on_count(table, 2)


@requirement(*_NEEDS, "unique keys", spellings=(SingleRows,))
def a_transaction_with_an_error_can_be_rolled_back(subject: Subject) -> None:
    table, rows = _table(subject, "with_error", 1)
    with subject.session() as opened:
        for statement in [*subject.dialect.begin(), rows.insert_row(table, ["2", "2"])]:
            opened.execute(statement)
        again = refused(opened, rows.insert_row(table, ["1", "1"]))
        insist_on_class(again, "constraint")
        for statement in subject.dialect.rollback():
            opened.execute(statement)
        opened.execute(rows.insert_row(table, ["3", "3"]))
    _insist_on(subject, table, [("1", "0"), ("3", "3")])


@requirement(*_NEEDS, spellings=(SingleRows,))
def of_two_that_wait_for_each_other_one_gives_way(subject: Subject) -> None:
    """Both update two rows, in opposite order. What has not to wait may also commit both; or, where
    a conflict is refused at once, refuse both, of which each can be tried again."""
    table, rows = _table(subject, "deadlock", 2)

    def update(value: int, keys: tuple[int, int]) -> Transaction:
        first, second = (rows.update_row(table, "value", f"{value}", "id", f"{k}") for k in keys)
        return Transaction([*subject.dialect.begin(), first], [second, *subject.dialect.commit()])

    refusals = run_at_once(subject, [update(10, (1, 2)), update(20, (2, 1))])
    if all(one is not None and one.error_class == "serialization" for one in refusals):
        refusals = run_at_once(subject, [update(10, (1, 2))])
    _insist_that_one_commits(refusals)
    found = {value for _, value in subject.rows(table)}
    if len(found) != 1 or "0" in found:
        raise NotMet(f"expected both values of one transaction, found {sorted(map(str, found))}")


@requirement(*_NEEDS, "isolation levels", spellings=(SingleRows,), isolation_level="serializable")
def serializable_transactions_have_an_order(subject: Subject) -> None:
    """Each reads both rows and then changes the one that the other leaves: in no order would both
    have found zeros."""
    table, rows = _table(subject, "serializable", 2)
    dialect = subject.dialect
    read = dialect.read_all(table.name, ["id", "value"])

    def change(key: int) -> Transaction:
        update = rows.update_row(table, "value", "1", "id", f"{key}")
        return Transaction([*dialect.begin_at("serializable"), read], [update, *dialect.commit()])

    _insist_that_one_commits(run_at_once(subject, [change(1), change(2)]))
    if [value for _, value in subject.rows(table)] == ["1", "1"]:
        raise NotMet("both have committed, and each has read what was before the other")


@requirement(*_NEEDS, "isolation levels")
def every_isolation_level_can_be_asked_for(subject: Subject) -> None:
    dialect = subject.dialect
    table = subject.made("levels", Column("value", "int"))
    read = subject.question(table)
    for level in dialect.isolation_levels:
        subject.execute(*dialect.session_isolation(level), read)
        subject.execute(*dialect.begin_at(level), read, *dialect.commit())


@requirement(*_NEEDS, "read only sessions", spellings=(SingleRows,))
def a_read_only_session_changes_nothing(subject: Subject) -> None:
    table, rows = _table(subject, "read_only", 1)
    dialect = subject.dialect
    with subject.session() as opened:
        for statement in dialect.session_read_only():
            opened.execute(statement)
        opened.execute(subject.question(table))
        try:
            opened.execute(rows.insert_row(table, ["2", "2"]))
        except _engine.EngineError as error:
            if error.code not in dialect.read_only_codes:
                known = ", ".join(dialect.read_only_codes)
                raise NotMet(f"expected an error {known}, found {error.code}: {error}") from error
        else:
            raise NotMet("it has inserted a row")
    subject.insist_on_count(table, 1)


def _insist_on(subject: Subject, table: Table, expected: list[tuple[str, str]]) -> None:
    if (found := subject.rows(table)) != expected:
        raise NotMet(f"expected the rows {expected}, found {found}")


def _insist_that_one_commits(refusals: list[RefusedStatement | None]) -> None:
    for refusal in refusals:
        if refusal is not None:
            insist_on_class(refusal, *_TRY_AGAIN)
    if None not in refusals:
        raise NotMet("neither of the two has committed")


OF_TRANSACTIONS = (
    what_is_rolled_back_has_no_effect,
    what_is_not_committed_is_not_seen,
    a_transaction_with_an_error_can_be_rolled_back,
    of_two_that_wait_for_each_other_one_gives_way,
    serializable_transactions_have_an_order,
    every_isolation_level_can_be_asked_for,
    a_read_only_session_changes_nothing,
)


_WAIT_S = 2.0
"""A session that waits for another's lock gets no further: the others continue without it."""


class Transaction(Struct, frozen=True):
    """Its statements, begin and commit included."""

    before: Sequence[str]
    after: Sequence[str]
    """Once every session is through with the statements before."""


def run_at_once(
    subject: Subject, transactions: Sequence[Transaction]
) -> list[RefusedStatement | None]:
    """Runs the transactions, each in a session and a thread; returns the error of each. One with an
    error ends with its session."""
    all_through = threading.Barrier(len(transactions))

    def run(transaction: Transaction) -> RefusedStatement | None:
        with subject.session() as opened:
            try:
                for statement in transaction.before:
                    opened.execute(statement)
                with suppress(threading.BrokenBarrierError):
                    all_through.wait(_WAIT_S)
                for statement in transaction.after:
                    opened.execute(statement)
            except _engine.EngineError as error:
                # The session ends here, and an open transaction with it.
                return RefusedStatement.of(error)
        return None

    with ThreadPoolExecutor(len(transactions)) as threads:
        return list(threads.map(run, transactions))


_STORED = ("tables", "stored rows")


@requirement()
def its_version_and_settings_are_read(subject: Subject) -> None:
    deployment = subject.deployment
    with subject.session() as opened:
        if not deployment.version.strip():
            raise NotMet("it does not say its version")
        # A deployment may name further programs behind that of the session.
        if deployment.is_private and not deployment.version.startswith(opened.server_version):
            raise NotMet(
                f"a session says the version {opened.server_version!r}, the deployment "
                f"{deployment.version!r}"
            )
    asked = {name.lower() for name in deployment.settings_asked}
    if unread := asked - {name.lower() for name in deployment.settings}:
        raise NotMet(f"settings that were asked for are not read back: {', '.join(unread)}")


@requirement(abilities=(BufferSize,))
def its_buffer_has_the_size_that_was_asked_for(subject: Subject) -> None:
    assert isinstance(subject.system, BufferSize)
    found = subject.system.buffer_bytes(subject.deployment)
    if found is None:
        raise CannotBeTried(f"{subject.system.name} does not report the size of its buffer")
    word = subject.running.choice.options.get(BUFFER.name)
    asked = size_bytes(BUFFER.name, word) if word else None
    # Some round it up to whole pages or chunks, or show it rounded.
    if found <= 0 or (asked is not None and abs(found - asked) > asked / 20):
        raise NotMet(f"asked for {word or 'none'}, it reports {found} bytes")


@requirement(*_STORED, abilities=(Sized,))
def its_size_on_disk_grows_with_its_data(subject: Subject) -> None:
    system = subject.system
    assert isinstance(system, Sized)
    table = subject.made("size", Column("b", "bytes"))
    before = system.size_on_disk_bytes(subject.deployment)
    subject.load(table, [(number, os.urandom(4000)) for number in range(1000)])
    subject.execute(*subject.dialect.after_load([table]))
    on_disk, data = (
        system.size_on_disk_bytes(subject.deployment),
        system.data_bytes(subject.deployment),
    )
    if on_disk - before < 3_000_000 or data < 3_000_000:
        raise NotMet(
            f"4 MB that cannot be compressed made {on_disk - before} bytes on disk, and "
            f"data of {data} bytes"
        )


@requirement(abilities=(Sampled,))
def what_its_processes_use_is_seen(subject: Subject) -> None:
    assert isinstance(subject.system, Sampled)
    sample = subject.system.sample(subject.deployment)
    if sample is None:
        raise CannotBeTried("its processes are not on this machine")
    if min(sample.processes, sample.threads, sample.resident_bytes, sample.cpu_ns) <= 0:
        raise NotMet(f"expected processes, threads, memory and CPU time, found {sample}")


@requirement(*_STORED, "restart", abilities=(Restartable,))
def a_stopped_server_keeps_its_rows(subject: Subject) -> None:
    subject.insist_on_a_private_server()
    table = _kept(subject, "stopped")
    if not subject.running.stop():
        raise NotMet("it did not stop in order, and had to be killed")
    subject.running.start()
    subject.insist_on_count(table, 100)


@requirement(*_STORED, "restart", abilities=(Restartable, CrashReport))
def a_killed_server_keeps_what_was_committed(subject: Subject) -> None:
    """By SIGKILL, with a transaction under way where there are transactions. A library is killed
    with the process that it works in."""
    subject.insist_on_a_private_server()
    if lowered := subject.deployment.durability_lowered_by:
        raise CannotBeTried(f"a commit may be lost in a crash with {', '.join(lowered)}")
    table = _kept(subject, "killed")
    if subject.deployment.is_embedded:
        # Some libraries let one process at a time have a file open.
        deployment, statements = subject.address.for_engine(), _under_way(subject, table)
        subject.running.stop()
        _killed_beside_us(deployment, statements)
        subject.running.start()
    else:
        _kill_the_server(subject, _under_way(subject, table))
        subject.running.stop()
        subject.running.start()
    subject.insist_on_count(table, 100)
    subject.load(subject.made("killed_after", Column("value", "int")), [(1, 1)])


def _kept(subject: Subject, name: str) -> Table:
    table = subject.made(name, Column("value", "int"))
    subject.load(table, [(number, 0) for number in range(100)])
    return table


def _under_way(subject: Subject, table: Table) -> list[str]:
    dialect = subject.dialect
    begin = dialect.begin()
    if not begin or not isinstance(dialect, SingleRows):
        return []
    return [*begin, dialect.insert_row(table, ["1000", "1"])]


def _kill_the_server(subject: Subject, statements: list[str]) -> None:
    system = subject.system
    assert isinstance(system, CrashReport)
    deployment = subject.deployment
    with contextlib.suppress(Exception), subject.session() as opened:
        for statement in statements:
            opened.execute(statement)
        for node in deployment.nodes:
            family = psutil.Process(node.pid)
            for process in [family, *family.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
    deadline = time.monotonic() + TIMEOUT_S
    while system.why_it_died(deployment) is None:
        if time.monotonic() > deadline:
            raise NotMet("it was killed, and it is not noticed that it is dead")
        time.sleep(0.02)


_CHILD = """
import json, os, signal, sys
from assay import _engine
asked = json.load(sys.stdin)
session = _engine.Session(asked["deployment"])
for statement in asked["statements"]:
    session.execute(statement)
os.kill(os.getpid(), signal.SIGKILL)
"""


def _killed_beside_us(deployment: DeploymentDocument, statements: list[str]) -> None:
    asked = {"deployment": deployment.json, "statements": statements}
    ended = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if ended.returncode != -signal.SIGKILL:
        raise NotMet(f"another process cannot work with its files: {ended.stderr.strip()[-300:]}")


OF_SERVER = (
    its_size_on_disk_grows_with_its_data,
    its_version_and_settings_are_read,
    its_buffer_has_the_size_that_was_asked_for,
    what_its_processes_use_is_seen,
    a_stopped_server_keeps_its_rows,
    a_killed_server_keeps_what_was_committed,
)
