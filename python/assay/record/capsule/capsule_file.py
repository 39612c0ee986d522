"""Takes the path of a file; opens it as a capsule, and gives what is in it, in pieces, however long
it and its members are. Says what it is where it is none.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Final

import msgspec
from msgspec import Struct

from assay.errors import InputError
from assay.record.capsule import layout
from assay.record.capsule.layout import Manifest
from assay.text.files import output_file, paths, pieces, shared_files
from assay.text.units import size

_BEGINNING = b"PK\x03\x04"
_FIRST_OF_A_CAPSULE = 30 + len(layout.RECORD)
"""Bytes before the content of its first member: they end with the member's name."""
_BROKEN = (
    zipfile.BadZipFile,
    OSError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    ValueError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    IndexError,
    KeyError,
)
"""What the reader of zip files raises for one that is damaged; `NotImplementedError` where a member
is said to be compressed in a way that it does not know."""
PACK_AGAIN: Final = "get it again from where it is from, or pack it again with `assay pack`"


class Capsule(Struct, frozen=True):
    """A file that was verified. What is read of it later is what was verified, or an error."""

    path: Path
    manifest: Manifest
    size_bytes: int
    sha256: str
    """Of the whole file."""

    def unpack(self, name: str, target: Path) -> None:
        """Writes a member to a file that is not there yet. Raises `InputError` where it was changed
        meanwhile."""
        with (
            output_file.written(target, force=False) as descriptor,
            opened(self.path) as file,
            opened_zip(file, self.path) as members,
        ):
            found = hashlib.sha256()
            for piece in member_pieces(members, name, self.path):
                found.update(piece)
                output_file.write_all(descriptor, piece)
            if found.hexdigest() != self.manifest.members[name].sha256:
                raise _changed_meanwhile(self.path)

    def unpack_manifest(self, target: Path) -> None:
        """Writes it into a new file."""
        with output_file.written(target, force=False) as descriptor:
            output_file.write_all(descriptor, msgspec.json.encode(self.manifest))

    def copy(self, descriptor: int) -> None:
        """Writes the whole file. Raises `InputError` where it was changed meanwhile."""
        found = hashlib.sha256()
        with opened(self.path) as file:
            for piece in file_pieces(file, self.path):
                found.update(piece)
                output_file.write_all(descriptor, piece)
        if found.hexdigest() != self.sha256:
            raise _changed_meanwhile(self.path)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Raises `InputError` where it is no file, or too long."""
    if not paths.exists(path):
        raise InputError("there is no such file", file=path)
    if not paths.is_file(path):
        other = "a folder" if paths.is_folder(path) else "a pipe or a device"
        raise InputError(f"expected a capsule, found {other}", file=path)
    with ExitStack() as stack:
        try:
            file = stack.enter_context(shared_files.opened(path))
        except OSError as error:
            raise _not_read(error, path) from error
        if os.fstat(file.fileno()).st_size > layout.MOST_BYTES:
            raise InputError(f"expected at most {size(layout.MOST_BYTES)}, found more", file=path)
        yield file


def _not_read(error: OSError, path: Path) -> InputError:
    return InputError(f"cannot be read: {error.strerror or error}", file=path)


def opened_zip(file: IO[bytes], path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except _BROKEN as error:
        file.seek(0)
        beginning = file.read(_FIRST_OF_A_CAPSULE)
        if beginning.startswith(_BEGINNING) and beginning.endswith(layout.RECORD.encode()):
            raise InputError(
                "expected the directory of a zip file at its end, found none that can be read: the "
                "file is not whole, or was changed there",
                file=path,
                hint=PACK_AGAIN,
            ) from error
        raise no_capsule(_what(beginning), path) from error


def _what(beginning: bytes) -> str:
    """A file that is no zip file, or no whole one."""
    if not beginning:
        return "an empty file"
    if beginning.startswith(_BEGINNING):
        of = " of another program" if len(beginning) == _FIRST_OF_A_CAPSULE else ""
        return f"a zip file{of} that is not whole"
    return "another file"


def no_capsule(what: str, path: Path) -> InputError:
    return InputError(
        f"not a capsule of Assay: expected a file of `assay pack`, found {what}",
        file=path,
        hint="`assay pack EXPERIMENT` makes one",
    )


def file_pieces(
    file: IO[bytes], path: Path, most_bytes: int = layout.MOST_BYTES
) -> Iterator[bytes]:
    """From where it stands. Raises `InputError`."""
    try:
        yield from pieces.of_file(file, most_bytes)
    except OSError as error:
        raise _not_read(error, path) from error


def member_pieces(file: zipfile.ZipFile, name: str, path: Path) -> Iterator[bytes]:
    """Raises `InputError`."""
    try:
        yield from pieces.of_member(file, name)
    except _BROKEN as error:
        raise InputError(
            f"{name}: expected the content that was packed, found bytes that cannot be unpacked: "
            f"{error}",
            file=path,
            hint=PACK_AGAIN,
        ) from error


def _changed_meanwhile(path: Path) -> InputError:
    return InputError("was changed while it was read", file=path, hint="try again")
