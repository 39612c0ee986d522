"""Programs that run the engine for this process, on this machine or on those of a Ray cluster;
takes requests, returns their messages and how each ended."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any, Final

from assay.contracts.documents import convert
from assay.contracts.engine import EngineRequest, Message
from assay.errors import ArgumentError, SystemDied, SystemMissing
from assay.provision import confinement
from assay.provision.engine import silence
from assay.provision.machine.ports import is_loopback
from assay.provision.machine.process_table import STATE, stat_fields
from assay.text.phrases import Mention, phrase

if TYPE_CHECKING:
    from assay.contracts.engine import Receive


_CHECK_EVERY_S = 0.25
"""How often a process is looked after that says nothing: a child that it forked may hold its
pipes open."""
_END_S = 5.0
"""How long a process may take to end that has closed its pipes."""
_CHECKS_AFTER_ITS_END = 4
"""How many such looks a process gets that has ended, until its last messages are read."""
_UPDATE = "update the module or the library that it loads"
_WHO_ENDS_IT = "it was killed by a user, or by the kernel for lack of memory: see dmesg"


def started_python(words: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[str]:
    """A program that can import what this process can, in a session of its own: Ctrl-C at the
    terminal does not reach it, and what its modules fork ends with it."""
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
        start_new_session=True,
    )


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
            words = confinement.confined_command(words, [], [])
        self._process = started_python(words, self._errors)
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


if TYPE_CHECKING:
    from assay.contracts.engine import Receive


class LocalFleet:
    """``module``: that the programs call, where the driver calls Python; ``before``: for each
    machine the beginning of the command by which its programs are started (``unshare …``)."""

    def __init__(
        self, machines: int = 1, module: str = "", before: Sequence[Sequence[str]] = ()
    ) -> None:
        self._machines = machines
        self._module: Final = module
        self._before = before
        self._started: list[ChildProcess] = []

    def machines(self) -> Sequence[str]:
        return [f"process {number} of this machine" for number in range(1, self._machines + 1)]

    def start(self, machine: int, receive: Receive) -> ChildProcess:
        before = self._before[machine] if self._before else ()

        self._started.append(ChildProcess(self._module, receive, before))
        return self._started[-1]

    def stop(self) -> None:
        while self._started:
            self._started.pop().kill()


_SCHEME = "ray://"
_TOKEN = "RAY_AUTH_MODE"
_READ_S = 1.0
"""How long an actor waits for something to pass on."""
_ANSWER_S = 5.0
_GROUPS = {"requests": 1, "messages": 1, "end": 1}
"""Of calls of an actor: each in the order in which it was called."""


def why_not(address: str) -> str | None:
    """Why this cannot be a fleet; None: it can be asked."""
    if not address.startswith(_SCHEME):
        return f"a fleet is {_SCHEME}HOST:PORT; found {address!r}"
    if find_spec("ray") is None:
        return "a fleet needs Ray, which is not installed: pip install 'assay-db[fleet]'"
    return None


class RayProgram:
    """In an actor: the program, whose messages wait until they are read."""

    def __init__(self) -> None:
        self._said: queue.Queue[Message | None] = queue.Queue()

        self._process = ChildProcess(receive=self._said.put)

    def send(self, request: EngineRequest) -> None:
        self._process.send(request)

    def read(self) -> list[Message | None]:
        """Those that are there, after a moment; the last is None where it has ended."""
        found: list[Message | None] = []
        with suppress(queue.Empty):
            found.append(self._said.get(timeout=_READ_S))
            while found[-1] is not None:
                found.append(self._said.get_nowait())
        self._process.look_after()
        return found

    def why_it_died(self, during: str, process: str) -> tuple[str, str | None]:
        error = self._process.why_it_died(during, process)
        return error.message, error.hint

    def kill(self) -> None:
        self._process.kill()


class RayFleet:
    """``machines``: how many of the cluster's are used. Raises `SystemMissing` where it cannot be
    reached or has fewer, `ArgumentError` where it has no token and is not on loopback alone."""

    def __init__(self, address: str, machines: int) -> None:
        import ray

        self._ray: Final[Any] = ray
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            ray.init(
                address=address.removeprefix(_SCHEME), log_to_driver=False, logging_level="ERROR"
            )
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise SystemMissing(
                phrase("{}: {}", Mention("fleet", address), str(error).split("\n")[0]),
                hint="this machine must be one of the cluster: ray start --address=HOST:PORT",
            ) from error
        try:
            alive = [node for node in ray.nodes() if node["Alive"]]
            self._nodes = sorted(
                alive, key=lambda node: (node["NodeManagerAddress"], node["NodeID"])
            )
            self._refuse(address, machines)
        except BaseException:
            ray.shutdown()
            raise
        self._nodes = self._nodes[:machines]
        self._channels: list[_Channel] = []

    @property
    def is_this_machine(self) -> bool:
        """Whether each of its machines is this one."""
        return all(map(_is_here, self._addresses()))

    def machines(self) -> Sequence[str]:
        return self._addresses()

    def start(self, machine: int, receive: Receive) -> _Channel:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = NodeAffinitySchedulingStrategy(self._nodes[machine]["NodeID"], soft=False)
        options = {"num_cpus": 0, "max_restarts": 0, "concurrency_groups": _GROUPS}
        actor = self._ray.remote(**options)(RayProgram).options(scheduling_strategy=there).remote()
        self._channels.append(_Channel(self._ray, actor, receive))
        return self._channels[-1]

    def stop(self) -> None:
        while self._channels:
            self._channels.pop().kill()
        self._ray.shutdown()

    def _addresses(self) -> list[str]:
        return [str(node["NodeManagerAddress"]) for node in self._nodes]

    def _refuse(self, address: str, machines: int) -> None:
        others = [one for one in self._addresses() if not is_loopback(one)]
        if others and os.environ.get(_TOKEN, "").lower() != "token":
            raise ArgumentError(
                phrase(
                    "{}: the cluster has no token, and {} can be reached by others: all who "
                    "reach Ray run programs on its machines",
                    Mention("fleet", address),
                    others[0],
                ),
                hint=f"set {_TOKEN}=token and RAY_AUTH_TOKEN for every `ray start` and for assay",
            )
        if len(self._nodes) < machines:
            raise SystemMissing(
                phrase(
                    "{}: expected {} machines, found {}",
                    Mention("fleet", address),
                    machines,
                    len(self._nodes),
                ),
                hint="ray start --address=HOST:PORT on the others, or fewer generators",
            )


class _Channel:
    def __init__(self, ray: Any, actor: Any, receive: Receive) -> None:
        self._ray, self._actor, self._receive = ray, actor, receive
        self._is_killed = False
        threading.Thread(target=self._read, name="fleet", daemon=True).start()

    def send(self, request: EngineRequest) -> None:
        self._actor.send.options(concurrency_group="requests").remote(request)

    def look_after(self) -> None:
        """Its actor does that."""

    def why_it_died(self, during: str, process: str = "") -> SystemDied:
        call = self._actor.why_it_died.options(concurrency_group="end")
        try:
            message, hint = self._ray.get(call.remote(during, process), timeout=_ANSWER_S)
        except self._ray.exceptions.RayError:
            return SystemDied(
                f"{process} cannot be reached {during}", hint="see its machine, and the network"
            )
        return SystemDied(message, hint=hint)

    def kill(self) -> None:
        if self._is_killed:
            return
        self._is_killed = True
        end = self._actor.kill.options(concurrency_group="end")
        with suppress(self._ray.exceptions.RayError):
            self._ray.get(end.remote(), timeout=_ANSWER_S)
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._actor)

    def _read(self) -> None:
        read = self._actor.read.options(concurrency_group="messages")
        while not self._is_killed:
            try:
                messages = self._ray.get(read.remote())
            except Exception:  # of Ray, or since the fleet has been stopped
                messages = [None]
            for message in messages:
                self._receive(message)
                if message is None:
                    return


def _is_here(address: str) -> bool:
    """Only an address of this machine can be listened at."""
    try:
        socket.create_server((address, 0)).close()
    except OSError:
        return False
    return True
