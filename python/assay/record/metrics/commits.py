"""Takes a run; returns how many transactions it committed, for each flush that its storage can do,
or why that is not known."""

from __future__ import annotations

from assay.contracts.observation import Observation
from assay.judge.run import Run
from assay.judge.warnings.steadiness import why_not_steady
from assay.record.metrics import probed_flushes
from assay.text import units

_LEAST_AT_WORK = 0.01
"""Share of the time of the clients in transactions; with less of it, as with the pauses of people,
the rate is theirs."""


def commits_per_s(driven: Observation) -> float | None:
    """None where it is not known; 0 where the transactions only read."""
    if driven.commits is None or not driven.elapsed_ns:
        return None
    return driven.commits / (driven.elapsed_ns / 1e9)


def efficiency(run: Run) -> float | None:
    """None where `why_none` has a reason."""
    commits, flushes = _commits_per_s(run), probed_flushes.of_run(run)
    if commits is None or flushes is None or why_none(run):
        return None
    return commits / flushes.per_s


def why_none(run: Run) -> str:
    """Why commits and flushes of the run are not divided; empty: they are."""
    commits, flushes = _commits_per_s(run), probed_flushes.of_run(run)
    if flushes is None:
        return probed_flushes.why_none(run) or "not probed"
    if not flushes.per_s:
        return "the probe did no flushes"
    if commits is None:
        return "commits are not known"
    if not commits:
        return "nothing was committed"

    return why_not_steady(run.warnings) or _why_paced(run)


def _why_paced(run: Run) -> str:
    """Why the clients, and not the storage, say how many commits there were: in a closed loop they
    paused most of the time. Empty: they did not."""
    if run.driven is None or run.driven.of_clients.arrival.kind != "closed":
        return ""
    own = run.driven.of_clients
    whole_ns, latency = own.clients * own.elapsed_ns, own.all_ok.latency
    share = latency.count * latency.mean_ns / whole_ns if whole_ns else 1.0
    if share >= _LEAST_AT_WORK:
        return ""
    return f"the clients paused: they were at work {units.percent(share)} of the time"


def _commits_per_s(run: Run) -> float | None:
    return commits_per_s(run.driven) if run.driven else None
