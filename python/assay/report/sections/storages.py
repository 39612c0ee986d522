"""Takes an experiment's record; returns what its storages were, as asked for and found, with the
limits in effect; how modelled disks kept their time, and the requests that storages account for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import structs

from assay.contracts.metric import ReportColumn
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages.abilities import AccountedSecond
from assay.experiment.choices.identity import written_storage
from assay.judge.storage_checks import NEAR, Calibrated, calibrated_disks, missed_disk_times
from assay.record import ExperimentRecord, Run
from assay.record.runs.run_names import machine_shown
from assay.report import cell_runs, cell_tables, columns
from assay.report.cell_runs import CellRuns
from assay.report.columns import (
    counts,
    integer,
    never_null,
    nullable,
    numbers,
    of,
    path,
    row,
    string,
    words,
)
from assay.report.program_tables import IN_FORCE, MACHINE_MEANING, ProgramTable
from assay.report.values import (
    ReportCell,
    ReportTable,
    Row,
    Section,
    TidyValue,
    number_cell,
    section_of,
    size,
    text,
)
from assay.text import units
from assay.text.units import option_word

_BYTES_PER_S = "_bps"
_NOT_LIMITED = (
    "control groups are of version 1 on this machine: limits of writes hold for what the server "
    "itself flushes or writes directly, not for what the kernel writes back from the page cache"
)


def asked(experiment: ExperimentRecord) -> dict[str, str]:
    """Each storage as it was asked for, without its name: ``throttled[read_iops=200]``."""
    asked = experiment.experiment
    choices = (*asked.storages, *asked.log_storages)
    return {choice.name: written_storage(choice) for choice in choices if choice is not None}


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
    return string(name, meaning, _known(path(name)), title=title, **{"show": _or_dash} | shown)


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
        value=_known(path("device")), cell=_device,
    ),
    integer(
        "size_bytes", "of the file system; null: not known", _known(path("size_bytes")),
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


def storages_table(runs: Iterable[Run]) -> ReportTable:
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


_WHAT_OF_MODELS = (
    "times of one request; flush: of one page that was written at a random place, so with a seek, "
    "where the flushes/s of the probe are of pages one after the other"
)


class _Model(msgspec.Struct, frozen=True):
    profile: str
    source: str


class _Facts(msgspec.Struct, frozen=True):
    model: _Model
    path_cost: tuple[Calibrated, ...]


def modelled_disks_table(runs: Iterable[Run]) -> ReportTable:
    storages = [run.deployment.storage for run in runs if run.deployment]
    modelled = {storage.name: storage for storage in storages if "model" in storage.facts}
    disks = {name: msgspec.convert(one.facts, _Facts) for name, one in modelled.items()}
    requests = (
        (name, one.model.profile, found) for name, one in disks.items() for found in one.path_cost
    )
    return columns.table(
        "modelled_disks",
        "Modelled disks: mean time of a request at a random place, before the runs",
        (
            words("storage", itemgetter(0), is_label=True),
            words("profile", itemgetter(1), is_label=True),
            *of(itemgetter(2), _MODEL_COLUMNS),
        ),
        requests,
        notes=(
            _WHAT_OF_MODELS,
            *dict.fromkeys(
                f"{facts.model.profile} is modelled on {facts.model.source}"
                for facts in disks.values()
            ),
            *(
                f"{name} differs from its profile in {', '.join(changed)}"
                for name, storage in modelled.items()
                if (changed := changes(storage))
            ),
            *(
                f"not within {NEAR:.0%} of its model: {words}"
                for storage in modelled.values()
                for words in missed_disk_times(storage)
            ),
        ),
    )


def overhead_ns(run: Run, operation: str) -> int | None:
    """Time of such a request that the disk answers at once; None where that was not measured."""
    found = calibrated_disks(run.deployment.storage) if run.deployment else ()
    of_it = [one for one in found if one.operation == operation]
    return min(of_it, key=lambda measured: measured.depth).path_cost_ns if of_it else None


def _calibrated_time(title: str, name: str) -> ReportColumn:
    return numbers(title, lambda source: _request_time(getattr(source, name), None))


_MODEL_COLUMNS = (
    words("operation", attrgetter("operation")),
    counts("depth", attrgetter("depth")),
    _calibrated_time("by the model", "modelled_ns"),
    _calibrated_time("measured", "measured_ns"),
    _calibrated_time("I/O path overhead", "path_cost_ns"),
)


_OPERATIONS: tuple[Literal["read", "write", "flush"], ...] = ("read", "write", "flush")
_LOST = "lost"


class _Sums(NamedTuple):
    of: AccountedSecond
    """All seconds together, of one operation."""
    elapsed_s: float
    overhead_ns: int | None
    """Time of such a request that the disk answers at once."""


def requests_section(test: str, measured_cells: Sequence[CellRuns]) -> Section | None:
    """None where no storage keeps an account."""
    accounted = [
        (cell, run) for cell, run in cell_runs.middle_runs(measured_cells) if run.storage_requests
    ]
    table = cell_tables.table_by_cell(
        f"{test}_storage_requests",
        "Requests of each storage, by its own account",
        (measured_cells, cell_runs.varying(measured_cells, "system", "storage", "clients")),
        _REQUEST_COLUMNS,
        [(cell, sums) for cell, run in accounted for sums in _each_operation(run)],
        notes=(
            *_request_notes([run for _, run in accounted]),
            *cell_runs.of_middle(measured_cells),
        ),
    )
    return section_of("Requests of modelled disks", table)


def _each_operation(run: Run) -> Iterator[_Sums]:
    for operation in _OPERATIONS:
        of = [one for one in run.storage_requests if one.operation == operation]
        sums = _Sums(
            AccountedSecond(
                second=0,
                operation=operation,
                count=sum(one.count for one in of),
                failed=sum(one.failed for one in of),
                bytes=sum(one.bytes for one in of),
                time_ns=sum(one.time_ns for one in of),
                longest_ns=max((one.longest_ns for one in of), default=0),
                late_ns=sum(one.late_ns for one in of),
            ),
            run.measurement.elapsed_ns / 1e9,
            overhead_ns(run, operation),
        )
        if sums.of.count and sums.elapsed_s:
            yield sums


def _requests_per_s(sums: _Sums) -> ReportCell:
    return number_cell(sums.of.count / sums.elapsed_s, "per_s", n=sums.of.count)


def _request_time(time_ns: float | None, n: int | None = 1) -> ReportCell:
    return number_cell(time_ns, "ns", units.latency, n=n)


_REQUEST_COLUMNS = (
    words("operation", attrgetter("of.operation"), is_label=True),
    numbers("requests/s", _requests_per_s),
    numbers(
        "mean size", lambda sums: size(sums.of.bytes / sums.of.count if sums.of.bytes else None)
    ),
    numbers(
        "mean time", lambda sums: _request_time(sums.of.time_ns / sums.of.count, sums.of.count)
    ),
    numbers("longest", lambda sums: _request_time(sums.of.longest_ns)),
    numbers("late", lambda sums: _request_time(sums.of.late_ns / sums.of.count, sums.of.count)),
    numbers("I/O path overhead", lambda sums: _request_time(sums.overhead_ns)),
    counts("failed", attrgetter("of.failed")),
)


def _request_notes(runs: Sequence[Run]) -> Iterator[str]:
    yield (
        "time: from the arrival at the disk to its answer; late: how much of it came after the "
        "end by the model, mean; I/O path overhead: time of a request that the modelled disk "
        "answers at once; the model's answers come earlier by it, and no request of a client takes "
        "less"
    )
    lost = sum(one.count for run in runs for one in run.storage_requests if one.operation == _LOST)
    if lost:
        yield (
            f"{units.counted(lost, 'request')} missing in the account: its file was too slow, or "
            "the disk it is on was full"
        )
