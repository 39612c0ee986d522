"""Takes ``SCHEME:///file`` of a system that lives in this process; returns the path of its file."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote

from msgspec import Struct

from assay.contracts import server_url
from assay.contracts.server_url import Resolved
from assay.errors import ArgumentError
from assay.text.files import paths, shared_files

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


def file_of(url: str, kind: FileKind) -> Path:
    """The file of ``SCHEME:///relative/path`` or ``SCHEME:////absolute/path``, as the database
    libraries of Python have it. It must be there: we make no files outside our own directories.

    Raises `ArgumentError`, also for a file that is no database.
    """
    parts = server_url.parts(url)
    shown = server_url.without_password(url)
    if parts.host or parts.port or parts.has_user or parts.query or not parts.path.strip("/"):
        raise ArgumentError(
            f"{shown}: expected {kind.scheme}:///relative/path or {kind.scheme}:////absolute/path"
        )
    path = Path(unquote(parts.path.removeprefix("/")))
    if paths.is_folder(path):
        raise ArgumentError(f"{shown}: expected a file, found the folder {path}")
    if not paths.is_file(path):
        raise ArgumentError(f"{shown}: there is no {_missing(path)}", hint=_fix(path, kind))
    _insist_on_database(path, kind, str(shown))
    return path.resolve()


def absolute(url: str, kind: FileKind) -> Resolved:
    """The same file by its absolute path: from another folder, a relative path means another
    file. Raises as `file_of` does."""
    return Resolved(f"{server_url.parts(url).scheme}:///{quote(str(file_of(url, kind)))}")


def _insist_on_database(path: Path, kind: FileKind, shown: str) -> None:
    try:
        _, head = shared_files.read(path, _HEAD_BYTES)
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
