"""Takes the parts of a drive document; has a process drive each, all beginning at one instant;
returns their observations.

For drivers that call Python: the interpreter runs one thread at a time, and clients in one process
would wait for each other instead of for the system.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from assay.contracts.engine.drive import (
    DrainProgress,
    DriveDocument,
    DriveProgress,
    read_progress,
)
from assay.contracts.observation import Interval, Observation, decode_observation
from assay.contracts.observation.merging.merged_intervals import line_of
from assay.contracts.stop import NEVER, Stop
from assay.errors import SystemDied
from assay.provision.engine.dbapi.messages import Message, Request
from assay.provision.engine.python_calls import error_of
from assay.provision.engine.python_process import PythonProcess
from assay.provision.engine.session import raise_as_ours

OnProgress = Callable[[DriveProgress], bool | None]

_AHEAD_NS = 100_000_000
"""From the last process's readiness to the beginning, so that all have read it before."""
_REPORT_EVERY_S = 0.1
_LONGEST_CALL_S = 30.0
"""How long behind the drain a call may last that was to be cancelled."""
_LOOK_EVERY_S = 0.25

_Messages = queue.Queue[tuple[int, Message | None]]
"""Number of the part and what it sent; None: it has ended."""


def drive_in_processes(
    documents: Sequence[DriveDocument], on_progress: OnProgress, stop: Stop = NEVER
) -> list[Observation]:
    """An observation of each part. Where some parts end before the beginning (the system refused
    their sessions), only theirs, and no other begins.

    Raises as `assay.drive.observe.observe`, and `KeyboardInterrupt` also where ``on_progress``
    returns False while clients work; `Stopped` where a ``stop`` is requested: a module cannot be
    relied on to return. No process is left, whatever is raised.
    """
    messages: _Messages = queue.Queue()
    with _started(documents, messages) as parts:
        return _followed(parts, messages, on_progress, stop)


def _followed(
    parts: Sequence[PythonProcess], messages: _Messages, on_progress: OnProgress, stop: Stop
) -> list[Observation]:
    ready: set[int] = set()
    found: dict[int, Observation] = {}
    progress: dict[int, DriveProgress] = {}
    seconds = _Seconds(len(parts))
    reported_s = 0.0
    has_begun = False
    while len(found) < len(parts):
        stop.check()
        try:
            place, message = messages.get(timeout=_LOOK_EVERY_S)
        except queue.Empty:
            for place, part in enumerate(parts):
                if place not in found:
                    part.look_after()
            continue
        if message is None:
            if place not in found:
                during = "during the measurement" if has_begun else "while clients connected"
                name = f"client process {place + 1} of {len(parts)}"
                raise parts[place].why_it_died(during, name)
            continue
        if "error" in message:
            raise_as_ours(error_of(message["error"]))
        if "value" in message:
            found[place] = decode_observation(message["value"])
        if "ready" in message:
            ready.add(place)
        if not has_begun and len(ready | found.keys()) == len(parts):
            if found:
                break
            has_begun = True
            begin_unix_ns = time.time_ns() + _AHEAD_NS
            for part in parts:
                part.send({"begin": begin_unix_ns})
        if "progress" in message:
            progress[place] = report = read_progress(message["progress"])
            seconds.add(place, report.seconds)
            _insist_on_an_end(report, parts[place])
            now_s = time.monotonic()
            if has_begun and now_s - reported_s >= _REPORT_EVERY_S:
                reported_s = now_s
                if on_progress(_together(list(progress.values()), seconds.take())) is False:
                    raise KeyboardInterrupt
    return [found[place] for place in sorted(found)]


def _insist_on_an_end(report: DriveProgress, part: PythonProcess) -> None:
    """Not every module can be called off: one that does not return is not waited for."""
    draining = report.draining
    if draining is not None and draining.elapsed_s > draining.limit_s + _LONGEST_CALL_S:
        raise SystemDied(
            f"{draining.elapsed_s:.0f} s after the end of the measurement a client is still "
            f"waiting: the module {part.module} does not return from a call, which cannot be "
            "cancelled",
            hint="check that the server still answers, or shorten its lock timeout",
        )


@contextmanager
def _started(
    documents: Sequence[DriveDocument], messages: _Messages
) -> Iterator[list[PythonProcess]]:
    parts: list[PythonProcess] = []

    def received_from(place: int) -> Callable[[Message | None], None]:
        return lambda message: messages.put((place, message))

    try:
        for place, document in enumerate(documents):
            assert document.deployment is not None
            parts.append(PythonProcess(document.deployment.options["module"], received_from(place)))
            parts[-1].send(Request(call="drive", document=document.json))
        yield parts
    finally:
        for part in parts:
            part.kill()


class _Seconds:
    """The seconds of all parts; each is complete when every part has reported it."""

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._reported: dict[int, dict[int, list[Interval]]] = {}
        """Second → part → its intervals."""

    def add(self, part: int, intervals: Sequence[Interval]) -> None:
        for interval in intervals:
            self._reported.setdefault(interval.second, {}).setdefault(part, []).append(interval)

    def take(self) -> tuple[Interval, ...]:
        """Those that were completed since the last call, one of each group."""
        complete = [at for at, parts in sorted(self._reported.items()) if len(parts) == self._parts]
        return tuple(line for at in complete for line in _lines(at, self._reported.pop(at)))


def _lines(second: int, parts: Mapping[int, Sequence[Interval]]) -> Iterator[Interval]:
    by_group: dict[str, list[Interval]] = {}
    for intervals in parts.values():
        for interval in intervals:
            by_group.setdefault(interval.group, []).append(interval)
    for group, intervals in by_group.items():
        connected = sum(interval.clients_connected for interval in intervals)
        yield line_of(second, group, intervals, connected, (), ())


def _together(reports: Sequence[DriveProgress], seconds: tuple[Interval, ...]) -> DriveProgress:
    """The progress of all processes as that of one."""
    scheduled = [report.scheduled for report in reports if report.scheduled is not None]
    drains = [report.draining for report in reports if report.draining is not None]
    return DriveProgress(
        elapsed_s=max(report.elapsed_s for report in reports),
        done=sum(report.done for report in reports),
        scheduled=sum(scheduled) if len(scheduled) == len(reports) else None,
        ok=sum(report.ok for report in reports),
        failed=sum(report.failed for report in reports),
        clients_running=sum(report.clients_running for report in reports),
        seconds=seconds,
        draining=DrainProgress(
            open=sum(drain.open for drain in drains),
            elapsed_s=max(drain.elapsed_s for drain in drains),
            limit_s=max(drain.limit_s for drain in drains),
        )
        if drains
        else None,
    )
