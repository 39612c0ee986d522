"""What clients are driven with: their endpoints, pace, isolation and what a system goes without;
and how late replicas are."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import structs

import invented_records as invented
import observations
from assay import _engine, registry
from assay.contracts.deployment import (
    PRIMARY,
    STANDBY,
    Address,
    ClusterMember,
    Deployment,
    Node,
    Role,
)
from assay.contracts.engine import DriveDocument, GroupDocument
from assay.contracts.observation import Observation, read_observation
from assay.contracts.observation.merging import merge
from assay.contracts.storage_facts import StorageFacts
from assay.dialects.cubrid import CUBRID
from assay.dialects.duckdb import DUCKDB
from assay.dialects.postgresql import POSTGRESQL
from assay.dialects.sqlite import SQLITE
from assay.drive import staleness_process
from assay.drive.document import document_of, scripts_of
from assay.drive.observe import Pace, at_work, found_pace, sessions_at_each, split_document
from assay.drive.prepare import _what_is_compiled
from assay.drive.query import StatementAnswer
from assay.drive.staleness import reports
from assay.drive.staleness_process import Findings, NumberAge, Order, Replica, measure
from assay.drive.substitutes import begins_transaction
from assay.errors import ExperimentError
from assay.experiment import StorageChoice, SystemChoice
from assay.judge import judge_run
from assay.judge.result_checks import check_dumps
from assay.judge.warning_kinds import WarningKind
from assay.lab.refusal import why_lacking
from assay.plan import PlannedRun, drives
from assay.workload import reader
from commands import need
from step_workloads import folder_of, ran

HOSTS = {"a": PRIMARY, "b": STANDBY, "c": STANDBY}
DELAYS_MS = {"a": 1, "b": 4, "c": 12}
WRITERS = {"name": "writers", "scripts": ["write"], "clients": 2, "stop": {"passes": 30}}
READERS = {
    "name": "readers",
    "scripts": ["read", "write"],
    "clients": 5,
    "read": "replica",
    "stop": {"passes": 10},
}


def endpoint(host: str) -> dict[str, Any]:
    options = {"deployment": f"endpoint {host}", "delay": f"constant:{DELAYS_MS[host]}ms"}
    is_replica = HOSTS[host] == STANDBY
    return {"driver": "null", "name": host, "is_replica": is_replica, "options": options}


def driven(hosts: str = "abc", **changes: Any) -> Observation:
    """Of the null system, whose endpoints answer after different times."""
    document = {
        "deployment": {"driver": "null", "endpoints": [endpoint(host) for host in hosts]},
        "scripts": [
            {"name": "read", "path": "read.sql", "text": "SELECT 1;\n"},
            {"name": "write", "path": "write.sql", "text": "SELECT 2;\n"},
        ],
        "groups": [WRITERS, READERS],
        "seed": 1,
        **changes,
    }
    return read_observation(json.loads(_engine.drive(json.dumps(document))))


def test_each_endpoint_has_the_counts_and_the_times_of_its_own_clients() -> None:
    writers, readers = driven().groups
    assert [(one.name, one.is_replica, one.clients, one.ok) for one in writers.endpoints] == [
        ("a", False, 2, 60)
    ]
    # Clients are numbered over all groups: these are 2 to 6.
    assert [(one.name, one.is_replica, one.clients, one.ok) for one in readers.endpoints] == [
        ("b", True, 3, 60),
        ("c", True, 2, 40),
    ]
    assert readers.outcomes.ok == 100
    assert [one.name for one in readers.outcomes_by_transaction] == ["read", "write"]
    for one in (*writers.endpoints, *readers.endpoints):
        least_ns = one.all_ok.latency.min_ns
        assert least_ns >= DELAYS_MS[one.name] * 1_000_000
        assert one.all_ok.count == one.ok
    b, c = readers.endpoints
    assert b.all_ok.latency.min_ns < c.all_ok.latency.min_ns
    rates = sum(one.throughput_per_s for one in readers.endpoints)
    assert rates == pytest.approx(readers.throughput_per_s)


def test_what_several_machines_did_at_an_endpoint_adds_up() -> None:
    whole = driven(groups=[READERS])
    parts = split_document(
        DriveDocument(scripts=(), seed=1, groups=(GroupDocument(order="sequence", **READERS),)), 2
    )
    driven_parts = [driven(groups=[json.loads(part.json)["groups"][0]], seed=1) for part in parts]
    (group,) = merge(driven_parts).groups
    found = {one.name: (one.clients, one.ok, one.all_ok.count) for one in group.endpoints}
    (alone,) = whole.groups
    assert found == {one.name: (one.clients, one.ok, one.all_ok.count) for one in alone.endpoints}
    assert sum(one.throughput_per_s for one in group.endpoints) == pytest.approx(
        group.throughput_per_s
    )


def test_the_sessions_of_each_server_are_those_that_the_engine_opens() -> None:
    """Both count by the rule: client c uses the endpoint at c mod n of those it reads at."""
    address = Address("null")
    deployment = Deployment(
        system="null",
        label="null",
        nodes=tuple(Node(host, StorageFacts.of_url()) for host in HOSTS),
        endpoints=tuple(structs.replace(address, host=host) for host in HOSTS),
        members=tuple(ClusterMember(host, Role(role)) for host, role in HOSTS.items()),
        version="1",
        options={},
        settings_asked={},
        settings={},
    )
    for read in ("primary", "replica", "any"):
        groups = [WRITERS, {**READERS, "read": read}]
        document = DriveDocument(
            scripts=(),
            seed=1,
            groups=tuple(GroupDocument(order="sequence", **one) for one in groups),
        )
        counted = [clients for _, clients in sessions_at_each(deployment, document)]
        opened = dict.fromkeys(HOSTS, 0)
        for group in driven(groups=groups).groups:
            for one in group.endpoints:
                opened[one.name] += one.clients
        assert counted == list(opened.values()), read
    apart = GroupDocument(order="sequence", **{**READERS, "read": {"read": "replica"}})
    document = DriveDocument(scripts=(), seed=1, groups=(apart,))
    # Each of the five has one for what it writes, and one for what it reads.
    assert [count for _, count in sessions_at_each(deployment, document)] == [5, 3, 2]


WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "pay"

[data]
source = "none"

[tests.pay]
title = "Pay"
help = "All of it"
scripts = ["pay"]
passes = 1
needs = ["transactions"]
retries = 5
"""
GOES_WITHOUT = '\n[tests.pay.goes_without]\njson = ["transactions"]\n'
SQL = "\\begin\nupdate t set a = 1;\n\\commit\n"
JSON = """\
\\if :has_transactions
\\begin
\\endif
{"update": "t", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]};
\\if :has_transactions
\\commit
\\endif
"""


