"""Takes a storage that is ready; returns how many reads, writes and flushes it does per second.

The accesses are those of databases: random reads of one page at several depths, long sequential
reads and writes, and small writes that are each flushed, as at a commit.
"""

from assay.probe.measure import (
    DEFAULT_S,
    DEPTHS,
    FLUSH_PARTS,
    UNEVEN,
    Flushes,
    Measured,
    Probe,
    RandomReads,
)

__all__ = [
    "DEFAULT_S",
    "DEPTHS",
    "FLUSH_PARTS",
    "UNEVEN",
    "Flushes",
    "Measured",
    "Probe",
    "RandomReads",
]
