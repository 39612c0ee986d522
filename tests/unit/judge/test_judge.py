"""A run is judged by how it ended and why, and a cell when its last repetition has."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Set
from contextlib import closing
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

import assay
import invented_records as invented
import observations
from assay.contracts.driving import CONTINUE
from assay.contracts.engine import ClientsSoFar
from assay.contracts.observation import ClientCost, GeneratorReport, MachineSecond, Observation
from assay.dialects.mysql import MysqlDialect
from assay.experiment import Driving
from assay.judge import judge_run, run_warnings
from assay.judge.ended_runs import Cells
from assay.judge.evidence import SoFar
from assay.judge.result_checks import CONFLICTS, LOSSES, STATEMENT_LIMIT, why_failed
from assay.judge.run import Run, Verdict
from assay.judge.service_levels import starved
from assay.record import DEFAULT_FILE_NAME, ExperimentRecord, Store
from assay.report.build import build
from assay.report.summaries import first_look


def lost(classes: list[str], driving: Driving) -> Run:
    """A run that is done, though transactions failed."""
    run = Run(
        **invented.PLACE,
        observation=observations.observation(
            elapsed_ns=20 * invented.S,
            outcomes=observations.outcomes(ok=98, failed=1, unknown=1),
            errors=[observations.error(**{"class": one}) for one in classes],
        ),
    )
    return invented.of_cell(run, driving=driving)


def test_a_failed_run_is_never_valid_however_it_was_judged(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL], repetitions=1)
    path = tmp_path / "r.sqlite"
    with invented.at_once(path) as store:
        invented.begin(store, planned)
        for run, verdict in zip(planned.runs, (("valid", ""), ("", "")), strict=True):
            end = ("failed", "the server went away")
            invented.write_run(store, run, invented.S, end=end, verdict=verdict)
        first, second = store.latest().runs
        went_away = Verdict.because("invalid", "the server went away")
        assert judge_run(first)[0] == first.judged == second.judged == went_away


def test_the_verdict_of_a_cell_is_kept_with_its_last_repetition(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL], repetitions=2)
    seconds = iter((1.0, 1.0, 2.0, 1.0))
    path = tmp_path / "r.sqlite"
    with Store(path) as store:
        invented.begin(store, planned)
        cells = Cells(planned.runs)
        for place, run in enumerate(planned.runs):
            assert len(kept_cells(path)) == max(0, place - 2)
            elapsed_ns = round(next(seconds) * invented.S)
            invented.write_run(store, run, elapsed_ns, cells=cells)
        found = store.latest()
        one, other = (found.cells[fingerprint, ""] for fingerprint, _ in kept_cells(path))
    assert [one.verdict.word, other.verdict.word] == [word for _, word in kept_cells(path)]
    assert [(cell.repetitions, cell.measured) for cell in (one, other)] == [(2, 2), (2, 2)]
    assert one.verdict == Verdict.of_record("unreliable", "repetitions differ by 67 %")
    assert [warning.name for warning in one.warnings] == ["noisy-repetitions", "few-samples"]
    assert other.verdict == Verdict("valid")
    assert [warning.name for warning in other.warnings] == ["few-samples"]


def test_a_cell_that_is_not_complete_is_judged_when_it_is_read(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE], repetitions=2)
    with invented.at_once(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned)
        invented.write_run(store, planned.runs[0], invented.S)
        (cell,) = store.latest().cells.values()
    assert cell.verdict == Verdict.of_record("unreliable", "1 of 2 repetitions ended")
    assert kept_cells(tmp_path / "r.sqlite") == []


def test_a_report_shows_the_verdict_that_was_kept(tmp_path: Path) -> None:
    """Also where the program would judge otherwise today."""
    path = tmp_path / "r.sqlite"
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE cells SET verdict = 'invalid', verdict_reason = 'as it was'")
    with Store(path, must_exist=True) as store:
        tables = build(store.latest()).tidy["tables"]
    (row,) = tables["cells"]
    assert (row["verdict"], row["verdict_reason"]) == ("invalid", "as it was")


def kept_cells(path: Path) -> list[tuple[str, str]]:
    """Fingerprint and verdict of the cells that the file holds."""
    with closing(sqlite3.connect(path)) as connection:
        question = "SELECT cell_fingerprint, verdict FROM cells ORDER BY judged_unix_ns"
        return connection.execute(question).fetchall()


@pytest.mark.parametrize(
    ("classes", "comes_back", "word", "reason"),
    [
        (["lost connection"], True, "unreliable", "for lost connections"),
        (["deadlock"], False, "unreliable", "for serialization failures and deadlocks"),
        (["deadlock", "lost connection"], True, "unreliable", "and lost connections"),
        (["lost connection"], False, "invalid", "1 of 100 transactions failed, 1 unknown"),
        (["constraint", "lost connection"], True, "invalid", "1 of 100 transactions"),
    ],
)
def test_recovered_connection_losses_are_counted_and_make_the_run_unreliable(
    classes: list[str], comes_back: bool, word: str, reason: str
) -> None:
    """As with the run's state: it is done where all that was lost was asked for."""
    driving = Driving(reconnect_timeout_s=60.0 if comes_back else None)
    verdict, _ = judge_run(lost(classes, driving))
    assert verdict.word == word
    assert reason in verdict.reason


