"""Several generators drive one document: their clocks, and what is known where one is lost."""

from __future__ import annotations

import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from msgspec import structs

import observations
from assay.contracts.documents import ScriptDocument
from assay.contracts.driving import CONTINUE, END, OnLost
from assay.contracts.engine import (
    Channel,
    ClientsSoFar,
    DriveDocument,
    DriveProgress,
    EngineRequest,
    Fleet,
    Message,
    Receive,
    StopDocument,
    ThreadUse,
)
from assay.contracts.observation import (
    ClientCost,
    GeneratorReport,
    Interval,
    Observation,
    Outage,
    clients_left,
)
from assay.contracts.observation.clients import without_lost
from assay.drive import fleet, generators
from assay.drive import generators as kept_parts
from assay.drive.fleet import ClientsOfAll
from assay.drive.generators import (
    Clock,
    ClockOffset,
    ClockRoundTrip,
    GeneratorAccount,
    PartOfDrive,
    Terms,
    clock_offset,
    drift_ns_per_s,
)
from assay.drive.observe import Generators, observe
from assay.errors import SystemDied
from assay.experiment import StorageChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.judge.result_checks import why_failed
from assay.provision.engine.engine_programs import ChildProcess, LocalFleet
from assay.provision.running_system import provision
from waiting import HANG_S, wait_until

ROOT = Path(__file__).parents[3]
AHEAD_S = 7


def driven(
    fleet: Fleet,
    progress: Callable[[DriveProgress], bool | None] = lambda _: None,
    on_lost: OnLost = END,
    kept_in: Path | None = None,
    **more: Any,
) -> Observation:
    document = DriveDocument(
        scripts=(ScriptDocument(name="read", path="read.sql", text="SELECT 1;"),),
        order="sequence",
        clients=8,
        stop=StopDocument(duration_s=1.0),
        seed=7,
    )
    document = structs.replace(document, **more)
    with provision(
        system_choice("null[delay=constant:2ms]"), StorageChoice(), connections=8
    ) as deployment:
        generators = Generators(fleet, Terms(on_lost=on_lost, run=12, kept_in=kept_in))
        return observe(deployment, document, progress, generators=generators)


def test_the_best_reading_says_how_far_a_clock_is_ahead() -> None:
    """A drift is what is beyond the uncertainty."""
    slow = ClockRoundTrip(0, 10_000, 1_007_000, 5)
    best = ClockRoundTrip(20_000, 22_000, 1_021_500, 3)
    assert clock_offset([slow, best]) == ClockOffset(21_000, 1_000_500, 1_000, 3)
    before = ClockOffset(0, 1_000, 500, 0)
    for ahead_ns, drift in ((1_900, 0), (12_000, 1_000), (-10_000, -1_000)):
        assert drift_ns_per_s(before, ClockOffset(10_000_000_000, ahead_ns, 500, 0)) == drift


def test_what_all_clients_have_done_is_said_when_all_have_said_it() -> None:
    def said(user_ns: int, statements: int, *outages: Outage) -> ClientsSoFar:
        cost = ClientCost(user_ns, 0, 0.0, 0, 0, 0, 0, 0, 0, 5)
        counts = {"": (statements,)}
        return ClientsSoFar(10, 1, cost, statements, 0.5, outages, counts)

    found = ClientsOfAll(range(3), on_one_machine=True)
    found.add(0, said(1, 10, Outage(1, 4)))
    found.add(1, said(2, 20, Outage(2, 5)))
    found.add(0, None)
    assert found.take() is None
    found.leave_out(2)
    whole = found.take()
    assert whole is not None and found.take() is None, "it is said once"
    assert (whole.threads, whole.statements, whole.load_1min) == (2, 30, 0.5)
    assert (whole.client_cost.cpu_ns, whole.client_cost.machine_busy_ns) == (3, 5)
    assert whole.outages == (Outage(2, 4),), "in which no client was served"
    assert whole.transactions == {"": (10, 20)}
    found.end(1)
    found.add(0, said(2, 20))
    assert (after := found.take()) is not None and after.statements == 40, "it had done 20"


