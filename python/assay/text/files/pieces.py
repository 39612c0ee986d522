"""Takes a file that is open, or a zip file and the name of a member; returns its content in pieces,
however long it is."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Iterator
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


def digest(path: Path) -> str:
    """SHA-256. Raises `OSError`."""
    found = hashlib.sha256()
    with shared_files.opened(path) as file:
        for piece in of_file(file):
            found.update(piece)
    return found.hexdigest()
