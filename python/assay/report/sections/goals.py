"""Takes an experiment with a goal; returns the highest offered rate that met it, of each
combination of the other factors, and the trials that show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.comparison import goal_bracket, goals
from assay.comparison.conditions import Condition
from assay.comparison.goal_bracket import SearchSoFar
from assay.comparison.goals import TrialAnswer
from assay.comparison.ratios import offered_rates
from assay.experiment import Scalar, SystemPrice
from assay.judge.evidence.offered_rate import OfferedAndReached
from assay.plan import cell_names
from assay.plan.cell_names import OFFERED_RATE
from assay.record import ExperimentRecord
from assay.record.runs.run_ends import ENDED
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import (
    Number,
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    text,
)
from assay.text import units
from assay.text.rates import shown

MB = 1_000_000
_FOUND = "the level at the limit, or the highest that met the goal where that is not known"


class Searched(NamedTuple):
    """A search, and the cells of its trials."""

    cells: Sequence[CellRuns]
    so_far: SearchSoFar
    name: str
    """Of what was searched: system, storage and clients; empty: there is one search in the test."""
    bytes_per_unit: float | None = None
    """How much data each unit of the parameter makes; None: it is not known, or a rate was
    searched."""

    @property
    def price(self) -> SystemPrice | None:
        """Of the whole system."""
        return self.cells[0].runs[0].system_price

    @property
    def found_bytes(self) -> float | None:
        """The data of what was found: AS3AP's equivalent database size."""
        highest = self.so_far.highest
        if highest is None or self.bytes_per_unit is None:
            return None
        return highest * self.bytes_per_unit

    @property
    def price_per_unit(self) -> float | None:
        """Of each transaction per second, or unit of the parameter, that was found."""
        highest = self.so_far.highest
        return self.price.amount / highest if self.price and highest else None

    @property
    def price_per_mb(self) -> float | None:
        found = self.found_bytes
        return self.price.amount / (found / MB) if self.price and found else None


def asked(experiment: ExperimentRecord) -> Condition | None:
    """The goal; None: there is none."""
    words = experiment.experiment.get("goal")
    return goals.goal(words) if words else None


def over(experiment: ExperimentRecord) -> str:
    """The parameter that was searched; empty: the offered rate was."""
    return experiment.experiment.get("goal_over") or ""


def _varied(experiment: ExperimentRecord) -> set[str]:
    """The factor that is searched, and what a test may derive from it."""
    searched = over(experiment)
    if not searched:
        return {OFFERED_RATE}
    are_asked = experiment.experiment.get("clients") or experiment.experiment.get("group_clients")
    return {searched} if are_asked else {searched, "clients"}


def searches(experiment: ExperimentRecord, cells: Sequence[CellRuns]) -> list[Searched]:
    """Of the cells of one test."""
    condition = asked(experiment)
    if condition is None:
        return []
    searched, varied = over(experiment), _varied(experiment)
    of_searches: dict[tuple[tuple[str, Scalar], ...], list[CellRuns]] = {}
    for cell in cells:
        others = tuple((name, one) for name, one in cell.factors.items() if name not in varied)
        of_searches.setdefault(others, []).append(cell)
    names = cell_names.names([dict(others) for others in of_searches])
    sizes = experiment.workload.get("bytes_per_unit", {})
    return [
        Searched(
            each,
            goal_bracket.search(condition, _trials(each, condition, searched)),
            name,
            sizes.get(searched),
        )
        for each, name in zip(of_searches.values(), names, strict=True)
    ]


def _trials(
    cells: Sequence[CellRuns], condition: Condition, searched: str
) -> Iterator[goals.Trial]:
    for cell in cells:
        ended = [run for run in cell.runs if run.state in ENDED]
        if ended:
            yield goals.trial(ended, condition, searched)


def kept_rate(experiment: ExperimentRecord, cell: CellRuns) -> OfferedAndReached | None:
    """Whether the cell kept its offered rate: where rates are searched, it has to meet the goal as
    well. None in a closed loop."""
    rate, condition = offered_rates.of_runs(cell.measured), asked(experiment)
    if rate is None or not rate.is_kept or condition is None or over(experiment):
        return rate
    is_met = all(one.answer is TrialAnswer.MET for one in _trials([cell], condition, ""))
    return rate if is_met else rate._replace(is_kept=False, misses_goal=True)


def line(experiment: ExperimentRecord) -> str:
    """``p99 < 5ms: met up to 1620/s (p99 latency 4.1 ms), not at 1690/s (…)``; empty: no goal."""
    condition = asked(experiment)
    if condition is None:
        return ""
    found = of_all_tests(experiment)
    several_tests = len({test for test, _ in found}) > 1
    said = []
    for test, one in found:
        named = f"{test}: {one.name}" if several_tests else one.name
        said.append(one.so_far.words if len(found) == 1 else f"{named}: {one.so_far.words}")
    return f"{condition.text}: {'; '.join(said)}"


