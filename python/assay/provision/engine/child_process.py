"""A process that runs the engine for this one (`assay.provision.engine.engine_process`): takes
requests; returns its messages, and how it ended.

One that calls a DB-API module, which this process never does itself: a module that blocks, ends the
program or crashes must not end the run before everything is undone. Or one that drives a part of
the clients, as another machine would.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from assay.contracts.engine.messages import EngineRequest, Message
from assay.contracts.observation.parts.shape import convert
from assay.errors import SystemDied
from assay.provision.confinement import confined_program, confinement
from assay.provision.engine import silence
from assay.provision.machine.family import STATE
from assay.provision.machine.identity import stat_fields

_CHECK_EVERY_S = 0.25
"""How often a process is looked after that says nothing: a child that it forked may hold its
pipes open."""
_END_S = 5.0
"""How long a process may take to end that has closed its pipes."""
_CHECKS_AFTER_ITS_END = 4
"""How many such looks a process gets that has ended, until its last messages are read."""
_UPDATE = "update the module or the library that it loads"
_WHO_ENDS_IT = "it was killed by a user, or by the kernel for lack of memory: see dmesg"


class ChildProcess:
    def __init__(
        self,
        module: str = "",
        receive: Callable[[Message | None], None] | None = None,
        before: Sequence[str] = (),
    ):
        """``module``: that it calls; empty: none. ``receive`` is called in another thread with each
        message; with None when the process has ended. Without it, messages are for `answer`.
        ``before``: the beginning of its command."""
        self.module: Final = module
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._receive = receive or self._messages.put
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `kill`)
        words = [*before, sys.executable, "-P", "-m", "assay.provision.engine.engine_process"]
        if confinement.is_begun():
            words = confined_program.confined(words, [], [])
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            # What this process can import, that one can.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
            # A session of its own, without the terminal: what a module forks ends with it.
            start_new_session=True,
        )
        self._is_killed = False
        self._stopped_s: float | None = None
        """Since when it has been stopped by a signal; None: it is not."""
        self._checks_after_its_end = 0
        reader = threading.Thread(target=self._read, name="client process", daemon=True)
        reader.start()

    def send(self, request: EngineRequest) -> None:
        """A process that has ended is noticed by its silence."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            print(json.dumps(request), file=self._process.stdin, flush=True)

    def answer(self, during: str, limit_s: float | None = None) -> Message:
        """The next message. Raises `SystemDied` where the process has ended, `TimeoutError` behind
        the limit, `Stopped` where the work is to end."""
        until_s = None if limit_s is None else time.monotonic() + limit_s
        while True:
            with suppress(queue.Empty):
                message = self._messages.get(timeout=_CHECK_EVERY_S)
                if message is None:
                    raise self.why_it_died(during)
                return message
            self.look_after()
            silence.waiting()
            if until_s is not None and time.monotonic() > until_s:
                raise TimeoutError

    def look_after(self) -> None:
        """Has the end of the process received, also where its pipes are still open. Raises
        `SystemDied` where it has been stopped for the limit of silence."""
        if self.is_alive():
            self._insist_on_running()
            return
        self._kill_group()
        self._checks_after_its_end += 1
        if self._checks_after_its_end == _CHECKS_AFTER_ITS_END:
            self._receive(None)

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def _insist_on_running(self) -> None:
        fields = stat_fields(self._process.pid)
        if fields is None or fields[STATE] not in "Tt":
            self._stopped_s = None
            return
        now_s = time.monotonic()
        self._stopped_s = self._stopped_s or now_s
        if now_s - self._stopped_s >= silence.LIMIT_S:
            what = f"calls the module {self.module}" if self.module else "drives clients"
            raise SystemDied(
                f"the process that {what} was stopped by a signal {silence.LIMIT_S:.0f} s ago",
                hint=f"do not stop process {self._process.pid}, and run it again",
            )

    def why_it_died(self, during: str, process: str = "") -> SystemDied:
        """``during``: what it did; ``process``: its name, where there are several."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        status = self._process.returncode
        last = self._last_line()
        if not self.module:
            who = process or "the process that drives clients"
            return SystemDied(f"{who} {_ended(status)} {during}{last}", hint=_WHO_ENDS_IT)
        if status is None:
            message = f"the module {self.module} closed the pipes of the program {during}"
            return SystemDied(f"{process}{': ' if process else ''}{message}{last}", hint=_UPDATE)
        if status >= 0:
            message = f"the module {self.module} ended the program {during} (exit status {status})"
            hint = "a module must not end the program that uses it: use another one"
            return SystemDied(f"{process}{': ' if process else ''}{message}{last}", hint=hint)
        number = -status
        who = process or f"the process that calls the module {self.module}"
        message = f"{who} {_ended(status)} {during}"
        if number in (signal.SIGKILL, signal.SIGTERM):
            hint = _WHO_ENDS_IT
        else:
            message += f", probably in the module {self.module}"
            hint = _UPDATE
        return SystemDied(f"{message}{last}", hint=hint)

    def kill(self) -> None:
        """Ends it and whatever it started. Never waits for what the module does."""
        self._kill_group()
        self._process.wait()
        with suppress(BrokenPipeError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._errors.close()

    def _kill_group(self) -> None:
        if self._is_killed:
            return
        self._is_killed = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _last_line(self) -> str:
        """The last line that it wrote to standard error, as the end of a sentence."""
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        words = [line.strip() for line in lines if line.strip()]
        return f": {words[-1]}" if words else ""

    def _read(self) -> None:
        assert self._process.stdout is not None
        # Half a line: of a process that was killed.
        with self._process.stdout as lines, suppress(ValueError):
            for line in lines:
                self._receive(convert(json.loads(line), Message, "message"))
        self._receive(None)


def _ended(status: int | None) -> str:
    if status is None:
        return "closed its pipes"
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = "unknown"
    return f"was ended by signal {-status} ({name})"