def workload(folder: Path, more: str = GOES_WITHOUT) -> reader.Workload:
    (folder / "workload.toml").write_text(WORKLOAD + more, encoding="utf-8")
    (folder / "pay.sql").write_text(SQL, encoding="utf-8")
    (folder / "pay.json").write_text(JSON, encoding="utf-8")
    return reader.read(str(folder))


def run_on(system: str, url: str | None = None) -> PlannedRun:
    storage = StorageChoice("here", "here")
    (run,) = invented.plan([SystemChoice(system, url=url)], [storage], test="pay").runs
    driving = structs.replace(run.cell.driving, retries=5)
    levels = {**run.cell.levels, "protocol": "prepared"}
    return replace(run, cell=replace(run.cell, driving=driving, levels=levels))


def test_scripts_know_it_and_what_is_half_done_is_not_repeated(tmp_path: Path) -> None:
    declared, compiled = workload(tmp_path), []
    for system, url, has_it in (
        ("ferretdb", None, False),
        ("mongodb", "mongodb://127.0.0.1/shop", False),
        ("mongodb", "mongodb://127.0.0.1/shop?replicaSet=rs0", True),
        ("postgresql", None, True),
    ):
        run = run_on(system, url)
        (drive,) = drives.drives(declared, run)
        assert why_lacking(declared, run) is None
        dialect = registry.system(system).dialect
        document = document_of(declared, drive, dialect, scripts_of(declared, drive, dialect))
        assert document.variables["has_transactions"] is has_it
        assert ("retries" in document.json) is has_it
        compiled.append(_what_is_compiled(drive))
    assert compiled[1] != compiled[2], "of one server, not taken for another of its system"
    # Only systems of that language may lack it.
    assert "transactions" in str(why_lacking(declared, run_on("msql")))
    assert "transactions" in str(why_lacking(workload(tmp_path, ""), run_on("ferretdb")))