def test_a_run_in_which_no_transaction_succeeded_is_invalid_whatever_the_reason() -> None:
    run = lost(["deadlock"], Driving())
    assert run.driven is not None
    none_ok = structs.replace(
        run.driven, outcomes=structs.replace(run.driven.outcomes, ok=0, failed=99)
    )
    assert judge_run(structs.replace(run, observation=none_ok))[0].word == "invalid"


def test_a_refused_run_has_no_verdict(tmp_path: Path) -> None:
    with invented.at_once(tmp_path / "r.sqlite") as store:
        planned = invented.plan([invented.SQLITE], driving=[Driving(passes=1)])
        invented.begin(store, planned)
        store.begin_run(planned.runs[0])
        store.end_run("refused", reason="sqlite has no isolation levels")
        (run,) = store.latest().runs
        (cell,) = store.latest().cells.values()
    assert (run.state, run.judged.word, cell.verdict.word) == ("refused", "", "")


def test_clients_of_a_slower_group_are_not_starved() -> None:
    def ends(group: str, *transactions: int) -> list[dict[str, object]]:
        shared = {"client": 0, "elapsed_ns": 1, "passes": 0, "group": group, "state": "done"}
        return [{**shared, "transactions": one} for one in transactions]

    def found(*client_ends: dict[str, object]) -> str:
        numbers = ("clients", "throughput_per_s", "latency_ns", "pause_ns", "clients_by_law")
        law = dict.fromkeys(numbers, 3.0)
        return starved(observations.observation(littles_law=law, client_ends=client_ends))

    assert not found(*ends("readers", 1000, 990), *ends("writers", 20))
    both = found(*ends("readers", 1000, 20), *ends("writers", 20))
    assert both.startswith("1 of 2 clients ended 20 transactions, the most served 1000")


@pytest.mark.parametrize(("ok", "aborted", "expected"), [(0, 50, True), (1, 49, False)])
def test_a_run_in_which_nothing_was_committed_says_so(
    ok: int, aborted: int, expected: bool
) -> None:
    run = lost([], Driving(duration_s=20.0))
    outcomes = observations.outcomes(ok=ok, aborted=aborted)
    observed = observations.observation(elapsed_ns=20 * invented.S, outcomes=outcomes)
    verdict, warnings = judge_run(structs.replace(run, observation=observed))
    assert ("all-aborted" in {one.name for one in warnings}) == expected
    assert ("all aborted" in verdict.reason) == expected


def ended(ok: int, failed: int, **by_class: int) -> Observation:
    errors = [
        observations.error(**{"class": name, "count": count, "retried": 0, "message": "no"})
        for name, count in by_class.items()
    ]
    outcomes = observations.outcomes(ok=ok, failed=failed, unknown=0)
    made = observations.observation(elapsed_ns=invented.S, outcomes=outcomes, errors=errors)
    assert isinstance(made, Observation)
    return made


def test_failed_transactions_are_counted_by_class() -> None:
    mixed = ended(1722, 604, serialization=400, data=185, deadlock=19)
    assert why_failed(mixed, [], None) == (
        "604 transactions failed (419 serialization or deadlock, 185 data): serialization: no; "
        "fix: more retries of each transaction (1000, say), fewer clients, or a setting of the "
        "system by which fewer of them are refused"
    )
    assert why_failed(ended(1, 2, data=2), [], None) == "2 transactions failed: data: no"


@pytest.mark.parametrize(("failed", "is_failed_run"), [(10, False), (26, True)])
def test_conflicts_that_are_counted_fail_a_run_where_they_are_many(
    failed: int, is_failed_run: bool
) -> None:
    """Those of an ad hoc script, as in pgbench."""
    run = ended(100 - failed, failed, deadlock=failed)
    reason = why_failed(run, [], None, counted=CONFLICTS)
    assert (reason is not None) is is_failed_run
    if reason is not None:
        assert reason.startswith("26 transactions failed, 26 % of all: deadlock: no; fix: more")


