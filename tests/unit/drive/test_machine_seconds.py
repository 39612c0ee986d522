"""What the machine did in each second, by counters that are read with the progress of clients."""

from __future__ import annotations

from pathlib import Path

import pytest

import observations
from assay.contracts.engine.drive import DriveProgress
from assay.contracts.observation import Interval
from assay.contracts.systems.protocol import ProcessSample
from assay.drive.monitoring import machine_seconds
from assay.drive.monitoring.machine_seconds import MachineSeconds
from assay.drive.monitoring.sampler import TimedSample
from assay.storages.device_counters import DeviceCounts, Devices

S = 1_000_000_000


class Clock:
    """Stands for the clock, and for a device that reads ten times a second."""

    def __init__(self) -> None:
        self.now_s = 50.0
        self.read = 0

    def monotonic(self) -> float:
        return self.now_s

    def process_time_ns(self) -> int:
        return int(self.now_s * S / 4)

    def counts(self, _devices: Devices) -> DeviceCounts:
        self.read += 1
        return DeviceCounts(int(self.now_s * 1000), 0, int(self.now_s * 10), 0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(machine_seconds, "time", made)
    monkeypatch.setattr(Devices, "counts", lambda devices: made.counts(devices))
    return made


def progress(elapsed_s: float, *seconds: int) -> DriveProgress:
    lines = (
        Interval(second, "", 1, 0, 0, 0, 0, 0, 0, 1, None, None, 1, 1, 1, None, 0, 0)
        for second in seconds
    )
    return DriveProgress(elapsed_s, 0, None, 0, 0, 1, seconds=tuple(lines))


def test_a_second_is_what_was_counted_in_it_and_none_is_missing(clock: Clock) -> None:
    process = ProcessSample(1, 1, 1, 1, 0, 0, 0)
    samples = [TimedSample(at, process, other_programs_ns=at * S // 2) for at in (0, 2)]
    found = MachineSeconds(Devices((Path("/sys/vda"),)), samples, 2.0, drives_here=True)
    given = []
    for tenth in range(70):
        clock.now_s = 50 + tenth / 10
        second, left = divmod(tenth - 20 - 14, 10)  # the clients report it 0.4 s later
        given += found.at(progress(tenth / 10, *([second] if second >= 0 and not left else [])))
    assert [one.second for one in given] == [0, 1, 2, 3]
    assert clock.read == 5, "once a second"
    every = found.of(observations.observation(elapsed_ns=5 * S, drained_ns=0))
    assert [one.second for one in every] == [0, 1, 2, 3, 4]
    for one in every:
        assert (one.client_cpus, one.other_cpus, one.device) == (0.25, 0.5, "vda")
        assert one.reads == pytest.approx(10, abs=1.2)


def test_seconds_without_progress_are_their_mean_and_another_process_is_not_known(
    clock: Clock,
) -> None:
    found = MachineSeconds(None, [], 0.0, drives_here=False)
    found.at(progress(0.9))  # connecting
    found.at(progress(0.0))
    clock.now_s += 3.5
    (*_, last) = found.at(progress(3.5, 0, 1, 2))
    assert last.second == 2 and last.client_cpus is None and last.device == ""
    assert not found.at(progress(3.6))
