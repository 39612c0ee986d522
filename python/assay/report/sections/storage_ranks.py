"""Takes the cells of a test; returns whether their storages rank by the database as they rank by
the probe, and how many transactions they committed for each flush that their storage can do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import ratios
from assay.contracts.observation import Observation
from assay.judge.run_warnings import why_not_steady
from assay.judge.statistics.samples import (
    LEAST_PAIRS,
    Spread,
    kendall_tau,
    median_and_spread,
    median_of_all,
    ranks,
)
from assay.judge.storage_checks import HIGHEST_DURABILITY
from assay.record import Run
from assay.record.metrics import resources
from assay.record.metrics.resources import (
    commit_efficiency,
    commits_per_s,
    why_no_commit_efficiency,
)
from assay.report import cell_runs, cell_tables
from assay.report.cell_runs import STORAGE, CellRuns
from assay.report.columns import counts, numbers, placed, words
from assay.report.declared import aggregates
from assay.report.sections import machine_use
from assay.report.values import (
    Number,
    ReportCell,
    ReportTable,
    Section,
    absent,
    judged,
    number_cell,
    section_of,
)
from assay.text import units


class _Ranked(Struct, frozen=True):
    """A storage that was probed and measured."""

    cell: CellRuns
    probed: Spread
    tps: Spread


class Ranks(Struct, frozen=True):
    """Cells that differ in their storage alone."""

    first: CellRuns
    by: str
    """What of the probe is compared with the throughput."""
    ranked: tuple[_Ranked, ...]
    left_out: tuple[tuple[str, str], ...]
    """(storage, why its numbers are not ranked)."""

    @property
    def tau(self) -> float | None:
        """Kendall's; None where too few are ranked, or all have the same rank."""
        return kendall_tau(list(zip(self.by_probe, self.by_tps, strict=True)))

    @property
    def by_probe(self) -> list[int]:
        return ranks([one.probed for one in self.ranked])

    @property
    def by_tps(self) -> list[int]:
        return ranks([one.tps for one in self.ranked])

    @property
    def probe_range(self) -> float | None:
        """The fastest by the probe divided by the slowest; None: that one did nothing."""
        return _range([one.probed.median for one in self.ranked])

    @property
    def tps_range(self) -> float | None:
        return _range([one.tps.median for one in self.ranked])


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where fewer than three probed storages are compared."""
    made = list(ranks_of_cells(cells))
    if not made:
        return None
    lines = tuple(map(_sentence, made))
    table = _table(test, cells, [one for one in made if len(one.ranked) >= LEAST_PAIRS])
    return Section("Rank of storages", lines, () if table is None else (table,))


def _table(test: str, cells: Sequence[CellRuns], made: Sequence[Ranks]) -> ReportTable | None:
    if not made:
        return None
    factors = [name for name in cell_runs.varying(cells, "system", "clients") if name != STORAGE]
    return cell_tables.table_by_cell(
        f"{test}_storage_ranks",
        "Do storages rank by the probe as by the database?",
        (cells, factors),
        (
            counts("storages", lambda source: len(source.ranked)),
            words("by the probe's", attrgetter("by")),
            numbers("tau", _ratio("tau", units.ratio)),
            numbers("probe's range", _ratio("probe_range", _times)),
            numbers("TPS range", _ratio("tps_range", _times)),
        ),
        [(one.first, one) for one in made],
        notes=(
            "tau: Kendall's rank correlation of the storages by the probe with the storages by "
            "TPS; 1: the same order, -1: the opposite one; range: the fastest storage divided by "
            "the slowest; storages within the range of one another's repetitions, or 10 %, share "
            "a rank",
        ),
        is_detail=True,
    )


def ranks_of_cells(measured_cells: Sequence[CellRuns]) -> Iterator[Ranks]:
    """Each set of at least three storages that were probed and measured under the same other
    factors, by the probe's flushes where their transactions commit, else by its reads. A system
    whose durability differs between storages has several."""
    alike: dict[object, list[CellRuns]] = {}
    for cell in measured_cells:
        alike.setdefault(cell.without(STORAGE), []).append(cell)
    for cells in alike.values():
        compared = [one for one in cells if one.runs[0].probe and cell_runs.middle_run(one)]
        if len(compared) >= LEAST_PAIRS:
            yield _of_alike(compared)


def _of_alike(cells: Sequence[CellRuns]) -> Ranks:
    commits = any(commits_per_s(run.measurement) for _, run in cell_runs.middle_runs(cells))
    ranked, left_out = [], []
    apart = any(
        ratios.one_after_the_other(one.measured, other.measured)
        for one, other in itertools.combinations(cells, 2)
    )
    for cell in cells:
        made = aggregates.number(cell, aggregates.THROUGHPUT)
        probed = _probed(cell, commits)
        if why := _why_not(cell, commits) or (ratios.SEQUENTIAL if apart else ""):
            left_out.append((cell.runs[0].storage, why))
        elif made is not None and probed is not None:
            low, high = (made.value if one is None else one for one in (made.low, made.high))
            tps = Spread(made.value, low, high, made.n or 1)
            ranked.append(_Ranked(cell, probed, tps))
    by = "flushes/s" if commits else f"reads/s, depth {_depth(cells[0].runs[0])}"
    return Ranks(cells[0], by, tuple(ranked), tuple(left_out))


def _why_not(cell: CellRuns, commits: bool) -> str:
    """Why its throughput is not compared with its probe; empty: it is."""
    why = resources.why_no_probed_flushes(cell.runs[0]) if commits else ""
    why = why or ratios.why_undecided(cell.measured)
    return why or why_not_steady(warning for run in cell.measured for warning in run.warnings)


def _range(values: Sequence[float]) -> float | None:
    return max(values) / min(values) if values and min(values) > 0 else None


def _reads(cells: Iterable[CellRuns]) -> Iterator[float]:
    for _, run in cell_runs.middle_runs(cells):
        found = machine_use.reads_per_transaction(run)
        if found is not None:
            yield found


def _probed(cell: CellRuns, commits: bool) -> Spread | None:
    """The median of the probes of its runs, and the range of them all."""
    found = [one for run in cell.measured if (one := _of_probe(run, commits)) is not None]
    if not found:
        return None
    low, high = min(one.low for one in found), max(one.high for one in found)
    return Spread(median_and_spread([one.median for one in found]).median, low, high, found[0].n)


def _of_probe(run: Run, commits: bool) -> Spread | None:
    if run.probe is None:
        return None
    if commits:
        return resources.spread_of_flushes(run.probe.flushes) if run.probe.flushes else None
    reads = run.probe.reads_at(run.clients)
    return None if reads is None else Spread(reads.per_s, reads.per_s, reads.per_s, 1)


def _depth(run: Run) -> int:
    found = run.probe.reads_at(run.clients) if run.probe else None
    return found.depth if found else 0


def _times(ratio: float) -> str:
    return units.digits(ratio, 3)


def _ratio(name: str, written: Callable[[float], str]) -> Callable[[Ranks], ReportCell]:
    def cell(made: Ranks) -> ReportCell:
        return number_cell(getattr(made, name), "ratio", written, n=len(made.ranked))

    return cell


def _sentence(made: Ranks) -> str:
    run = made.first.runs[0]
    name = f"{run.system_on_machine}, {units.counted(run.clients, 'client')}"
    if len(made.ranked) < LEAST_PAIRS:
        few = f"{len(made.ranked)} left to rank" if made.ranked else "storages are not ranked"
        return f"{name}: {few}{_left_out(made)}"
    said = f"{name}: {len(made.ranked)} storages by the probe's {made.by} and by TPS: {_how(made)}"
    if made.probe_range is not None and made.tps_range is not None:
        said += (
            f"; the fastest is {_times(made.probe_range)} times as fast as the slowest by the "
            f"probe, {_times(made.tps_range)} times by TPS"
        )
    near = _near("by the probe", made.by_probe, made) + _near("by TPS", made.by_tps, made)
    return (
        f"{said}{near}{_reads_said(list(_reads(one.cell for one in made.ranked)))}{_left_out(made)}"
    )


def _how(made: Ranks) -> str:
    tau = made.tau
    if tau is None:
        return "too near to rank"
    if tau == 1:
        how = "the same order"
    elif tau == -1:
        how = "the opposite order"
    else:
        how = "not the same order"
    return f"{how}, tau {units.ratio(tau)}"


def _near(by: str, values: Sequence[int], made: Ranks) -> str:
    """The storages that share a rank."""
    names = [str(one.cell.factors[STORAGE]) for one in made.ranked]
    shared = [
        " and ".join(name for name, rank in zip(names, values, strict=True) if rank == one)
        for one in dict.fromkeys(values)
        if values.count(one) > 1
    ]
    return f"; {by} nearly equal, of one rank: {', '.join(shared)}" if shared else ""


def _left_out(made: Ranks) -> str:
    by_reason: dict[str, list[str]] = {}
    for storage, why in made.left_out:
        by_reason.setdefault(why, []).append(storage)
    said = ", ".join(f"{' and '.join(names)} ({why})" for why, names in by_reason.items())
    return f"; left out: {said}" if said else ""


def _reads_said(reads: Sequence[float]) -> str:
    """What makes the difference between storages, where it is not their flushes."""
    if not reads:
        return ""
    least, most = (units.digits(one, 2) for one in (min(reads), max(reads)))
    span = least if least == most else f"{least} to {most}"
    return f"; {span} reads from the device per transaction"


_ABOVE = 1.1
"""From here on an efficiency is more than one flush per commit allows, beyond noise."""
_SHARED = 0.9
"""Below so many flushes per commit some commits had no flush of their own."""


def commit_efficiency_section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where nothing was committed, or no storage was probed."""
    committing = [
        (cell, runs)
        for cell, runs in ((cell, cell_runs.measured_runs(cell)) for cell in cells)
        if any(commits_per_s(run.measurement) for run in runs)
    ]
    if not any(resources.probed_flushes(run) for _, runs in committing for run in runs):
        return None

    table = cell_tables.table_by_cell(
        f"{test}_commit_efficiency",
        "Commits per flush of the storage",
        (cells, cell_runs.varying(cells, "system", "storage", "clients")),
        placed(("commits/s", "probe's flushes/s", "commit efficiency", "flushes/commit")),
        [(cell, _commit_cells(cell, runs)) for cell, runs in committing],
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
    return section_of("Commit efficiency", table)


def flushes_per_commit(driven: Observation) -> float | None:
    """Of the device under the data; None where they were not counted, or nothing was committed."""
    device = driven.device_cost
    if device is None or device.flushes is None or not driven.commits:
        return None
    return device.flushes / driven.commits


def commit_efficiency_of_cell(cell: CellRuns) -> float | None:
    """The median of its repetitions; None where one has none."""
    return median_of_all(commit_efficiency(run) for run in cell_runs.measured_runs(cell))


def _commit_cells(cell: CellRuns, runs: Sequence[Run]) -> tuple[ReportCell, ...]:
    """The median of each column over the repetitions."""
    columns = zip(*(_of_run(run) for run in runs), strict=True)
    done, probed, ratio, counted = (
        aggregates.median_cell(column, written)
        for column, written in zip(
            columns,
            (_commit_rate, _commit_rate, _commits_for_each_flush, _commits_for_each_flush),
            strict=True,
        )
    )
    if ratio.number is None:
        return done, probed, ratio, counted
    found = judged(ratio.shown, replace(ratio.number, judged=cell.judged.verdict))
    return (
        done,
        probed,
        replace(found, note="; ".join(filter(None, (ratio.note, found.note)))),
        counted,
    )


def _commit_rate(made: Number) -> str:
    return units.digits(made.value)


def _commits_for_each_flush(made: Number) -> str:
    return units.ratio(made.value)


def _of_run(run: Run) -> tuple[ReportCell, ReportCell, ReportCell, ReportCell]:
    commits, flushes = commits_per_s(run.measurement) or 0.0, resources.probed_flushes(run)
    done = number_cell(commits, "per_s", n=run.measurement.commits)
    why_not = resources.why_no_probed_flushes(run)
    each = None if why_not else flushes_per_commit(run.measurement)
    counted = number_cell(each, "ratio", units.ratio)
    if flushes is None:
        why = why_no_commit_efficiency(run)
        return done, absent(why), absent(why), counted
    over = resources.spread_of_flushes(flushes)
    probed = ReportCell(
        units.digits(over.median), Number(over.median, "per_s", over.n, over.low, over.high)
    )
    ratio = commit_efficiency(run)
    if ratio is None:
        note = f"no efficiency: {why_no_commit_efficiency(run)}"
        return done, probed, absent("-", note=note), counted
    remarks = (_why_above(run) if ratio > _ABOVE else "", resources.uneven_flushes(flushes))
    found = ReportCell(
        units.ratio(ratio), Number(ratio, "ratio"), note="; ".join(filter(None, remarks))
    )
    return done, probed, found, counted


def _why_above(run: Run) -> str:
    """Why there were more commits than flushes one after the other."""
    deployment = run.deployment
    if deployment is not None:
        found = deployment.durability
        if found is not None and found.durability_class not in (None, HIGHEST_DURABILITY):
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
