"""Asks what stands at a path that somebody named: where no file can have such a name, or the way to
it is blocked, nothing does."""

from __future__ import annotations

from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether a file can be found there, links followed."""
    try:
        return path.is_file()
    except OSError:
        return False


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
