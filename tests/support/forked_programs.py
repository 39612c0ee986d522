"""Runs our programs as users do, each in a process of its own that is forked from one which has
imported them already: the imports take longer than what most commands do then.

A test that is about the start of a program, or that needs it while it runs, starts it itself.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import random
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, Any, NoReturn

import assay
from assay import registry

BIN = Path(sys.executable).parent
_OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG")
"""Variables that it reads when it starts."""
_LONGEST_REQUEST = 4 << 20
_STREAMS = 3


def run(
    program: str,
    words: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: str | None = None,
    packages: Path | None = None,
    timeout_s: float = 280,
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` of one of our programs, with its output as text; the Python packages in
    the folder ``packages`` are as if they were installed."""
    command = [str(BIN / program), *map(str, words)]
    given = dict(os.environ if environment is None else environment)
    if packages is not None and _is_read_at_import(packages):
        path = filter(None, [str(packages), given.get("PYTHONPATH")])
        given["PYTHONPATH"] = os.pathsep.join(path)
    if _of_the_interpreter(given) != _of_the_interpreter(_environment):
        return subprocess.run(
            command, cwd=folder, env=given, input=stdin, capture_output=True, text=True,
            timeout=timeout_s, check=False,
        )  # fmt: skip
    request = {
        "program": program,
        "command": command,
        "folder": str(folder or Path.cwd()),
        "environment": given,
        "packages": [] if packages is None else [str(packages)],
    }
    return _parent().run(request, stdin, timeout_s)


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


class _Parent:
    """The process that programs are forked from; ends with this one."""

    def __init__(self) -> None:
        self._address = f"\0assay-tests-{os.getpid()}"
        code = f"import forked_programs; forked_programs.serve({self._address!r})"
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

    def run(
        self, request: Mapping[str, Any], stdin: str | None, timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        ends_at = time.monotonic() + timeout_s
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(self._address)
            out, err = _Read(), _Read()
            written = None if stdin is None else _Written(stdin)
            given = [written.theirs if written else 0, out.theirs, err.theirs]
            message = json.dumps(request).encode()
            socket.send_fds(connection, [len(message).to_bytes(4, "big")], given)
            connection.sendall(message)
            for end in (out, err, *([written] if written else [])):
                os.close(end.theirs)
            pid = _number(connection)
            connection.settimeout(timeout_s)
            try:
                status = _number(connection)
                # As `subprocess` does, also for those that the program has left behind.
                texts = [end.text(ends_at) for end in (out, err)]
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(request["command"], timeout_s) from None
        return subprocess.CompletedProcess(request["command"], status, *texts)


def _number(connection: socket.socket) -> int:
    received = connection.recv(4)
    assert len(received) == 4, "the process that programs are forked from has ended"
    return int.from_bytes(received, "big", signed=True)


class _Read:
    """A pipe whose end is read by a thread, so that the program never waits for it."""

    def __init__(self) -> None:
        ours, self.theirs = os.pipe()
        self._file: IO[str] = os.fdopen(ours, encoding="utf-8")
        self._text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._file:
            self._text = self._file.read()

    def text(self, until: float) -> str:
        self._thread.join(max(0, until - time.monotonic()))
        if self._thread.is_alive():
            raise TimeoutError
        return self._text


class _Written:
    """A pipe into which a thread writes."""

    def __init__(self, text: str) -> None:
        self.theirs, ours = os.pipe()
        os.set_inheritable(ours, False)
        threading.Thread(target=self._write, args=(ours, text), daemon=True).start()

    @staticmethod
    def _write(to: int, text: str) -> None:
        with suppress(BrokenPipeError), os.fdopen(to, "w", encoding="utf-8") as file:
            file.write(text)


_HERE = str(Path(__file__).parent)
_parent = cache(_Parent)


def serve(address: str) -> None:
    """Forks a program for each request, until standard input ends; in the forked process it runs
    the program, and does not return."""
    sys.path[0] = str(BIN)
    _import_all()
    _find_what_is_registered()
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen()
    os.write(1, b".")
    if asked := _asked(listener):
        _become(*asked)


def _asked(listener: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """In a forked process: the request, and its streams; in this one None, at the end."""
    running: dict[int, tuple[int, socket.socket]] = {}
    with selectors.DefaultSelector() as selector, listener:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == 0:
                    return None
                if key.fileobj is not listener:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _answer(*running.pop(key.fd))
                    continue
                connection, _ = listener.accept()
                request, streams = _received(connection)
                pid = os.fork()
                if pid == 0:
                    for _, other in running.values():
                        other.close()
                    connection.close()
                    return request, streams
                for stream in streams:
                    os.close(stream)
                connection.sendall(pid.to_bytes(4, "big"))
                handle = os.pidfd_open(pid)
                running[handle] = (pid, connection)
                selector.register(handle, selectors.EVENT_READ)


def _answer(pid: int, connection: socket.socket) -> None:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with connection, suppress(BrokenPipeError):
        connection.sendall(status.to_bytes(4, "big", signed=True))


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    length, streams, _, _ = socket.recv_fds(connection, 4, _STREAMS)
    wanted = int.from_bytes(length, "big")
    assert wanted < _LONGEST_REQUEST
    message = b""
    while len(message) < wanted:
        message += connection.recv(wanted - len(message))
    return json.loads(message), streams


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """The program that was asked for, in this forked process."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(_STREAMS, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    if request["packages"]:
        _install(request["packages"])
    random.seed()
    sys.argv = request["command"]
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        old = getattr(sys, name)
        stream = os.fdopen(
            number, mode, encoding=old.encoding, errors=old.errors, closefd=False,
            buffering=1 if name == "stderr" else -1,
        )  # fmt: skip
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    (program,) = entry_points(group="console_scripts", name=request["program"])
    _end_as_python_does(program.load())


def _install(packages: Sequence[str]) -> None:
    """Makes the packages in these folders found: here, and in what this process starts."""
    sys.path[:0] = packages
    os.environ["PYTHONPATH"] = os.pathsep.join([*packages, os.environ["PYTHONPATH"]])
    for known in vars(registry).values():
        if hasattr(known, "cache_clear"):
            known.cache_clear()


def _end_as_python_does(main: Callable[[], object]) -> NoReturn:
    """Runs it; then all that Python does at its end but for freeing every object: that would copy
    each page that was imported, which takes longer than most commands."""
    status: object = 1
    try:
        status = main()
    except SystemExit as asked:
        status = asked.code
    except Exception:
        traceback.print_exc()
    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for its threads
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # of a full or closed stream Python has a status of its own
        sys.exit(status)
    os._exit((status or 0) & 0xFF)


def _find_what_is_registered() -> None:
    """It is found in the files of every installed package."""
    registry.dialects()
    registry.workloads()
    registry.row_sources()


def _import_all() -> None:
    for module in pkgutil.walk_packages(assay.__path__, "assay."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