_ANSWERED = {"transactions": 5, "median_ns": 1, "longest_ns": 2}
BACKUP = {
    "kind": "backup", "way": "dump", "size_bytes": 12_000_000, "shares_blocks": False,
    "backup_ns": 3 * invented.S, "reads": _ANSWERED, "writes": _ANSWERED,
    "restore_ns": 5 * invented.S, "equals_source": True, "lost_writes": 0, "tables": {},
}  # fmt: skip


def backed_up(path: Path) -> ExperimentRecord:
    planned = invented.plan([invented.SQLITE])
    with invented.at_once(path) as store:
        invented.begin(store, planned, workload={"report": {}})
        for run in planned.runs:
            store.begin_run(run)
            store.provisioned(invented.deployment(run.cell))
            store.observed(invented.observed(BACKUP))
            store.end_run("done", verdict=("valid", ""))
        store.end_experiment()
        return store.latest()


def test_a_test_without_clients_shows_what_it_did(tmp_path: Path) -> None:
    """Also where its workload declares no report."""
    experiment = backed_up(tmp_path / "r.sqlite")
    report = build(experiment)
    table = report.sections[0].tables[0]
    assert [column.title for column in table.columns][-3:] == [
        "size", "backup", "restore"
    ]  # fmt: skip
    (row,) = table.rows
    assert [cell.shown for cell in row.cells][-3:] == ["12 MB", "3.000", "5.000"]
    stream = io.StringIO()
    first_look.render(experiment, report, stream, "")
    assert "measured     size 12 MB; backup 3.000 s; restore 5.000 s" in stream.getvalue()


END = {
    "client": 0, "group": "all", "elapsed_ns": 1, "passes": 0, "transactions": 9, "state": "lost"
}  # fmt: skip


def _ended(by: str, error_class: str, **changes: Any) -> Observation:
    error = observations.error(**{"class": error_class})
    return observations.observation(ended_by=by, errors=[error], client_ends=[END, END], **changes)


def _unfinished(transactions: int, *, responds: bool) -> dict[str, Any]:
    numbers = {"transactions": transactions, "cancelled": 0, "limit_s": 2.0}
    return {"unfinished": {**numbers, "responds": responds}}


def test_a_limit_of_connections_has_a_fix() -> None:
    failed = str(why_failed(_ended("refused", "too many connections"), [], None))
    assert "not every client could connect: too many connections" in failed
    assert "fix: fewer clients" in failed
    assert "fix:" not in str(why_failed(_ended("refused", "authentication"), [], None))


def test_a_server_that_stopped_answering_is_not_a_failure_of_the_clients() -> None:
    stuck = _ended("all clients failed", "timeout", **_unfinished(2, responds=False))
    assert str(why_failed(stuck, [], None)).startswith("the server does not answer")
    slow = _ended("all clients failed", "timeout", **_unfinished(2, responds=True))
    assert str(why_failed(slow, [], None)).startswith("the last transaction of every client")
    failed = _ended("all clients failed", "syntax", **_unfinished(1, responds=True))
    assert str(why_failed(failed, [], None)).startswith("every client failed")


def test_attempts_to_reconnect_are_reported_with_their_limit() -> None:
    outages = [{"from_ns": 10**9, "to_ns": 45 * 10**8}]
    lost = _ended("lost", "lost connection", outages=outages)
    failed = str(why_failed(lost, [], None, reconnect_timeout_s=60.0))
    assert "no client reconnected in 3.5 s" in failed
    assert "at most 60 s" in failed
    assert "reconnect" not in str(why_failed(lost, [], None))


CHANGED = "Record has changed since last read in table 'accounts'"
"""Of MariaDB 11.8, whose snapshots are checked by default."""
DENIED = "permission denied for table goods"


@pytest.mark.parametrize(
    ("kind", "code", "message", "fixes", "words"),
    [
        ("serialization", "1020", CHANGED, {}, ["fix: more retries of each transaction"]),
        ("serialization", "1020", CHANGED, MysqlDialect().error_fixes,
         ["fix: innodb_snapshot_isolation=OFF", "retries"]),
        ("permission", "42501", DENIED, {}, ["fix: grant this user what the statement needs"]),
    ],
)  # fmt: skip
def test_an_error_has_a_fix(
    kind: str, code: str, message: str, fixes: Any, words: list[str]
) -> None:
    error = observations.error(**{"class": kind, "code": code, "message": message})
    outcomes = observations.outcomes(scheduled=9, ok=5, failed=4)
    observed = observations.observation(errors=[error], outcomes=outcomes)
    failed = str(why_failed(observed, [], None, fixes=fixes))
    assert all(word in failed for word in (message, *words))


