"""Takes a loaded deployment and files of its own; changes some, updates, and compares with a fresh
load.

Experiment B5 (Beebe 2011, section 4): the time an update takes, and the proof that after it the
tables hold what a fresh load of the same files would.
"""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.bibsql.changed_files import LoadedTables
from assay.bibsql.newer_than import newer_than, now_ns, set_stamp
from assay.errors import ArgumentError
from assay.load.digest import table_digests
from assay.load.stage import load
from assay.observation import UpdateReport
from assay.observation.other_reports import UpdatedTable
from assay.row_sources.request import DataRequest
from assay.systems.protocol import System

RequestOf = Callable[[Sequence[Path]], DataRequest]
"""Makes the data request of some files."""

_ENTRY = re.compile(r"^@(?!string|preamble|comment)\w+\{.*?^\}\n", re.IGNORECASE | re.M | re.S)


@dataclass(frozen=True)
class UpdateTask:
    """What is changed: how many files are edited, how many are removed, chosen by which seed."""

    changed: int
    removed: int
    seed: int


@dataclass(frozen=True)
class Edited:
    """A collection of files after its edits."""

    left: list[Path]
    changed: list[str]
    """Names of the files that are newer than the stamp."""
    removed: list[str]


def observe(
    loaded: LoadedTables, system: System, edited: Edited, request_of: RequestOf
) -> UpdateReport:
    """Updates the tables, then loads them afresh and compares.

    They must hold the rows of the files before the edits; they are left holding those after.
    """
    request = request_of(edited.left)
    assert not callable(request.source), "a bibliography is read by the engine"
    before_rows = loaded.count()
    replaced = loaded.replace(request.source, edited.changed, edited.removed)
    after_rows = loaded.count()
    updated = table_digests(loaded.deployment, loaded.dialect, loaded.tables)
    load(loaded.deployment, system, loaded.tables, request)
    fresh = table_digests(loaded.deployment, loaded.dialect, loaded.tables)
    return UpdateReport(
        changed_files=len(edited.changed),
        vanished_files=len(edited.removed),
        deleted_rows=before_rows + replaced.inserted_rows - after_rows,
        inserted_rows=replaced.inserted_rows,
        elapsed_ns=replaced.elapsed_ns,
        equals_fresh_load=updated == fresh,
        tables={
            name: UpdatedTable(rows, digest, fresh_rows=fresh[name][0])
            for name, (rows, digest) in updated.items()
        },
    )


def edit(files: Sequence[Path], folder: Path, task: UpdateTask) -> Edited:
    """Edits copies of ``files`` in ``folder``, and finds the changed ones by a stamp."""
    if task.changed + task.removed > len(files):
        raise ArgumentError(
            f"{task.changed} changed and {task.removed} removed files asked, "
            f"the data set has {len(files)}",
            hint="--set changed=N with a smaller N",
        )
    copies = [Path(shutil.copy2(file, folder)) for file in files]
    stamp = folder / "last-update"
    set_stamp(stamp, _after(copies, stamp))
    rng = random.Random(task.seed)
    chosen = rng.sample(copies, task.changed + task.removed)
    for number, file in enumerate(chosen[: task.changed]):
        _edit_file(file, rng, number)
    removed = chosen[task.changed :]
    for file in removed:
        file.unlink()
    left = [file for file in copies if file not in removed]
    changed = newer_than(str(stamp)).changed(left)
    return Edited(left, [file.name for file in changed], [file.name for file in removed])


def _after(files: Sequence[Path], stamp: Path) -> int:
    """An instant after the files came into being: the clock of a file system goes in steps."""
    while (now := now_ns(stamp)) <= max(file.stat().st_ctime_ns for file in files):
        time.sleep(0.001)
    return now


def _edit_file(file: Path, rng: random.Random, number: int) -> None:
    """What an editor's day does to a file: an entry goes, an entry changes, an entry is new."""
    text = file.read_text(encoding="utf-8")
    entries = list(_ENTRY.finditer(text))
    if len(entries) > 2:
        deleted, changed = sorted(rng.sample(entries, 2), key=lambda entry: entry.start())
        revised = changed.group().rstrip()[:-1] + '  annote =       "Revised.",\n}\n'
        text = (
            text[: deleted.start()]
            + text[deleted.end() : changed.start()]
            + revised
            + text[changed.end() :]
        )
    text += (
        f"\n@Misc{{Assay:2026:U{number},\n"
        f'  title =        "An Entry that an Update Brings",\n'
        f'  year =         "2026",\n'
        f'  bibdate =      "Thu Jan 1 12:00:{number % 60:02d} 2026",\n}}\n'
    )
    file.write_text(text, encoding="utf-8")
