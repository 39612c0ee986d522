"""The columns of the tidy table of storages: what each was, as found beside the data directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from assay.contracts.storage_facts import StorageFacts
from assay.record import RunRecord
from assay.report.tidy.columns import TidyColumn, Value, attribute, never_null, of, row
from assay.report.tidy.factors import IN_FORCE, MACHINE_MEANING


def _known(name: str) -> Callable[[StorageFacts], Any]:
    """An empty text, or 0, is what could not be seen."""
    return lambda storage: getattr(storage, name) or None


_STORAGES = [
    never_null("storage", "string", "its name in the experiment", attribute("name")),
    never_null("kind", "string", "here, tmpfs, loop …", attribute("kind")),
    *(
        TidyColumn(name, kind, meaning, _known(name))
        for name, kind, meaning in (
            ("file_system", "string", "null: not seen"),
            ("device", "string", "the block device under it; null: none, or not seen"),
            ("size_bytes", "integer", "of the file system; null: not known"),
            ("mount_options", "string", "null: not seen"),
            ("scheduler", "string", "of the block device; null: none, or not known"),
            ("write_cache", "string", "of it: write back or write through; null: not known"),
        )
    ),
    never_null(
        "is_own_device", "boolean", "nothing else uses the block device",
        attribute("is_own_device"),
    ),
    TidyColumn(
        "has_direct_io", "boolean", "of a loop device; null: the storage is on none",
        attribute("has_direct_io"),
    ),
    *IN_FORCE,
]  # fmt: skip


STORAGES = [
    never_null("machine", "string", MACHINE_MEANING, attribute("machine")),
    *of(attribute("storage"), _STORAGES),
]


class FoundStorage(NamedTuple):
    machine: str
    storage: StorageFacts


def rows(runs: Iterable[RunRecord]) -> list[dict[str, Value]]:
    """Each storage once, and again where a run found it different; that of a server by URL is not
    seen."""
    found: list[dict[str, Value]] = []
    for run in runs:
        if run.deployment is not None and run.deployment.storage.kind != "url":
            one = row(STORAGES, FoundStorage(run.machine_shown, run.deployment.storage))
            if one not in found:
                found.append(one)
    return found
