"""Takes an experiment; returns the metrics that its workload derives from what was measured: of the
cells of a test, and of several tests together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.judge import service_levels, verdict
from assay.judge.statistics.samples import median_and_spread
from assay.record import ExperimentRecord
from assay.report import cell_runs, columns
from assay.report.cell_runs import CellRuns
from assay.report.columns import nullable, number, numbers, path, string
from assay.report.program_tables import ProgramTable
from assay.report.values import Number, ReportCell, Section, absent, judged
from assay.text import units
from assay.workload.derived_metrics import DerivedMetric


class DerivedRow(NamedTuple):
    name: str
    title: str
    runs: tuple[str, ...]
    value: float | None
    why_none: str


class _Found(NamedTuple):
    """The value of a metric over repetitions."""

    number: Number | None
    why_none: str = ""

    @property
    def cell(self) -> ReportCell:
        if self.number is None:
            return absent("none", note=self.why_none)
        return judged(units.digits(self.number.value), self.number)


Together = Mapping[str, CellRuns]
"""Test → its cell; they differ in nothing that all of their tests have."""


def of_cell(cell: CellRuns) -> tuple[tuple[str, str], ...]:
    """Title → ``1234``, or why there is none; the median of the repetitions."""
    return tuple(
        (one.title, found.cell.shown if found.number else f"none: {found.why_none}")
        for one in next((run.measurement.derived for run in cell_runs.measured_runs(cell)), ())
        if (found := _over_repetitions(cell, one.name))
    )


def _over_repetitions(cell: CellRuns, name: str) -> _Found:
    own = [
        one
        for run in cell_runs.measured_runs(cell)
        for one in run.measurement.derived
        if one.name == name
    ]
    values = [one.value for one in own if one.value is not None]
    if not values or len(values) < len(own):
        reasons = (one.why_none for one in own if one.why_none)
        return _Found(None, next(reasons, "it was not measured"))
    over = median_and_spread(values)
    return _Found(Number(over.median, "", over.n, over.low, over.high, judged=cell.judged.verdict))


def sections(experiment: ExperimentRecord) -> Iterator[Section]:
    """None where the workload derives nothing for the tests that were run."""
    metrics, together = _metrics(experiment), list(_together(experiment))
    if not metrics or not together:
        return
    every = [cell for one in together for cell in one.values()]
    labels = _labels(together)
    found = [_all_found(metrics, one) for one in together]
    titles = [metric for metric in metrics if any(metric.name in one for one in found)]
    of_rows = list(zip(together, found, strict=True))

    def label(name: str, column: ReportColumn) -> ReportColumn:
        return replace(
            column, cell=lambda row: cell_runs.label(_level(row[0], name), _runs(row[0]))
        )

    def metric_column(metric: DerivedMetric) -> ReportColumn:
        def shown(row: tuple[Together, Mapping[str, _Found]]) -> ReportCell:
            return row[1][metric.name].cell if metric.name in row[1] else absent("")

        return numbers(metric.title, shown)

    table = columns.table(
        "derived",
        "Derived metrics",
        (*map(label, labels, cell_runs.label_columns(every, labels)), *map(metric_column, titles)),
        of_rows,
        notes=tuple(f"{metric.title}: {metric.help}" for metric in titles),
    )
    yield Section("Derived metrics", (), (table,))


def _labels(together: Sequence[Together]) -> list[str]:
    """The system, and what varies within a test; clients may differ only between tests."""
    by_test: dict[str, list[CellRuns]] = {}
    for one in together:
        for test, cell in one.items():
            by_test.setdefault(test, []).append(cell)
    varying = (name for cells in by_test.values() for name in cell_runs.varying(cells, "system"))
    return list(dict.fromkeys(varying))


def rows(experiment: ExperimentRecord) -> Iterator[DerivedRow]:
    """Of tidy output: those of runs, then those of several tests."""
    for run in experiment.runs:
        for one in run.driven.derived if run.driven else ():
            yield DerivedRow(one.name, one.title, (str(run.id),), one.value, one.why_none)
    metrics = _metrics(experiment)
    for together in _together(experiment):
        values = _all_found(metrics, together)
        for metric in metrics:
            if not metric.test and metric.name in values:
                number, why_none = values[metric.name]
                runs = tuple(map(str, _runs(together)))
                value = None if number is None else number.value
                yield DerivedRow(metric.name, metric.title, runs, value, why_none)


DERIVED = ProgramTable(
    "One row per run and metric that its workload derives for its test; and one per metric that is "
    "derived from several tests, and each combination of cells that differ in their test.",
    [
        string("metric", "its name in the workload", path("name")),
        string("title", "in reports"),
        nullable("runs", "array", "their numbers; one: it is of a run"),
        number("value", "null: there is none"),
        string("why_null", "why there is none; empty: there is one", path("why_none")),
    ],
    rows,
)


def _metrics(experiment: ExperimentRecord) -> Sequence[DerivedMetric]:
    return experiment.workload.derived


def _together(experiment: ExperimentRecord) -> Iterator[Together]:
    """The cells that are taken together, in the order of the first of them."""
    tests = {one.test for one in _metrics(experiment) if one.test}
    cells = {
        test: cell_runs.cells(experiment, runs)
        for test, runs in cell_runs.tests(experiment).items()
        if test in tests
    }
    every = [cell for found in cells.values() for cell in found]
    names = dict.fromkeys(name for cell in every for name in cell.factors)
    # The clients of a test are its own, as a rule; so are parameters that another test has not.
    shared = [
        name for name in names if name != "clients" and all(name in cell.factors for cell in every)
    ]
    groups: dict[tuple[object, ...], dict[str, list[CellRuns]]] = {}
    for test, found in cells.items():
        for cell in found:
            key = tuple(cell.level(name) for name in shared)
            groups.setdefault(key, {}).setdefault(test, []).append(cell)
    for group in groups.values():
        for chosen in product(*group.values()):
            yield dict(zip(group, chosen, strict=True))


def _all_found(metrics: Sequence[DerivedMetric], together: Together) -> dict[str, _Found]:
    """By name, those that these cells can have."""
    found: dict[str, _Found] = {}
    for metric in metrics:
        if metric.test:
            if (cell := together.get(metric.test)) is not None:
                found[metric.name] = _over_repetitions(cell, metric.name)
            continue
        names = {one.name for one in metrics}
        needed = [name for name in metric.variables if name in names]
        if all(name in found for name in needed):
            found[metric.name] = _of_several(metric, needed, found, together)
    return found


def _of_several(
    formula: DerivedMetric, needed: Sequence[str], metrics: Mapping[str, _Found], together: Together
) -> _Found:
    for name in needed:
        if metrics[name].number is None:
            return metrics[name]
    numbers = {name: number for name in needed if (number := metrics[name].number) is not None}
    parameters = {
        name: level for cell in together.values() for name, level in cell.runs[0].parameters.items()
    }
    values = {name: number.value for name, number in numbers.items()}
    value = formula.of_values({**parameters, **values}, Path("workload.toml"))
    if value is None:
        return _Found(None, service_levels.NO_VALUE)
    return _Found(Number(value, "", judged=verdict.worst(one.judged for one in numbers.values())))


def _level(together: Together, factor: str) -> str | int | float | bool | None:
    """That of the first of the cells that has the factor."""
    levels = (cell.level(factor) for cell in together.values())
    return next((level for level in levels if level is not None), None)


def _runs(together: Together) -> tuple[int, ...]:
    return tuple(run for cell in together.values() for run in cell.run_ids)
