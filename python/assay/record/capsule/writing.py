"""Takes the members of a capsule; returns the whole file, the same bytes for the same members. One
of them is the experiment's own record file, which is made here, too. All is read and written in
pieces, however long it is, by way of temporary files.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from assay.errors import ArgumentError, SystemUnderTestError
from assay.record.capsule import layout
from assay.record.capsule.layout import Comment, Manifest, Member
from assay.record.experiment_copy import ExperimentCopy
from assay.record.file.read_only import open_for_reading
from assay.text.files import output_file, pieces
from assay.text.units import size

_LENGTH_BYTES = 2
"""At the end of a zip file without a comment: how long that is."""


class Packed(Struct, frozen=True):
    """A capsule in a temporary file."""

    file: IO[bytes]
    """Without its comment."""
    comment: bytes
    size_bytes: int
    """With it."""

    def copy(self, descriptor: int) -> None:
        """Writes the whole capsule."""
        self.file.seek(0)
        before = self.size_bytes - len(self.comment) - _LENGTH_BYTES
        for piece in pieces.of_file(self.file, before):
            output_file.write_all(descriptor, piece)
        length = len(self.comment).to_bytes(_LENGTH_BYTES, "little")
        output_file.write_all(descriptor, length + self.comment)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """For the members of a capsule. Raises `SystemUnderTestError` where there is no room."""
    with _room(OSError), tempfile.TemporaryDirectory(prefix="assay-pack-") as folder:
        yield Path(folder)


@contextmanager
def _room(kind: type[sqlite3.Error | OSError]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SystemUnderTestError(
            f"the experiment cannot be copied into a temporary file: {reason}",
            hint="free space there, or name another folder in TMPDIR",
        ) from error


def record_of(path: Path, experiment_id: int, target: Path) -> None:
    """Makes of a record file another one with that experiment alone. Raises `SystemUnderTestError`
    where there is no room for a temporary copy."""
    with (
        closing(open_for_reading(path)) as record,
        _room(sqlite3.Error),
        closing(ExperimentCopy.of(record, experiment_id)) as copy,
    ):
        copy.write_anew(target)


@contextmanager
def packed(members: Mapping[str, Path], assay: str) -> Iterator[Packed]:
    """``members``: by name, the files with their content. ``assay``: the version that packs. Raises
    `ArgumentError` where they are too much for a capsule, or one of them cannot be called as it
    is."""
    whole = sum(file.stat().st_size for file in members.values())
    if whole > layout.MOST_BYTES or len(members) >= layout.MOST_MEMBERS:
        raise ArgumentError(
            f"this experiment has {size(whole)} in {len(members)} files: expected at most "
            f"{size(layout.MOST_BYTES)} in {layout.MOST_MEMBERS - 1}, the most of a capsule"
        )
    for name in members:
        if why := layout.why_unsafe(name):
            raise ArgumentError(f"{name!r} {why}", hint="rename the file, and run it again")
    manifest = Manifest(
        layout.FORMAT,
        assay,
        {
            name: Member(file.stat().st_size, pieces.digest(file))
            for name, file in sorted(members.items())
        },
    )
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    with tempfile.TemporaryFile(prefix="assay-pack-") as stream:
        size_bytes, digest = _zipped(stream, members, text)
        comment = Comment(layout.FORMAT, layout.digest(text), digest).text
        yield Packed(stream, comment, size_bytes + len(comment))


def _zipped(stream: IO[bytes], members: Mapping[str, Path], manifest: bytes) -> tuple[int, str]:
    """How long it is, and its SHA-256."""
    with zipfile.ZipFile(stream, "w") as zipped:
        for name in sorted({*members, layout.MANIFEST}):
            if name == layout.MANIFEST:
                zipped.writestr(layout.entry(name), manifest)
            else:
                pieces.to_member(zipped, layout.entry(name), members[name])
    stream.seek(0)
    digest = hashlib.sha256()
    for piece in pieces.of_file(stream):
        digest.update(piece)
    return stream.tell(), digest.hexdigest()
