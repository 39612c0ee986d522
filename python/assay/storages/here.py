"""`HERE`: a directory on an existing file system."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from assay import env_vars
from assay.errors import ArgumentError, StorageUnavailable
from assay.experiment.values import StorageChoice
from assay.option_spec import OptionSpec
from assay.provision import ledger
from assay.provision.clean_up import undone_at_end
from assay.provision.resources import EmptyDirectory
from assay.provision.users import ServerUser, first_unreachable, server_user
from assay.storages.mounts import facts_of, mount_of
from assay.storages.options import values
from assay.storages.protocol import PreparedStorage

DEFAULT_NAME = ".assay"
_OTHER = "choose another: --storage here:DIRECTORY"
FALLBACK = Path("/var/tmp")
"""Survives a reboot and is seldom in memory, unlike /tmp."""


class Here:
    name = "here"
    option_specs: tuple[OptionSpec, ...] = ()

    def check(self, choice: StorageChoice) -> None:
        values(self, choice)
        refuse_no_directory(choice)

    def file_system_of(self, choice: StorageChoice) -> str:
        directory = directory_of(choice).resolve()
        return mount_of(directory).file_system

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        """The directory of the choice, else the default one (`directory_of`)."""
        self.check(choice)
        with usable_directory(choice) as directory:
            yield PreparedStorage(facts_of(choice, directory))


def directory_of(choice: StorageChoice) -> Path:
    """The directory of the choice, else of the environment, else ``.assay`` in the current
    directory, else (where the servers' user cannot reach that) /var/tmp."""
    given = choice.directory or env_vars.DATA_DIRECTORY.get()
    return Path(given).absolute() if given else default_directory(server_user())


def refuse_no_directory(choice: StorageChoice) -> None:
    """Raises `ArgumentError` where the directory that is named, or the first of its parents that
    exists, is something else."""
    named = choice.directory or env_vars.DATA_DIRECTORY.get()
    if not named:
        return
    directory = Path(named).absolute()
    found = next(path for path in (directory, *directory.parents) if path.exists())
    if not found.is_dir():
        raise ArgumentError(
            f"storage {choice.name!r}: {found} is not a directory",
            hint=f"choose another: {choice.kind}:DIRECTORY",
        )


@contextlib.contextmanager
def usable_directory(choice: StorageChoice) -> Iterator[Path]:
    """`directory_of` the choice, created where it is missing; a directory that was created is
    removed if it is empty at the end. Raises `ArgumentError` where servers cannot reach it."""
    user, directory = server_user(), directory_of(choice)
    with _made(directory):
        if blocked := first_unreachable(directory, user):
            raise ArgumentError(
                f"storage {choice.name!r}: servers run as the user {user.name!r}, who may not "
                f"enter {blocked} on the way to {directory}",
                hint=f"choose another directory, or allow it: chmod o+x {blocked}",
            )
        yield directory


_ours: set[Path] = set()
"""Directories that this process made and has not removed, because others still used them."""


@contextlib.contextmanager
def _made(directory: Path) -> Iterator[None]:
    """Creates the directory and its missing parents; at the end removes those that Assay made and
    that are empty: of several systems in one directory, the last to end. After a kill, the next
    start of Assay removes them."""
    missing = _missing(directory)
    ours = [
        path
        for path in (directory, *directory.parents)
        if path in missing or path in _ours or path == Path.cwd() / DEFAULT_NAME
    ]
    if not ours:
        make(directory)
        yield
        return
    try:
        with undone_at_end(ledger.new_id()) as entry:
            for path in reversed(ours):
                entry.add(EmptyDirectory(str(path)))
            make(directory)
            _ours.update(missing)
            yield
    finally:
        _ours.difference_update([path for path in _ours if not path.exists()])


def _missing(directory: Path) -> list[Path]:
    """The missing directories, the innermost first."""
    return [path for path in (directory, *directory.parents) if not path.exists()]


def default_directory(user: ServerUser) -> Path:
    """The default directory for data: in the current one, if the server's user can reach it."""
    current = Path.cwd()
    return FALLBACK if first_unreachable(current, user) else current / DEFAULT_NAME


def make(directory: Path) -> None:
    """Creates a directory and its missing parents, accessible to all users. Raises
    `StorageUnavailable` if it cannot, `ArgumentError` where something else is at its path."""
    try:
        for path in reversed(_missing(directory)):
            path.mkdir()
            path.chmod(0o755)  # independent of the umask: the servers' user needs access
    except OSError as error:
        raise StorageUnavailable(
            f"a directory for the storage cannot be made: {error}", hint=_OTHER
        ) from error
    if not directory.is_dir():
        raise ArgumentError(
            f"expected a directory for the storage, found {directory}, which is none", hint=_OTHER
        )


HERE = Here()
