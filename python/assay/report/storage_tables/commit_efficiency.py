"""Takes the cells of a test; returns how many transactions they committed for each flush that their
storage can do.

*Commit efficiency* is commits per second divided by the flushes per second of the storage's probe,
in which one flush waits for the one before. 1: each commit waits for a flush of its own. More:
several commits share a flush (group commit), or they do not wait for any; the flushes that the
device counted meanwhile tell which.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.contracts.observation import Observation
from assay.judge.evidence.durability import HIGHEST
from assay.judge.statistics.spread import median_of_all
from assay.record import Run
from assay.record.metrics import probed_flushes
from assay.record.metrics.commits import commits_per_s, efficiency, why_none
from assay.report.cells import by_cell, cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import placed
from assay.report.declared import aggregates
from assay.report.values import Number, ReportCell, Section, absent, judged
from assay.text import units

_ABOVE = 1.1
"""From here on an efficiency is more than one flush per commit allows, beyond noise."""
_SHARED = 0.9
"""Below so many flushes per commit some commits had no flush of their own."""


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where nothing was committed, or no storage was probed."""
    committing = [
        (cell, runs)
        for cell, runs in ((cell, cell_runs.measured_runs(cell)) for cell in cells)
        if any(commits_per_s(run.measurement) for run in runs)
    ]
    if not any(probed_flushes.of_run(run) for _, runs in committing for run in runs):
        return None

    table = by_cell.table(
        f"{test}_commit_efficiency",
        "Commits per flush of the storage",
        (cells, cell_runs.varying(cells, "system", "storage", "clients")),
        placed(("commits/s", "probe's flushes/s", "commit efficiency", "flushes/commit")),
        [(cell, _cells(cell, runs)) for cell, runs in committing],
        notes=(
            "commits: transactions that ended ok and change data; commit efficiency: commits/s "
            "divided by the flushes/s of the probe, which come one after the other",
            "flushes/commit: flushes that the device counted meanwhile, for any program; - where "
            "it has no volatile cache or does not count them",
            *(
                [aggregates.OVER_REPETITIONS]
                if any(len(runs) > 1 for _, runs in committing)
                else []
            ),
        ),
    )
    return Section("Commit efficiency", (), (table,))


def flushes_per_commit(driven: Observation) -> float | None:
    """Of the device under the data; None where they were not counted, or nothing was committed."""
    device = driven.device_cost
    if device is None or device.flushes is None or not driven.commits:
        return None
    return device.flushes / driven.commits


def of_cell(cell: CellRuns) -> float | None:
    """The median of its repetitions; None where one has none."""
    return median_of_all(efficiency(run) for run in cell_runs.measured_runs(cell))


def _cells(cell: CellRuns, runs: Sequence[Run]) -> tuple[ReportCell, ...]:
    """The median of each column over the repetitions."""
    columns = zip(*(_of_run(run) for run in runs), strict=True)
    done, probed, ratio, counted = (
        aggregates.median_cell(column, written)
        for column, written in zip(columns, (_rate, _rate, _ratio, _ratio), strict=True)
    )
    if ratio.number is None:
        return done, probed, ratio, counted
    found = judged(
        ratio.shown,
        replace(ratio.number, judged=cell.judged.verdict),
    )
    return (
        done,
        probed,
        replace(found, note="; ".join(filter(None, (ratio.note, found.note)))),
        counted,
    )


def _rate(made: Number) -> str:
    return units.digits(made.value)


def _ratio(made: Number) -> str:
    return units.ratio(made.value)


def _of_run(run: Run) -> tuple[ReportCell, ReportCell, ReportCell, ReportCell]:
    commits, flushes = commits_per_s(run.measurement) or 0.0, probed_flushes.of_run(run)
    done = ReportCell(units.digits(commits), Number(commits, "per_s", n=run.measurement.commits))
    why_not = probed_flushes.why_none(run)
    each = None if why_not else flushes_per_commit(run.measurement)
    counted = absent("-") if each is None else ReportCell(units.ratio(each), Number(each, "ratio"))
    if flushes is None:
        why = why_none(run)
        return done, absent(why), absent(why), counted
    over = probed_flushes.spread(flushes)
    probed = ReportCell(
        units.digits(over.median), Number(over.median, "per_s", over.n, over.low, over.high)
    )
    ratio = efficiency(run)
    if ratio is None:
        note = f"no efficiency: {why_none(run)}"
        return done, probed, absent("-", note=note), counted
    remarks = (_why_above(run) if ratio > _ABOVE else "", probed_flushes.uneven(flushes))
    found = ReportCell(
        units.ratio(ratio), Number(ratio, "ratio"), note="; ".join(filter(None, remarks))
    )
    return done, probed, found, counted


def _why_above(run: Run) -> str:
    """Why there were more commits than flushes one after the other."""
    deployment = run.deployment
    if deployment is not None:
        found = deployment.durability
        if found is not None and found.durability_class not in (None, HIGHEST):
            return f"above 1: commits do not wait for a flush: durability {found.described}"
        if lowered_by := deployment.durability_lowered_by:
            return f"above 1: durability is lowered by {', '.join(lowered_by)}"
    has_one = run.clients == 1
    each = flushes_per_commit(run.measurement)
    if each is None or deployment is None or not deployment.storage.is_own_device:
        why = "or flushes are faster than those of the probe" if has_one else "or share a flush"
        return (
            f"above 1: commits do not wait for a flush, {why}; a storage with a device of its own "
            "(loop) shows which"
        )
    if each >= _SHARED:
        return "above 1: each commit had a flush; they were faster than those of the probe"
    if has_one:
        return "above 1: fewer flushes than commits of one client: not every commit waits for one"
    return "above 1: group commit: commits of several clients shared a flush"