@pytest.mark.parametrize("counted", [frozenset(), LOSSES, CONFLICTS])
@pytest.mark.parametrize("ended_by", ["", "lost"])
def test_a_lost_connection_is_named_before_conflicts(ended_by: str, counted: Set[str]) -> None:
    ended = {"ended_by": ended_by} if ended_by else {}
    errors = [
        observations.error(**{"class": name, "message": f"of {name}"})
        for name in ("serialization", "lost connection")
    ]
    outcomes = observations.outcomes(scheduled=9, ok=5, failed=4)
    observation = observations.observation(errors=errors, outcomes=outcomes, **ended)
    failed = str(why_failed(observation, [], None, counted=counted))
    if not ended_by and counted == LOSSES:
        assert "of serialization" in failed, "clients reconnected: losses are no reason"
    else:
        assert "of lost connection" in failed and "retries" not in failed


def test_a_statement_over_its_limit_fails_no_run_and_another_timeout_does() -> None:
    outcomes = observations.outcomes(scheduled=9, ok=8, failed=1)
    of_limit = observations.error(**{"class": "timeout", "code": STATEMENT_LIMIT})
    cancelled = observations.observation(errors=[of_limit], outcomes=outcomes)
    assert why_failed(cancelled, [], None) is None
    other = observations.error(**{"class": "timeout", "code": "1205"})
    failed = observations.observation(errors=[of_limit, other], outcomes=outcomes)
    assert "1 transaction failed" in str(why_failed(failed, [], None))


S = 1_000_000_000


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.sql").write_text("SELECT 1;\n")


def last_run() -> Run:
    with Store(Path(DEFAULT_FILE_NAME), must_exist=True) as store:
        return store.latest().runs[-1]


def warnings_so_far(run: Run, seconds: int | None = None) -> dict[str, str]:
    """From what the engine says while clients work: it knows stalls at the end."""
    assert run.driven is not None
    so_far = SoFar(run.driving, run.clients)
    every = [list(groups) for _, groups in groupby(run.driven.intervals, attrgetter("second"))]
    for groups in every[:seconds]:
        so_far.add([msgspec.structs.replace(one, stalled_ns=0) for one in groups])
    # As the engine would have said it in the last of them.
    clients = ClientsSoFar(
        run.driven.elapsed_ns,
        run.driven.threads,
        run.driven.client_cost,
        run.driven.statements,
        outages=run.driven.outages,
    )
    made = structs.replace(run, state="driving", observation=so_far.observation(clients=clients))
    return dict(run_warnings.of_run(made))


def test_what_arises_is_what_the_end_says() -> None:
    assay.run(
        "one.sql",
        on="null[delay=constant:10ms,fail=timeout@0.05]",
        clients=2,
        offered_rate_per_s=300,
        duration_s=5,
        warm_up_s=0,
    )
    run = last_run()
    final = dict(run_warnings.of_run(run))
    found = warnings_so_far(run)
    assert {"errors", "late-arrivals", "offered-rate-not-reached"} <= found.keys()
    assert found.keys() <= final.keys(), "the end says nothing of what was said before"
    for name in ("errors", "late-arrivals"):
        assert found[name] == final[name]


def test_a_stall_is_seen_in_the_second_after_it_began() -> None:
    on = "null[delay=constant:10ms,stall=2.5s@2.2s]"
    assay.run("one.sql", on=on, clients=2, duration_s=6, warm_up_s=0)
    run = last_run()
    assert "stalled" not in warnings_so_far(run, 3)
    assert "from 3.0 s on" in warnings_so_far(run, 4)["stalled"], "a whole second"
    assert "stalled" in dict(run_warnings.of_run(run))


def second(run: Run, clients: ClientsSoFar, **machine: float) -> dict[str, str]:
    """The warnings of a run of which the first second has passed."""
    assert run.driven is not None
    so_far = SoFar(run.driving, run.clients)
    so_far.add([run.driven.intervals[0]], MachineSecond(second=0, **machine))
    made = structs.replace(run, state="driving", observation=so_far.observation(clients=clients))
    return dict(run_warnings.of_run(made))


