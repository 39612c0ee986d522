"""The folder in which installed systems are kept: ``systems/NAME/VERSION``, complete or not there;
the programs of a system that are there or on this machine, and the locks that keep them while a
run uses them."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from assay import env_vars, registry
from assay.contracts.experiment import VERSION, SystemChoice
from assay.contracts.systems.abilities import (
    Findable,
    FoundPrograms,
    Installable,
    OfReleases,
    SeveralVersions,
)
from assay.contracts.systems.protocol import System
from assay.env_vars import CACHE
from assay.errors import ArgumentError, SystemMissing, SystemUnderTestError
from assay.provision.install import builds
from assay.provision.machine.users import first_unreachable, server_user
from assay.provision.undo import ledger
from assay.provision.undo.ledger import undone_at_end
from assay.provision.undo.resources import TaggedProcesses, UnfinishedPackage
from assay.text import paths, pattern
from assay.text.versions import is_of, version_numbers, version_order

if TYPE_CHECKING:
    from assay.contracts.systems.protocol import Prefix, ReportInstalling


_OF_ROOT = Path("/var/cache/assay")
_VERSION = pattern(r"[A-Za-z0-9][A-Za-z0-9.+~_-]{0,80}")


class Installed(Struct, frozen=True):
    """A complete prefix."""

    system: str
    version: str
    folder: Path

    @property
    def size_bytes(self) -> int:
        from assay.provision.copying import allocated_bytes

        return allocated_bytes(self.folder)


def cache_folder() -> Path:
    """The cache folder; need not exist. Raises `ArgumentError` where there is no place for one."""
    found = _folder()
    if paths.shown_if_not_utf8(str(found)) is not None:
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


def installations(system: str) -> list[Installed]:
    """Every version of a system that is installed, the newest first."""
    try:
        entries = [path for path in _shelf(system).iterdir() if path.is_dir()]
    except (OSError, ArgumentError):
        return []
    versions = [path for path in entries if _VERSION.fullmatch(path.name)]
    versions.sort(key=lambda path: version_order(path.name), reverse=True)
    return [Installed(system, path.name, path) for path in versions]


def newest(system: str) -> Path | None:
    """The folder of the newest installed version."""
    return next((one.folder for one in installations(system)), None)


def check_version(version: str) -> None:
    """Raises `ArgumentError` for what cannot be the name of a version."""
    if not _VERSION.fullmatch(version):
        raise ArgumentError(
            f"expected a version of letters, digits and . + ~ _ -, found {version!r}",
            hint="SYSTEM@VERSION, for example 9.7.4",
        )


@contextlib.contextmanager
def locked_installation(system: str, report: ReportInstalling) -> Iterator[None]:
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


def _lock(shelf: Path, report: ReportInstalling) -> int:
    is_reported = False
    while True:
        try:
            make_folder(shelf)
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


def make_folder(shelf: Path) -> None:
    """In the cache, with those above it; the servers' user may enter, whatever our umask is."""
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
        f"the cache folder {cache_folder()} cannot be written: {why}",
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
            f"the cache folder {cache_folder()} is of no use: "
            "servers run as another user, who may not "
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
        from assay.contracts.systems.protocol import Prefix

        prefix = Prefix(incomplete, shelf / version, identity)
        yield prefix
        prefix.folder.rename(prefix.becomes)


def remove_installation(installed: Installed) -> None:
    """Removes a prefix; also where this is interrupted, nothing half removed is found afterwards.
    To be called `locked` and `in_use.unused`."""
    identity = ledger.new_id()
    with undone_at_end(identity) as entry:
        package = UnfinishedPackage.within(installed.folder.parent, identity)
        entry.add(package)
        installed.folder.rename(package.path)


def shelves() -> Path:
    """The folder of the folders of systems."""
    return cache_folder() / "systems"


def _shelf(system: str) -> Path:
    return shelves() / system


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
def unused_installation(installed: Installed) -> Iterator[None]:
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
        within = place.resolve().relative_to(shelves().resolve())
    except (ValueError, ArgumentError):
        return None
    return shelves().joinpath(*within.parts[:2]) if len(within.parts) > 1 else None


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


def programs_of(choice: SystemChoice) -> FoundPrograms | None:
    """What a private system would be started from; None: nothing is looked for here. Raises
    `SystemMissing` where it, or its version, is not on this machine, and `NotOnThisMachine` where
    it is not in the directory that the user named."""
    system = registry.system(choice.name)
    if choice.url is not None or not isinstance(system, Findable):
        return None
    if choice.build:
        return builds.programs_at(choice)
    if not choice.version:
        return system.find()
    if choice.programs and isinstance(system, SeveralVersions):
        return system.find_at(choice.programs)
    return _of_version(system, choice.version)


def with_programs(choice: SystemChoice) -> SystemChoice:
    """The choice with the place of its programs and the whole version that they are; without a
    version, as it is. Raises as `programs_of`."""
    if not choice.version or choice.programs:
        return choice
    found = programs_of(choice)
    return choice if found is None else replace(_at(choice, found), programs=found.place)


def in_its_version(choice: SystemChoice) -> SystemChoice:
    """As `with_programs`; without a version, with the one that it would be started in. Programs of
    a directory are known by their digest."""
    if choice.build:
        return builds.with_build(choice)
    found = None if choice.version else programs_of(choice)
    return with_programs(choice if found is None else _at(choice, found))


def _at(choice: SystemChoice, programs: FoundPrograms) -> SystemChoice:
    return replace(choice, options={**choice.options, VERSION: version_numbers(programs.version)})


def programs_here(system: System) -> list[FoundPrograms]:
    """Each version that is here and can be used, the newest first; of one that is here twice what
    is looked for first."""
    of_numbers: dict[str, FoundPrograms] = {}
    for found in _found(system):
        of_numbers.setdefault(version_numbers(found.version), found)
    return [of_numbers[one] for one in sorted(of_numbers, key=version_order, reverse=True)]


def _found(system: System) -> Iterator[FoundPrograms]:
    if isinstance(system, SeveralVersions):
        named = system.chosen_by.get()
        for place in [*([named] if named else []), *system.places()]:
            with contextlib.suppress(SystemUnderTestError):
                yield system.find_at(place)
    if isinstance(system, Installable):
        for installed in installations(system.name):
            with contextlib.suppress(SystemUnderTestError):
                yield system.find_in(installed.folder)


def _of_version(system: System, asked: str) -> FoundPrograms:
    wanted = version_numbers(asked)
    known = programs_here(system)
    for found in known:
        if is_of(version_numbers(found.version), wanted):
            return found
    has = ", ".join(version_numbers(found.version) for found in known)
    fixes = []
    if isinstance(system, Installable):
        releases = system.installable_releases if isinstance(system, OfReleases) else ()
        can_be_had = not releases or any(is_of(wanted, one) for one in releases)
        from assay.text.phrases import alternatives

        fixes.append(
            f"assay install {system.name}@{asked}"
            if can_be_had
            else f"assay install brings {system.name} {alternatives(releases)}"
        )
    if isinstance(system, SeveralVersions):
        fixes.append(f"name where its programs are in {system.chosen_by.name}")
    raise SystemMissing(
        f"{system.name} {asked} is not on this machine, which has "
        + (f"{system.name} {has}" if has else "no version of it"),
        hint="; or ".join(fixes) or None,
    )
