"""Takes block devices and a client that commits; returns how many flushes and bytes a device did
for each commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import Struct

from assay.errors import SystemUnderTestError
from assay.storages.device_counters import Devices


class Counts(NamedTuple):
    """Since the devices were made."""

    flushes: int
    written_bytes: int


class FlushCounter:
    """Devices whose flushes are counted; raises `SystemUnderTestError` where one is gone."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices

    def read(self) -> Counts:
        found = self._devices.counts()
        if found is None or found.flushes is None:
            raise SystemUnderTestError(f"the device {self._devices.label} is gone")
        return Counts(found.flushes, found.written_bytes)


def why_flushes_are_not_counted(devices: Devices) -> str | None:
    """None: each flush that a file system asks for reaches the device, and is counted."""
    found = devices.counts()
    if found is not None and found.flushes is not None:
        return None
    return (
        f"flushes of {devices.label} are not counted: it has no write cache, so that the kernel "
        "sends it none, or the kernel is older than 5.5"
    )


COMMITS = 50
FOLLOWED = 3
"""How many of the commits, the last ones, are watched until they are flushed. More than one, so
that a single flush for another reason is not taken for theirs."""
LIMIT_S = 10.0
"""How long after its answer a commit may be flushed for class D2: the longest period at which a
system here flushes its log by default."""
_SLACK_S = 1.0
"""For the flush itself."""
_POLL_S = 0.001
"""Between two looks at the counters, at least."""
_POLL_SHARE = 0.005
"""Between two looks, of the time that has passed: a delay is known within half a percent, and a
system that does not flush is not asked ten thousand times."""
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.04
_GOLDEN = 0.6180339887498949
"""Multiples of it, modulo 1, repeat no pattern."""

IDLE_S = 2.0
_IDLE_TRIES = 10

Read = Callable[[], Counts]


class Watched(Struct, frozen=True):
    """One commit, by the device."""

    is_flushed_before_answer: bool
    delay_ns: int | None
    """From the answer to the end of its flush; None: not flushed while it was watched."""


class Idle(Struct, frozen=True):
    """The device while no client commits."""

    seconds: float
    """0: it was not watched."""
    flushes: int
    written_bytes: int

    def looks_like_commits(self, least_bytes: int) -> bool:
        """Whether as many bytes as those of a transaction were written and flushed."""
        return self.flushes > 0 and self.written_bytes >= least_bytes


NEVER_IDLE = Idle(0.0, 0, 0)


def idle(read: Read, least_bytes: int) -> Idle:
    """The first interval without flushes of so many bytes; the last one tried if there is none: a
    system that was just started may still be writing its own files."""
    found = NEVER_IDLE
    for _ in range(_IDLE_TRIES):
        before = read()
        time.sleep(IDLE_S)
        after = read()
        found = Idle(
            IDLE_S, after.flushes - before.flushes, after.written_bytes - before.written_bytes
        )
        if not found.looks_like_commits(least_bytes):
            break
    return found


def watch(
    prepare: Callable[[], None], commit: Callable[[], None], read: Read, least_bytes: int
) -> list[Watched]:
    """All commits but the last ones, each up to its answer.

    A commit counts as flushed when the device has written ``least_bytes`` since it was sent, and a
    flush has ended that was not counted before. Pauses differ in length, so that commits do not
    fall into step with a flush that is repeated.
    """
    watched = []
    for number in range(COMMITS - FOLLOWED):
        pause = _SHORTEST_PAUSE_S + (_LONGEST_PAUSE_S - _SHORTEST_PAUSE_S) * (number * _GOLDEN % 1)
        time.sleep(pause)
        prepare()
        flush = _Flush(read, least_bytes)
        commit()
        watched.append(Watched(True, 0) if flush.has_ended() else Watched(False, None))
    return watched


def follow(
    prepare: Callable[[], None],
    commit: Callable[[], None],
    read: Read,
    least_bytes: int,
    limit_s: float = LIMIT_S,
    *,
    waits: bool,
) -> list[Watched]:
    """The last commits, each until it is flushed; ends with the first that is not flushed in time.
    ``waits``: all before waited for their flush. Otherwise a flush before the answer may have been
    that of a part of a transaction."""
    watched = []
    for _ in range(FOLLOWED):
        time.sleep(_LONGEST_PAUSE_S)
        prepare()
        flush = _Flush(read, least_bytes)
        commit()
        answered_ns = time.monotonic_ns()
        if waits and flush.has_ended():
            watched.append(Watched(True, 0))
            continue
        delay_ns = _delay_ns(flush, _Flush(read, 1), answered_ns, limit_s)
        watched.append(Watched(False, delay_ns))
        if delay_ns is None:
            break
    return watched


def are_flushed_later(watched: Sequence[Watched]) -> bool:
    """Whether all that were followed were flushed, and not all before they were answered."""
    delays_ns = [one.delay_ns for one in watched[-FOLLOWED:]]
    is_before = all(one.is_flushed_before_answer for one in watched)
    return None not in delays_ns and len(delays_ns) == FOLLOWED and not is_before


def others_call_sync(
    write: Callable[[], object], read: Read, least_bytes: int, seconds: float
) -> bool:
    """Whether other programs call sync(2), which flushes the file systems of the whole machine:
    ``write`` writes ``least_bytes`` or more without a flush, and the device flushes them within
    ``seconds``."""
    deadline_s = time.monotonic() + seconds
    flush = _Flush(read, least_bytes)
    write()
    while not (has_ended := flush.has_ended()) and time.monotonic() < deadline_s:
        time.sleep(_POLL_S)
    return has_ended


class _Flush:
    """The flush of one commit: the first that ends after the commit's bytes were written."""

    def __init__(self, read: Read, least_bytes: int) -> None:
        self._read = read
        self._flushes, written_bytes = read()
        self._enough_bytes = written_bytes + least_bytes

    def has_ended(self) -> bool:
        now = self._read()
        if now.written_bytes < self._enough_bytes:
            self._flushes = now.flushes
        return now.flushes > self._flushes


def _delay_ns(flush: _Flush, rest: _Flush, answered_ns: int, limit_s: float) -> int | None:
    """Until the commit's flush, and the first one of something that was written after the answer:
    the log's end. Where nothing more is written, until the commit's flush alone."""
    deadline_ns = answered_ns + round((limit_s + _SLACK_S) * 1e9)
    found_ns: int | None = None
    while (now_ns := time.monotonic_ns()) < deadline_ns:
        if found_ns is None and flush.has_ended():
            found_ns = now_ns - answered_ns
        if rest.has_ended() and found_ns is not None:
            return now_ns - answered_ns
        time.sleep(max(_POLL_S, _POLL_SHARE * (now_ns - answered_ns) / 1e9))
    return found_ns
