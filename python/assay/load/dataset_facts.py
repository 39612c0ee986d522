"""Takes a recorded data set (`Dataset.for_record`); returns the fields that verdicts and reports
read, typed.
"""

from __future__ import annotations

from typing import Any

import msgspec

from assay.contracts.observation.parts.shape import convert


class DatasetFacts(msgspec.Struct, frozen=True):
    """What a system was filled with, as it was."""

    fingerprint: str
    source: str
    description: str
    items: int
    """Of the input, before replication: entries of files, generated rows …"""
    rows: dict[str, int]
    replicas: int
    variant: str
    skipped_items: int
    load_ns: int
    index_ns: int
    analyze_ns: int
    size_on_disk_bytes: int | None
    declared_fingerprint: str = ""
    """Of the rows of all tables, also of those that systems of another language have; empty: not
    known."""
    schema_ns: int = 0
    data_bytes: int | None = None
    restore_ns: int | None = None
    buffer_bytes: int | None = None
    data_to_buffer: float | None = None
    data_to_buffer_asked: float | None = None
    files_on_disk: int | None = None

    @property
    def one_load(self) -> tuple[object, ...]:
        """Identifies a load: equal for runs that reused the data of an earlier run or a copy of
        them."""
        times = (self.schema_ns, self.load_ns, self.index_ns, self.analyze_ns)
        return (self.fingerprint, self.replicas, self.variant, *times, *sorted(self.rows.items()))

    @property
    def made_ns(self) -> int:
        """Of loading, indexing and analyzing."""
        return self.load_ns + self.index_ns + self.analyze_ns


def dataset_facts(document: Any, name: str) -> DatasetFacts:
    """Raises `ShapeError`, with ``name`` and the key."""
    return convert(document, DatasetFacts, name)
