"""Takes an experiment's record; returns what its storages were under their names: as they were
asked for, the limits and parameters in effect, their round-trip times, and what was changed from a
model's profile."""

from __future__ import annotations

from collections.abc import Iterable

from assay.contracts.experiment import StorageChoice
from assay.contracts.observation.parts.shape import convert
from assay.contracts.storage_facts import StorageFacts
from assay.experiment.choices.storage_names import written
from assay.record import ExperimentRecord, RunRecord
from assay.report.values import ReportColumn, ReportTable, Row, text
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


def table(runs: Iterable[RunRecord]) -> ReportTable | None:
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
    return ReportTable(
        "storages_in_force",
        "Limits and parameters of the storages, in effect",
        (ReportColumn("parameter"), *map(ReportColumn, storages)),
        tuple(
            Row((text(name), *(text(_shown(one, name)) for one in storages.values())))
            for name in names
        ),
        tuple(notes),
    )


def _shown(storage: StorageFacts, name: str) -> str:
    value = storage.in_force.get(name)
    if value is None:
        return "-"
    if name in storage.limits and name.endswith(_BYTES_PER_S):
        return f"{option_word(storage.limits[name])}/s"
    before = storage.profile_values.get(name)
    return value if before is None else f"{value} ({before or 'none'})"
