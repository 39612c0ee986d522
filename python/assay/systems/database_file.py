"""What systems share whose database is one file and that work in this process: the file of their
URL, and the members of `assay.contracts.systems.protocol.System` that are about it."""

from __future__ import annotations

import contextlib
import os
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, unquote

from msgspec import Struct

from assay.contracts import server_url
from assay.contracts.deployment import Deployment
from assay.contracts.experiment import SystemChoice
from assay.contracts.server_url import Resolved
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.protocol import ProcessSample, ServerDirectory
from assay.errors import ArgumentError, Bug
from assay.provision.directory import own_folder
from assay.provision.machine import sampling
from assay.text import paths

_HEAD_BYTES = 16
"""As many as tell what kind of file it is."""


class FileKind(Struct, frozen=True):
    """The database files of one system."""

    scheme: str
    title: str
    """As people write the system."""
    is_one: Callable[[bytes], bool]
    """Whether a file that begins so is one."""
    making: Callable[[Path], str]
    """The command that makes an empty one."""

    def file_of(self, url: str) -> Path:
        """The file of ``SCHEME:///relative/path`` or ``SCHEME:////absolute/path``, as the database
        libraries of Python have it. It must be there: we make no files outside our own directories.

        Raises `ArgumentError`, also for a file that is no database.
        """
        parts = server_url.parts(url)
        shown = server_url.without_password(url)
        if parts.host or parts.port or parts.has_user or parts.query or not parts.path.strip("/"):
            raise ArgumentError(
                f"{shown}: expected {self.scheme}:///relative/path or {self.scheme}:////absolute/path"
            )
        path = Path(unquote(parts.path.removeprefix("/")))
        if paths.is_folder(path):
            raise ArgumentError(f"{shown}: expected a file, found the folder {path}")
        if not paths.is_file(path):
            raise ArgumentError(f"{shown}: there is no {_missing(path)}", hint=_fix(path, self))
        _insist_on_database(path, self, str(shown))
        return path.resolve()

    def absolute(self, url: str) -> Resolved:
        """The same file by its absolute path: from another folder, a relative path means another
        file. Raises as `file_of` does."""
        return Resolved(f"{server_url.parts(url).scheme}:///{quote(str(self.file_of(url)))}")


def _insist_on_database(path: Path, kind: FileKind, shown: str) -> None:
    try:
        _, head = paths.read_beginning(path, _HEAD_BYTES)
    except OSError as error:
        raise ArgumentError(f"{shown}: the file cannot be read: {error.strerror}") from error
    if not kind.is_one(head):
        begins = f"that begins with {head.decode(errors='replace')!r}"
        raise ArgumentError(
            f"{shown}: expected a {kind.title} database, found a file "
            + (begins if head else "that is empty"),
            hint=f"correct the path, or make a new file with: {kind.making(Path('new.db'))}",
        )


def _missing(path: Path) -> str:
    return f"file {path}" if paths.is_folder(path.parent) else f"folder {path.parent}"


def _fix(path: Path, kind: FileKind) -> str:
    absolute = Path("/") / path
    four = f"an absolute path has four slashes: {kind.scheme}:///{absolute}"
    # Where there is such a folder, a slash was forgotten; the root folder says nothing.
    is_in_folder = len(absolute.parts) > 2
    if not path.is_absolute() and is_in_folder and paths.is_folder(absolute.parent):
        return four
    make = kind.making(path)
    if not paths.is_folder(path.parent):
        make = f"mkdir -p {shlex.quote(str(path.parent))} && {make}"
    return f"make it with: {make}" + (
        f"; {four}" if not path.is_absolute() and is_in_folder else ""
    )


class OfOneFile(ABC):
    """A system that has one file, in this process."""

    file_kind: ClassVar[FileKind]
    file_name: ClassVar[str]
    """In a directory that Assay makes."""
    other_endings: ClassVar[tuple[str, ...]]
    """Of the files beside it that hold what is not in it yet."""
    settings_of_the_file: ClassVar[Collection[str]]
    """Those that the file keeps."""

    @abstractmethod
    def opened(
        self, choice: SystemChoice, file: Path, storage: StorageFacts, *, is_private: bool
    ) -> contextlib.AbstractContextManager[Deployment]:
        """The deployment of the file until the end of the block."""

    @abstractmethod
    def check(self, choice: SystemChoice) -> None: ...

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        """A file in ``directory.data``, new or as it is there. Sessions have no limit but that of
        open files."""
        del connections
        if directory.is_confined:
            own_folder(directory, directory.data)
        directory.data.mkdir(exist_ok=True)
        file = directory.data / self.file_name
        with self.opened(choice, file, directory.storage, is_private=True) as deployment:
            yield deployment

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        """The file of the URL. Settings are set in each of our sessions, and the file keeps its
        own."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a file")
        self.check(choice)
        file = self.file_kind.file_of(choice.url)
        storage = StorageFacts.of_url(str(file.parent))
        with self.opened(choice, file, storage, is_private=False) as deployment:
            yield deployment

    def check_url(self, text: str) -> None:
        self.file_kind.file_of(text)

    def complete_url(self, text: str) -> Resolved:
        return self.file_kind.absolute(text)

    def is_in_process(self, choice: SystemChoice) -> bool:
        del choice
        return True

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """The file, and those beside it that are there now."""
        file = deployment.address.file
        every = [Path(f"{file}{ending}") for ending in ("", *self.other_endings)]
        return sum(path.stat().st_size for path in every if path.exists())

    def data_bytes(self, deployment: Deployment) -> int:
        """The file, which holds nothing else."""
        return Path(deployment.address.file or "").stat().st_size

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        return {
            name: deployment.settings[name]
            for name in self.settings_of_the_file
            if name in deployment.settings
        }

    def sample(self, deployment: Deployment) -> ProcessSample | None:
        """This process, in which both the clients and the database are."""
        return sampling.sample(os.getpid(), deployment.data_directory, with_descendants=False)

    def why_it_died(self, deployment: Deployment) -> str | None:
        """It can only lose its file."""
        file = Path(deployment.address.file or "")
        return None if file.exists() else f"the database file {file} is gone"
