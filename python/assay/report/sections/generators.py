"""Takes the cells of a test; returns what each load generator did, where several drove the clients:
its load, how busy it was, its clock, and which of them were lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from assay.contracts.observation import GeneratorReport
from assay.contracts.observation.parts.generators import BOUND_NOT_KNOWN
from assay.record import Run
from assay.report import columns
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import counts, numbers, of, run_column, words
from assay.report.values import ReportCell, ReportTable, Section, absent, count, text
from assay.text import units

_NOTES = (
    "busy: share of the generator's threads; waited: share of their time without a processor; lag: "
    "how late transactions of an open loop were begun, 99th percentile; load: of the machine, in "
    "the last minute; clock: how well its offset is known",
    "ok and unknown of a lost generator: what it had reported, and the most that it may have done "
    "since; the outcomes and the TPS of the run have them, times, seconds, and numbers of several "
    "types or groups do not",
)


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where one process drove the clients."""
    shown = _runs(cells)
    if not shown:
        return None
    return Section("Load generators", (), (_table(test, shown),))


class _Generator(NamedTuple):
    """The source of a row."""

    run: Run
    number: int
    of: GeneratorReport


def _table(test: str, shown: Iterable[tuple[Run, Sequence[GeneratorReport]]]) -> ReportTable:
    generator = words(
        "generator", lambda source: f"{source.number}: {source.of.machine}", is_label=True
    )
    return columns.table(
        f"{test}_generators",
        "Each load generator, in one measurement of each cell, and in all with losses",
        (run_column(attrgetter("run.id")), generator, *of(attrgetter("of"), _COLUMNS)),
        (
            _Generator(run, number, one)
            for run, generators in shown
            for number, one in enumerate(generators, 1)
        ),
        notes=_NOTES,
    )


def _runs(cells: Sequence[CellRuns]) -> list[tuple[Run, Sequence[GeneratorReport]]]:
    middle = [run.id for _, run in cell_runs.middle_runs(cells)]
    return [
        (run, driven.generators)
        for cell in cells
        for run in cell.runs
        if (driven := run.driven) is not None and driven.generators
        if run.id in middle or driven.lost_generators
    ]


def _unknown(generator: GeneratorReport) -> ReportCell:
    return count(generator.unknown) if generator.is_bound_known else text(BOUND_NOT_KNOWN)


def _share(share: float | None) -> ReportCell:
    return absent("") if share is None else text(units.share(share))


def _duration(value_ns: float | None, sign: str = "") -> ReportCell:
    return text(f"{sign}{units.short_duration(value_ns / 1e9)}") if value_ns else absent("")


def _load(generator: GeneratorReport) -> ReportCell:
    load = generator.load_1min
    return absent("") if load is None else text(f"{load:.1f}")


def _lost(generator: GeneratorReport) -> str:
    after_s = generator.lost_after_s
    return "" if after_s is None else f"after {after_s:.0f} s"


_COLUMNS = (
    counts("clients", attrgetter("clients")),
    counts("ok", attrgetter("ok")),
    counts("failed", attrgetter("failed")),
    numbers("unknown", _unknown),
    numbers("busy", lambda source: _share(source.cpu_share)),
    numbers("waited", lambda source: _share(source.waited_share)),
    numbers("lag", lambda source: _duration(source.lag_p99_ns)),
    numbers("load", _load),
    numbers("clock", lambda source: _duration(source.clock_uncertainty_ns, "±")),
    words("lost", _lost),
)
