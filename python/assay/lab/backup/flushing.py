"""Takes the folder of a backup, or of a system's data; returns when it is on the storage."""

from __future__ import annotations

from pathlib import Path

from assay.errors import RunFailed, SystemUnderTestError
from assay.probe.durability.file_system import sync


def flush(folder: Path) -> None:
    """A backup that is still in memory is none. Of the whole file system: its journal has the
    names. Once before the backup too, so that each repetition begins alike."""
    try:
        sync(folder)
    except SystemUnderTestError as error:
        raise RunFailed(f"no backup: {error.message}") from error
