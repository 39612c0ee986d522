"""Runs the programs of a private server: short ones to their end, the server itself as our child.

The server stays in the foreground of its own session: Ctrl-C at the terminal reaches us and not the
server, which we then stop in order. It runs as the owner of its directory, with an environment made
from nothing but a path, a locale and our mark; where the machine has ``setpriv``, the kernel kills
it when the thread that started it ends. What none of this catches, the ledger does at the next
start (see `leftovers`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.errors import Bug, SystemDied, SystemMissing, SystemRefused
from assay.provision import ledger, process_tags
from assay.provision.deployment import Deployment
from assay.provision.directory import identity_of
from assay.provision.identity import ProcessIdentity
from assay.provision.resources import TaggedProcesses
from assay.provision.signals import is_ending, is_ending_at_once
from assay.systems.protocol import ServerDirectory

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LAST_LINES = 20
_HURRIED_S = 2.0
"""For each step of stopping a server when a user waits for the prompt."""

StopStep = tuple[signal.Signals, float]
"""A signal and the seconds to wait for its effect."""


class ServerProcess:
    """A server that we started. Made by `start`."""

    def __init__(self, child: subprocess.Popen[bytes], program: str, log: Path, mark: str) -> None:
        self._child = child
        self.program = program
        self.log = log
        self._mark = mark
        self._start_bytes = 0
        self._leader = ProcessIdentity.of(child.pid)

    @property
    def pid(self) -> int:
        return self._child.pid

    def wait_ready(self, why_not_ready: Callable[[], str | None], timeout_s: float = 60.0) -> None:
        """Asks again and again until `why_not_ready` gives None.

        Raises `SystemDied` at once when the server ends, and when time is over; the message then
        holds the reason that was given last.
        """
        deadline = time.monotonic() + timeout_s
        pause_s = 0.005
        while (reason := why_not_ready()) is not None:
            if died := self.died():
                raise SystemDied(died)
            if time.monotonic() > deadline:
                raise SystemDied(
                    f"{self.program} did not become ready within {timeout_s:g} s: {reason}"
                    + _log_words(self.log)
                )
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 0.2)
        with contextlib.suppress(OSError):
            self._start_bytes = self.log.stat().st_size

    def died(self) -> str | None:
        """None while the server lives; else how it ended and the end of its log, without what it
        said until it was ready."""
        status = self._child.poll()
        if status is None:
            return None
        return _ending(self.program, status) + _log_words(self.log, self._start_bytes)

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
            for number, patience_s in steps:
                if self._child.poll() is not None or is_ending_at_once():
                    return
                family = process_tags.processes_of(self._mark, self._leader)
                for one in family:
                    one.resume()
                self._child.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._child.wait(min(patience_s, _HURRIED_S) if is_ending() else patience_s)
        finally:
            if self._child.poll() is None:
                # Once their parent is gone, some of them could no longer be recognised.
                family += process_tags.processes_of(self._mark, self._leader)
                for one in family:
                    one.send(signal.SIGKILL)
                self._child.kill()
                self._child.wait()
                process_tags.kill(self._mark)


_running: dict[int, ServerProcess] = {}


_ended: dict[int, int] = {}
"""Exit status of each server of ours that has ended, by its process number."""


def ended_well(pid: int) -> bool:
    """Whether a server of ours has stopped when asked to, with status 0."""
    return _ended.get(pid) == 0


def find(pid: int | None) -> ServerProcess | None:
    """The server of ours with this process number (`Deployment.server_pid`), while its `start`
    lasts."""
    return None if pid is None else _running.get(pid)


def why_a_node_died(deployment: Deployment) -> str | None:
    """None while every node of ours lives; else how the first one ended and the end of its log."""
    for node in deployment.nodes:
        ours = find(node.pid)
        if ours is not None and (died := ours.died()) is not None:
            return died if len(deployment.nodes) == 1 else f"{node.name}: {died}"
    return None


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
) -> Iterator[ServerProcess]:
    """Starts a server in the foreground and stops it at the end with the signals of `stop`.

    Its standard output and error go to ``log_name`` in ``directory.run``, where it also begins.
    `open_files` raises its limit of open files, as far as ours allows. `if_we_die` is what the
    kernel sends it when we are killed: a server that leaves things outside its directory when it is
    killed itself (shared memory) has a signal for a quick end. `as_ourselves`: as the user we are,
    for a program of ours.

    Raises `SystemMissing` if the program is not there.
    """
    held = ledger.held(identity_of(directory))
    if held is None:
        raise Bug(f"{directory.root} is not in the ledger; make it with server_directory()")
    log = directory.run / log_name
    program = Path(arguments[0]).name
    with log.open("ab") as output:
        os.fchown(output.fileno(), *_owner(directory))
        child = subprocess.Popen(
            _command(arguments, open_files, if_we_die),
            stdout=output,
            stderr=subprocess.STDOUT,
            **_setting(directory, environment, as_ourselves),
        )
    server = ServerProcess(child, program, log, identity_of(directory))
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
            _ended[child.pid] = child.returncode
            held.drop(noted)


def run(
    arguments: Sequence[str | Path],
    directory: ServerDirectory,
    *,
    environment: Mapping[str, str] | None = None,
    standard_input: str | None = None,
    timeout_s: float = 300.0,
) -> str:
    """Runs a program to its end as the servers' user (``initdb`` and its like); returns what it
    wrote to standard output and error.

    Raises `SystemMissing` if it is not there, `SystemRefused` with the end of its words if its
    status is not 0 or it takes longer than `timeout_s`.
    """
    program = Path(arguments[0]).name
    setting = _setting(directory, environment)
    if standard_input is not None:
        setting["stdin"] = subprocess.PIPE
    child: subprocess.Popen[bytes] = subprocess.Popen(
        _command(arguments, None, signal.SIGKILL),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **setting,
    )
    with child:
        try:
            written, _ = child.communicate(
                None if standard_input is None else standard_input.encode(), timeout=timeout_s
            )
        except BaseException as error:
            # Its children too: a script would leave the program behind that it had started.
            process_tags.kill(identity_of(directory), ProcessIdentity.of(child.pid))
            if isinstance(error, subprocess.TimeoutExpired):
                raise SystemRefused(f"{program} did not end within {timeout_s:g} s") from error
            raise
    said: str = written.decode(errors="replace")
    if child.returncode != 0:
        raise SystemRefused(_ending(program, child.returncode) + _last_words(said))
    return said


def last_lines(log: Path, lines: int = _LAST_LINES, *, start_bytes: int = 0) -> str:
    """The end of a log, behind its first `start_bytes`; at most 64 KiB are read."""
    try:
        with log.open("rb") as file:
            file.seek(max(start_bytes, log.stat().st_size - (1 << 16)))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def _command(
    arguments: Sequence[str | Path], open_files: int | None, if_we_die: signal.Signals
) -> list[str]:
    program = shutil.which(str(arguments[0]), path=SEARCH_PATH)
    if program is None:
        raise SystemMissing(f"there is no program {str(arguments[0])!r} on this machine")
    words = [program, *map(str, arguments[1:])]
    if open_files is not None and (prlimit := shutil.which("prlimit", path=SEARCH_PATH)):
        words = [prlimit, f"--nofile={open_files}:", "--", *words]
    if setpriv := _dying_with_us():
        words = [setpriv, "--pdeathsig", if_we_die.name.removeprefix("SIG"), "--", *words]
    return words


@functools.cache
def _dying_with_us() -> str | None:
    """``setpriv``, if this machine's can ask the kernel to kill a child with its parent. (Asking in
    Python between fork and exec would be no better and is unsafe beside threads.)"""
    program = shutil.which("setpriv", path=SEARCH_PATH)
    if program is None:
        return None
    help_text = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    return program if "--pdeathsig" in help_text.stdout else None


def _setting(
    directory: ServerDirectory, environment: Mapping[str, str] | None, as_ourselves: bool = False
) -> dict[str, Any]:
    """What every child of ours begins with: its user, directory, session and environment."""
    uid, gid = _owner(directory)
    change = (
        {}
        if as_ourselves or uid == os.geteuid()
        else {"user": uid, "group": gid, "extra_groups": []}
    )
    return {
        "stdin": subprocess.DEVNULL,
        "cwd": directory.run,
        "start_new_session": True,
        "umask": 0o077,
        "env": {
            "PATH": SEARCH_PATH,
            "LANG": "C.UTF-8",
            "HOME": str(directory.run),
            **(environment or {}),
            process_tags.TAG_VARIABLE: identity_of(directory),
        },
        **change,
    }


def _owner(directory: ServerDirectory) -> tuple[int, int]:
    found = directory.run.stat()
    return found.st_uid, found.st_gid


def _ending(program: str, status: int) -> str:
    if status >= 0:
        return f"{program} ended with status {status}"
    try:
        return f"{program} was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"{program} was ended by signal {-status}"


def _log_words(log: Path, start_bytes: int = 0) -> str:
    said = last_lines(log, start_bytes=start_bytes)
    return "; its log ends with its start" if start_bytes and not said else _last_words(said)


def _last_words(text: str) -> str:
    lines = text.rstrip().splitlines()[-_LAST_LINES:]
    return "; it said nothing" if not lines else "; the end of its log:\n" + "\n".join(lines)
