"""The format of a capsule, a zip file whose bytes follow from its members alone; takes the path
of a file and opens it as a capsule, in pieces, however long it and its members are."""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Final

import msgspec
from msgspec import Struct

from assay.errors import InputError
from assay.experiment import origin
from assay.experiment.settings_catalogue import DEFAULT_FILE_NAME
from assay.text import output_file, paths
from assay.text.units import size

FORMAT: Final = 1
"""Counts up with each change that an earlier Assay cannot read."""
MANIFEST: Final = origin.MANIFEST
FACTS: Final = "facts.json"
RECORD: Final = DEFAULT_FILE_NAME
REPORT: Final = "report.html"
EXPERIMENT_FOLDER: Final = "experiment"
EXPERIMENT: Final = f"{EXPERIMENT_FOLDER}/experiment.toml"
NEEDED: Final = (FACTS, RECORD, REPORT, EXPERIMENT)
ENDING: Final = ".assay"

MOST_BYTES: Final = 2 << 30
"""Of all members, unpacked: a longer file is a mistake, or one that is to fill the disk."""
MOST_OF_MANIFEST: Final = origin.MOST_BYTES
MOST_MEMBERS: Final = 10_000
TIME_OF_MEMBERS: Final = (1980, 1, 1, 0, 0, 0)
"""The first that a zip file knows."""
_COMMENT = re.compile(rb"assay capsule (\d{1,9}) manifest ([0-9a-f]{64}) file ([0-9a-f]{64})")
_NAME = re.compile(r"[^\x00-\x1f\x7f\\:]{1,1000}")


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    assay: str
    """The version that packed it."""
    members: dict[str, Member]
    """All but this one."""


class Comment(msgspec.Struct, frozen=True):
    format: int
    manifest: str
    file: str

    @property
    def text(self) -> bytes:
        return f"assay capsule {self.format} manifest {self.manifest} file {self.file}".encode()


def comment_of(text: bytes) -> Comment | None:
    """None: it is not that of a capsule."""
    found = _COMMENT.fullmatch(text)
    if found is None:
        return None
    return Comment(int(found[1]), found[2].decode(), found[3].decode())


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zip_entry(name: str) -> zipfile.ZipInfo:
    """Of a member: nothing in it is of the machine or the moment."""
    found = zipfile.ZipInfo(name, TIME_OF_MEMBERS)
    found.compress_type = zipfile.ZIP_DEFLATED
    found.create_system = 3  # Unix, whose modes these are
    found.external_attr = 0o100644 << 16
    return found


def why_unsafe(name: str) -> str:
    """Why no member may have this name; empty: it may."""
    if not _NAME.fullmatch(name):
        return "has a character that is no part of a file's name in a capsule"
    if name.startswith("/"):
        return "is absolute"
    parts = name.split("/")
    if ".." in parts:
        return "leads out of the folder"
    if not all(parts) or "." in parts or str(PurePosixPath(name)) != name:
        return "is not the plain name of a file"
    return ""


_BEGINNING = b"PK\x03\x04"
_FIRST_OF_A_CAPSULE = 30 + len(RECORD)
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
PACK_AGAIN: Final = "get it again from where it is from, or pack it again with `assay capsule pack`"


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
            output_file.written_file(target, force=False) as descriptor,
            opened_file(self.path) as file,
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
        with output_file.written_file(target, force=False) as descriptor:
            output_file.write_all(descriptor, msgspec.json.encode(self.manifest))

    def copy(self, descriptor: int) -> None:
        """Writes the whole file. Raises `InputError` where it was changed meanwhile."""
        found = hashlib.sha256()
        with opened_file(self.path) as file:
            for piece in file_pieces(file, self.path):
                found.update(piece)
                output_file.write_all(descriptor, piece)
        if found.hexdigest() != self.sha256:
            raise _changed_meanwhile(self.path)


@contextmanager
def opened_file(path: Path) -> Iterator[IO[bytes]]:
    """Raises `InputError` where it is no file, or too long."""
    if not paths.exists(path):
        raise InputError("there is no such file", file=path)
    if not paths.is_file(path):
        other = "a folder" if paths.is_folder(path) else "a pipe or a device"
        raise InputError(f"expected a capsule, found {other}", file=path)
    with ExitStack() as stack:
        try:
            file = stack.enter_context(paths.opened_file(path))
        except OSError as error:
            raise _not_read(error, path) from error
        if os.fstat(file.fileno()).st_size > MOST_BYTES:
            raise InputError(f"expected at most {size(MOST_BYTES)}, found more", file=path)
        yield file


def _not_read(error: OSError, path: Path) -> InputError:
    return InputError(f"cannot be read: {error.strerror or error}", file=path)


def opened_zip(file: IO[bytes], path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except _BROKEN as error:
        file.seek(0)
        beginning = file.read(_FIRST_OF_A_CAPSULE)
        if beginning.startswith(_BEGINNING) and beginning.endswith(RECORD.encode()):
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
        f"not a capsule of Assay: expected a file of `assay capsule pack`, found {what}",
        file=path,
        hint="`assay capsule pack EXPERIMENT` makes one",
    )


def file_pieces(file: IO[bytes], path: Path, most_bytes: int = MOST_BYTES) -> Iterator[bytes]:
    """From where it stands. Raises `InputError`."""
    try:
        yield from output_file.pieces_of_file(file, most_bytes)
    except OSError as error:
        raise _not_read(error, path) from error


def member_pieces(file: zipfile.ZipFile, name: str, path: Path) -> Iterator[bytes]:
    """Raises `InputError`."""
    try:
        yield from output_file.pieces_of_member(file, name)
    except _BROKEN as error:
        raise InputError(
            f"{name}: expected the content that was packed, found bytes that cannot be unpacked: "
            f"{error}",
            file=path,
            hint=PACK_AGAIN,
        ) from error


def _changed_meanwhile(path: Path) -> InputError:
    return InputError("was changed while it was read", file=path, hint="try again")
