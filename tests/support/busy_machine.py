"""Takes a test marked ``alone`` or ``flushes``, and runs it again, three times in all, where it
failed while other programs worked, or synced every file system; gives its reports, as skipped where
none of the three was undisturbed.

A failure on a quiet machine stays a failure. A test that passes costs one look at the machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from assay.probe.durability import unflushed_file
from assay.probe.flushes import FlushCounter, others_call_sync
from assay.provision.machine.sampling import MachineSample, sample, sample_machine
from assay.storages.device_counters import devices_under
from assay.storages.loop import LOOP
from own_device import own_device

TRIES = 3
BUSY = 0.10
"""Share of the CPUs, or of the time in which a task waits, above which a failure proves nothing."""
LOOK_S = 0.3
"""How long this process sleeps while it looks at what others do: nothing of its own runs then."""
_LOOK_AT_FLUSHES_S = 2.0
_UNFLUSHED_BYTES = 1 << 16
_PRESSURE = ("cpu", "io", "memory")


@dataclass(frozen=True)
class _Instant:
    wall_ns: int
    own_ns: int
    """CPU time of this process and of its descendants."""
    machine: MachineSample | None
    waited_ns: dict[str, int]


def _waited_ns(of: str) -> int:
    """For how long at least one task of the machine has waited (proc/pressure, ``some``)."""
    try:
        line = Path("/proc/pressure", of).read_text().splitlines()[0]
    except (OSError, IndexError):
        return 0  # not every kernel has it
    return int(line.rpartition("total=")[2]) * 1000


def _now() -> _Instant:
    waited = {of: _waited_ns(of) for of in _PRESSURE}
    own = sample(os.getpid())
    return _Instant(time.monotonic_ns(), own.cpu_ns if own else 0, sample_machine(), waited)


def _used_by_others(since: _Instant, until: _Instant) -> float:
    """The share of the CPUs that programs other than this one had; steal is others', too."""
    a, b = since.machine, until.machine
    if a is None or b is None or until.wall_ns == since.wall_ns:
        return 0.0
    busy_ns = b.user_ns + b.system_ns + b.steal_ns - a.user_ns - a.system_ns - a.steal_ns
    others_ns = busy_ns - (until.own_ns - since.own_ns)
    return max(0.0, others_ns / ((os.cpu_count() or 1) * (until.wall_ns - since.wall_ns)))


def _looked() -> float:
    """What others do now: their share of the CPUs, or the share of the time in which one of their
    tasks waits for a CPU, a device or memory."""
    since = _now()
    time.sleep(LOOK_S)
    until = _now()
    passed_ns = until.wall_ns - since.wall_ns
    waits = [(until.waited_ns[of] - since.waited_ns[of]) / passed_ns for of in _PRESSURE]
    return min(1.0, max(_used_by_others(since, until), *waits))


def _disturbance(before: float, since: _Instant) -> float:
    """Before, during and after a test."""
    return min(1.0, max(before, _used_by_others(since, _now()), _looked()))


class _Others:
    """What other programs do while a test runs."""

    def __init__(self) -> None:
        self._before, self._since = _looked(), _now()

    def disturbance(self) -> str:
        """``73 %``; empty: too little to matter."""
        share = _disturbance(self._before, self._since)
        return f"{share:.0%}".replace("%", " %") if share >= BUSY else ""


class _OthersSync:
    """Whether other programs sync every file system, as after a test that counts flushes failed."""

    def disturbance(self) -> str:
        if LOOP.why_unavailable() is not None:
            return ""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(own_device()).directory)
            write = stack.enter_context(unflushed_file(folder, _UNFLUSHED_BYTES))
            devices = devices_under(folder)
            assert devices is not None
            read = FlushCounter(devices).read
            return (
                "sync(2)"
                if others_call_sync(write, read, _UNFLUSHED_BYTES // 2, _LOOK_AT_FLUSHES_S)
                else ""
            )


_WATCHED = {"alone": _Others, "flushes": _OthersSync}
"""Marker → what may disturb a test that has it."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    watched = next((of for name, of in _WATCHED.items() if item.get_closest_marker(name)), None)
    if watched is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item, nextitem, watched):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _reports(
    item: pytest.Item, nextitem: pytest.Item | None, watched: type[_Others | _OthersSync]
) -> list[pytest.TestReport]:
    """Those of the last try."""
    for _ in range(TRIES):
        others = watched()
        found = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(one.failed for one in found):
            return found
        if not (disturbance := others.disturbance()):
            return found
    _skip(item, found, f"the machine was busy ({disturbance})")
    return found


def _skip(item: pytest.Item, found: Sequence[pytest.TestReport], reason: str) -> None:
    path, line, _ = item.reportinfo()
    for report in found:
        if report.failed:
            report.outcome = "skipped"
            report.longrepr = (str(path), (line or 0) + 1, f"Skipped: {reason}")
