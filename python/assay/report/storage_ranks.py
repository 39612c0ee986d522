"""Takes the cells of a test; returns whether their storages rank by the database as they rank by
the probe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assay.judge.rank_correlation import kendall_tau
from assay.record import RunRecord
from assay.report import aggregates, cell_runs, commit_efficiency, device
from assay.report.cell_runs import CellRuns
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent
from assay.text import units

_STORAGE = "storage"
_NEARLY_EQUAL = 1.1
"""Storages whose fastest is less than so many times the slowest have no certain order."""


@dataclass(frozen=True)
class Ranks:
    """Cells that differ in their storage alone."""

    cells: tuple[CellRuns, ...]
    by: str
    """What of the probe is compared with the throughput."""
    tau: float
    """Kendall's."""
    probe_range: float | None
    """The fastest by the probe divided by the slowest; None: that one did nothing."""
    tps_range: float | None
    reads: tuple[float, ...]
    """From the devices, per transaction; of those storages where they were counted."""


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    """None where fewer than three probed storages are compared."""
    ranks = list(of_cells(found))
    if not ranks:
        return None
    factors = [name for name in cell_runs.varying(found, "system", "clients") if name != _STORAGE]
    table = Table(
        name=f"{test}_storage_ranks",
        title="Do storages rank by the probe as by the database?",
        label_columns=len(factors),
        columns=(
            *cell_runs.label_columns(found, factors),
            Column("storages", is_number=True),
            Column("by the probe's"),
            Column("tau", is_number=True),
            Column("probe's range", is_number=True),
            Column("TPS range", is_number=True),
        ),
        rows=tuple(
            Row((*cell_runs.label_cells(one.cells[0], factors), *_cells(one))) for one in ranks
        ),
        notes=(
            "tau: Kendall's rank correlation of the storages by the probe with the storages by "
            "TPS; 1: the same order, -1: the opposite one; range: the fastest storage divided by "
            "the slowest",
        ),
        is_detail=True,
    )
    return Section("Rank of storages", tuple(map(_sentence, ranks)), (table,))


def of_cells(found: Sequence[CellRuns]) -> Iterator[Ranks]:
    """Each set of at least three storages that were probed and measured under the same other
    factors, by the probe's flushes where their transactions commit, else by its reads. A system
    whose durability differs between storages has several."""
    alike: dict[object, list[CellRuns]] = {}
    for cell in found:
        others = tuple((name, cell.factors[name]) for name in cell.factors if name != _STORAGE)
        alike.setdefault((cell.durability, others), []).append(cell)
    for cells in alike.values():
        measured = [(cell, run.run) for cell in cells if (run := cell_runs.middle_run(cell))]
        commits = any(
            commit_efficiency.commits_per_s(run.driven) for _, run in measured if run.driven
        )
        compared = [
            (cell, probed, made.value)
            for cell, run in measured
            if (probed := _probed(run, commits)) is not None
            and (made := aggregates.number(cell, aggregates.THROUGHPUT)) is not None
        ]
        tau = kendall_tau([(probed, tps) for _, probed, tps in compared])
        if tau is not None:
            depth = 0 if commits else _depth(compared[0][0].runs[0])
            by = "flushes/s" if commits else f"reads/s, depth {depth}"
            yield Ranks(
                tuple(cell for cell, *_ in compared),
                by,
                tau,
                _range([probed for _, probed, _ in compared]),
                _range([tps for *_, tps in compared]),
                tuple(_reads(cell for cell, *_ in compared)),
            )


def _range(values: Sequence[float]) -> float | None:
    return max(values) / min(values) if min(values) > 0 else None


def _reads(cells: Iterable[CellRuns]) -> Iterator[float]:
    for _, run in cell_runs.middle_runs(cells):
        found = device.reads_per_transaction(run)
        if found is not None:
            yield found


def _probed(run: RunRecord, commits: bool) -> float | None:
    if run.probe is None:
        return None
    found = run.probe.flushes if commits else run.probe.reads_at(run.clients)
    return None if found is None else found.per_s


def _depth(run: RunRecord) -> int:
    found = run.probe.reads_at(run.clients) if run.probe else None
    return found.depth if found else 0


def _cells(ranks: Ranks) -> tuple[Cell, ...]:
    count = len(ranks.cells)
    return (
        Cell(str(count), Number(count, "count")),
        Cell(ranks.by),
        Cell(units.ratio(ranks.tau), Number(ranks.tau, "ratio", n=count)),
        *(
            absent("-") if one is None else Cell(_times(one), Number(one, "ratio", n=count))
            for one in (ranks.probe_range, ranks.tps_range)
        ),
    )


def _sentence(ranks: Ranks) -> str:
    run = ranks.cells[0].runs[0]
    name = f"{run.system_label}, {units.counted(run.clients, 'client')}"
    if ranks.tau == 1:
        how = "the same order"
    elif ranks.tau == -1:
        how = "the opposite order"
    else:
        how = "not the same order"
    said = (
        f"{name}: {len(ranks.cells)} storages by the probe's {ranks.by} and by TPS: {how}, "
        f"tau {units.ratio(ranks.tau)}"
    )
    if ranks.probe_range is None or ranks.tps_range is None:
        return said
    too_near = ", too near to rank" if ranks.tps_range < _NEARLY_EQUAL else ""
    return (
        f"{said}; the fastest is {_times(ranks.probe_range)} times as fast as the slowest by the "
        f"probe, {_times(ranks.tps_range)} times by TPS{too_near}{_reads_said(ranks.reads)}"
    )


def _reads_said(reads: Sequence[float]) -> str:
    """What makes the difference between storages, where it is not their flushes."""
    if not reads:
        return ""
    least, most = (units.digits(one, 2) for one in (min(reads), max(reads)))
    span = least if least == most else f"{least} to {most}"
    return f"; {span} reads from the device per transaction"


def _times(ratio: float) -> str:
    return units.digits(ratio, 3)
