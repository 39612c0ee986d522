"""A run of a goal search is ended where its clients have taken far longer than the limit: not by
the time of connecting or of warming up, and in no step but that of its numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from assay.comparison import excess, goals
from assay.contracts.engine.drive import DriveDocument, DriveProgress
from assay.contracts.events import ClientsAtWork
from assay.contracts.stop import Stop
from assay.lab.driving.early_end import EarlyEnd
from assay.lab.run_context.context import RunState
from assay.lab.steps.dump import Dump
from assay.workload.steps import Drive, Step

RUN = 7
EXCESS = excess.of_goal(goals.goal("elapsed < 1s"))


class Clients:
    """Of one step of a test, that is under way."""

    def __init__(
        self, step: Step, steps: tuple[Step, ...] = (), before_s: float = 0.0, **document: float
    ) -> None:
        self.stop = Stop()
        store = SimpleNamespace(run_id=lambda: RUN)
        context = SimpleNamespace(stop=self.stop, store=store, excess=EXCESS)
        state: Any = SimpleNamespace(context=context, test=SimpleNamespace(steps=steps or (step,)))
        given: Any = SimpleNamespace(**{"ramp_up_s": None, "warm_up_s": 0.0, **document})
        early_end = EarlyEnd(cast("RunState", state), step)
        self.tell = early_end.during(cast("DriveDocument", given), int(before_s * 1e9))

    def are_ended(self, elapsed_s: float, done: int = 1) -> bool:
        with self.stop.of_run(RUN):
            self.tell(ClientsAtWork(DriveProgress(elapsed_s, done, None, done, 0, 1)))
            return self.stop.is_asked


def test_clients_are_ended_at_three_times_the_limit() -> None:
    clients = Clients(Drive())
    assert [clients.are_ended(at_s) for at_s in (0.5, 2.9, 3.1)] == [False, False, True]


def test_the_run_says_why() -> None:
    clients = Clients(Drive())
    with clients.stop.of_run(RUN):
        clients.tell(ClientsAtWork(DriveProgress(9.0, 1, None, 1, 0, 1)))
        reason = clients.stop.reason
    assert reason is not None and reason.run == RUN
    assert reason.exceeded == "elapsed time more than 3 s: ended, 3 times the limit"


def test_the_time_of_connecting_does_not_count() -> None:
    clients = Clients(Drive())
    assert not clients.are_ended(9.0, done=0)
    assert not clients.are_ended(0.1)
    assert clients.are_ended(3.1)


def test_the_time_before_the_measurement_does_not_count() -> None:
    clients = Clients(Drive(), ramp_up_s=1.0, warm_up_s=2.0)
    assert not clients.are_ended(5.9)
    assert clients.are_ended(6.1)


def test_the_time_of_earlier_parts_counts() -> None:
    assert Clients(Drive(), before_s=2.5).are_ended(0.6)


def test_only_the_step_of_the_numbers_counts() -> None:
    first, last, dump = Drive(name="first"), Drive(name="last"), Dump(script="x")
    assert not Clients(first, (first, last, dump)).are_ended(9.0)
    assert Clients(last, (first, last, dump)).are_ended(9.0)
    result = Drive(name="result", is_result=True)
    assert Clients(result, (result, last)).are_ended(9.0)
    assert not Clients(last, (result, last)).are_ended(9.0)
