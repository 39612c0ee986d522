"""Takes a run; returns what its system read from its storage, page cache left out:
a warm cache must need nothing, and a test of the device something."""

from __future__ import annotations

from assay.contracts.observation import Observation
from assay.contracts.storage_facts import IN_MEMORY
from assay.experiment import COLD_CACHES, WARM
from assay.judge.run import Run

READ_LIMIT_BYTES = 8
"""Per transaction: a page of 8 KiB in a thousand transactions. Beyond it a cache is not warm."""


def is_to_be_warm(run: Run) -> bool:
    return _asked(run) == WARM


def is_to_be_cold(run: Run) -> bool:
    """Its throughput grows while the caches fill, which is what is measured."""
    return _asked(run) in COLD_CACHES


def _asked(run: Run) -> str | None:
    state = run.driven.cache_state if run.driven else None
    return None if state is None else state.cache


def read_per_transaction(run: Run) -> float | None:
    """Bytes; None where it is unknown, or nothing ended."""
    driven = run.driven
    if driven is None or not driven.ended:
        return None
    read_bytes = _read_bytes(driven)
    if read_bytes is None and run.deployment is not None:
        read_bytes = 0 if run.deployment.storage.file_system in IN_MEMORY else None
    return None if read_bytes is None else read_bytes / driven.ended


def own_read_bytes(driven: Observation) -> int | None:
    """By the processes of the system; None where the kernel does not say."""
    return driven.server_cost.read_bytes if driven.server_cost else driven.embedded_read_bytes


def _read_bytes(driven: Observation) -> int | None:
    """By the processes of the system; where the kernel does not say, by the whole device."""
    own = own_read_bytes(driven)
    if own is None and driven.device_cost is not None:
        return driven.device_cost.read_bytes
    return own