def test_how_busy_threads_were_is_of_the_time_since_it_was_said_before() -> None:
    def said(elapsed_s: float, user_s: float, waited_s: float) -> ClientsSoFar:
        times_ns = [int(one * 1e9) for one in (elapsed_s, user_s, waited_s)]
        cost = ClientCost(times_ns[1], 0, 0.0, 0, 0, 0, 0, 0, times_ns[2], None)
        return ClientsSoFar(times_ns[0], 2, cost, 0)

    first, second = said(1, 0.5, 0.1), said(2, 1.5, 0.5)
    assert first.use_since(None) == ThreadUse(0.5, 0.25, 0.05)
    assert second.use_since(first) == pytest.approx(ThreadUse(1.0, 0.5, 0.2))
    assert second.use_since(second) is None and first.use_since(second) is None


def test_a_clock_is_read_while_clients_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way takes a while, and the clock of the other goes faster."""
    now_ns = 0
    monkeypatch.setattr(generators.time, "monotonic_ns", lambda: now_ns)
    monkeypatch.setattr(generators.time, "time_ns", lambda: now_ns)

    def read(clock: Clock, way_ns: int) -> int:
        nonlocal now_ns
        asked, questions = clock.ask(), 0
        while "clock" in asked:
            questions += 1
            assert clock.ask() == {}, "the answer would be taken for another's"
            now_ns += way_ns
            theirs = int(now_ns * 1.001)
            now_ns += way_ns
            asked = clock.answered({"monotonic_ns": theirs, "unix_ns": theirs})
        return questions

    clock = Clock()
    assert read(clock, 1000) == generators.READINGS_AT_WORK
    before = clock.at_work
    now_ns += 10_000_000_000
    assert read(clock, 1000) == generators.READINGS_AT_WORK
    assert before is not None and clock.at_work is not None
    assert clock.at_work.uncertainty_ns == 1000
    assert drift_ns_per_s(before, clock.at_work) == pytest.approx(1_000_000, rel=0.01)
    assert clock.answered({"monotonic_ns": 0, "unix_ns": 0}) == {}, "it was not asked for"


def test_what_a_lost_generator_may_have_done_is_known_from_its_rate() -> None:
    account = GeneratorAccount(4)
    report = DriveProgress(0.1, 100, None, 100, 0, 4)
    for number in range(6):
        # As long as it has not been seen for half a second, it may do far more than it did so far.
        assert not account.is_bound_known
        account.reported(structs.replace(report, done=100 + 100 * number), 1.0 + 0.1 * number)
    account.reported(structs.replace(report, done=700), 1.6)
    assert account.is_bound_known
    # 1,000 a second, taken twice, for half a second and the time between two reports.
    assert account.unknown(2.1, 0.0) == pytest.approx(4 + 2 * 1000 * 0.6, rel=0.02)
    # It does not say which of those that failed may have committed.
    account.reported(structs.replace(report, done=750, failed=5), 1.7)
    assert account.unknown(2.2, 0.0) == pytest.approx(9 + 2 * 1000 * 0.6, rel=0.02)
    # Where the others are faster, it may have become as fast.
    assert account.unknown(2.2, 500.0) == pytest.approx(9 + 2 * 2000 * 0.6, rel=0.02)
    account = GeneratorAccount(4)
    for at_s in (1.0, 3.0):
        account.reported(DriveProgress(0.1, 0, None, 0, 0, 4), at_s)
    # None has ended in 2 s: in 2 s more each client may end one, taken twice, and begin another.
    assert account.unknown(4.9, 0.0) == pytest.approx(4 + 2 * 4, abs=1)


@pytest.mark.slow
def test_generators_are_together_one_and_each_is_reported() -> None:
    reported: list[DriveProgress] = []
    found = driven(LocalFleet(2), reported.append, stop=StopDocument(duration_s=4.5))
    assert found.ended_by == "stop"
    assert [end.client for end in found.client_ends] == list(range(8))
    assert [one.clients for one in found.generators] == [4, 4]
    assert sum(one.ok for one in found.generators) == found.outcomes.ok > 0
    assert max(one.clients_running for one in reported) == 8
    for one in found.generators:
        assert one.clock_uncertainty_ns is not None and one.clock_ahead_ns is not None
        assert abs(one.clock_ahead_ns) <= one.clock_uncertainty_ns, "they read one clock"
        assert one.load_1min is not None and not one.is_lost
    (*_, last) = [one.generators for one in reported if one.generators]
    for working in last:
        assert 0 < working.cpu_share <= 1 and working.load_1min is not None
        assert working.clock_drift_ns_per_s is not None
    (*_, so_far) = [one.so_far for one in reported if one.so_far is not None]
    assert so_far.threads == found.threads and 0 < so_far.statements <= found.statements
    assert [len(counts) for counts in so_far.transactions.values()] == [8]


def _other_clock() -> list[str]:
    """The beginning of a command whose monotonic clock is seconds ahead."""
    command = ["unshare", "--time", "--monotonic", str(AHEAD_S)]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*command, "true"], check=False).returncode
    ):
        pytest.skip("needs time namespaces (unshare --time, as root)")
    return [*command, "--fork", "--kill-child"]


@pytest.mark.slow
def test_a_clock_that_is_seconds_ahead_begins_at_the_same_instant() -> None:
    before = [[], _other_clock()]
    found = driven(LocalFleet(2, before=before), stop=StopDocument(duration_s=2.0))
    one, other = found.generators
    assert one.clock_ahead_ns is not None and other.clock_ahead_ns is not None
    assert other.clock_uncertainty_ns is not None
    ahead_ns = other.clock_ahead_ns - AHEAD_S * 1_000_000_000
    assert abs(ahead_ns) <= other.clock_uncertainty_ns
    assert abs(one.clock_ahead_ns) < 1_000_000_000
    # Had it begun seven seconds later, it would have had no second in common.
    assert [interval.clients_connected for interval in found.intervals][:1] == [8]
    assert found.elapsed_ns < 4_000_000_000


def _programs() -> dict[int, str]:
    """The programs that drive clients: pid → command line."""
    found = {}
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            found[one.pid] = " ".join(one.cmdline())
    return {pid: line for pid, line in found.items() if "engine_process" in line}


_EARLIER: set[int] = set()
"""Of another test there may be one, which is kept for its Python module."""


@pytest.fixture(autouse=True)
def _note_earlier() -> None:
    _EARLIER.clear()
    _EARLIER.update(_programs())


def _left() -> list[int]:
    return sorted(_programs().keys() - _EARLIER)


def _signalled(
    number: signal.Signals, at: int = 1, after_s: float = 1.2
) -> Callable[[DriveProgress], None]:
    """Sends it to one of the generators when clients have worked for a while."""
    sent: list[int] = []

    def on_progress(report: DriveProgress) -> None:
        if report.elapsed_s > after_s and not sent:
            sent.append(_left()[at])
            os.kill(sent[0], number)

    return on_progress


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_where_a_generator_is_lost_all_end(number: signal.Signals) -> None:
    found = driven(LocalFleet(3), _signalled(number), stop=StopDocument(duration_s=60.0))
    assert found.ended_by == "interrupted"
    (lost,) = [one for one in found.generators if one.is_lost]
    assert found.lost_generators == (f"load machine 2 of 3 lost after {lost.lost_after_s:.0f} s",)
    assert lost.ok > 0 and lost.unknown > lost.clients
    # The outcomes of the run are those of all generators.
    assert found.outcomes.ok == sum(one.ok for one in found.generators)
    assert found.outcomes.unknown == sum(one.unknown for one in found.generators) == lost.unknown
    assert found.outcomes.scheduled == found.outcomes.attempts == found.outcomes.ended
    assert found.observed_outcomes.ok == found.all_ok.count == found.outcomes.ok - lost.ok
    assert not found.observed_outcomes.lost and found.ended == found.outcomes.ok
    assert len(found.client_ends) == 8 - lost.clients, "its clients are not replaced"
    assert not _left()


@pytest.mark.slow
def test_one_that_is_lost_at_once_has_no_known_bound_and_the_run_is_not_valid() -> None:
    progress = _signalled(signal.SIGKILL, after_s=0.0)
    found = driven(LocalFleet(2), progress, CONTINUE, stop=StopDocument(duration_s=2.0))
    assert [one.is_lost for one in found.generators] == [False, True]
    assert [one.is_bound_known for one in found.generators] == [True, False]
    assert found.ended_by == "stop" and not found.is_bound_known
    assert found.elapsed_ns >= 2_000_000_000, "the others continue"
    lost_after_s = found.generators[1].lost_after_s or 0.0
    words = f"load machine 2 of 2 lost after {lost_after_s:.0f} s (bound not known)"
    assert found.lost_generators == (words,)
    assert why_failed(found, (), None) == found.lost_generators[0]
    assert "bound not known" in without_lost(found.generators)


@pytest.mark.slow
def test_of_a_fleet_that_is_lost_as_a_whole_the_counts_are_kept() -> None:
    found = driven(LocalFleet(1), _signalled(signal.SIGKILL, 0), stop=StopDocument(duration_s=60.0))
    (lost,) = found.generators
    assert found.lost_generators == (f"load machine 1 of 1 lost after {lost.lost_after_s:.0f} s",)
    assert found.ended_by == "interrupted" and found.observed_outcomes.scheduled == 0
    assert (found.outcomes.ok, found.outcomes.unknown) == (lost.ok, lost.unknown)
    assert lost.ok > 0 and lost.unknown > lost.clients == found.clients == 8
    assert not _left()


@pytest.mark.slow
def test_where_assay_itself_stood_still_no_machine_is_blamed() -> None:
    pauses = [7.0]

    def progress(_: DriveProgress) -> None:
        if pauses:
            time.sleep(pauses.pop())

    with pytest.raises(
        SystemDied, match=r"assay itself stood still for .*; [1-9]\d* transactions were reported"
    ):
        driven(LocalFleet(2), progress, stop=StopDocument(duration_s=60.0))
    assert not _left()


COORDINATOR = """
import sys
from pathlib import Path
from assay.judge.result_checks import why_failed
from assay.provision.engine.engine_programs import ChildProcess
from assay.provision.engine.engine_programs import LocalFleet
from tests.unit.drive.test_fleet import StopDocument, driven
driven(
    LocalFleet(2), lambda _: print("at work", flush=True), stop=StopDocument(duration_s=60.0),
    kept_in=Path(sys.argv[1]),
)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_where_the_coordinator_is_lost_clients_end_in_order(
    number: signal.Signals, tmp_path: Path
) -> None:
    """Killed, its channels close. Where it only stands still, the lease runs out."""
    kept = tmp_path / "parts"
    with subprocess.Popen(
        [sys.executable, "-c", COORDINATOR, str(kept)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as coordinator:
        try:
            assert coordinator.stdout and coordinator.stdout.readline() == "at work\n"
            generators = psutil.Process(coordinator.pid).children()
            assert len(generators) == 2
            threading.Thread(target=coordinator.stdout.read, daemon=True).start()
            coordinator.send_signal(number)
            wait_until(lambda: not any(map(_is_at_work, generators)), "no generator is at work")
        finally:
            coordinator.kill()
            coordinator.wait()
    psutil.wait_procs(generators, timeout=HANG_S)
    assert not [one for one in generators if one.is_running()]
    parts = sorted(kept.iterdir())
    assert [re.sub(r"\d{9,}", "EPOCH", one.name) for one in parts] == [
        "run-12-EPOCH-generator-1.json",
        "run-12-EPOCH-generator-2.json",
    ]
    for part in parts:
        found = kept_parts.read_kept_part(part).observation
        assert found.ended_by == "interrupted" and len(found.client_ends) == 4
        # What was under way has ended: nothing was cut off.
        assert found.outcomes.ok > 0 == found.outcomes.unknown
        assert not found.unfinished and not found.errors


class _Answering:
    """Two programs: the first has done all that it was to do after its first second."""

    def __init__(self) -> None:
        self._receive: list[Receive] = []

    def machines(self) -> list[str]:
        return ["one"]

    def start(self, machine: int, receive: Receive) -> Channel:
        assert machine == 0
        self._receive.append(receive)
        receive({"ready": True})
        return _Heard(self, len(self._receive) - 1)

    def begin(self, place: int) -> None:
        for second in range(3 if place else 1):
            report = DriveProgress(second + 1.0, 5, None, 5, 0, 1, seconds=(_second(second),))
            self._receive[place]({"progress": msgspec.json.encode(report).decode()})
            if place and second == 0:
                ended = observations.observation(outcomes=observations.outcomes(ok=5))
                self._receive[0]({"value": msgspec.json.encode(ended.document).decode()})
        if place:
            ended = observations.observation(outcomes=observations.outcomes(ok=15))
            self._receive[1]({"value": msgspec.json.encode(ended.document).decode()})

    def stop(self) -> None:
        pass


@dataclass(frozen=True)
class _Heard:
    fleet: _Answering
    place: int

    def send(self, request: EngineRequest) -> None:
        if "begin" in request:
            self.fleet.begin(self.place)

    def look_after(self) -> None:
        pass

    def kill(self) -> None:
        pass

    def why_it_died(self, during: str, process: str = "") -> SystemDied:
        raise AssertionError(f"{process} {during}")


def _second(number: int) -> Interval:
    counts = dict.fromkeys(Interval.__struct_fields__, 0)
    return msgspec.convert(
        {**counts, "second": number, "group": "", "ok": 5, "latency": None, "schedule_lag": None,
         "schedule_lag_p99_ns": None},
        Interval,
    )  # fmt: skip


def test_the_seconds_go_on_when_one_of_several_has_done_its_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fleet, "_REPORT_EVERY_S", 0.0)
    reported: list[Interval] = []
    script = ScriptDocument(name="read", path="read.sql", text="SELECT 1;")
    parts = [PartOfDrive(0, DriveDocument(scripts=(script,), clients=1, seed=7)) for _ in range(2)]
    fleet.drive_at_once(_Answering(), parts, lambda report: reported.extend(report.seconds))
    assert [(one.second, one.ok) for one in reported] == [(0, 10), (1, 5), (2, 5)]


class _Programs:
    """Of which each passes on, before what it says itself, what another drive's would say."""

    def __init__(self, run: int, later_ns: int) -> None:
        self._fleet = LocalFleet(2)
        self.machines, self.stop = self._fleet.machines, self._fleet.stop
        self._other: Message = {"run": run, "epoch": time.time_ns() + later_ns}
        self.said = 0

    def start(self, machine: int, receive: Receive) -> Channel:
        def both(message: Message | None) -> None:
            if message is not None and "progress" in message:
                self.said += 1
                report = DriveProgress(0.1, 10**6, None, 10**6, 0, 4)
                receive({"progress": msgspec.json.encode(report).decode(), **self._other})
                receive({"value": "not even an observation", **self._other})
                receive({"value": "of no drive at all"})
            receive(message)

        return self._fleet.start(machine, both)


@pytest.mark.slow
@pytest.mark.parametrize(("run", "later_ns"), [(12, -(10**9)), (13, 0)])
def test_what_is_of_another_run_or_epoch_is_not_heard(run: int, later_ns: int) -> None:
    reported: list[DriveProgress] = []
    programs = _Programs(run, later_ns)
    found = driven(programs, reported.append)
    assert programs.said > 2
    assert found.ended_by == "stop" and found.outcomes.ok < 10**6
    assert all(one.ok < 10**6 for one in reported)


def test_a_program_hears_no_earlier_epoch() -> None:
    said: queue.Queue[Message | None] = queue.Queue()
    process = ChildProcess(receive=said.put)
    try:
        process.send({"call": "clock", "run": 12, "epoch": 7})
        process.send({"call": "clock", "run": 11, "epoch": 6})
        process.send({"call": "load_average", "run": 12, "epoch": 7})
        clock, load = said.get(timeout=HANG_S), said.get(timeout=HANG_S)
    finally:
        process.kill()
    assert clock is not None and load is not None
    assert (clock["run"], clock["epoch"]) == (12, 7) and "unix_ns" in clock["value"]
    assert isinstance(load["value"], float), "the second was answered"


def _is_at_work(process: psutil.Process) -> bool:
    """Clients have threads; without them it only waits for the next request."""
    try:
        return bool(process.num_threads() > 2)
    except psutil.Error:
        return False


def test_it_is_said_on_how_many_clients_a_run_went_on() -> None:
    def report(clients: int, lost_after_s: float | None = None) -> GeneratorReport:
        return GeneratorReport("here", clients, 0, 0, 0, lost_after_s=lost_after_s)

    assert clients_left([report(3), report(3)]) == ""
    assert clients_left([]) == ""
    one = [report(2), report(2, 31.2), report(2)]
    assert clients_left(one) == "on 4 of 6 clients from 31 s on"
    two = [report(2, 40.0), report(2, 31.2), report(2)]
    assert clients_left(two) == "on 4 of 6 clients from 31 s on, on 2 from 40 s on"
