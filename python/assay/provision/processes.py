"""Runs programs as the servers' user; starts private servers as child processes, watches, pauses
and ends them."""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NotRequired, TypedDict

from msgspec import Struct

from assay.contracts.deployment import Deployment
from assay.contracts.stop import look, tell
from assay.contracts.systems.protocol import ProcessSample, ServerDirectory
from assay.env_vars import SERVER_START
from assay.errors import AssayError, Bug, SystemDied, SystemMissing, SystemRefused
from assay.provision import confinement, limits
from assay.provision.directory import identity_of
from assay.provision.limits import PROCESSES
from assay.provision.machine import process_table, sampling
from assay.provision.machine.process_table import ProcessIdentity, stat_fields
from assay.provision.machine.program import SEARCH_PATH, Program
from assay.provision.machine.signals import is_ending, is_ending_at_once
from assay.provision.machine.users import SH, is_alone
from assay.provision.undo import ledger
from assay.provision.undo.resources import TaggedProcesses
from assay.text.phrases import reason_with_log

_HURRIED_S = 2.0
"""For each step of stopping a server when a user waits for the prompt."""

StopStep = tuple[signal.Signals, float]
"""A signal and the seconds to wait for its effect."""

_READY_S = 60.0
_PROGRAM_S = 300.0
_SAY_AFTER_S = 3.0


