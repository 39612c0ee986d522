"""Takes a path given by the user; returns whether a file or folder exists there, which is
false where the name is invalid or the path is not accessible, or the path with a name."""

from __future__ import annotations

from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether a file can be found there, links followed."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_something_else(path: Path) -> bool:
    """Whether a pipe, a device or a socket stands there: no file, and no folder."""
    return exists(path) and not is_file(path) and not is_folder(path)


def is_folder(path: Path) -> bool:
    """Whether a folder can be found there, links followed."""
    try:
        return path.is_dir()
    except OSError:
        return False


def exists(path: Path) -> bool:
    """Whether anything can be found there."""
    try:
        return path.exists()
    except OSError:
        return False


def with_name(path: str) -> str:
    """As given; absolute where its last part is no name (``.``, ``..``), by which it is shown."""
    return path if Path(path).name not in ("", "..") else str(Path(path).resolve())
