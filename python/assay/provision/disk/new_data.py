"""Takes what makes a new data directory; fills it with a copy where the same was made before, and
keeps what was made: in the folder that ``$ASSAY_NEW_DATA`` names, otherwise nowhere."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.contracts.systems.protocol import ServerDirectory
from assay.env_vars import NEW_DATA
from assay.errors import SystemUnderTestError
from assay.provision.disk.copying import copy_directory
from assay.text.files.syncing import sync_file_system


def fill(
    directory: ServerDirectory,
    program: Path,
    words: Sequence[str],
    make: Callable[[], object],
) -> bool:
    """Makes ``directory.data``: with ``make``, in which ``program`` is given ``words``, or as a
    copy of what these made before. Returns whether it is a copy.

    The data are in files of that directory alone. What can be neither kept nor copied is no error:
    it is made. Raises what ``make`` raises.
    """
    kept = _kept(directory, program, words)
    if kept is None:
        make()
        return False
    if _is_copied(kept, directory):
        return True
    make()
    with contextlib.suppress(OSError, SystemUnderTestError):
        _keep(directory.data, kept)
    return False


def _kept(directory: ServerDirectory, program: Path, words: Sequence[str]) -> Path | None:
    """Where that of this program, as it is now, and of this owner is kept; None: it is made in any
    case, as a part of it is elsewhere, or its pages are to count for a limit of memory."""
    folder = NEW_DATA.get()
    if folder is None or directory.log or directory.raw_device or directory.control_groups:
        return None
    found, owner = program.stat(), directory.root.stat()
    facts = (
        str(program.resolve()), found.st_size, found.st_mtime_ns, owner.st_uid, owner.st_gid, *words
    )  # fmt: skip
    name = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    return Path(folder).absolute() / name


def _is_copied(kept: Path, directory: ServerDirectory) -> bool:
    """Whether there was one, and it is in place and on the disk, as what is made is."""
    try:
        if not kept.is_dir():
            return False
        _copy(kept, directory.data)
        sync_file_system(directory.data)
    except (OSError, SystemUnderTestError):
        shutil.rmtree(directory.data, ignore_errors=True)
        return False
    return True


def _keep(data: Path, kept: Path) -> None:
    """Complete or not at all: another process may do the same."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix="unfinished-", dir=kept.parent))
    try:
        _copy(data, unfinished / "data")
        (unfinished / "data").rename(kept)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _copy(data: Path, to: Path) -> None:
    """With the room that servers had allocated for their logs: commits would be slower without."""
    copy_directory(data, to, sharing="never")
    for parent, _, names in os.walk(data):
        for file in (Path(parent, name) for name in names):
            found = file.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_blocks * 512 < found.st_size:
                continue
            copied = to / file.relative_to(data)
            if copied.stat().st_blocks < found.st_blocks:
                with copied.open("r+b") as opened:
                    os.posix_fallocate(opened.fileno(), 0, found.st_size)
