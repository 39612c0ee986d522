"""Runs programs as the servers' user; returns their output, or raises an error with its end.

A program begins in the server's directory and in a session of its own, with an environment made
from nothing but a path, a locale and the tag of that directory's processes; where the machine has
``setpriv``, the kernel kills it when the thread that started it ends.
"""

from __future__ import annotations

import functools
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NotRequired, TypedDict

from assay.contracts.stop import look
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import SystemMissing, SystemRefused
from assay.provision.confinement import confined_program
from assay.provision.disk.directory import identity_of
from assay.provision.limits.hierarchies import PROCESSES
from assay.provision.machine import process_tags
from assay.provision.machine.identity import ProcessIdentity
from assay.provision.machine.program import SEARCH_PATH, Program
from assay.provision.machine.users import SH, is_alone
from assay.text.reasons import with_log

SETPRIV = Program("setpriv", "util-linux")
PRLIMIT = Program("prlimit", "util-linux")

_LAST_LINES = 20
_LOOK_EVERY_S = 0.05


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
    around = surroundings(directory, environment)
    if standard_input is not None:
        around["stdin"] = subprocess.PIPE
    child: subprocess.Popen[bytes] = subprocess.Popen(
        command(arguments, None, signal.SIGKILL, directory),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **around,
    )
    with child:
        try:
            written = _output(child, standard_input, timeout_s)
        except BaseException as error:
            # Its children too: a script would leave the program behind that it had started.
            process_tags.kill(identity_of(directory), ProcessIdentity.of(child.pid))
            if isinstance(error, subprocess.TimeoutExpired):
                raise SystemRefused(f"{program} did not end within {timeout_s:g} s") from error
            raise
    output: str = written.decode(errors="replace")
    if child.returncode != 0:
        raise SystemRefused(with_last_words(ending(program, child.returncode), output))
    return output


def _output(child: subprocess.Popen[bytes], standard_input: str | None, timeout_s: float) -> bytes:
    """Raises `subprocess.TimeoutExpired`, and `Stopped` where the work is to end."""
    left_to_write = None if standard_input is None else standard_input.encode()
    deadline_s = time.monotonic() + timeout_s
    while True:
        look()
        try:
            return child.communicate(left_to_write, timeout=_LOOK_EVERY_S)[0]
        except subprocess.TimeoutExpired:
            left_to_write = None
            if time.monotonic() > deadline_s:
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


def command(
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
    uid, gid = owner(directory)
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
        words = confined_program.of_server(words, directory, Path(program))
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
    uid, gid = owner(directory)
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
            process_tags.TAG_VARIABLE: identity_of(directory),
        },
    )
    if not (as_ourselves or uid == os.geteuid() or _changes_user_late(directory)):
        around["user"], around["group"], around["extra_groups"] = uid, gid, []
    return around


def _changes_user_late(directory: ServerDirectory) -> bool:
    """Whether `command` changes the user, once the process has entered its groups and is confined:
    the servers' user may do neither."""
    return bool(directory.control_groups) or directory.is_confined


def owner(directory: ServerDirectory) -> tuple[int, int]:
    found = directory.run.stat()
    return found.st_uid, found.st_gid


def ending(program: str, status: int) -> str:
    if status >= 0:
        return f"{program} ended with status {status}"
    try:
        return f"{program} was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"{program} was ended by signal {-status}"


def with_last_words(sentence: str, text: str) -> str:
    """The sentence, with the last lines of what the program wrote."""
    lines = text.rstrip().splitlines()[-_LAST_LINES:]
    return with_log(sentence, "\n".join(lines)) if lines else f"{sentence}; it wrote nothing"
