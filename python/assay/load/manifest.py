"""Takes a folder of files; returns a manifest of their content, and verifies the files against it
later."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

Manifest = Mapping[str, str]
"""Path below the folder → ``SIZE SHA-256`` of a file, or ``-> TARGET`` of a link."""


def manifest_of(folder: Path) -> Manifest:
    """Reads every file once."""
    return {name: _described(path) for name, path in _files(folder)}


def damage(folder: Path, expected: Manifest) -> str | None:
    """The first difference; None: there is none. Compares names and sizes before it reads any
    content, so that a missing file is found at once."""
    try:
        found = dict(_files(folder))
        for name, described in expected.items():
            if name not in found:
                return f"{name} is missing"
            size, _, _ = described.partition(" ")
            if size.isdecimal() and found[name].lstat().st_size != int(size):
                return f"{name} has {found[name].lstat().st_size} bytes, expected {size}"
        if more := sorted(found.keys() - expected.keys()):
            return f"{more[0]} was not there when the copy was made"
        changed = (
            name for name, described in expected.items() if _described(found[name]) != described
        )
        first = next(changed, None)
        return None if first is None else f"the content of {first} has changed"
    except OSError as error:
        return f"{error.filename}: {error.strerror}"


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Files and links, as `assay.provision.disk.copying` copies them."""

    def unreadable(error: OSError) -> None:
        raise error

    for parent, folders, files in os.walk(folder, onerror=unreadable):
        for name in sorted([*folders, *files]):
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                yield (
                    os.fsencode(path.relative_to(folder)).decode("utf-8", "backslashreplace"),
                    path,
                )


def _text(path: Path) -> str:
    """As JSON can hold it, whatever bytes are in a name."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _described(path: Path) -> str:
    if path.is_symlink():
        return f"-> {_text(path.readlink())}"
    with path.open("rb") as file:
        return f"{path.stat().st_size} {hashlib.file_digest(file, 'sha256').hexdigest()}"
