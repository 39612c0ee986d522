"""The folder in which installed systems are kept: ``systems/NAME/VERSION``, complete or not there.

A prefix is filled under a temporary name, which the ledger of clean-up knows, and renamed when it
is complete. The folder of a system is locked meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from assay import env_vars
from assay.env_vars import CACHE
from assay.errors import ArgumentError, SystemUnderTestError
from assay.provision.machine.users import first_unreachable, server_user
from assay.provision.undo import ledger
from assay.provision.undo.clean_up import undone_at_end
from assay.provision.undo.resources import TaggedProcesses, UnfinishedPackage
from assay.text.files import text_file

if TYPE_CHECKING:
    from assay.contracts.installing import Prefix, Report

_OF_ROOT = Path("/var/cache/assay")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+~_-]{0,80}")
_NUMBERS = re.compile(r"\d+|\D+")


class Installed(Struct, frozen=True):
    """A complete prefix."""

    system: str
    version: str
    folder: Path

    @property
    def size_bytes(self) -> int:
        from assay.provision.disk.size import allocated_bytes

        return allocated_bytes(self.folder)


def folder() -> Path:
    """The cache folder; need not exist. Raises `ArgumentError` where there is no place for one."""
    found = _folder()
    if text_file.shown_if_not_utf8(str(found)) is not None:
        raise ArgumentError(
            "the name of the cache folder is not UTF-8", hint=f"name another in {CACHE.name}"
        )
    return found


def _folder() -> Path:
    if given := CACHE.get():
        return Path(given).absolute()
    if caches := env_vars.XDG_CACHE_HOME.get():
        return Path(caches).absolute() / "assay"
    if os.geteuid() == 0:
        return _OF_ROOT
    if (home := env_vars.home()) is None:
        raise ArgumentError(
            "there is no home directory to keep programs in", hint=f"name a folder in {CACHE.name}"
        )
    return home / ".cache" / "assay"


def installed(system: str) -> list[Installed]:
    """Every version of a system that is installed, the newest first."""
    try:
        entries = [path for path in _shelf(system).iterdir() if path.is_dir()]
    except (OSError, ArgumentError):
        return []
    versions = [path for path in entries if _VERSION.fullmatch(path.name)]
    versions.sort(key=lambda path: order(path.name), reverse=True)
    return [Installed(system, path.name, path) for path in versions]


def newest(system: str) -> Path | None:
    """The folder of the newest installed version."""
    return next((one.folder for one in installed(system)), None)


def check_version(version: str) -> None:
    """Raises `ArgumentError` for what cannot be the name of a version."""
    if not _VERSION.fullmatch(version):
        raise ArgumentError(
            f"expected a version of letters, digits and . + ~ _ -, found {version!r}",
            hint="SYSTEM@VERSION, for example 9.7.4",
        )


@contextlib.contextmanager
def locked(system: str, report: Report) -> Iterator[None]:
    """Keeps other processes from installing or removing this system; waits until they are done.

    Raises `SystemUnderTestError` where the folder cannot be made.
    """
    shelf = _shelf(system)
    lock = _lock(shelf, report)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            shelf.rmdir()  # only an empty one
        os.close(lock)


def _lock(shelf: Path, report: Report) -> int:
    is_reported = False
    while True:
        try:
            _make(shelf)
            lock = os.open(shelf, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # another process has just removed the empty folder
        except OSError as error:
            raise _unusable(error) from error
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not is_reported:
                    report(f"another process is installing or removing {shelf.name}: waiting")
                    is_reported = True
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(lock), shelf.stat()):
                return lock
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _make(shelf: Path) -> None:
    """Folders that the servers' user may enter, whatever our umask is."""
    missing = [path for path in (shelf, *shelf.parents) if not path.exists()]
    try:
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            # Another process may remove an empty shelf at any time, but no folder above it.
            with contextlib.suppress(FileNotFoundError):
                path.chmod(0o755)
    except OSError as error:
        raise _unusable(_why(missing) or error) from error


def _unusable(why: object) -> SystemUnderTestError:
    return SystemUnderTestError(
        f"the cache folder {folder()} cannot be written: {why}",
        hint=f"name another in {CACHE.name}",
    )


def _why(missing: list[Path]) -> str | None:
    """What the error of the operating system calls a file that exists."""
    broken = next((path for path in missing if path.is_symlink()), None)
    if broken is None:
        return None
    return f"{broken} is a link to {broken.readlink()}, which does not exist"


@contextlib.contextmanager
def new_prefix(system: str, version: str) -> Iterator[Prefix]:
    """A folder to fill, which has its place in the cache when the block ends without an error; else
    it is removed, and Assay's processes that still write into it are ended. To be called `locked`.
    """
    shelf = _shelf(system)
    if blocked := first_unreachable(shelf, server_user()):
        raise ArgumentError(
            f"the cache folder {folder()} is of no use: servers run as another user, who may not "
            f"enter {blocked}",
            hint=f"name another in {CACHE.name}, or allow it: chmod o+x {blocked}",
        )
    identity = ledger.new_id()
    with undone_at_end(identity) as entry:
        package = UnfinishedPackage.within(shelf, identity)
        entry.add(package)
        entry.add(TaggedProcesses())
        incomplete = Path(package.path)
        incomplete.mkdir()
        incomplete.chmod(0o755)
        from assay.contracts.installing import Prefix

        prefix = Prefix(incomplete, shelf / version, identity)
        yield prefix
        prefix.folder.rename(prefix.becomes)


def remove(installed: Installed) -> None:
    """Removes a prefix; also where this is interrupted, nothing half removed is found afterwards.
    To be called `locked` and `in_use.unused`."""
    identity = ledger.new_id()
    with undone_at_end(identity) as entry:
        package = UnfinishedPackage.within(installed.folder.parent, identity)
        entry.add(package)
        installed.folder.rename(package.path)


def shelves() -> Path:
    """The folder of the folders of systems."""
    return folder() / "systems"


def _shelf(system: str) -> Path:
    return shelves() / system


def order(version: str) -> list[tuple[int, int, str]]:
    """9.10 is after 9.9."""
    parts = _NUMBERS.findall(version)
    return [(1, int(one), "") if one.isdecimal() else (0, 0, one) for one in parts]
