"""The process that `forked_programs` forks our programs from: it has imported them already."""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import random
import selectors
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NoReturn

import assay
import made_once
from assay import registry
from assay.errors import AssayError
from assay.provision.machine import users
from assay.workload import reader
from forked_programs import BIN

_LONGEST_REQUEST = 4 << 20
_STREAMS = 3


def serve(address: str) -> None:
    """Forks a program for each request, until standard input ends; in the forked process it runs
    the program, and does not return."""
    sys.path[0] = str(BIN)
    _import_all()
    _read_workloads()
    _find_what_is_registered()
    _ask_what_the_servers_user_may_enter()
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
    registry.systems()
    registry.dialects()
    registry.storages()
    registry.workloads()
    registry.row_sources()
    registry.steps()
    registry.report_forms()


def _ask_what_the_servers_user_may_enter() -> None:
    """A process of that user is asked, once for all folders with the same rights."""
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    with suppress(AssayError), tempfile.TemporaryDirectory(dir=root) as folder:
        users.first_unreachable(Path(folder), users.server_user())


def _read_workloads() -> None:
    made_once.read_workloads()
    for folder in registry.WORKLOADS_FOLDER.iterdir():
        if (folder / registry.WORKLOAD_FILE).is_file():
            reader.read(folder.name)


_IMPORTED_WHERE_NEEDED = ("scipy.stats", "vl_convert")
"""By the program, in functions: each takes up to as long as what a command does then."""


def _import_all() -> None:
    for name in _IMPORTED_WHERE_NEEDED:
        importlib.import_module(name)
    package = Path(assay.__path__[0])
    for path in package.rglob("*.py"):
        if path.stem not in ("__main__", "__init__"):
            inside = path.relative_to(package.parent).with_suffix("")
            importlib.import_module(".".join(inside.parts))
