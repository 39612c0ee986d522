"""A run is judged by how it ended and why, and a cell when its last repetition has."""

from __future__ import annotations

import io
import sqlite3
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


def lost(classes: list[str], comes_back: bool = False, ok: int = 98) -> Run:
    """A run that is done, though transactions failed."""
    observation = observations.observation(
        elapsed_ns=20 * invented.S,
        outcomes=observations.outcomes(ok=ok, failed=99 - ok, unknown=1),
        errors=[observations.error(**{"class": one}) for one in classes],
    )
    driving = Driving(reconnect_timeout_s=60.0 if comes_back else None)
    run = Run(**invented.PLACE, observation=observation)
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
    """Before that it is judged when it is read."""
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
            if place == 0:
                begun = store.latest().cells[run.cell.fingerprint, ""]
                assert begun.verdict == Verdict.of_record("unreliable", "1 of 2 repetitions ended")
        found = store.latest()
        one, other = (found.cells[fingerprint, ""] for fingerprint, _ in kept_cells(path))
    assert [one.verdict.word, other.verdict.word] == [word for _, word in kept_cells(path)]
    assert [(cell.repetitions, cell.measured) for cell in (one, other)] == [(2, 2), (2, 2)]
    assert one.verdict == Verdict.of_record("unreliable", "repetitions differ by 67 %")
    assert [warning.name for warning in one.warnings] == ["noisy-repetitions"]
    assert other.verdict == Verdict("valid")
    assert not other.warnings


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
    ("run", "word", "reason"),
    [
        (lost(["lost connection"], comes_back=True), "unreliable", "for lost connections"),
        (lost(["deadlock"]), "unreliable", "for serialization failures and deadlocks"),
        (lost(["deadlock", "lost connection"], comes_back=True), "unreliable", "and lost connec"),
        (lost(["lost connection"]), "invalid", "1 of 100 transactions failed, 1 unknown"),
        (lost(["constraint", "lost connection"], comes_back=True), "invalid", "1 of 100 transact"),
        (lost(["deadlock"], ok=0), "invalid", "99 of 100 transactions"),
    ],
)
def test_recovered_connection_losses_are_counted_and_make_the_run_unreliable(
    run: Run, word: str, reason: str
) -> None:
    """As with the run's state: it is done where all that was lost was asked for."""
    verdict, _ = judge_run(run)
    assert verdict.word == word
    assert reason in verdict.reason


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
    outcomes = observations.outcomes(ok=ok, aborted=aborted)
    observed = observations.observation(elapsed_ns=20 * invented.S, outcomes=outcomes)
    verdict, warnings = judge_run(structs.replace(lost([]), observation=observed))
    assert ("all-aborted" in {one.name for one in warnings}) == expected
    assert ("all aborted" in verdict.reason) == expected


def ended(*errors: dict[str, Any], ok: int = 5, failed: int = 4, **changes: Any) -> Observation:
    outcomes = observations.outcomes(ok=ok, failed=failed, unknown=0)
    made = [observations.error(**one) for one in errors]
    return observations.observation(
        elapsed_ns=invented.S, outcomes=outcomes, errors=made, **changes
    )


def of(kind: str, count: int = 1, code: str = "", message: str = "no") -> dict[str, Any]:
    """An error of this class."""
    return {"class": kind, "count": count, "retried": 0, "code": code, "message": message}


def all_ended(by: str, kind: str, **changes: Any) -> Observation:
    """Of two clients, which ended so."""
    end = {"client": 0, "group": "all", "elapsed_ns": 1, "passes": 0, "transactions": 9,
           "state": "lost"}  # fmt: skip
    return ended(of(kind), ok=0, failed=0, ended_by=by, client_ends=[end, end], **changes)


def unfinished(transactions: int, *, responds: bool) -> Observation:
    numbers = {"transactions": transactions, "cancelled": 0, "limit_s": 2.0}
    changes = {"unfinished": {**numbers, "responds": responds}}
    return all_ended("all clients failed", "timeout" if transactions > 1 else "syntax", **changes)


OUTAGES = [{"from_ns": 10**9, "to_ns": 45 * 10**8}]
CONFLICT, LOSS = of("serialization", message="of two"), of("lost connection", message="a reset")
CHANGED = of("serialization", 1, "1020", "Record has changed since last read in table 'accounts'")
"""Of MariaDB 11.8, whose snapshots are checked by default."""
CANCELLED = of("timeout", code=STATEMENT_LIMIT)