class WaitLimit:
    """For a program: at most ``limit_s``; None: as `SERVER_START` says, or else ``usual_s``."""

    def __init__(self, what: str, limit_s: float | None, usual_s: float = _PROGRAM_S) -> None:
        self._limit_s = SERVER_START.seconds(usual_s) if limit_s is None else limit_s
        setting = f" ({SERVER_START.name})" if limit_s is None else ""
        self.limit = f"{self._limit_s:g} s{setting}"
        self._words = f"wait for {what}, at most {self.limit}"
        self._began_s, self._is_shown = time.monotonic(), False

    def is_over(self) -> bool:
        """Raises `Stopped`."""
        look()
        waited_s = time.monotonic() - self._began_s
        if not self._is_shown and waited_s > _SAY_AFTER_S:
            tell(self._words)
            self._is_shown = True
        return waited_s > self._limit_s


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
        self._around = limits.groups_around_us("memory")
        """What limits Assay limits its servers; other programs may be in these groups."""
        self._note_kills()
        self._passed_bytes = 0
        self._hangs = False
        self._leader = ProcessIdentity.of(child.pid)

    @property
    def pid(self) -> int:
        return self._child.pid

    def wait_ready(
        self,
        why_not_ready: Callable[[], str | None],
        timeout_s: float | None = None,
        *,
        usual_s: float = _READY_S,
    ) -> None:
        """Polls until `why_not_ready` returns None. The times: as of `WaitLimit`.

        Raises `SystemDied` when the server ends, and after the timeout with the last reason.
        """
        wait = WaitLimit(f"{self.program} to become ready", timeout_s, usual_s)
        pause_s = 0.005

        while (reason := why_not_ready()) is not None:
            if died := self.died():
                raise SystemDied(died)
            if wait.is_over():
                self._hangs = True
                late = f"{self.program} did not become ready within {wait.limit}: {reason}"
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
        self._killed_before = limits.memory_kills(self._groups)
        self._around_before = limits.memory_kills(self._around)

    def died(self, name: str = "") -> str | None:
        """None while the server runs; else how it ended, and what it logged since it started or
        `pass_over_log` was called. ``name``: of the server, which is not that of its program."""
        status = self._child.poll()
        if status is None:
            return None
        called = f"{name} ({self.program})" if name else self.program
        killed = self.out_of_memory(called)
        if killed is None and (by := limits.why_killed(self._around, self._around_before)):
            killed = f"{called}: {by}{limits.FIX}"

        ended = killed or ending_of_output(called, status)

        written = last_lines(self.log, start_bytes=self._passed_bytes)
        if self._passed_bytes and not written.strip():
            return f"{ended}; its log says nothing about it"

        return with_last_words(ended, written)

    def out_of_memory(self, called: str) -> str | None:
        """None, unless the kernel has killed a process of it since it started or `pass_over_log`
        was called, because the memory that it was given was full."""
        ended = limits.why_killed(self._groups, self._killed_before)
        return None if ended is None else f"{called}: {ended}{limits.FIX}"

    def send(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def stop(self, steps: Sequence[StopStep]) -> None:
        """Sends each signal and waits; kills at last the server with all its processes.

        Processes that are stopped (SIGSTOP) are continued first: they would receive no signal but
        the last. Behind an interruption, and where it did not become ready, no step has more than
        `_HURRIED_S`, behind a second one it kills at once; interrupted itself, it does so and lets
        the interruption through.
        """
        family: list[ProcessIdentity] = []
        try:
            for number, timeout_s in steps:
                if self._child.poll() is not None or is_ending_at_once():
                    return
                family = process_table.tagged_processes(self._mark, self._leader)
                for member in family:
                    member.resume()
                self._child.send_signal(number)
                is_hurried = is_ending() or self._hangs
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._child.wait(min(timeout_s, _HURRIED_S) if is_hurried else timeout_s)
        finally:
            if self._child.poll() is None:
                # Once their parent is gone, some of them could no longer be recognised.
                family += process_table.tagged_processes(self._mark, self._leader)
                for member in family:
                    member.send(signal.SIGKILL)
                self._child.kill()
                self._child.wait()
                process_table.kill_tagged(self._mark)


_running: dict[int, ServerProcess] = {}


_stopped_cleanly: dict[int, bool] = {}
"""Whether each server started here that has ended did so as servers of its kind stop, by its
process number."""


def has_stopped_cleanly(pid: int) -> bool:
    """Whether a server of this process has stopped, with the status of one that stops in order."""
    return _stopped_cleanly.get(pid, False)


def running_server(pid: int | None) -> ServerProcess | None:
    """The server started here with this process number (`Deployment.server_pid`), while its `start`
    lasts."""
    return None if pid is None else _running.get(pid)


def why_a_node_died(deployment: Deployment) -> str | None:
    """None while every node started here lives; else how the first one ended and the end of its
    log."""
    is_alone = len(deployment.nodes) == 1
    for node in deployment.nodes:
        name = deployment.label if is_alone else f"{node.name} of {deployment.label}"
        process = running_server(node.pid)
        if process is not None and (died := process.died(name)) is not None:
            return died
    return None


class OfProcesses:
    """A system with a process for each node, which Assay has started or sees on this machine."""

    def sample(self, deployment: Deployment) -> ProcessSample | None:
        return sampling.sample_nodes(deployment)

    def why_it_died(self, deployment: Deployment) -> str | None:
        return why_a_node_died(deployment)


def why_out_of_memory(deployment: Deployment) -> str | None:
    """None, unless the kernel has killed a process of a node started here for want of memory. Its
    others, and the one we started, may go on."""
    for node in deployment.nodes:
        process = running_server(node.pid)
        if process is not None and (ended := process.out_of_memory(deployment.label)) is not None:
            return ended
    return None


def pass_over_logs(deployment: Deployment) -> None:
    """A run begins: what its servers have logged before is not of interest."""
    for node in deployment.nodes:
        if (process := running_server(node.pid)) is not None:
            process.pass_over_log()


class ListeningServer(Struct, frozen=True):
    """A private server that listens at a socket, and at a port or not."""

    process: ServerProcess
    socket: Path
    host: str
    port: int | None
    """None: it listens at its socket alone."""
    password: str | None
    """For TCP. The socket asks for none: only we can enter its directory."""


@contextlib.contextmanager
def start_server(
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
    held = ledger.held_entries(identity_of(directory))
    if held is None:
        raise Bug(f"{directory.root} is not in the ledger; make it with server_directory()")
    log = directory.run / log_name
    program = Path(arguments[0]).name
    with log.open("ab") as output:
        os.fchown(output.fileno(), *server_owner(directory))

        child = subprocess.Popen(
            program_command(arguments, open_files, if_we_die, directory, as_ourselves),
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


SETPRIV = Program("setpriv", "util-linux")
PRLIMIT = Program("prlimit", "util-linux")

_LAST_LINES = 20
_LOOK_EVERY_S = 0.05


class StillRunning(SystemRefused):
    """A program that had to be killed: what it logged then (``Killed``) is not its reason."""


def run_program(
    arguments: Sequence[str | Path],
    directory: ServerDirectory,
    *,
    environment: Mapping[str, str] | None = None,
    standard_input: str | None = None,
    timeout_s: float | None = None,
    called: str = "",
) -> str:
    """Runs a program to its end as the servers' user (``initdb`` and its like); returns what it
    wrote to standard output and error.

    Raises `SystemMissing` if it is not there, `SystemRefused` with the end of its words if its
    status is not 0, `StillRunning` after `timeout_s` (by default as `SERVER_START` says).
    """
    program = called or Path(arguments[0]).name
    wait = WaitLimit(f"{program} to end", timeout_s)
    around = surroundings(directory, environment)
    if standard_input is not None:
        around["stdin"] = subprocess.PIPE
    child: subprocess.Popen[bytes] = subprocess.Popen(
        program_command(arguments, None, signal.SIGKILL, directory),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **around,
    )
    with child:
        try:
            written, _ = output_of(child, wait, standard_input)
        except BaseException as error:
            # Its children too: a script would leave the program behind that it had started.
            process_table.kill_tagged(identity_of(directory), ProcessIdentity.of(child.pid))
            if isinstance(error, subprocess.TimeoutExpired):
                raise StillRunning(f"{program} did not end within {wait.limit}") from error
            raise
    output: str = written.decode(errors="replace")
    if child.returncode != 0:
        raise SystemRefused(with_last_words(ending_of_output(program, child.returncode), output))
    return output


def output_of(
    child: subprocess.Popen[bytes], wait: WaitLimit, standard_input: str | None = None
) -> tuple[bytes, bytes]:
    """Raises `subprocess.TimeoutExpired`, and `Stopped` where the work is to end."""
    left_to_write = None if standard_input is None else standard_input.encode()
    while True:
        try:
            return child.communicate(left_to_write, timeout=_LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            left_to_write = None
            if wait.is_over():
                raise


def last_lines(log: Path, lines: int = _LAST_LINES, *, start_bytes: int = 0) -> str:
    """The end of a log, behind its first `start_bytes`; at most 64 KiB are read."""
    try:
        with log.open("rb") as file:
            file.seek(max(start_bytes, log.stat().st_size - (1 << 16)))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


_ENTER_GROUPS = """
while [ "$1" != -- ]; do
    echo 0 > "$1" || exit 125
    shift
done
shift
exec "$@"
"""
"""Enters control groups and becomes a program. Root runs it: the servers' user may not enter."""


def program_command(
    arguments: Sequence[str | Path],
    open_files: int | None,
    if_we_die: signal.Signals,
    directory: ServerDirectory,
    as_ourselves: bool = False,
) -> list[str]:
    """The words to run, for a child with the `surroundings` of the same directory."""
    program = shutil.which(str(arguments[0]), path=SEARCH_PATH)
    if program is None:
        raise SystemMissing(f"there is no program {str(arguments[0])!r} on this machine")
    words = [program, *map(str, arguments[1:])]
    if open_files is not None and (prlimit := PRLIMIT.find()):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = open_files if most == resource.RLIM_INFINITY else min(open_files, most)
        words = [prlimit, f"--nofile={allowed}:", "--", *words]
    setpriv = _dying_with_us()
    options = [] if setpriv is None else ["--pdeathsig", if_we_die.name.removeprefix("SIG")]
    uid, gid = server_owner(directory)
    if _changes_user_late(directory) and not as_ourselves and uid != os.geteuid():
        if setpriv is None:
            raise SystemMissing(
                "a server in a control group, or of a capsule, is started with setpriv, which is "
                "not installed",
                hint=SETPRIV.hint,
            )
        options += [f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    if setpriv is not None:
        words = [setpriv, *options, "--", *words]
    if directory.is_confined:
        words = confinement.confined_server_command(words, directory, Path(program))
    if not directory.control_groups:
        return words
    members = [str(group / PROCESSES) for group in directory.control_groups]
    return [SH.path, "-c", _ENTER_GROUPS, "sh", *members, "--", *words]


@functools.cache
def _dying_with_us() -> str | None:
    """``setpriv``, if this machine's can ask the kernel to kill a child with its parent. (Asking in
    Python between fork and exec would be no better and is unsafe beside threads.)"""
    program = SETPRIV.find()
    if program is None:
        return None
    help_text = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    return program if "--pdeathsig" in help_text.stdout else None


class Surroundings(TypedDict):
    """Arguments of `subprocess.Popen`."""

    stdin: int | IO[bytes]
    cwd: Path
    start_new_session: bool
    umask: int
    env: dict[str, str]
    user: NotRequired[int]
    group: NotRequired[int]
    extra_groups: NotRequired[list[int]]


def surroundings(
    directory: ServerDirectory, environment: Mapping[str, str] | None, as_ourselves: bool = False
) -> Surroundings:
    """What every child process begins with: its user, directory, session and environment."""
    uid, gid = server_owner(directory)
    if not as_ourselves and is_alone():
        raise SystemMissing(
            "servers refuse to run as root, and this user namespace has no other user",
            hint="run assay as an ordinary user, or choose a system that works in this process",
        )
    around = Surroundings(
        stdin=subprocess.DEVNULL,
        cwd=directory.run,
        start_new_session=True,
        umask=0o077,
        env={
            "PATH": SEARCH_PATH,
            "LANG": "C.UTF-8",
            "HOME": str(directory.run),
            **(environment or {}),
            process_table.TAG_VARIABLE: identity_of(directory),
        },
    )
    if not (as_ourselves or uid == os.geteuid() or _changes_user_late(directory)):
        around["user"], around["group"], around["extra_groups"] = uid, gid, []
    return around


def _changes_user_late(directory: ServerDirectory) -> bool:
    """Whether `command` changes the user, once the process has entered its groups and is confined:
    the servers' user may do neither."""
    return bool(directory.control_groups) or directory.is_confined


def server_owner(directory: ServerDirectory) -> tuple[int, int]:
    found = directory.run.stat()
    return found.st_uid, found.st_gid


def ending_of_output(program: str, status: int) -> str:
    if status >= 0:
        return f"{program} ended with status {status}"
    try:
        return f"{program} was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"{program} was ended by signal {-status}"


def with_last_words(sentence: str, text: str) -> str:
    """The sentence, with the last lines of what the program wrote."""
    lines = text.rstrip().splitlines()[-_LAST_LINES:]
    return reason_with_log(sentence, "\n".join(lines)) if lines else f"{sentence}; it wrote nothing"


_PROGRAM = "from assay.cli import main; main()"
_REFUSAL = "error: "


@contextlib.contextmanager
def own_program(
    words: Sequence[str], directory: ServerDirectory, log_name: str, refusal: type[AssayError]
) -> Iterator[tuple[ServerProcess, str]]:
    """The process, and its first line; it is stopped at the end of the block. Raises ``refusal`` in
    the program's own words where it refuses to start."""
    with start_server(
        [sys.executable, "-P", "-c", _PROGRAM, *words],
        directory,
        stop=((signal.SIGTERM, 10.0),),
        as_ourselves=True,
        log_name=log_name,
    ) as server:

        def first_line() -> str:
            """Once it is whole; a program that refuses to start begins otherwise."""
            line, end, _ = server.log.read_text(encoding="utf-8").partition("\n")
            return line if end and not line.startswith(_REFUSAL) else ""

        try:
            server.wait_ready(lambda: None if first_line() else "it has not reported its address")
        except SystemDied as error:
            first, _, _ = last_lines(server.log).partition("\n")
            raise refusal(first.removeprefix(_REFUSAL) or error.message) from error
        yield server, first_line()


_TIMEOUT_S = 10.0


@contextlib.contextmanager
def paused(directory: ServerDirectory) -> Iterator[None]:
    """While the block runs, no process of the server runs: its files are those of one instant. A
    server that was paused when we are killed ends with us (`programs.command`)."""
    tag = identity_of(directory)
    stopped: dict[ProcessIdentity, None] = {}
    deadline_s = time.monotonic() + _TIMEOUT_S
    try:
        while True:
            # A server may start a process before the one that starts them has stopped.
            new = [one for one in process_table.tagged_processes(tag) if one not in stopped]
            for one in new:
                stopped[one] = None
                one.send(signal.SIGSTOP)
            if not new and all(_has_stopped(one.pid) for one in stopped):
                break
            if time.monotonic() > deadline_s:
                break  # in a call of the kernel that does not end: it writes nothing else
            time.sleep(0.001)
        yield
    finally:
        for one in reversed(stopped):
            one.resume()


def _has_stopped(pid: int) -> bool:
    """All of its threads; a process that has ended counts too."""
    try:
        threads = [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return True
    found = (stat_fields(thread) for thread in threads)
    return all(fields is None or fields[0] in "TtZX" for fields in found)
