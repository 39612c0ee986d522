"""Starts a private server as a child process, and stops it.

It runs in the foreground of its own session: Ctrl-C at the terminal reaches Assay and not the
server, which is then shut down cleanly. Servers that survive a kill of Assay (see `programs`) are
ended at the next start (see `leftovers`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from assay.contracts.deployment import Deployment
from assay.contracts.stop import look
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import Bug, SystemDied
from assay.provision.disk.directory import identity_of
from assay.provision.limits import hierarchies, server_group
from assay.provision.machine import process_tags
from assay.provision.machine.identity import ProcessIdentity
from assay.provision.machine.signals import is_ending, is_ending_at_once
from assay.provision.undo import ledger
from assay.provision.undo.resources import TaggedProcesses

_HURRIED_S = 2.0
"""For each step of stopping a server when a user waits for the prompt."""

StopStep = tuple[signal.Signals, float]
"""A signal and the seconds to wait for its effect."""


class ServerProcess:
    """A server that we started. Made by `start`."""

    def __init__(
        self, child: subprocess.Popen[bytes], program: str, log: Path, directory: ServerDirectory
    ) -> None:
        self._child = child
        self.program = program
        self.log = log
        self._mark = identity_of(directory)
        self._groups = directory.control_groups
        self._around = hierarchies.around_us("memory")
        """What limits Assay limits its servers; other programs may be in these groups."""
        self._note_kills()
        self._passed_bytes = 0
        self._leader = ProcessIdentity.of(child.pid)

    @property
    def pid(self) -> int:
        return self._child.pid

    def wait_ready(self, why_not_ready: Callable[[], str | None], timeout_s: float = 60.0) -> None:
        """Polls until `why_not_ready` returns None.

        Raises `SystemDied` when the server ends, and after the timeout with the last reason.

        """
        deadline = time.monotonic() + timeout_s
        pause_s = 0.005
        from assay.provision.processes.programs import last_lines, with_last_words

        while (reason := why_not_ready()) is not None:
            look()
            if died := self.died():
                raise SystemDied(died)
            if time.monotonic() > deadline:
                late = f"{self.program} did not become ready within {timeout_s:g} s: {reason}"
                raise SystemDied(with_last_words(late, last_lines(self.log)))
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.2)
        self.pass_over_log()

    def pass_over_log(self) -> None:
        """What is in its log now is not of interest any more, nor what was killed before."""
        self._note_kills()
        with contextlib.suppress(OSError):
            self._passed_bytes = self.log.stat().st_size

    def _note_kills(self) -> None:
        self._killed_before = server_group.memory_kills(self._groups)
        self._around_before = server_group.memory_kills(self._around)

    def died(self, name: str = "") -> str | None:
        """None while the server runs; else how it ended, and what it logged since it started or
        `pass_over_log` was called. ``name``: of the server, which is not that of its program."""
        status = self._child.poll()
        if status is None:
            return None
        called = f"{name} ({self.program})" if name else self.program
        killed = self.out_of_memory(called)
        if killed is None and (by := server_group.why_killed(self._around, self._around_before)):
            killed = f"{called}: {by}{server_group.FIX}"
        from assay.provision.processes.programs import ending

        ended = killed or ending(called, status)
        from assay.provision.processes.programs import last_lines

        written = last_lines(self.log, start_bytes=self._passed_bytes)
        if self._passed_bytes and not written.strip():
            return f"{ended}; its log says nothing about it"
        from assay.provision.processes.programs import with_last_words

        return with_last_words(ended, written)

    def out_of_memory(self, called: str) -> str | None:
        """None, unless the kernel has killed a process of it since it started or `pass_over_log`
        was called, because the memory that it was given was full."""
        ended = server_group.why_killed(self._groups, self._killed_before)
        return None if ended is None else f"{called}: {ended}{server_group.FIX}"

    def send(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def stop(self, steps: Sequence[StopStep]) -> None:
        """Sends each signal and waits; kills at last the server with all its processes.

        Processes that are stopped (SIGSTOP) are continued first: they would receive no signal but
        the last. Behind an interruption no step has more than `_HURRIED_S`, behind a second one it
        kills at once; interrupted itself, it does so and lets the interruption through.
        """
        family: list[ProcessIdentity] = []
        try:
            for number, timeout_s in steps:
                if self._child.poll() is not None or is_ending_at_once():
                    return
                family = process_tags.processes_of(self._mark, self._leader)
                for member in family:
                    member.resume()
                self._child.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._child.wait(min(timeout_s, _HURRIED_S) if is_ending() else timeout_s)
        finally:
            if self._child.poll() is None:
                # Once their parent is gone, some of them could no longer be recognised.
                family += process_tags.processes_of(self._mark, self._leader)
                for member in family:
                    member.send(signal.SIGKILL)
                self._child.kill()
                self._child.wait()
                process_tags.kill(self._mark)


_running: dict[int, ServerProcess] = {}


_stopped_cleanly: dict[int, bool] = {}
"""Whether each server started here that has ended did so as servers of its kind stop, by its
process number."""


def has_stopped_cleanly(pid: int) -> bool:
    """Whether a server of this process has stopped, with the status of one that stops in order."""
    return _stopped_cleanly.get(pid, False)


def find(pid: int | None) -> ServerProcess | None:
    """The server started here with this process number (`Deployment.server_pid`), while its `start`
    lasts."""
    return None if pid is None else _running.get(pid)


def why_a_node_died(deployment: Deployment) -> str | None:
    """None while every node started here lives; else how the first one ended and the end of its
    log."""
    is_alone = len(deployment.nodes) == 1
    for node in deployment.nodes:
        name = deployment.label if is_alone else f"{node.name} of {deployment.label}"
        process = find(node.pid)
        if process is not None and (died := process.died(name)) is not None:
            return died
    return None


def why_out_of_memory(deployment: Deployment) -> str | None:
    """None, unless the kernel has killed a process of a node started here for want of memory. Its
    others, and the one we started, may go on."""
    for node in deployment.nodes:
        process = find(node.pid)
        if process is not None and (ended := process.out_of_memory(deployment.label)) is not None:
            return ended
    return None


def pass_over_logs(deployment: Deployment) -> None:
    """A run begins: what its servers have logged before is not of interest."""
    for node in deployment.nodes:
        if (process := find(node.pid)) is not None:
            process.pass_over_log()


@contextlib.contextmanager
def start(
    arguments: Sequence[str | Path],
    directory: ServerDirectory,
    *,
    stop: Sequence[StopStep] = ((signal.SIGTERM, 60.0),),
    environment: Mapping[str, str] | None = None,
    log_name: str = "server.log",
    open_files: int | None = None,
    if_we_die: signal.Signals = signal.SIGKILL,
    as_ourselves: bool = False,
    stopped_status: int = 0,
) -> Iterator[ServerProcess]:
    """Starts a server in the foreground and stops it at the end with the signals of `stop`.

    Its standard output and error go to ``log_name`` in ``directory.run``, where it also begins.
    `open_files` raises its limit of open files, as far as this process's own allows. `if_we_die` is
    what the kernel sends it when we are killed: a server that leaves things outside its directory
    when it is killed itself (shared memory) has a signal for a quick end. `as_ourselves`: as the
    user we are, for a program started here. `stopped_status` is the status with which it ends once
    it has stopped in order.

    Raises `SystemMissing` if the program is not there.
    """
    held = ledger.held(identity_of(directory))
    if held is None:
        raise Bug(f"{directory.root} is not in the ledger; make it with server_directory()")
    log = directory.run / log_name
    program = Path(arguments[0]).name
    with log.open("ab") as output:
        from assay.provision.processes.programs import owner

        os.fchown(output.fileno(), *owner(directory))
        from assay.provision.processes.programs import command, surroundings

        child = subprocess.Popen(
            command(arguments, open_files, if_we_die, directory, as_ourselves),
            stdout=output,
            stderr=subprocess.STDOUT,
            **surroundings(directory, environment, as_ourselves),
        )
    server = ServerProcess(child, program, log, directory)
    _running[child.pid] = server
    noted = TaggedProcesses(ProcessIdentity.of(child.pid))
    try:
        held.add(noted)
        yield server
    finally:
        try:
            server.stop(stop)
        finally:
            del _running[child.pid]
            _stopped_cleanly[child.pid] = child.returncode == stopped_status
            held.drop(noted)
