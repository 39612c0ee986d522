"""Takes a file that is open, or a zip file and the name of a member; returns its content in pieces,
however long it is, and writes pieces."""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from assay.text.files import shared_files

_PIECE = 1 << 20


def of_file(file: IO[bytes], most_bytes: int = sys.maxsize) -> Iterator[bytes]:
    """From where it stands. Raises `OSError`."""
    left = most_bytes
    while left and (piece := file.read(min(left, _PIECE))):
        left -= len(piece)
        yield piece


def of_member(file: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """No more than its entry says, whatever it becomes when it is unpacked. Raises what `zipfile`
    raises."""
    with file.open(name) as member:
        yield from of_file(member)


def to_file(path: Path, content: Iterable[bytes]) -> None:
    """Writes a file that is not there yet. Raises `OSError`."""
    with path.open("xb") as file:
        for piece in content:
            file.write(piece)


def to_member(file: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path) -> None:
    """Writes the content of the file as a member. Raises `OSError`."""
    with shared_files.opened(path) as content:
        # Known before, it decides how the entry is written.
        entry.file_size = os.fstat(content.fileno()).st_size
        with file.open(entry, "w") as member:
            for piece in of_file(content):
                member.write(piece)


def digest(path: Path) -> str:
    """SHA-256. Raises `OSError`."""
    found = hashlib.sha256()
    with shared_files.opened(path) as file:
        for piece in of_file(file):
            found.update(piece)
    return found.hexdigest()
