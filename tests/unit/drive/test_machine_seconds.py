"""What the machine did in each second, by counters that are read with the progress of clients."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import observations
from assay.contracts.engine.drive import ClientsSoFar, DriveProgress
from assay.contracts.observation import ClientCost, Interval, Observation
from assay.contracts.systems.protocol import ProcessSample
from assay.drive import watched
from assay.drive.monitoring.sampler import TimedSample
from assay.drive.watched import MachineSeconds
from assay.storages.device_counters import DeviceCounts, Devices

S = 1_000_000_000


class Clock:
    """Stands for the clock, and for a device that reads ten times a second."""

    def __init__(self) -> None:
        self.now_s = 50.0
        self.read = 0

    def monotonic(self) -> float:
        return self.now_s

    def counts(self, _devices: Devices) -> DeviceCounts:
        self.read += 1
        return DeviceCounts(int(self.now_s * 1000), 0, int(self.now_s * 10), 0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(watched, "time", made)
    monkeypatch.setattr(Devices, "counts", lambda devices: made.counts(devices))
    return made


def cost(measured_s: float) -> ClientCost:
    """Of two threads, of which one works a quarter of the time."""
    return ClientCost(int(measured_s * S / 4), 0, 0.0, 0, 0, 0, 0, 0, 0, None)


def so_far(measured_s: float) -> ClientsSoFar:
    return ClientsSoFar(int(measured_s * S), 2, cost(measured_s), 0)


def progress(elapsed_s: float, *seconds: int, clients: ClientsSoFar | None = None) -> DriveProgress:
    lines = (
        Interval(second, "", 1, 0, 0, 0, 0, 0, 0, 1, None, None, 1, 1, 1, None, 0, 0)
        for second in seconds
    )
    return DriveProgress(elapsed_s, 0, None, 0, 0, 1, seconds=tuple(lines), so_far=clients)


BEGAN = 1_000 * S
"""When sampling began; two seconds later the measurement does."""


def ended(measured_s: int) -> Observation:
    whole = observations.observation(elapsed_ns=measured_s * S, drained_ns=0)
    cost_of_all = cost(measured_s)
    return replace(whole, started_unix_ns=BEGAN + 2 * S, threads=2, client_cost=cost_of_all)


def sampled(*at_s: float) -> list[TimedSample]:
    """Of a server that uses one and a half processors, and others that use half of one."""

    def one(at: float) -> TimedSample:
        process = ProcessSample(1, 1, 1, 1, 0, int(at * S * 1.5), 0)
        return TimedSample(at, process, other_programs_ns=int(at * S / 2))

    return list(map(one, at_s))


def test_a_second_is_what_was_counted_in_it_and_none_is_missing(clock: Clock) -> None:
    samples = sampled(0, 2)
    found = MachineSeconds(Devices((Path("/sys/vda"),)), samples, 2.0, clients_are_here=True)
    given = []
    for tenth in range(70):
        clock.now_s = 50 + tenth / 10
        if tenth in (30, 50):
            samples += sampled(tenth / 10)
        second, left = divmod(tenth - 20 - 14, 10)  # the clients report it 0.4 s later
        said = None if tenth < 30 or tenth % 10 else so_far(tenth / 10 - 2)
        lines = [second] if second >= 0 and not left else []
        given += found.at(progress(tenth / 10, *lines, clients=said))
    assert [one.second for one in given] == [0, 1, 2, 3]
    assert clock.read == 5, "once a second"
    assert [one.server_cpus for one in given] == [None, None, 1.5, 1.5], (
        "two samples since it began"
    )
    samples += sampled(7)
    every = found.of(ended(5), BEGAN)
    assert [one.second for one in every] == [0, 1, 2, 3, 4]
    for one in every:
        assert (one.client_cpus, one.other_cpus, one.device) == (0.25, 0.5, "vda")
        assert (one.client_busy, one.server_cpus) == (0.125, 1.5)
        assert one.reads == pytest.approx(10, abs=1.2)


def test_what_is_sampled_belongs_to_the_seconds_around_which_it_was(clock: Clock) -> None:
    def at(at_s: float, cpu_s: float) -> TimedSample:
        process = ProcessSample(1, 1, 1, 1, 0, int(cpu_s * S), 0)
        return TimedSample(at_s, process, other_programs_ns=int((at_s - cpu_s) * S))

    # The server works for three seconds, stands still for two, and works again.
    samples = [at(0, 0), at(2, 0), at(5, 3), at(7, 3), at(9, 5)]
    found = MachineSeconds(None, samples, 2.0, clients_are_here=True)
    found.at(progress(2.0))
    clock.now_s += 7
    found.at(progress(9.0, clients=so_far(7)))
    every = found.of(ended(7), BEGAN)
    assert [one.server_cpus for one in every] == [1, 1, 1, 0, 0, 1, 1]
    assert [one.other_cpus for one in every] == [0, 0, 0, 1, 1, 0, 0]


def test_seconds_without_progress_are_their_mean_and_another_process_is_not_known(
    clock: Clock,
) -> None:
    found = MachineSeconds(None, sampled(0, 2), 0.0, clients_are_here=False, is_embedded=True)
    found.at(progress(0.9))  # connecting
    found.at(progress(0.0))
    clock.now_s += 3.5
    (*_, last) = found.at(progress(3.5, 0, 1, 2, clients=so_far(3.5)))
    assert last.second == 2 and last.client_cpus is None and last.device == ""
    assert last.server_cpus is None and last.client_busy is None, "they are one"
    assert not found.at(progress(3.6))


def test_what_several_processes_say_is_waited_for_a_moment(clock: Clock) -> None:
    found = MachineSeconds(None, [], 0.0, clients_are_here=True)
    found.at(progress(0.0))
    for at_s, said in ((1.0, None), (1.2, so_far(1.2)), (2.0, None), (2.4, None), (2.6, None)):
        clock.now_s = 50 + at_s
        found.at(progress(at_s, clients=said))
    one, other = found.at(progress(3.0, 0, 1))
    assert one.client_cpus == 0.25, "it was said after 1.2 s"
    assert other.client_cpus == 0.25, "not said in time: as it was last known"