@pytest.mark.parametrize(
    ("observed", "given", "said", "not_said"),
    [
        (ended(of("serialization", 400), of("data", 185), of("deadlock", 19), ok=1722, failed=604),
         {}, ["604 transactions failed (419 serialization or deadlock, 185 data): serialization: "
              "no; fix: more retries of each transaction (1000, say), fewer clients, or a setting "
              "of the system by which fewer of them are refused"], ""),
        (ended(of("data", 2), ok=1, failed=2), {}, ["2 transactions failed: data: no"], "fix"),
        # Conflicts of an ad hoc script, as in pgbench: they fail a run where they are many.
        (ended(of("deadlock", 10), ok=90, failed=10), {"counted": CONFLICTS}, ["None"], ""),
        (ended(of("deadlock", 26), ok=74, failed=26), {"counted": CONFLICTS},
         ["26 transactions failed, 26 % of all: deadlock: no; fix: more"], ""),
        # A statement over its limit fails no run, and another timeout does.
        (ended(CANCELLED, ok=8, failed=1), {}, ["None"], ""),
        (ended(CANCELLED, of("timeout", code="1205"), ok=8, failed=1), {},
         ["1 transaction failed"], ""),
        (all_ended("refused", "too many connections"), {},
         ["not every client could connect: too many connections", "fix: fewer clients"], ""),
        (all_ended("refused", "authentication"), {}, ["not every client"], "fix:"),
        (unfinished(2, responds=False), {}, ["the server does not answer"], "every client"),
        (unfinished(2, responds=True), {}, ["the last transaction of every client"], "server"),
        (unfinished(1, responds=True), {}, ["every client failed"], "the last transaction"),
        (all_ended("lost", "lost connection", outages=OUTAGES), {"reconnect_timeout_s": 60.0},
         ["no client reconnected in 3.5 s", "at most 60 s"], ""),
        (all_ended("lost", "lost connection", outages=OUTAGES), {}, [], "reconnect"),
        (ended(CHANGED), {}, [CHANGED["message"], "fix: more retries of each transaction"], ""),
        (ended(CHANGED), {"fixes": MysqlDialect().error_fixes},
         ["fix: innodb_snapshot_isolation=OFF", "retries"], ""),
        (ended(of("permission", 4, "42501", "denied for goods")), {},
         ["denied for goods", "fix: grant this user what the statement needs"], ""),
        # A lost connection is named before conflicts, but where clients reconnected.
        (ended(CONFLICT, LOSS), {"counted": LOSSES}, ["of two"], ""),
        *(
            (ended(CONFLICT, LOSS, **by), {"counted": counted}, ["a reset"], "retries")
            for by, counted in (
                ({}, frozenset()), ({}, CONFLICTS), ({"ended_by": "lost"}, frozenset()),
                ({"ended_by": "lost"}, LOSSES), ({"ended_by": "lost"}, CONFLICTS),
            )
        ),
    ],
)  # fmt: skip
def test_why_a_run_failed_is_said_with_a_fix(
    observed: Observation, given: dict[str, Any], said: list[str], not_said: str
) -> None:
    why = str(why_failed(observed, [], None, **given))
    assert all(words in why for words in said), why
    assert not not_said or not_said not in why


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
    on = "null[delay=constant:10ms,fail=timeout@0.05]"
    assay.run("one.sql", on=on, clients=2, offered_rate_per_s=300, duration_s=3, warm_up_s=0)
    run = last_run()
    final = dict(run_warnings.of_run(run))
    found = warnings_so_far(run)
    assert {"errors", "late-arrivals", "offered-rate-not-reached"} <= found.keys()
    assert found.keys() <= final.keys(), "the end says nothing of what was said before"
    for name in ("errors", "late-arrivals"):
        assert found[name] == final[name]


def test_a_stall_is_seen_in_the_second_after_it_began() -> None:
    on = "null[delay=constant:10ms,stall=1.9s@0.2s]"
    assay.run("one.sql", on=on, clients=2, duration_s=3, warm_up_s=0)
    run = last_run()
    assert "stalled" not in warnings_so_far(run, 1)
    assert "from 1.0 s on" in warnings_so_far(run, 2)["stalled"], "a whole second"
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


def test_a_busy_client_is_seen_by_its_share_of_the_machine_and_of_its_threads(run: Run) -> None:
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


def test_a_lost_generator_is_warned_of_and_is_no_error(run: Run) -> None:
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


def test_other_programs_are_seen_by_the_mean_of_the_seconds_so_far(run: Run) -> None:
    assert run.driven is not None
    processors = run.machine.get("processors") or 1
    for shares, is_warned in (((0.0, 0.04), False), ((None, 0.2), True), ((None, None), False)):
        so_far = SoFar(run.driving, run.clients)
        for second, share in enumerate(shares):
            line = msgspec.structs.replace(run.driven.intervals[0], second=second)
            cpus = None if share is None else share * processors
            so_far.add(
                [line],
                MachineSecond(second=second, client_cpus=0.1, machine_cpus=0.5, other_cpus=cpus),
            )
        made = structs.replace(run, state="driving", observation=so_far.observation())
        found = dict(run_warnings.of_run(made))
        assert ("other-programs" in found) is is_warned
        assert not is_warned or "used 20 % of the processors" in found["other-programs"]
