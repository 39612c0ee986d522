"""Takes the warnings of runs; returns which of them say that a throughput is not the rate of
clients at work, so that it is neither divided nor ranked."""

from __future__ import annotations

from collections.abc import Iterable

from assay.judge.kinds import Kind
from assay.judge.warnings import RunWarning

_UNSTEADY = {kind.id for kind in Kind if kind.value.is_unsteady}


def why_not_steady(warnings: Iterable[RunWarning]) -> str:
    """``starved clients, unaccounted time``; empty where nothing is known against it."""
    names = dict.fromkeys(warning.name for warning in warnings)
    return ", ".join(name.replace("-", " ") for name in names if name in _UNSTEADY)
