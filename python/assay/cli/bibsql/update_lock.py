"""Takes the place of a database; gives the lock that only one update of it holds at a time, and
names the locks of the database for which it waited too long.

The kernel drops a lock when its process ends, however it ends: a stale lock
is impossible, and the file that remains can be ignored.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay import env_vars
from assay.contracts.dialects.protocol import Dialect, LocksTables
from assay.errors import ArgumentError, RunFailed, SystemRefused
from assay.provision.undo import ledger

LOCKED = frozenset({"timeout", "deadlock", "serialization"})
"""The engine's error classes for what another transaction is in the way of."""
_TRY_AGAIN_S = 0.1


@contextmanager
def update_lock(place: str, wait_s: float) -> Iterator[None]:
    """Waits for the lock. Raises `RunFailed` where another update holds it for longer than
    ``wait_s``."""
    folder = ledger.state_directory().parent / "updates"
    file = folder / f"{hashlib.sha256(place.encode()).hexdigest()[:16]}.lock"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unusable(file, "opened", error) from error
    try:
        try:
            _wait(lock, place, wait_s)
        except OSError as error:  # ENOLCK: a file system of a network without locks
            raise _unusable(file, "taken", error) from error
        _name_holder(lock, f"process {os.getpid()}, since {time.strftime('%F %T')}")
        yield
        _name_holder(lock, "")
    finally:
        os.close(lock)


def _unusable(file: Path, what: str, error: OSError) -> ArgumentError:
    return ArgumentError(
        f"{file}: the lock cannot be {what}: {error.strerror}",
        hint=f"name a folder of yours on a local disk: {env_vars.STATE_DIRECTORY.name}=…",
    )


def _name_holder(lock: int, text: str) -> None:
    """For the message of those that wait; it has no name where the disk is full."""
    with suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, text.encode(), 0)


def _wait(lock: int, place: str, wait_s: float) -> None:
    until_s = time.monotonic() + wait_s
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if time.monotonic() >= until_s:
            holder = os.pread(lock, 100, 0).decode(errors="replace")
            raise RunFailed(
                f"another update of {place} is running" + (f" ({holder})" if holder else ""),
                hint=f"try again when it has ended, or wait for longer than {wait_s:g} s: "
                "--wait 10min",
            )
        time.sleep(_TRY_AGAIN_S)


@contextmanager
def lock_conflicts_named(place: str, dialect: Dialect, wait_s: float) -> Iterator[None]:
    """Raises `RunFailed` where a lock of the database was waited for longer than ``wait_s``, with
    the same status as for another update on this machine."""
    codes = dialect.lock_refused_codes if isinstance(dialect, LocksTables) else ()
    try:
        yield
    except (RunFailed, SystemRefused) as error:
        is_locked = isinstance(error, SystemRefused) and error.error_class in LOCKED
        if not is_locked and (error.code is None or error.code not in codes):
            raise
        raise RunFailed(
            f"{place}: another program or update has locked what is needed, for longer than "
            f"{wait_s:g} s; nothing has changed ({error.message})",
            hint="try again when it has ended, or wait for longer: --wait 10min",
        ) from error
