"""The warnings of a run under way, from its seconds alone, are those that it has when it has
ended."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

import assay
from assay.contracts.driving import CONTINUE
from assay.contracts.engine.drive import ClientsSoFar
from assay.contracts.observation import ClientCost, GeneratorReport, MachineSecond, Outage
from assay.experiment import Driving
from assay.judge.evidence.so_far import SoFar
from assay.judge.run import CalibrationRecord, Run
from assay.judge.warnings import run_warnings
from assay.record import DEFAULT_FILE_NAME, Store

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


def test_a_stall_at_the_beginning_is_seen_once_it_is_known_how_long_transactions_are() -> None:
    on = "null[delay=constant:10ms,stall=2.5s@0s]"
    assay.run("one.sql", on=on, clients=2, duration_s=4, warm_up_s=0)
    run = last_run()
    assert "stalled" not in warnings_so_far(run, 2)
    assert "2.0 s of 3.0 s, from 0.0 s on" in warnings_so_far(run, 3)["stalled"]
    assert "stalled" in dict(run_warnings.of_run(run))


def test_a_sound_run_has_no_warning_that_goes_away() -> None:
    assay.run("one.sql", on="null[delay=constant:1ms]", clients=2, duration_s=5, warm_up_s=0)
    run = last_run()
    final = dict(run_warnings.of_run(run))
    for seconds in range(1, 6):
        assert warnings_so_far(run, seconds).keys() <= final.keys()


def test_nothing_is_said_of_transactions_before_the_first_second() -> None:
    assert SoFar(Driving(), 2).observation() is None


def second(run: Run, clients: ClientsSoFar, **machine: float) -> dict[str, str]:
    """The warnings of a run of which the first second has passed."""
    assert run.driven is not None
    so_far = SoFar(run.driving, run.clients)
    so_far.add([run.driven.intervals[0]], MachineSecond(0, **machine))
    made = structs.replace(run, state="driving", observation=so_far.observation(clients=clients))
    return dict(run_warnings.of_run(made))


def clients(**known: Any) -> ClientsSoFar:
    """What two threads have done in two seconds, of which one has been said of transactions."""
    cost = ClientCost(0, 0, 0.0, 0, 0, 0, 0, 0, 0, None)
    return msgspec.structs.replace(ClientsSoFar(2 * S, 2, cost, 0), **known)


def cost(**known: int) -> ClientCost:
    return msgspec.structs.replace(ClientCost(0, 0, 0.0, 0, 0, 0, 0, 0, 0, 0), **known)


@pytest.fixture
def run() -> Run:
    on = "null[protocol=postgresql,delay=constant:5ms]"
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


def test_the_client_comes_near_its_ceiling(run: Run) -> None:
    limited = structs.replace(
        run, calibration=CalibrationRecord("null", 1, 1, 1, 1, 1, 1000.0, 1.0, 1, 2, {})
    )
    name = "near-the-client-ceiling"
    assert name not in second(limited, clients(statements=1300))
    assert "750.0 statements/s, 75 % of 1000" in second(limited, clients(statements=1500))[name]
    assert name not in second(run, clients(statements=1500)), "nothing was calibrated"


def test_clients_that_others_leave_nothing_to_are_seen(run: Run) -> None:
    found = second(run, clients(transactions={"": (40, 39, 3), "b": (1, 2)}))
    assert "1 of 3 clients ended 3 transactions, the most served 40" in found["starved-clients"]
    assert "unaccounted-time" not in found
    assert "starved-clients" not in second(run, clients(transactions={"": (29, 0)}))
    assert "starved-clients" not in second(run, clients()), "an open loop"


def test_an_outage_is_seen_before_it_has_ended(run: Run) -> None:
    found = second(run, clients(outages=(Outage(S // 2, 2 * S),)))
    assert "1 time, 1.5 s" in found["outage"]
    assert "outage" not in second(run, clients())


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
        made = structs.replace(run, state="driving", driving=driving, observation=observation)
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
            so_far.add([line], MachineSecond(second, 0.1, 0.5, cpus))
        made = structs.replace(run, state="driving", observation=so_far.observation())
        found = dict(run_warnings.of_run(made))
        assert ("other-programs" in found) is is_warned
        assert not is_warned or "used 20 % of the processors" in found["other-programs"]
