"""Takes a capsule that was verified; unpacks what it is run again with, and keeps it beside the
record that names it, as the record has no text of a workload, a feed or an input file: without them
the new experiment could not be packed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from assay.errors import AssayError, SystemUnderTestError
from assay.record.capsule import layout
from assay.record.capsule.capsule_file import Capsule
from assay.record.capsule.opening import errors_name_the_capsule
from assay.record.file.read_only import open_for_reading
from assay.record.file.record_file import reading_errors
from assay.text.files import pieces
from assay.text.mentions import phrase

KEPT: Final = ".capsules"
"""Ends the name of the folder beside the record, ``assay-records.capsules``."""
_DIGITS = 12
"""Of the digest of a capsule, as the name of its folder in that one."""
_IN_FOLDER = f"{layout.EXPERIMENT_FOLDER}/"


@contextmanager
def unpacked(capsule: Capsule, records: Path, temporary: Path) -> Iterator[Path]:
    """The experiment file, with what it names beside it: in the folder ``temporary`` where it names
    nothing, else in the kept one, which goes again where an error comes before any experiment."""
    members = [name for name in capsule.manifest.members if name.startswith(_IN_FOLDER)]
    if members == [layout.EXPERIMENT]:
        _write(capsule, members, temporary)
        with errors_name_the_capsule(capsule, temporary):
            yield temporary / layout.EXPERIMENT
        return
    records = records.resolve()
    folder = records.with_name(records.stem + KEPT) / capsule.sha256[:_DIGITS]
    before = _newest(records)
    is_new = not _is_there(capsule, members, folder)
    if is_new:
        _place(capsule, members, folder)
    try:
        with errors_name_the_capsule(capsule, folder):
            yield folder / layout.EXPERIMENT
    except BaseException:
        if is_new and not _has_begun(records, before):
            shutil.rmtree(folder, ignore_errors=True)
            if not any(folder.parent.iterdir()):
                folder.parent.rmdir()
        raise


def _place(capsule: Capsule, members: list[str], folder: Path) -> None:
    """Whole or not at all, whatever ends this process; another one may do the same."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="unfinished-", dir=folder.parent) as name:
            _write(capsule, members, Path(name, "of"))
            shutil.rmtree(folder, ignore_errors=True)
            Path(name, "of").rename(folder)
    except OSError as error:
        raise SystemUnderTestError(
            f"{folder}: what the capsule holds cannot be kept there: {error.strerror or error}",
            hint=phrase("name a record file in a folder that can be written with {--records}"),
        ) from error


def _write(capsule: Capsule, members: list[str], folder: Path) -> None:
    """With its manifest, by which `assay.experiment.of_capsule` knows it. Names were verified."""
    folder.mkdir(parents=True, exist_ok=True)
    capsule.unpack_manifest(folder / layout.MANIFEST)
    for name in members:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        capsule.unpack(name, target)


def _is_there(capsule: Capsule, members: list[str], folder: Path) -> bool:
    """As it was packed: anyone may have changed it since."""
    try:
        found = {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}
        return found == {*members, layout.MANIFEST} and all(
            pieces.digest(folder / name) == capsule.manifest.members[name].sha256
            for name in members
        )
    except OSError:
        return False


def _has_begun(records: Path, before: int) -> bool:
    """Whether there may be an experiment that names the folder."""
    try:
        return _newest(records) != before
    except AssayError:
        return True


def _newest(records: Path) -> int:
    """The number of the newest experiment; 0: there is none."""
    if not records.exists() or not records.stat().st_size:
        return 0
    with closing(open_for_reading(records)) as connection, reading_errors(records):
        (number,) = connection.execute("SELECT max(id) FROM experiments").fetchone()
    return int(number or 0)
