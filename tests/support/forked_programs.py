"""Runs our programs as users do, each in a process of its own that is forked from one which has
imported them already: the imports take longer than what most commands do then.

A test that is about the start of a program starts it itself.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Self, cast

from waiting import HANG_S

BIN = Path(sys.executable).parent
_OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG")
"""Variables that it reads when it starts."""


def run(
    program: str,
    words: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: str | None = None,
    packages: Path | None = None,
    timeout_s: float = HANG_S,
    is_forked: bool = True,
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` of one of our programs, with its output as text; the Python packages in
    the folder ``packages`` are as if they were installed. ``is_forked`` is False where its own
    memory matters: a forked one takes memory anew for each page that it inherited and changes."""
    given = dict(os.environ if environment is None else environment)
    if packages is not None and _is_read_at_import(packages):
        path = filter(None, [str(packages), given.get("PYTHONPATH")])
        given["PYTHONPATH"] = os.pathsep.join(path)
    if not is_forked or _of_the_interpreter(given) != _of_the_interpreter(_environment):
        return subprocess.run(
            _command(program, words), cwd=folder, env=given, input=stdin, capture_output=True,
            text=True, timeout=timeout_s, check=False,
        )  # fmt: skip
    with start(
        program, words, folder=folder, environment=given, stdin=stdin, packages=packages
    ) as started:
        try:
            out, err = started.communicate(timeout_s)
        except subprocess.TimeoutExpired:
            started.kill()
            raise
    return subprocess.CompletedProcess(started.args, started.returncode or 0, out, err)


def start(
    program: str,
    words: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: str | None = None,
    packages: Path | None = None,
) -> Started:
    """As `subprocess.Popen` of one of our programs whose output is read as text."""
    command = _command(program, words)
    request = {
        "program": program,
        "command": command,
        "folder": str(folder or Path.cwd()),
        "environment": dict(os.environ if environment is None else environment),
        "packages": [] if packages is None else [str(packages)],
    }
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(_parent().address)
    return Started(command, request, connection, stdin)


def _command(program: str, words: Sequence[str | Path]) -> list[str]:
    return [str(BIN / program), *map(str, words)]


def _is_read_at_import(packages: Path) -> bool:
    """The list of metrics has those of steps' reports from the beginning."""
    entry_points = packages.glob("*.dist-info/entry_points.txt")
    return any("[assay.step_reports]" in file.read_text("utf-8") for file in entry_points)


_environment: dict[str, str] = {}


def keep_environment() -> None:
    """The interpreter of the programs reads what is in it now."""
    _environment.update(os.environ)


def _of_the_interpreter(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in environment.items() if name.startswith(_OF_THE_INTERPRETER)
    }


class Started:
    """A program that was started; the methods of `subprocess.Popen` that tests use."""

    def __init__(
        self,
        command: Sequence[str],
        request: Mapping[str, Any],
        connection: socket.socket,
        stdin: str | None,
    ) -> None:
        self.args, self.returncode = command, cast("int | None", None)
        self._connection, self._texts = connection, ["", ""]
        streams, theirs = [], [0]
        for _ in self._texts:
            ours, other_end = os.pipe()
            streams.append(os.fdopen(ours, encoding="utf-8"))
            theirs.append(other_end)
        self.stdout, self.stderr = streams
        if stdin is not None:
            theirs[0], ours = os.pipe()
            os.set_inheritable(ours, False)
            threading.Thread(target=_write, args=(ours, stdin), daemon=True).start()
        message = json.dumps(request).encode()
        socket.send_fds(connection, [len(message).to_bytes(4, "big")], theirs)
        connection.sendall(message)
        for end in filter(None, theirs):
            os.close(end)
        self.pid = self._number()

    def _number(self) -> int:
        received = self._connection.recv(4)
        assert len(received) == 4, "the process that programs are forked from has ended"
        return int.from_bytes(received, "big", signed=True)

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = self._number()
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Also what those print that the program has left behind."""
        ends_at = None if timeout is None else time.monotonic() + timeout
        # Each stream has a thread, so that the program never waits for its output to be read.
        readers = [
            threading.Thread(target=self._read, args=(place,), daemon=True) for place in (0, 1)
        ]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(None if ends_at is None else max(0, ends_at - time.monotonic()))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        out, err = self._texts
        return out, err

    def _read(self, place: int) -> None:
        with (self.stdout, self.stderr)[place] as stream:
            self._texts[place] = stream.read()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()
        for stream in (self.stdout, self.stderr):
            stream.close()


def _write(to: int, text: str) -> None:
    with suppress(BrokenPipeError), os.fdopen(to, "w", encoding="utf-8") as file:
        file.write(text)


class _Parent:
    """The process that programs are forked from; ends with this one."""

    def __init__(self) -> None:
        # Of its own where two runs of the tests are in two PID namespaces and one network.
        self.address = f"\0assay-tests-{secrets.token_hex(8)}"
        code = f"import forking; forking.serve({self.address!r})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"import sys; sys.path[0] = {_HERE!r}; {code}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env=_environment,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.read(1), "the process that programs are forked from has ended"
        atexit.register(self._end)

    def _end(self) -> None:
        self._process.communicate()


_HERE = str(Path(__file__).parent)
_parent = cache(_Parent)