def clients(**known: Any) -> ClientsSoFar:
    """What two threads have done in two seconds, of which one has been said of transactions."""
    cost = ClientCost(0, 0, 0.0, 0, 0, 0, 0, 0, 0, None)
    return msgspec.structs.replace(ClientsSoFar(2 * S, 2, cost, 0), **known)


def cost(**known: int) -> ClientCost:
    return msgspec.structs.replace(ClientCost(0, 0, 0.0, 0, 0, 0, 0, 0, 0, 0), **known)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    on = "null[protocol=postgresql,delay=constant:5ms]"
    with pytest.MonkeyPatch.context() as within:
        within.chdir(tmp_path_factory.mktemp("run"))
        Path("one.sql").write_text("SELECT 1;\n")
        assay.run("one.sql", on=on, clients=1, duration_s=2, warm_up_s=0)
        return last_run()


def test_a_busy_client_is_seen_by_its_share_of_the_machine_and_of_its_threads(
    run: Run,
) -> None:
    processors = run.machine.get("processors_usable") or 1
    for share in (0.1, 0.5):
        client_cost = cost(user_ns=int(share * processors * 2 * S))
        found = second(run, clients(client_cost=client_cost, threads=8))
        assert ("client-busy" in found) is (share == 0.5)
        assert share == 0.1 or "used 50 % of the machine's CPUs" in found["client-busy"]
    found = second(run, clients(client_cost=cost(system_ns=int(1.8 * S)), threads=1))
    assert "its threads were busy 90 % of the time" in found["client-busy"]


def test_threads_that_waited_for_a_processor_are_seen(run: Run) -> None:
    waited_ns, busy_ns = 4 * S // 5, 2 * S * (run.machine.get("processors") or 1)
    waiting = clients(client_cost=cost(waited_for_processor_ns=waited_ns, machine_busy_ns=busy_ns))
    name = "client-waited-for-processor"
    assert name not in second(run, waiting), "of the server nothing is known"
    assert "its threads waited 20 % of the time" in second(run, waiting, server_cpus=0.0)[name]
    assert name not in second(run, waiting, server_cpus=float(run.machine.get("processors") or 1))


def test_clients_that_others_leave_nothing_to_are_seen(run: Run) -> None:
    found = second(run, clients(transactions={"": (40, 39, 3), "b": (1, 2)}))
    assert "1 of 3 clients ended 3 transactions, the most served 40" in found["starved-clients"]
    assert "unaccounted-time" not in found
    assert "starved-clients" not in second(run, clients(transactions={"": (29, 0)}))
    assert "starved-clients" not in second(run, clients()), "an open loop"


def test_a_lost_generator_is_warned_of_and_is_no_error() -> None:
    assay.run("one.sql", on="null[delay=constant:5ms]", clients=1, duration_s=2, warm_up_s=0)
    run = last_run()
    assert run.driven is not None
    driving = structs.replace(run.driving, on_lost=CONTINUE)
    for after_s, is_warned in ((None, False), (1.4, True)):
        so_far = SoFar(driving, run.clients)
        so_far.add([run.driven.intervals[0]])
        reports = [GeneratorReport("a", 2, 50, 0, 9, lost_after_s=after_s)]
        reports += [GeneratorReport("b", 2, 50, 0, 0)]
        observation = so_far.observation(reports)
        made = structs.replace(
            invented.of_cell(run, driving=driving), state="driving", observation=observation
        )
        found = dict(run_warnings.of_run(made))
        assert ("generator-lost" in found) is is_warned and "errors" not in found
        assert not is_warned or "at most 9 transactions unknown" in found["generator-lost"]


def test_other_programs_are_seen_by_the_mean_of_the_seconds_so_far() -> None:
    assay.run("one.sql", on="null[delay=constant:5ms]", clients=1, duration_s=2, warm_up_s=0)
    run = last_run()
    assert run.driven is not None
    processors = run.machine.get("processors") or 1
    for shares, is_warned in (((0.0, 0.04), False), ((None, 0.2), True), ((None, None), False)):
        so_far = SoFar(run.driving, run.clients)
        for second, share in enumerate(shares):
            line = msgspec.structs.replace(run.driven.intervals[0], second=second)
            cpus = None if share is None else share * processors
            machine = MachineSecond(
                second=second, client_cpus=0.1, machine_cpus=0.5, other_cpus=cpus
            )
            so_far.add([line], machine)
        made = structs.replace(run, state="driving", observation=so_far.observation())
        found = dict(run_warnings.of_run(made))
        assert ("other-programs" in found) is is_warned
        assert not is_warned or "used 20 % of the processors" in found["other-programs"]
