"""Confines this process, once and for good, for the work of others (a capsule): from then on the
servers and programs that it starts, and the threads of its engine that open sessions, run as the
servers' user, write below their own directories alone, and have a network of loopback alone.

This process itself keeps its rights: it makes storages and limits, and writes the record. The
kernel confines (Landlock, a network namespace); where it cannot, `begin` raises, and nothing of
the work has begun.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, field

from assay import _engine
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError, Bug, SystemUnderTestError
from assay.provision.machine.users import is_alone, server_user
from assay.text.phrases import phrase

_READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/proc", "/sys"),
    *("/dev/urandom", "/dev/random", "/nix/store"),
)
"""What programs of this machine are made of, and what they ask of the kernel."""
_WRITABLE = ("/dev/null", "/dev/zero", "/dev/full", "/dev/shm")

_TEMPORARY = "TMPDIR"
"""The variable by which libraries in this process find a directory for temporary files."""


class _Confinement(Struct):
    temporary: Path
    """Its threads make temporary files there."""
    user: tuple[int, int] | None
    """That of servers, with its group; None: it is ours."""
    readable: list[Path]
    has_network: bool
    """That of the machine, and not its own."""
    own: list[Path] = field(default_factory=list)
    """Directories of the servers that run now."""


_begun: _Confinement | None = None


def is_begun() -> bool:
    return _begun is not None


def begin(*, needs_network: bool, readable: tuple[Path, ...]) -> None:
    """``needs_network``: the user has named a server by its URL, so that the network stays as it
    is. ``readable``: what the programs of systems need besides those of this machine.

    Raises `SystemUnderTestError` where this machine cannot confine them.
    """
    global _begun
    if _begun is not None:
        return
    user = server_user()
    ids = None if user.is_ourselves or is_alone() else (user.uid, user.gid)
    if not needs_network:
        _enter_own_network()  # before there is a second thread
    _try_once(ids)
    temporary = Path(tempfile.mkdtemp(prefix="assay-confined-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    if ids is not None:
        os.chown(temporary, *ids)
    os.environ[_TEMPORARY] = str(temporary)
    python = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}
    places = [Path(one) for one in (*_READABLE, *python)]
    _begun = _Confinement(
        temporary, ids, [*places, Path(_engine.__file__).parent, *readable], needs_network
    )


def is_begun_for(file: str | None, host: str | None) -> bool:
    """Whether a session is confined by which it is reached, a file or socket, or a host: not where
    the user has named it by URL, as its files are the user's."""
    if _begun is None:
        return False
    if file is None or file == ":memory:":
        return host is None or not _begun.has_network
    return any(Path(file).resolve().is_relative_to(one.resolve()) for one in _begun.own)


def user() -> tuple[int, int] | None:
    """Who threads and programs become; None: they stay who they are."""
    return _current().user


def readable(*more: Path) -> list[str]:
    return [str(one) for one in (*_current().readable, *more)]


def writable(*more: Path) -> list[str]:
    now = _current()
    return [*_WRITABLE, *(str(one) for one in (now.temporary, *now.own, *more))]


@contextmanager
def allowed(*directories: Path) -> Iterator[None]:
    """While the block runs, the engine may write there."""
    if _begun is None:
        yield
        return
    own = _begun.own
    own.extend(directories)
    try:
        yield
    finally:
        for one in directories:
            own.remove(one)


def _current() -> _Confinement:
    if _begun is None:
        raise Bug("nothing is confined")
    return _begun


_HINT = phrase("read what is in the capsule; {--trust} runs it with the rights that you have")


def _try_once(ids: tuple[int, int] | None) -> None:
    """In a thread that ends behind it."""
    errors: list[OSError] = []

    def confine() -> None:
        try:
            _engine.confine_thread([], [], ids, reads_others=False)
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=confine, name="confinement")
    thread.start()
    thread.join()
    if errors:
        raise SystemUnderTestError(
            f"this machine cannot confine what a capsule runs: {errors[0]}", hint=_HINT
        )


def _enter_own_network() -> None:
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise ArgumentError(
            "a capsule is confined by a process of its own: expected one thread, found others",
            hint=phrase("run it with the command `assay capsule rerun`, or {--trust} it"),
        )
    try:
        _engine.enter_own_network()
    except OSError as error:
        raise SystemUnderTestError(
            "this machine cannot confine what a capsule runs: it allows no network of its own "
            f"({error.strerror or error})",
            hint=_HINT,
        ) from error


_PROGRAM = (
    "import json, sys; from assay import _engine; "
    "_engine.become_confined_program(*json.loads(sys.argv[1]), sys.argv[2:])"
)


def confined_command(
    words: Sequence[str], reads: Sequence[Path], writes: Sequence[Path]
) -> list[str]:
    """The program keeps the user that it is started as: one that is to have no rights gives them
    up."""
    rules = json.dumps([readable(*reads), writable(*writes)])
    return [sys.executable, "-P", "-c", _PROGRAM, rules, *words]


def confined_server_command(
    words: Sequence[str], directory: ServerDirectory, program: Path
) -> list[str]:
    """``program``: that the words start, which finds its own files from its place."""
    own = (directory.root, directory.run, directory.log, directory.raw_device)
    places = [one.parent.parent for one in (program, program.resolve())]
    return confined_command(words, places, [one for one in own if one is not None])
