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

from assay.bibsql.changed_files import update
from assay.bibsql.declared import FileRows
from assay.bibsql.newer_than import newer_than, now_ns, set_stamp
from assay.dialects.protocol import Table
from assay.errors import ArgumentError
from assay.load.digest import table_digests
from assay.load.stage import load
from assay.observation import UpdateReport
from assay.observation.other_reports import UpdatedTable
from assay.provision.deployment import Deployment
from assay.row_sources.request import DataRequest
from assay.systems.protocol import System

RequestOf = Callable[[Sequence[Path]], DataRequest]
"""Makes the data request of some files."""

_ENTRY = re.compile(r"^@(?!string|preamble|comment)\w+\{.*?^\}\n", re.IGNORECASE | re.M | re.S)


@dataclass(frozen=True)
class UpdateTask:
    """What is changed: how many files are edited, how many vanish, by which dice."""

    changed: int
    vanished: int
    seed: int


def observe(
    deployment: Deployment,
    system: System,
    tables: Sequence[Table],
    rule: FileRows,
    files: Sequence[Path],
    folder: Path,
    task: UpdateTask,
    request_of: RequestOf,
) -> UpdateReport:
    """Edits copies of ``files`` in ``folder``, updates the deployment, then loads it afresh and
    compares.

    The deployment must hold the rows of ``files``; it is left holding those of the edited ones.
    """
    if task.changed + task.vanished > len(files):
        raise ArgumentError(
            f"{task.changed} changed and {task.vanished} vanished files asked, "
            f"the data set has {len(files)}",
            hint="--set changed=N with a smaller N",
        )
    copies = [Path(shutil.copy2(file, folder)) for file in files]
    stamp = folder / "last-update"
    set_stamp(stamp, _after(copies, stamp))
    dice = random.Random(task.seed)
    chosen = dice.sample(copies, task.changed + task.vanished)
    for number, file in enumerate(chosen[: task.changed]):
        _edit(file, dice, number)
    vanished = chosen[task.changed :]
    for file in vanished:
        file.unlink()
    left = [file for file in copies if file not in vanished]

    changed = newer_than(str(stamp)).changed(left)
    request = request_of(left)
    assert not callable(request.source), "a bibliography is read by the engine"
    report = update(
        deployment,
        system.dialect,
        tables,
        rule,
        request.source,
        [file.name for file in changed],
        [file.name for file in vanished],
    )
    updated = table_digests(deployment, system.dialect, tables)
    load(deployment, system, tables, request)
    fresh = table_digests(deployment, system.dialect, tables)
    return UpdateReport(
        changed_files=len(changed),
        vanished_files=len(vanished),
        deleted_rows=report.deleted_rows,
        inserted_rows=report.inserted_rows,
        elapsed_ns=report.elapsed_ns,
        equals_fresh_load=updated == fresh,
        tables={
            name: UpdatedTable(rows, digest, fresh_rows=fresh[name][0])
            for name, (rows, digest) in updated.items()
        },
    )


def _after(files: Sequence[Path], stamp: Path) -> int:
    """An instant after the files came into being: the clock of a file system goes in steps."""
    while (now := now_ns(stamp)) <= max(file.stat().st_ctime_ns for file in files):
        time.sleep(0.001)
    return now


def _edit(file: Path, dice: random.Random, number: int) -> None:
    """What an editor's day does to a file: an entry goes, an entry changes, an entry is new."""
    text = file.read_text(encoding="utf-8")
    entries = list(_ENTRY.finditer(text))
    if len(entries) > 2:
        gone, changed = sorted(dice.sample(entries, 2), key=lambda entry: entry.start())
        revised = changed.group().rstrip()[:-1] + '  annote =       "Revised.",\n}\n'
        text = (
            text[: gone.start()]
            + text[gone.end() : changed.start()]
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