def of_all_tests(experiment: ExperimentRecord) -> list[tuple[str, Searched]]:
    """Each search, with its test."""
    if asked(experiment) is None:
        return []
    return [
        (test, one)
        for test, runs in cell_runs.tests(experiment).items()
        for one in searches(experiment, cell_runs.cells(experiment, runs))
    ]


def section(experiment: ExperimentRecord, test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where nothing was searched."""
    found = searches(experiment, cells)
    condition = asked(experiment)
    if condition is None or not found:
        return None
    searched, varied = over(experiment), _varied(experiment)
    factors = [name for name in cell_runs.varying(cells, "system", "clients") if name not in varied]
    unit = "" if searched else " /s"
    sizes = [one.so_far.at_limit if searched else None for one in found]
    beside = [_at_limit(sizes)] if any(sizes) else []
    costs = _costs(found, searched)
    rows = [
        Row(
            (
                *cell_runs.label_cells(one.cells[0], factors),
                *_numbers(one.so_far),
                *(cell for column in beside for cell in column[place]),
                *(column.cells[place] for column in costs),
                text(one.so_far.words),
            )
        )
        for place, one in enumerate(found)
    ]
    table = ReportTable(
        name=f"{test}_goal",
        label_columns=len(factors),
        title=f"The highest {searched or 'offered rate'} with {condition.text}",
        columns=(
            *cell_runs.label_columns(cells, factors),
            ReportColumn(f"met at{unit}", is_number=True),
            ReportColumn(f"not at{unit}", is_number=True),
            ReportColumn("trials", is_number=True),
            *(
                ReportColumn(title, is_number=True)
                for title in (["at the limit", "ratio"] if beside else [])
            ),
            *(column.head for column in costs),
            ReportColumn("found"),
        ),
        rows=tuple(rows),
        notes=(
            "the highest lies between the two; a trial meets the goal if "
            + (
                "the run in the middle was valid"
                if searched
                else "all its runs kept the offered rate, were steady"
            )
            + " and met the condition",
            *(
                [
                    "at the limit: where the metric would be there, between the two, if it is a "
                    "power of the level; ratio: to the first one"
                ]
                if beside
                else []
            ),
            *dict.fromkeys(column.note for column in costs if column.note),
        ),
    )
    return Section("Goal", (), (table,))


class _Column(NamedTuple):
    head: ReportColumn
    cells: Sequence[ReportCell]
    note: str = ""


def _costs(results: Sequence[Searched], searched: str) -> list[_Column]:
    """The size of the data that each search found, where the workload says how large a unit of the
    parameter is; where the system has a price, this and what it is for each MB, unit of the
    parameter or transaction per second."""
    columns = []
    of_each = results[0].bytes_per_unit
    if of_each is not None:
        columns.append(
            _Column(
                ReportColumn("size", is_number=True, unit="MB"),
                [_amount(one.found_bytes, "bytes", MB) for one in results],
                f"size: of the data at the limit, and of the highest level that met the goal where "
                f"that is not known: {of_each:.15g} bytes for each of {searched}, as the workload "
                "counts them; a MB has 1,000,000 bytes",
            )
        )
    priced = [one.price for one in results if one.price]
    if not priced:
        return columns
    currency, unit = priced[0].currency, searched or "TPS"
    of_unit = [one.price_per_unit for one in results]
    if of_each is not None:
        unit, of_unit = "MB", [one.price_per_mb for one in results]
    return [
        *columns,
        _Column(
            ReportColumn("price", is_number=True, unit=currency),
            [_amount(one.price.amount if one.price else None, currency) for one in results],
        ),
        _Column(
            ReportColumn(f"price/{unit}", is_number=True, unit=currency),
            [_amount(one, currency) for one in of_unit],
            f"price/{unit}: that of the whole system, as it was given, divided by "
            + ("the size" if of_each is not None else _FOUND if searched else "the rate met"),
        ),
    ]


def _amount(value: float | None, unit: str, of: float = 1.0) -> ReportCell:
    if value is None:
        return absent("-")
    return ReportCell(units.digits(value / of, 3), Number(value, unit))


def _numbers(search: SearchSoFar) -> tuple[ReportCell, ...]:
    count = len(search.trials)
    return (
        *(absent("-") if search.not_decided else _rate(one) for one in (search.met, search.missed)),
        ReportCell(str(count), Number(count, "count")),
    )


def _at_limit(sizes: Sequence[float | None]) -> list[tuple[ReportCell, ReportCell]]:
    """Each size, and its ratio to the first of them: AS3AP's equivalent database ratio."""
    first = sizes[0]
    return [
        (
            absent("-")
            if size is None
            else ReportCell(units.digits(size, 3), Number(size, "count")),
            absent("-")
            if size is None or not first
            else ReportCell(units.ratio(size / first), Number(size / first, "ratio")),
        )
        for size in sizes
    ]


def _rate(trial: goals.Trial | None) -> ReportCell:
    if trial is None:
        return absent("-")
    if trial.over:
        return ReportCell(f"{trial.level:.15g}", Number(trial.level, "count"))
    return ReportCell(shown(trial.level), Number(trial.level, "per_s"))
