"""Takes the parts of a drive document; has a process drive each, all beginning at one instant;
returns their observations.

For drivers that call Python: the interpreter runs one thread at a time, and clients in one process
would wait for each other instead of for the system.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from assay import _engine
from assay.errors import SystemDied
from assay.observation import Observation, read_observation
from assay.provision.session import raise_as_ours

OnProgress = Callable[[dict[str, Any]], bool | None]

_AHEAD_NS = 100_000_000
"""From the last process's readiness to the beginning, so that all have read it before."""
_REPORT_EVERY_S = 0.1
_LONGEST_CALL_S = 30.0
"""How long behind the drain a call may last that was to be cancelled."""
_END_S = 5.0
"""How long a process may take to end that has said all."""


def drive_in_processes(
    documents: Sequence[Mapping[str, Any]], on_progress: OnProgress
) -> list[Observation]:
    """An observation of each part. Where some parts end before the beginning (the system refused
    their sessions), only theirs, and no other begins.

    Raises as `assay.drive.transactions.observe`, and `KeyboardInterrupt` also where ``on_progress``
    returns False while clients work. No process is left, whatever is raised.
    """
    with _started(documents) as parts:
        messages: _Messages = queue.Queue()
        for place, part in enumerate(parts):
            reader = threading.Thread(target=_read, args=(place, part, messages), daemon=True)
            reader.start()
        return _followed(parts, messages, on_progress)


def _followed(
    parts: Sequence[_Part], messages: _Messages, on_progress: OnProgress
) -> list[Observation]:
    ready: set[int] = set()
    found: dict[int, Observation] = {}
    progress: dict[int, dict[str, Any]] = {}
    reported_s = 0.0
    has_begun = False
    while len(found) < len(parts):
        place, message = messages.get()
        if message is None:
            if place not in found:
                raise SystemDied(f"a client process has ended by itself: {parts[place].last()}")
            continue
        if "error" in message:
            raise_as_ours(_as_raised(message["error"]))
        if "observation" in message:
            found[place] = read_observation(message["observation"])
        if "ready" in message:
            ready.add(place)
        if not has_begun and len(ready | found.keys()) == len(parts):
            if found:
                break
            has_begun = True
            begin_unix_ns = time.time_ns() + _AHEAD_NS
            for part in parts:
                part.send(str(begin_unix_ns))
        if "progress" in message:
            progress[place] = message["progress"]
            _insist_on_an_end(message["progress"])
            now_s = time.monotonic()
            if has_begun and now_s - reported_s >= _REPORT_EVERY_S:
                reported_s = now_s
                if on_progress(_together(list(progress.values()))) is False:
                    raise KeyboardInterrupt
    return [found[place] for place in sorted(found)]


def _insist_on_an_end(report: Mapping[str, Any]) -> None:
    """Not every module can be called off: one that does not return is not waited for."""
    draining = report.get("draining") or {"elapsed_s": 0.0, "limit_s": 0.0}
    if draining["elapsed_s"] > draining["limit_s"] + _LONGEST_CALL_S:
        raise SystemDied(
            f"a client waits for an answer since {draining['elapsed_s']:.0f} s behind the end of "
            "the measurement, and the driver cannot cancel its call",
            hint="does the server still answer? a shorter lock timeout there also helps",
        )


class _Part:
    """A process that drives a part of the clients."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "assay.drive.client_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
        )
        self.send(json.dumps(document))

    def send(self, line: str) -> None:
        """A process that has ended is noticed by its silence."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            print(line, file=self._process.stdin, flush=True)

    def lines(self) -> Iterator[str]:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            yield from output

    def last(self) -> str:
        """The last line that it wrote to standard error, and its exit status."""
        status = self._process.wait(_END_S)
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        words = [line.strip() for line in lines if line.strip()]
        return f"{words[-1] if words else 'it wrote nothing'} (exit status {status})"

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        """Of a process that was killed or has ended; its pipes are closed by the reader."""
        self._process.wait()
        with suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._errors.close()


@contextmanager
def _started(documents: Sequence[Mapping[str, Any]]) -> Iterator[list[_Part]]:
    parts: list[_Part] = []
    try:
        for document in documents:
            parts.append(_Part(document))
        yield parts
    finally:
        for part in parts:
            part.kill()
        for part in parts:
            part.end()


_Messages = queue.Queue[tuple[int, dict[str, Any] | None]]
"""Number of the part and what it sent; None: it has ended."""


def _read(place: int, part: _Part, messages: _Messages) -> None:
    for line in part.lines():
        messages.put((place, json.loads(line)))
    messages.put((place, None))


def _as_raised(fields: Mapping[str, Any]) -> _engine.EngineError:
    error = _engine.EngineError(fields["message"])
    for name, value in fields.items():
        setattr(error, name, value)
    return error


def _together(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The progress of all processes as that of one."""
    whole: dict[str, Any] = {
        name: sum(one[name] for one in reports)
        for name in ("done", "ok", "failed", "clients_running")
    }
    whole["elapsed_s"] = max(one["elapsed_s"] for one in reports)
    scheduled = [one["scheduled"] for one in reports]
    whole["scheduled"] = None if None in scheduled else sum(scheduled)
    if seconds := [one["last_second"] for one in reports if "last_second" in one]:
        whole["last_second"] = {
            "ok": sum(one["ok"] for one in seconds),
            "p99_ns": max(one["p99_ns"] for one in seconds),
        }
    if drains := [one["draining"] for one in reports if "draining" in one]:
        whole["draining"] = {
            "open": sum(one["open"] for one in drains),
            "elapsed_s": max(one["elapsed_s"] for one in drains),
            "limit_s": max(one["limit_s"] for one in drains),
        }
    return whole
