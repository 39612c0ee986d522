"""`HERE`: a directory on an existing file system."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path

from assay import env_vars
from assay.contracts.experiment import StorageChoice
from assay.contracts.plugins import OptionSpec
from assay.contracts.storages.protocol import PreparedStorage, values
from assay.errors import ArgumentError, NotOnThisMachine, StorageUnavailable
from assay.provision.machine.mounts import FSTAB, facts_of, mount_of, unmounted_point
from assay.provision.machine.users import ServerUser, first_unreachable, server_user
from assay.provision.undo import ledger
from assay.provision.undo.ledger import undone_at_end
from assay.provision.undo.resources import EmptyDirectory
from assay.text.phrases import nearest, phrase

DEFAULT_NAME = ".assay"
_FROM_THE_ENVIRONMENT = f" ({env_vars.DATA_DIRECTORY.name})"
_OTHER = phrase("choose another: {--storage here:DIRECTORY}")
FALLBACK = Path("/var/tmp")
"""Survives a reboot and is seldom in memory, unlike /tmp."""


class Here:
    name = "here"
    option_specs: tuple[OptionSpec, ...] = ()

    def default_directory(self) -> Path:
        return default_of_choices()

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


def default_of_choices() -> Path:
    """The folder of a choice without a directory, where the environment names none: the current
    one, in place of the default directory within it."""
    folder = default_directory(server_user())
    return (folder.parent if folder == Path.cwd() / DEFAULT_NAME else folder).resolve()


def refuse_no_directory(choice: StorageChoice) -> None:
    """Raises `NotOnThisMachine` where the directory that is named is something else or does not
    exist: one that was made at a mistyped mount point would lie on another disk."""
    named = choice.directory or env_vars.DATA_DIRECTORY.get()
    if not named:
        return
    directory = Path(named).absolute()
    of_environment = env_vars.DATA_DIRECTORY.get()
    is_named = choice.directory and (
        not of_environment or directory.resolve() != Path(of_environment).resolve()
    )
    where = f"storage {choice.name!r}" + ("" if is_named else _FROM_THE_ENVIRONMENT)
    if directory.is_dir():
        if point := unmounted_point(directory.resolve()):
            raise NotOnThisMachine(
                f"{where}: {point} is a mount point in {FSTAB}, but nothing is mounted there",
                hint=f"mount {shlex.quote(str(point))}, or choose another: {choice.kind}:DIRECTORY",
            )
        return
    other = f"choose another: {choice.kind}:DIRECTORY"
    found = next(path for path in (directory, *directory.parents) if path.exists())
    if not found.is_dir():
        raise NotOnThisMachine(f"{where}: {found} is not a directory", hint=other)
    mount = mount_of(found.resolve())
    meant = nearest(directory.relative_to(found).parts[0], _folders_in(found))
    guess = f"did you mean {found / meant}? " if meant else ""
    raise NotOnThisMachine(
        f"{where}: {directory} does not exist; the nearest folder that does is {found}, on "
        f"{mount.source} ({mount.file_system})",
        hint=f"{guess}make it (mkdir -p {shlex.quote(str(directory))}), or {other}",
    )


def _folders_in(folder: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return [one.name for one in folder.iterdir() if one.is_dir()]
    return []


@contextlib.contextmanager
def usable_directory(choice: StorageChoice) -> Iterator[Path]:
    """`directory_of` the choice; the default one is made where it is missing, and removed if it is
    empty at the end. Raises `ArgumentError` where there is none, or servers cannot reach it."""
    refuse_no_directory(choice)
    user, directory = server_user(), directory_of(choice)
    with _made(directory):
        if blocked := first_unreachable(directory, user):
            raise ArgumentError(
                f"storage {choice.name!r}: servers run as the user {user.name!r}, who may not "
                f"enter {blocked} on the way to {directory}",
                hint=f"choose another directory, or allow it: chmod o+x {blocked}",
            )
        yield directory


@contextlib.contextmanager
def _made(directory: Path) -> Iterator[None]:
    """Makes the default directory in the current one; at the end removes it if it is empty: of
    several systems in it, the last to end. After a kill, the next start of Assay removes it."""
    if directory != Path.cwd() / DEFAULT_NAME:
        make(directory)
        yield
        return
    with undone_at_end(ledger.new_id()) as entry:
        made = EmptyDirectory(str(directory))
        entry.add(made)
        with made.held(lambda: make(directory)):
            yield


def default_directory(user: ServerUser) -> Path:
    """The default directory for data: in the current one, if the server's user can reach it."""
    current = Path.cwd()
    return FALLBACK if first_unreachable(current, user) else current / DEFAULT_NAME


def make(directory: Path) -> None:
    """Makes a directory where it is missing, accessible to all users. Raises `StorageUnavailable`
    if it cannot, `ArgumentError` where something else is at its path."""
    try:
        directory.mkdir()
        directory.chmod(0o755)  # independent of the umask: the servers' user needs access
    except FileExistsError:
        pass
    except OSError as error:
        raise StorageUnavailable(
            f"a directory for the storage cannot be made: {error}", hint=_OTHER
        ) from error
    if not directory.is_dir():
        raise ArgumentError(
            f"expected a directory for the storage, found {directory}, which is not a directory",
            hint=_OTHER,
        )


HERE = Here()
