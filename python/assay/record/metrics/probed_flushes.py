"""Takes a run; returns the flushes per second of its storage's probe that commits may wait for, or
why they do not."""

from __future__ import annotations

from assay.contracts.storage_facts import IN_MEMORY, RAW
from assay.judge.run import Run
from assay.judge.statistics.spread import Spread
from assay.probe import FLUSH_PARTS, Flushes
from assay.text import units

NOT_PASSED_ON = "not passed on"


def of_run(run: Run) -> Flushes | None:
    """None where its storage was not probed, or its flushes are not those of commits."""
    if run.probe is None or why_none(run):
        return None
    return run.probe.flushes


def why_none(run: Run) -> str:
    """Why commits do not wait for flushes of what was probed; empty: they may."""
    file_system = run.deployment.storage.file_system if run.deployment else None
    if file_system == RAW or (run.deployment and run.deployment.log_storage):
        return "log elsewhere"
    if file_system in IN_MEMORY:
        return "in memory"
    return "" if run.probe is None or run.probe.passes_flushes_on else NOT_PASSED_ON


def spread(flushes: Flushes) -> Spread:
    """Of its repeated measurements."""
    if flushes.low_per_s is None or flushes.high_per_s is None:
        return Spread(flushes.per_s, flushes.per_s, flushes.per_s, 1)
    return Spread(flushes.per_s, flushes.low_per_s, flushes.high_per_s, FLUSH_PARTS)


def uneven(flushes: Flushes | None) -> str:
    """What is said of measurements that lie far apart; empty: they do not."""
    if flushes is None or not flushes.is_uneven:
        return ""
    over = spread(flushes)
    return (
        f"the probe's flushes/s were between {units.digits(over.low)} and "
        f"{units.digits(over.high)}: the machine was busy; probe again when it is not"
    )
