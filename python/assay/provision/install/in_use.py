"""Keeps an installation from being removed while a run uses it, by a lock on its folder.

Runs share the lock, a removal wants it for itself. It ends with the process, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.errors import ArgumentError
from assay.provision.install import cache
from assay.provision.install.cache import Installed

_LOCKS = Path("/proc/locks")


@contextlib.contextmanager
def in_use(places: Iterable[str]) -> Iterator[None]:
    """Within the block no installation is removed in which one of the places is: the programs of
    a system, as it finds them. Other places are passed over."""
    with contextlib.ExitStack() as locks:
        for folder in {found for place in places if (found := _prefix_of(Path(place)))}:
            # Gone again: who starts the programs says so.
            with contextlib.suppress(FileNotFoundError):
                locks.enter_context(_locked(folder, fcntl.LOCK_SH))
        yield


@contextlib.contextmanager
def unused(installed: Installed) -> Iterator[None]:
    """Within the block no process begins to use the installation. Raises `ArgumentError` where one
    uses it already, with the numbers of the processes."""
    try:
        with _locked(installed.folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
            yield
    except BlockingIOError:
        who = _users(installed.folder)
        processes = f"process {', '.join(map(str, who))}" if who else "another process"
        raise ArgumentError(
            f"{installed.system} {installed.version} is in use by {processes}",
            hint="wait until it has ended, or end it",
        ) from None


@contextlib.contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, how)
        yield
    finally:
        os.close(lock)


def _prefix_of(place: Path) -> Path | None:
    """The installation that holds the place; None for what `assay install` did not bring."""
    try:
        within = place.resolve().relative_to(cache.shelves().resolve())
    except (ValueError, ArgumentError):
        return None
    return cache.shelves().joinpath(*within.parts[:2]) if len(within.parts) > 1 else None


def _users(folder: Path) -> list[int]:
    """The processes that hold a lock on the folder, as far as the kernel shows them."""
    inode = str(folder.stat().st_ino)
    found = []
    with contextlib.suppress(OSError):
        for line in _LOCKS.read_text("utf-8").splitlines():
            # 1: FLOCK  ADVISORY  READ  1234 08:01:5678 0 EOF; "->" stands before those that wait.
            words = line.split()
            if words[1] == "FLOCK" and words[5].rpartition(":")[2] == inode:
                found.append(int(words[4]))
    return sorted(set(found) - {0})
