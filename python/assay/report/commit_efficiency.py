"""Takes the cells of a test; returns how many transactions they committed for each flush that their
storage can do.

*Commit efficiency* is commits per second divided by the flushes per second of the storage's probe,
in which one flush waits for the one before. 1: each commit waits for a flush of its own. More:
several commits share a flush (group commit), or they do not wait for any.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.observation import Observation
from assay.record import RunRecord
from assay.report import cell_runs
from assay.report.cell_runs import CellRuns, DrivenRun
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent
from assay.text import units

_IN_MEMORY = ("ramfs", "tmpfs")


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    """None where nothing was committed, or no storage was probed."""
    committing = [
        (cell, run) for cell, run in cell_runs.middle_runs(found) if commits_per_s(run.driven)
    ]
    if not any(flushes_per_s(run.run) for _, run in committing):
        return None
    factors = cell_runs.varying(found, "system", "storage", "clients")
    table = Table(
        name=f"{test}_commit_efficiency",
        title="Commits per flush of the storage",
        label_columns=len(factors),
        columns=(
            *cell_runs.label_columns(found, factors),
            *(
                Column(title, is_number=True)
                for title in ("commits/s", "flushes/s", "commit efficiency")
            ),
        ),
        rows=tuple(
            Row((*cell_runs.label_cells(cell, factors), *_cells(run))) for cell, run in committing
        ),
        notes=(
            "commits: transactions that ended ok and change data; flushes: of the probe, one after "
            "the other",
            "commit efficiency: commits/s divided by flushes/s; above 1 several commits share a "
            "flush, or do not wait for one",
        ),
    )
    return Section("Commit efficiency", (), (table,))


def commits_per_s(driven: Observation) -> float | None:
    """None where it is not known; 0 where the transactions only read."""
    if driven.commits is None or not driven.elapsed_ns:
        return None
    return driven.commits / (driven.elapsed_ns / 1e9)


def flushes_per_s(run: RunRecord) -> float | None:
    """Of the probe of the run's storage; None where it was not probed, or has no device."""
    if run.probe is None or run.probe.flushes is None or _is_in_memory(run):
        return None
    return run.probe.flushes.per_s


def efficiency(run: RunRecord) -> float | None:
    """None where one of the rates is not known, or nothing was committed."""
    commits, flushes = commits_per_s(run.driven) if run.driven else None, flushes_per_s(run)
    return commits / flushes if commits and flushes else None


def _is_in_memory(run: RunRecord) -> bool:
    """Its flushes have no effect."""
    found = run.deployment
    return found is not None and found.storage.file_system in _IN_MEMORY


def _cells(run: DrivenRun) -> tuple[Cell, Cell, Cell]:
    commits, flushes = commits_per_s(run.driven) or 0.0, flushes_per_s(run.run)
    done = Cell(units.digits(commits), Number(commits, "per_s", n=run.driven.commits))
    ratio = efficiency(run.run)
    if flushes is None or ratio is None:
        why = "in memory" if _is_in_memory(run.run) else "not probed"
        return done, absent(why), absent(why)
    return (
        done,
        Cell(units.digits(flushes), Number(flushes, "per_s")),
        Cell(units.ratio(ratio), Number(ratio, "ratio")),
    )
