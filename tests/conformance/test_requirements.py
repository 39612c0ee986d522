"""What every system must do is tried; runs that would not end are ended."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import psutil
import pytest

from able import one_of_each_line
from assay import registry
from assay.contracts.documents import ScriptDocument
from assay.contracts.engine import DriveDocument, StopDocument
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.observation import Unfinished
from assay.contracts.storage_facts import StorageFacts
from assay.drive.observe import observe
from assay.experiment.choices.checked_choices import system_choice
from assay.lab.conformance.requirement import Finding, Requirement, Subject, requirement
from assay.lab.conformance.statements import where_there_is_no_system_the_connection_is_refused
from assay.lab.conformance.verify import REQUIREMENTS, verify
from assay.record import DEFAULT_FILE_NAME, Store
from assay.systems import System
from commands import Assay, need
from forked_programs import Started
from running import said_until, server_of, started, wait_for_second
from servers import SERVERS, ask, directory_for_servers, provisioned
from waiting import HANG_S

OF_MODULES = [name for name in registry.systems() if name != "null"]
CHOICES = {
    "cassandra": SystemChoice(
        "cassandra",
        options={"buffer": "256MB"},
        settings={"commitlog_sync": "batch", "auto_snapshot": "false"},
    )
}
"""Where a system keeps what it has committed through a crash only if it is asked to; and a copy of
each table that is dropped unless it is asked not to."""


@cache
def findings(system: str, directory: str) -> dict[str, Finding]:
    """Of a deployment that serves all requirements."""
    storage = StorageChoice(directory=directory)
    choice = CHOICES.get(system, SystemChoice(system))
    return {one.requirement.name: one for one in verify(choice, storage)}


@pytest.fixture(scope="module")
def place() -> Iterator[StorageFacts]:
    with directory_for_servers() as storage:
        yield storage


@pytest.mark.parametrize("one", REQUIREMENTS, ids=lambda one: one.name.replace(" ", "_"))
@pytest.mark.parametrize("system", OF_MODULES)
def test_it_is_met_where_it_is_applicable(
    system: str, one: Requirement, place: StorageFacts
) -> None:
    reason = one.why_not_applicable(registry.system(system), SystemChoice(system))
    if reason is not None:
        pytest.skip(reason)
    need(system)
    finding = findings(system, place.directory)[one.name]
    if finding.result == "not applicable" and registry.system(system).driver == "dbapi":
        pytest.skip(finding.reason)  # a module may take its address in words of its own
    assert finding.result == "met", finding.reason


def test_what_a_system_lacks_is_said_in_words() -> None:
    reasons = {
        one.why_not_applicable(registry.system(name), SystemChoice(name))
        for name in registry.systems()
        for one in REQUIREMENTS
    }
    assert "msql does not report the size of its data" in reasons
    assert not [one for one in reasons if one and re.search("[a-z][A-Z]", one)], "a class's name"


def test_the_null_system_meets_what_needs_no_stored_rows(assay: Assay) -> None:
    done = assay("verify", "null", "--format", "json")
    assert done.status == 0, done.err
    results = {row["requirement"]: row for row in done.document}
    assert set(results) == {one.name for one in REQUIREMENTS}
    assert results["an empty table has no rows"]["result"] == "met"
    kept = results["texts are kept letter by letter"]
    assert kept["result"] == "not applicable" and "stored rows" in kept["reason"]


def test_what_is_not_met_says_what_was_found_and_does_not_stop_the_others() -> None:
    """The null system takes every statement and stores nothing."""

    @requirement()
    def plain_mistakes_of_a_plugin(subject: Subject) -> None:
        raise TypeError(subject.system.name)

    @requirement()
    def it_refuses_a_text(subject: Subject) -> None:
        subject.refusal("this is no statement")

    @requirement("tables")
    def it_stores_rows(subject: Subject) -> None:
        subject.load(subject.made("rows"), [(1,), (2,)])

    @requirement()
    def it_is_there(subject: Subject) -> None:
        subject.execute("anything")

    asked = (plain_mistakes_of_a_plugin, it_refuses_a_text, it_stores_rows, it_is_there)
    found = list(verify(SystemChoice("null"), StorageChoice(), asked))
    assert [one.result for one in found] == ["not met", "not met", "not met", "met"]
    reasons = [one.reason for one in found]
    assert reasons[0] == "TypeError: null"
    assert "this is no statement" in reasons[1]
    assert "sent (1)" in reasons[2] and "found nothing" in reasons[2]


def test_a_system_that_does_not_do_what_it_says_ends_with_status_1(assay: Assay) -> None:
    unreachable = "postgresql://u@127.0.0.1:1/d"
    done = assay("verify", "null[fail=syntax@0.9]", unreachable, "null", "--format", "csv")
    assert done.status == 1
    assert "postgresql at 127.0.0.1: not verified: " in done.err
    assert "not met: an empty table has no rows: " in done.err
    assert done.out.count("\n") == 1 + 2 * len(REQUIREMENTS)


def test_an_address_of_a_module_without_a_place_to_change_cannot_be_tried(tmp_path: Path) -> None:
    choice = system_choice(f"dbapi:sqlite3[database={tmp_path / 'verified.db'}]")
    asked = (where_there_is_no_system_the_connection_is_refused,)
    (tried,) = verify(choice, StorageChoice(), asked)
    assert tried.result == "not applicable"
    assert tried.reason == "the driver is given no socket, file or port that can be changed"


PAUSES = ("--think-time", "constant:10ms")
"""The clients need not be fast."""


# Not SLEEP on MariaDB, which may need two seconds to kill it.
ENDLESS = {
    "postgresql": "select pg_sleep(600)",
    "mariadb": "select benchmark(1000000000000, md5('a'))",
    "mysql": "select benchmark(1000000000000, sha2('a', 256))",
}
UNDER_WAY = {
    "postgresql": "select count(*) from pg_stat_activity where query like 'select pg_sleep%'"
    " and state = 'active'",
    "mariadb": "select count(*) from information_schema.processlist"
    " where info like 'select benchmark%'",
    "mysql": "select count(*) from performance_schema.processlist"
    " where info like 'select benchmark%'",
}


@pytest.mark.parametrize("server", one_of_each_line(SERVERS), indirect=True)
def test_timed_out_statements_are_cancelled_on_the_server(
    server: System, storage: StorageFacts
) -> None:
    script = ScriptDocument(name="endless", path="endless.sql", text=ENDLESS[server.name])
    document = DriveDocument(
        scripts=(script,),
        order="mix",
        clients=3,
        threads=2,
        stop=StopDocument(duration_s=1.0),
        drain_s=0.3,
        seed=1,
    )
    with provisioned(server, storage) as deployment:
        observation = observe(deployment, document)
        assert observation.outcomes.unknown == 3
        assert observation.unfinished == Unfinished(transactions=3, cancelled=3, limit_s=0.3)
        assert ask(deployment, UNDER_WAY[server.name]) == [("0",)]


def stopped(child: Started) -> list[psutil.Process]:
    """The server's processes, all stopped now."""
    family = [server_of(child), *server_of(child).children(recursive=True)]
    for one in family:
        one.suspend()
    return family


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_ctrl_c_removes_a_stopped_server(working_folder: Path, system: str) -> None:
    need(system)
    (working_folder / "read.sql").write_text("select 1;\n")
    words = ("run", "read.sql", "--on", system, "--clients", "3", "--duration", "600", *PAUSES)
    with started(working_folder, *words) as child:
        wait_for_second(working_folder)
        family = stopped(child)
        child.send_signal(signal.SIGINT)
        _, message = child.communicate(timeout=HANG_S)
    assert child.returncode == 130, message
    assert "SIGINT: stopping; press Ctrl-C again to stop at once" in message
    assert not [one for one in family if one.is_running()], message


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_a_stopped_server_does_not_hold_a_run_beyond_its_limit(
    working_folder: Path, system: str
) -> None:
    need(system)
    (working_folder / "read.sql").write_text("select 1;\n")
    words = ("run", "read.sql", "--on", system, "--duration", "15", "--drain", "1.5", *PAUSES)
    with started(working_folder, *words) as child:
        wait_for_second(working_folder)
        family = stopped(child)
        _, message = child.communicate(timeout=HANG_S)
    assert child.returncode == 3, message
    assert "waiting up to 1.5 s (--drain)" in message
    assert not [one for one in family if one.is_running()], message
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert run.state == "failed" and "--drain" in (run.reason or "")
    assert run.driven is not None
    assert run.driven.unfinished == Unfinished(1, 0, limit_s=1.5, responds=False)


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_ctrl_c_ends_a_load_into_a_stopped_server(working_folder: Path, system: str) -> None:
    need(system)
    words = ("run", "tpcb", "--on", system, "--set", "scale=500")
    with started(working_folder, *words) as child:
        said_until(child, "  load")
        time.sleep(0.5)
        family = stopped(child)
        child.send_signal(signal.SIGINT)
        _, message = child.communicate(timeout=HANG_S)
    assert child.returncode == 130, message
    assert not [one for one in family if one.is_running()], message