def test_the_run_says_what_it_went_without(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    record = invented.experiment(tmp_path / "records.sqlite", planned, 1.0)
    (run,) = record.runs
    lacking = invented.changed(run, "observation", went_without=["transactions"])
    _, warnings = judge_run(lacking)
    (warning,) = (one for one in warnings if one.name == WarningKind.WENT_WITHOUT.id)
    assert "without transactions (several statements" in warning.detail


def test_a_mistake_is_placed(tmp_path: Path) -> None:
    for line, complaint in (
        ('json = ["restart"]', "does not need 'restart'"),
        ('jsn = ["transactions"]', "no dialect is called 'jsn'"),
    ):
        with pytest.raises(ExperimentError) as refused:
            workload(tmp_path, f"\n[tests.pay.goes_without]\n{line}\n")
        assert complaint in str(refused.value)
        assert refused.value.line == 17


def test_a_missing_level_is_replaced_by_the_next_stronger_one() -> None:
    of_cubrid = begins_transaction(CUBRID)
    assert of_cubrid["read uncommitted"] == of_cubrid["read committed"]
    assert "REPEATABLE READ" in of_cubrid["repeatable read"][0]
    assert "serializable" not in of_cubrid, "none is as strong"
    # The only level of a system serves all that are not stronger.
    levels = begins_transaction(POSTGRESQL)
    assert begins_transaction(SQLITE) == dict.fromkeys(levels, SQLITE.begin())
    snapshots = ("read uncommitted", "read committed", "repeatable read")
    assert begins_transaction(DUCKDB) == dict.fromkeys(snapshots, DUCKDB.begin())


def test_a_level_that_the_system_does_not_have_is_said(tmp_path: Path) -> None:
    """Levels that no script names, and those that it has, are not; of levels for several settings
    only those of the branches that are taken, each by its place."""
    folder = folder_of(
        tmp_path,
        'scripts = ["one.sql", "two.sql"]\npasses = 1\n',
        one="\\begin read committed\nSELECT 1;\n\\commit\n",
        two="-- no \\begin repeatable read\n\\set strict 0\n\\if :strict\n\\begin repeatable read\n"
        "\\else\n\\begin serializable\n\\endif\nSELECT 1;\n\\commit\n",
    )
    (run,) = ran(folder, "sqlite").runs
    assert run.driven is not None
    assert run.driven.other_isolation == {"read committed": "serializable"}
    assert [(one.script, one.number, one.level) for one in run.driven.begun_levels] == [
        ("one", 0, "read committed"), ("two", 1, "serializable")
    ]  # fmt: skip
    (warning,) = (one for one in run.warnings if one.name == "isolation-raised")
    assert "read committed → serializable" in warning.detail
    assert "isolation" not in run.judged.reason, "it limits no number"


@pytest.mark.parametrize("level", ["serializable", "{strictest_level}"])
def test_a_weaker_level_that_an_override_or_a_word_names_is_said_and_limits_the_number(
    tmp_path: Path, level: str
) -> None:
    need("duckdb")
    test = 'scripts = ["one.sql"]\npasses = 1\n'
    folder = folder_of(tmp_path, test, one=f"\\begin {level}\nSELECT 1;\n\\commit\n")
    if level == "serializable":
        (folder / "overrides" / "duckdb").mkdir(parents=True)
        (folder / "overrides" / "duckdb" / "one.sql").write_text(
            "-- it has no such level\n\\begin repeatable read\nSELECT 1;\n\\commit\n"
        )
    (run,) = ran(folder, "duckdb").runs
    assert run.driven is not None
    assert run.driven.other_isolation == {"serializable": "repeatable read"}
    (warning,) = (one for one in run.warnings if one.name == "isolation-lowered")
    assert "serializable → repeatable read" in warning.detail
    assert "isolation" in run.judged.reason


def test_a_level_that_is_stronger_than_all_of_a_system_refuses_its_runs_alone(
    tmp_path: Path,
) -> None:
    """Before, the experiment ended with the error of a script that is right for others."""
    test = 'scripts = ["one.sql"]\npasses = 1\n'
    folder = folder_of(tmp_path, test, one="\\begin serializable\nSELECT 1;\n\\commit\n")
    other, sqlite = ran(folder, "cubrid", "sqlite").runs
    assert (other.state, sqlite.state) == ("refused", "done")
    assert other.reason == (
        "cubrid: one.sql begins a transaction that is serializable; the strongest level there is "
        "repeatable read"
    )


def test_how_many_clients_are_at_work_depends_on_when_they_end() -> None:
    # starts 0, 10, 20, 30, 40
    assert at_work([30, 40, 50, 60, 70], 10, 3) == [3, 3, 3]  # each takes 30
    assert at_work([15, 25, 35, 45], 10, 3) == [2, 2]
    assert at_work([100, 110, 120, 130], 10, 3) == [3, 4]


def test_concurrent_clients_load_the_system_no_more_than_one_without_pauses() -> None:
    pace = found_pace(Pace(), 3.0, 1000, 3, 0.2)
    own_s = 3.0 + 1000 * pace.pause_s
    assert (pace.stagger_s, own_s) == (4.0, 12.0)
    assert (3 + 1) * 3.0 / own_s == 1.0
    fast = found_pace(Pace(), 0.01, 100, 3, 0.2)
    assert fast.stagger_s == 0.2, "starts have a minimum distance"
    assert 0.01 + 100 * fast.pause_s == pytest.approx(3 * fast.stagger_s)
    assert found_pace(Pace(0.5, 0.01), 0.1, 100, 3, 0.2) == Pace(0.5, 0.01), "a given one is kept"


def _answer(*rows: tuple[str, ...]) -> StatementAnswer:
    return StatementAnswer(is_query=True, columns=("name", "exp"), rows=rows)


def test_a_dump_that_differs_keeps_each_row_that_is_missing_or_unexpected() -> None:
    expected = _answer(("A", "1"), ("B", "1"), ("B", "1"), ("C", "1"))
    found = _answer(("A", "1"), ("B", "1"), ("C", "2"))
    same, differing = check_dumps((expected, expected), (expected, found), (), "set", "its rows")
    assert "differing_rows" not in same
    assert differing["differing_rows"] == {
        "columns": ["name", "exp"],
        "missing": [["B", "1"], ["C", "1"]],
        "unexpected": [["C", "2"]],
    }
    # Of clients that overtook one another the rows are kept too.
    expected, found, own = _answer(("A", "1")), _answer(("A", "2")), _answer(("A",))
    (check,) = check_dumps((expected,), (found,), ((own, own),), "set", "its rows")
    assert check["ok"] is None
    assert check["differing_rows"]["missing"] == [["A", "1"]]


SECOND_NS = 10**9


class Rows(NamedTuple):
    rows: list[tuple[str | None, ...]]


class Primary:
    """A table of numbers, each with the time at which it was written."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.written: list[tuple[float, int]] = []


class Sessions:
    """In place of the engine's: a primary, and replicas that have what it had some time ago."""

    def __init__(self, delay_s: Callable[[float], float]) -> None:
        self.primary = Primary()
        self.began_s = time.monotonic()
        self._delay_s = delay_s

    def __call__(self, document: str) -> Any:
        sessions, is_replica = self, json.loads(document)["replica"]

        class Session:
            def execute(self, statement: str) -> Rows:
                now_s = time.monotonic()
                if not is_replica:
                    word, _, number = statement.partition(" ")
                    if word == "write":
                        sessions.primary.written.append((time.monotonic(), int(number)))
                    else:
                        sessions.primary.statements.append(statement)
                    return Rows([])
                until_s = now_s - sessions._delay_s(now_s - sessions.began_s)
                seen = [number for at_s, number in sessions.primary.written if at_s <= until_s]
                return Rows([(str(max(seen)) if seen else None,)])

        return Session()


ORDER: Order = {
    "primary": {"replica": False}, "replicas": [{"replica": True}], "prepare": ["create"],
    "write": "write :number", "read": "read", "clean_up": ["drop"],
}  # fmt: skip


def found(
    monkeypatch: pytest.MonkeyPatch, delay_s: Callable[[float], float], for_s: float
) -> tuple[Replica, Primary]:
    sessions = Sessions(delay_s)
    monkeypatch.setattr(staleness_process._engine, "Session", sessions)
    answers: list[Any] = []
    is_over = threading.Event()
    timer = threading.Timer(for_s, is_over.set)
    timer.start()
    measure(ORDER, answers.append, is_over)
    timer.join()
    late, findings = answers
    assert late == {"late": [], "is_waiting": False}
    assert sessions.primary.statements == ["create", "drop"]
    return findings["replicas"][0], sessions.primary


@pytest.mark.alone
def test_ages_are_the_delay_of_the_replica_within_their_resolution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replica, primary = found(monkeypatch, lambda _: 0.05, 1.0)
    assert 8 <= len(primary.written) <= 11
    ages = [one for one in replica["numbers"] if one["is_found"]]
    assert len(ages) >= len(primary.written) - 1
    for one in ages:
        # The clock of the answer is read after the table was.
        assert one["age_ns"] >= 0.049 * SECOND_NS
        assert one["age_ns"] - one["uncertainty_ns"] <= 0.051 * SECOND_NS


@pytest.mark.alone
def test_ages_grow_with_a_pause_and_what_is_not_read_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From half a second on the replica stands still."""
    replica, primary = found(monkeypatch, lambda at_s: max(0.0, at_s - 0.5), 1.2)
    unread = [one for one in replica["numbers"] if not one["is_found"]]
    assert len(replica["numbers"]) == len(primary.written)
    assert 5 <= len(unread) <= 8
    ages_ns = [one["age_ns"] for one in unread]
    assert ages_ns == sorted(ages_ns, reverse=True)
    assert ages_ns[0] >= 0.5 * SECOND_NS


def test_a_replica_without_the_first_number_is_named_while_the_clients_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staleness_process._engine, "Session", Sessions(lambda at_s: at_s + 1))
    monkeypatch.setattr(staleness_process, "_SAID_AFTER_S", 0.05)
    monkeypatch.setattr(staleness_process, "CATCH_UP_S", 0.2)
    answers: list[Any] = []
    is_over = threading.Event()
    timer = threading.Timer(0.4, is_over.set)
    timer.start()
    measure(ORDER, answers.append, is_over)
    assert answers[:2] == [{"late": [0], "is_waiting": True}, {"late": [0], "is_waiting": False}]


def seen(at_s: float, age_ms: int, *, is_found: bool = True) -> NumberAge:
    return NumberAge(
        written_unix_ns=round(at_s * SECOND_NS),
        age_ns=age_ms * 10**6,
        uncertainty_ns=2 * 10**6,
        is_found=is_found,
    )


def test_a_report_is_of_the_measurement_alone() -> None:
    whole = observations.observation(started_unix_ns=100 * SECOND_NS, elapsed_ns=2 * SECOND_NS)
    numbers = [
        seen(99.9, 900),
        *(seen(100 + k / 100, k) for k in range(100)),
        seen(101.9, 150, is_found=False),
        seen(102.0, 800),
    ]
    findings = Findings(replicas=[Replica(numbers=numbers, lost_unix_ns=101 * SECOND_NS)])
    (report,) = reports(["b:1"], findings, whole)
    assert (report.numbers, report.not_read, report.lost_after_s) == (101, 1, 1.0)
    in_ms = [value and value / 10**6 for value in (report.p50_ns, report.p99_ns, report.max_ns)]
    assert in_ms == [50, 99, 150]
    assert report.resolution_ns == 2 * 10**6
    (none,) = reports(["b:1"], Findings(replicas=[Replica(numbers=[], lost_unix_ns=None)]), whole)
    unknown = (none.p50_ns, none.resolution_ns, none.lost_after_s)
    assert (none.numbers, unknown) == (0, (None, None, None))
