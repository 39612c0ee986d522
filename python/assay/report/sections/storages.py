"""Takes an experiment's record; returns what its storages were under their names: as they were
asked for and found, the limits and parameters in effect, their round-trip times, and what was
changed from a model's profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from msgspec import structs

from assay.contracts.experiment import StorageChoice
from assay.contracts.observation.parts.shape import convert
from assay.contracts.storage_facts import StorageFacts
from assay.experiment.choices.storage_names import written
from assay.record import ExperimentRecord, Run
from assay.record.runs.run_names import machine_shown
from assay.report import columns
from assay.report.columns import (
    attribute,
    integer,
    never_null,
    nullable,
    of,
    path,
    row,
    string,
    words,
)
from assay.report.program_tables import IN_FORCE, MACHINE_MEANING, ProgramTable
from assay.report.values import ReportCell, ReportColumn, ReportTable, Row, TidyValue, text
from assay.text import units
from assay.text.sizes import option_word

_BYTES_PER_S = "_bps"
_NOT_LIMITED = (
    "control groups are of version 1 on this machine: limits of writes hold for what the server "
    "itself flushes or writes directly, not for what the kernel writes back from the page cache"
)


def asked(experiment: ExperimentRecord) -> dict[str, str]:
    """Each storage as it was asked for, without its name: ``throttled[read_iops=200]``."""
    asked = experiment.experiment
    choices = (
        convert(choice, StorageChoice, "storage")
        for choice in (*asked.get("storages", ()), *asked.get("log_storages", ()))
        if choice is not None
    )
    return {choice.name: written(choice) for choice in choices}


def named(experiment: ExperimentRecord) -> str:
    """``disk (throttled) = throttled[read_iops=200]; …``: those whose names do not say it."""
    return "; ".join(
        f"{name} = {written}" for name, written in asked(experiment).items() if written not in name
    )


def changes(storage: StorageFacts) -> list[str]:
    """What was changed from the profile of its model: ``rpm 5400 (7200)``."""
    in_force = storage.in_force
    return [
        f"{name} {in_force[name]} ({before or 'none'})"
        for name, before in storage.profile_values.items()
    ]


def in_force_table(runs: Iterable[Run]) -> ReportTable | None:
    """A row for each limit or parameter and a column for each storage; None where none has any."""
    deployments = [run.deployment for run in runs if run.deployment]
    storages = {
        storage.name: storage
        for one in deployments
        for storage in one.all_storages
        if storage.in_force
    }
    if not storages:
        return None
    names = dict.fromkeys(name for storage in storages.values() for name in storage.in_force)
    notes = [f"{name}: {_NOT_LIMITED}" for name, one in storages.items() if one.is_write_back_free]
    if any(one.profile_values for one in storages.values()):
        notes.insert(0, "in brackets: the value of the profile, where another one was asked for")
    of_each = (words(name, partial(_shown, storage)) for name, storage in storages.items())
    return columns.table(
        "storages_in_force",
        "Limits and parameters of the storages, in effect",
        (words("parameter", str), *of_each),
        names,
        notes=tuple(notes),
    )


def _shown(storage: StorageFacts, name: str) -> str:
    value = storage.in_force.get(name)
    if value is None:
        return "-"
    if name in storage.limits and name.endswith(_BYTES_PER_S):
        return f"{option_word(storage.limits[name])}/s"
    before = storage.profile_values.get(name)
    return value if before is None else f"{value} ({before or 'none'})"


class FoundStorage(NamedTuple):
    """The source of a row."""

    machine: str
    storage: StorageFacts


def _known(read: Callable[[StorageFacts], Any]) -> Callable[[StorageFacts], Any]:
    """An empty text, or 0, is what could not be seen."""
    return lambda storage: read(storage) or None


def _or_dash(value: object) -> ReportCell:
    return text(value or "-")


def _device(storage: StorageFacts) -> ReportCell:
    """Of a loop device, also whether its data pass by the page cache of the machine."""
    device = storage.device or "-"
    if storage.has_direct_io is None:
        return text(device)
    return text(f"{device} ({'direct I/O' if storage.has_direct_io else 'no direct I/O'})")


def _seen(name: str, title: str, meaning: str, **shown: Any) -> ReportColumn:
    return string(name, meaning, _known(attribute(name)), title=title, **{"show": _or_dash} | shown)


def _found(experiment: ExperimentRecord) -> Iterator[FoundStorage]:
    """Each storage once, and again where a run found it different; that of a server by URL is not
    seen."""
    rows: list[dict[str, TidyValue]] = []
    for run in experiment.runs:
        if run.deployment is not None and run.deployment.storage.kind != "url":
            one = FoundStorage(machine_shown(run), run.deployment.storage)
            if (made := row(STORAGES.columns, one)) not in rows:
                rows.append(made)
                yield one


_STORAGE = [
    never_null("storage", "string", "its name in the experiment", path("name"), title="storage"),
    never_null(
        "kind", "string", "here, tmpfs, loop …", title="kind",
        show=lambda kind: text("-" if kind == "url" else kind),
    ),
    _seen("file_system", "file system", "null: not seen"),
    ReportColumn(
        "device", name="device", kind="string",
        meaning="the block device under it; null: none, or not seen",
        value=_known(attribute("device")), cell=_device,
    ),
    integer(
        "size_bytes", "of the file system; null: not known", _known(attribute("size_bytes")),
        title="size", is_number=False,
        show=lambda size: text(units.size(size) if size else "-"),
    ),
    _seen("mount_options", "mount options", "null: not seen"),
    _seen("scheduler", "scheduler", "of the block device; null: none, or not known"),
    _seen(
        "write_cache", "write cache", "of it: write back or write through; null: not known"
    ),
    never_null("is_own_device", "boolean", "nothing else uses the block device"),
    nullable(
        "has_direct_io", "boolean", "of a loop device; null: the storage is on none"
    ),
    *IN_FORCE,
]  # fmt: skip
STORAGES = ProgramTable(
    "One row per storage as runs found it.",
    [never_null("machine", "string", MACHINE_MEANING), *of(path("storage"), _STORAGE)],
    _found,
)
_OF_DEVICES = ("mount options", "scheduler", "write cache")


def table(runs: Iterable[Run]) -> ReportTable:
    """What is known of no block device has no column."""
    found = (one for run in runs if run.deployment for one in run.deployment.all_storages)
    every = columns.table("storages", "Storages", (one for one in _STORAGE if one.title), found)
    rows = tuple(dict.fromkeys(tuple(cell.shown for cell in row.cells) for row in every.rows))
    kept = [
        place
        for place, column in enumerate(every.columns)
        if column.title not in _OF_DEVICES or any(row[place] != "-" for row in rows)
    ]
    return structs.replace(
        every,
        columns=tuple(every.columns[place] for place in kept),
        rows=tuple(Row(tuple(text(row[place]) for place in kept)) for row in rows),
    )
