"""Takes the warnings of runs; returns which of them say that a throughput is not the rate of
clients at work, so that it is neither divided nor ranked."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from assay.judge.run import RunWarning
from assay.judge.warnings.kinds import WarningKind, unsteady

_OF_ANOTHER_RATE = {
    WarningKind.OFFERED_RATE_NOT_REACHED.id,
    WarningKind.SKIPPED_BY_LATENCY_LIMIT.id,
}


def why_not_steady(warnings: Iterable[RunWarning]) -> str:
    """``starved clients, unaccounted time``; empty where nothing is known against it."""
    return _those(unsteady(), warnings)


def why_not_ranked(warnings: Iterable[RunWarning]) -> str:
    """Also where latencies belong to another rate than was offered; empty where nothing is known
    against a comparison."""
    return _those(unsteady() | _OF_ANOTHER_RATE, warnings)


def _those(kinds: Collection[str], warnings: Iterable[RunWarning]) -> str:
    names = dict.fromkeys(warning.name for warning in warnings if warning.name in kinds)
    return ", ".join(name.replace("-", " ") for name in names)
