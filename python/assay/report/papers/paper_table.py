"""Takes the runs of a paper's experiment; returns the paper's tables in its own shape, the measured
numbers below the published ones; or one table of several tests that a series joins."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.experiment import Scalar
from assay.plan.cell_names import CACHE, MACHINE
from assay.record import ExperimentRecord
from assay.report import cell_runs, durability
from assay.report.cell_runs import DURABILITY, CellRuns
from assay.report.cell_tables import pivot_rows, table_row, value_column
from assay.report.declared import aggregates, declaration
from assay.report.declared import published as notes
from assay.report.declared import published as publications
from assay.report.declared.published import HARDWARE, FactorLayout, Published, printed_cell
from assay.report.papers import claim_cases, claims, paper_points
from assay.report.papers.claim_cases import ByRatio, JudgedClaim, cases_by_ratio
from assay.report.papers.paper_points import (
    JUDGED,
    MEASURED_POINT,
    OF_MEANS,
    PUBLISHED_POINT,
    RATIO,
    RATIO_UNITS,
    VALUE,
    MeasuredRatio,
    PaperPoint,
    ValueColumn,
)
from assay.report.sections import conditions
from assay.report.values import ReportCell, ReportTable, Row, Section, absent
from assay.text.units import BYTES_PER, TIME_UNITS
from assay.workload.declared_reports import Declaration, Series, SeriesColumn

# Takes the points of a published table, published and measured; returns the columns and rows of
# the table in the paper's own shape.

Levels = tuple[Scalar, ...]
"""Those of a row, or of a column."""


class PlacedPoints(Struct, frozen=True, dict=True):
    """Points by their places in the table."""

    layout: FactorLayout
    published: Sequence[PaperPoint]
    measured: Sequence[PaperPoint]
    of_claims: ByRatio

    @property
    def titled(self) -> list[ReportColumn]:
        return [
            ReportColumn("\n".join(words), is_number=True, group=" ".join(words[:-1]))
            for words in (list(map(str, column)) for column in self._columns)
        ]

    def shown(self) -> Iterator[Row]:
        """Rows in the paper's order, each with the published numbers, and the measured below
        them."""
        for row in self._rows():
            own = (point.origin for point in self._points if self._row(point) == row)
            for origin in dict.fromkeys(own):
                yield from self._shown(row, origin)

    def _shown(self, row: Levels, origin: str) -> Iterator[Row]:
        """The numbers of one origin; below measured ones their ratios and judgements, if there are
        any."""
        labels = tuple(map(cell_runs.label, row))
        cells = self._cells_of(row, origin)
        noted = (replace(cell, note=_note(cell)) for cell in cells)
        yield Row((*labels, ReportCell(origin), *noted), is_published=origin == PUBLISHED_POINT)
        if origin == PUBLISHED_POINT:
            return
        published = self._cells_of(row, PUBLISHED_POINT)
        divided = list(map(_ratio, published, cells))
        if any(cell.number for cell in divided):
            yield Row((*labels, ReportCell(RATIO), *divided))
        ratios = [self._ratios.get((row, origin, column)) for column in self._columns]
        judged = list(map(self._judged, published, ratios))
        if any(cell.shown for cell in judged):
            yield Row((*labels, ReportCell(JUDGED), *judged))

    @property
    def _points(self) -> list[PaperPoint]:
        return [*self.published, *self.measured]

    @cached_property
    def _cells(self) -> dict[tuple[Levels, str, Levels], ReportCell]:
        return {self._place(point): point.cell for point in self._points}

    @cached_property
    def _ratios(self) -> dict[tuple[Levels, str, Levels], MeasuredRatio]:
        return {self._place(point): point.ratio for point in self.measured if point.ratio}

    def _cells_of(self, row: Levels, origin: str) -> list[ReportCell]:
        return [self._cells.get((row, origin, column), absent("")) for column in self._columns]

    def _judged(self, published: ReportCell, ratio: MeasuredRatio | None) -> ReportCell:
        """As the claim about it; else whether the paper's speed-up is on the same side of 1."""
        if published.number is None or ratio is None:
            return absent("")
        value = float(published.number.value)
        of_claim = self.of_claims.get((ratio.identity, value))
        if of_claim is not None:
            return ReportCell(str(of_claim.outcome))  # the table of claims has its reason
        found = claims.judgement_of_speed_up(ratio.interval, value)
        return ReportCell(str(found.outcome), note=found.reason)

    def _row(self, point: PaperPoint) -> Levels:
        return tuple(point.levels.get(name, "") for name in self.layout.rows)

    def _column(self, point: PaperPoint) -> Levels:
        return tuple(point.levels.get(name, "") for name in (*self.layout.columns, VALUE))

    def _place(self, point: PaperPoint) -> tuple[Levels, str, Levels]:
        return self._row(point), point.origin, self._column(point)

    @cached_property
    def _columns(self) -> list[Levels]:
        """The values of a system side by side: first those of the paper, then other measured
        ones."""
        columns = list(dict.fromkeys(map(self._column, self._points)))
        groups = list(dict.fromkeys(column[:-1] for column in columns))
        titles = list(dict.fromkeys(column[-1] for column in columns))
        return sorted(
            columns, key=lambda column: (groups.index(column[:-1]), titles.index(column[-1]))
        )

    def _rows(self) -> list[Levels]:
        """In the order in which the paper has its own, whichever of its factors comes first in
        that; numbers by size."""
        rows = list(dict.fromkeys(map(self._row, self._points)))
        published = list(dict.fromkeys(map(self._row, self.published)))
        factors = range(len(self.layout.rows))
        places = [list(dict.fromkeys(row[place] for row in rows)) for place in factors]

        def rank(row: Levels, place: int) -> float:
            level = row[place]
            return level if isinstance(level, int | float) else places[place].index(level)

        for order in itertools.permutations(factors):
            ranked = {row: [rank(row, place) for place in order] for row in rows}
            if published == sorted(published, key=ranked.__getitem__):
                return sorted(rows, key=ranked.__getitem__)
        return rows


def _note(cell: ReportCell) -> str:
    """The verdict alone: its reasons, which differ from cell to cell, stand in the tables of the
    test."""
    if cell.number is None or cell.number.verdict in ("", "valid"):
        return cell.note
    return f"{cell.number.verdict}: the reasons stand in the tables of each test below"


def _ratio(published: ReportCell, measured: ReportCell) -> ReportCell:
    is_ratio = published.number is not None and published.number.unit in RATIO_UNITS
    return paper_points.ratio(measured, published) if is_ratio else absent("")


_TITLE, _SUFFIX = "The paper's tables", "_paper"
_NOT_DIVIDED = (
    "only ratios are divided by the published ones: other numbers are of other machines and other "
    "amounts of data"
)


def section(experiment: ExperimentRecord, claims: Sequence[JudgedClaim] = ()) -> Section | None:
    """``claims``: those of the paper, whose judgements its tables have too. None for an experiment
    that repeats no paper, or one whose tables have no layout."""
    if not experiment.reproduces:
        return None
    of_claims = cases_by_ratio(claims)
    tables = [*_of_series(experiment, of_claims), *_of_tests(experiment, of_claims)]
    printed = list(experiment.workload.published)
    tables.sort(
        key=lambda table: printed.index(table.name.removesuffix(_SUFFIX))
    )  # as in the paper
    tables = [_with_this_machine(experiment, one) for one in tables]
    if not tables:
        return None
    sources = {name: str(one["source"]) for name, one in experiment.workload.published.items()}
    figures = tuple(
        figure
        for one in tables
        for figure in paper_points.figures_of_paper(
            one,
            sources[one.name.removesuffix(_SUFFIX)],
            is_scaled=_is_scaled(experiment, one.name.removesuffix(_SUFFIX)),
        )
    )
    return Section(_TITLE, (), tuple(tables), figures)


def _with_this_machine(experiment: ExperimentRecord, table: ReportTable) -> ReportTable:
    """Where the paper says what its machines were, this one stands with them."""
    published = publications.of_record(experiment.workload, table.name.removesuffix(_SUFFIX))
    if published is None or not published.machines:
        return table
    place = next(
        at for at, note in enumerate(table.notes) if note == list(_machines(published))[-1]
    )
    here = [
        f"{f'{named} here' if named else 'this machine'}: {conditions.machine(machine)}"
        for named, machine in conditions.machines_of(experiment).items()
    ]
    return replace(table, notes=(*table.notes[: place + 1], *here, *table.notes[place + 1 :]))


def _machines(published: Published) -> Iterator[str]:
    return (f"{machine}: {what}" for machine, what in published.machines.items())


def _is_scaled(experiment: ExperimentRecord, name: str) -> bool:
    """Whether a test of that table is smaller here in something that the table does not vary."""
    printed = publications.of_record(experiment.workload, name)
    layout = printed.layout if printed else None
    placed = {*layout.rows, *layout.columns} if layout else set()
    placed |= {printed.column_factor} if printed and printed.column_factor else set()
    joined = [one for one in declaration.series_of_record(experiment.workload) if one.name == name]
    tests = {column.test for one in joined for column in one.columns} or {name}
    scaled = claim_cases.scaled_tests(experiment)
    return any(scaled.get(test, {}).keys() - placed for test in tests)


def shown(section: Section | None) -> set[str]:
    """The tests and series whose published numbers stand in that section."""
    return {one.name.removesuffix(_SUFFIX) for one in section.tables} if section else set()


def _of_series(experiment: ExperimentRecord, of_claims: ByRatio) -> Iterator[ReportTable]:
    tests = cell_runs.tests(experiment)
    for declared in declaration.series_of_record(experiment.workload):
        printed = publications.of_record(experiment.workload, declared.name)
        if printed is None or printed.layout is None:
            continue
        found = [
            cell
            for test in dict.fromkeys(column.test for column in declared.columns)
            for cell in cell_runs.cells(experiment, tests.get(test, ()))
        ]
        if found:
            names = paper_points.systems(printed, found, experiment.workload)
            columns = list(map(_value_column, declared.columns, _time_units(printed, "s")))
            points = paper_points.measured(printed, found, columns, names)
            made = table(
                declared.name, declared.title, printed, list(points), names, found, of_claims
            )
            said = _of_clients(declared.columns, found, names)
            yield replace(made, notes=(*made.notes, *said))


def _of_clients(
    columns: Sequence[SeriesColumn], cell_runs: Sequence[CellRuns], names: Mapping[str, str]
) -> list[str]:
    """Systems whose processes are the client's own."""
    keys = [declaration.read_of(column).name for column in columns]
    cells = [
        cell for cell in cell_runs if cell.measured and aggregates.is_of_client_process(cell, keys)
    ]
    labels = dict.fromkeys(names[cell.system_label] for cell in cells)
    return [f"{name}: sampled of the client's process, in which it works" for name in labels]


def _time_units(printed: Published, otherwise: str) -> list[str]:
    """Of each column: that in which a measured time stands there."""
    return [unit if unit in TIME_UNITS else otherwise for unit in printed.units]


def _value_column(column: SeriesColumn, time_unit: str) -> ValueColumn:
    def has(cell: CellRuns) -> bool:
        is_cache = CACHE not in column.levels or cell.level(CACHE) == column.levels[CACHE]
        return cell.runs[0].test == column.test and is_cache

    return ValueColumn(column.title, aggregates.mean(declaration.read_of(column), time_unit), has)


def _of_tests(experiment: ExperimentRecord, of_claims: ByRatio) -> Iterator[ReportTable]:
    for test, runs in cell_runs.tests(experiment).items():
        printed = publications.of_record(experiment.workload, test)
        declared = declaration.of_record(experiment.workload, test)
        if printed is None or printed.layout is None or declared is None:
            continue
        found = cell_runs.cells(experiment, runs)
        names = paper_points.systems(printed, found, experiment.workload)
        points = _points(printed, declared, found, names)
        yield table(test, declared.title, printed, points, names, found, of_claims)


def _points(
    printed: Published, declared: Declaration, cells: Sequence[CellRuns], names: Mapping[str, str]
) -> list[PaperPoint]:
    key = aggregates.KEYS[declared.value]
    time_units = _time_units(printed, declared.unit)
    if printed.column_factor:
        return list(paper_points.compared(printed, cells, names, key, time_units))
    mean = aggregates.mean(key, time_units[0])
    column = ValueColumn(printed.columns[0], mean, lambda _: True)
    return list(paper_points.measured(printed, cells, [column], names))


def table(
    name: str,
    title: str,
    published: Published,
    measured_points: Sequence[PaperPoint],
    names: Mapping[str, str],
    cells: Sequence[CellRuns],
    of_claims: ByRatio,
) -> ReportTable:
    """Rows in the paper's order, those that only we have behind them; numbers by size."""
    layout = published.layout
    assert layout is not None
    placed = PlacedPoints(layout, list(paper_points.printed(published)), measured_points, of_claims)
    return ReportTable(
        name=f"{name}{_SUFFIX}",
        title=f"{title} ({published.source}){_unit(published)}",
        is_answer=not published.in_text,
        label_columns=len(layout.rows) + 1,
        columns=(
            *(ReportColumn(one, is_number=one == "clients") for one in layout.rows),
            ReportColumn("numbers"),
            *placed.titled,
        ),
        rows=tuple(placed.shown()),
        notes=tuple(_notes(published, measured_points, names, cells)),
    )


def _unit(published: Published) -> str:
    """``, in s``; nothing where the values name their units or are counts."""
    units = [unit for unit in dict.fromkeys(published.units) if unit in (*TIME_UNITS, *RATIO_UNITS)]
    return f", in {', '.join(units)}" if units else ""


def _notes(
    published: Published,
    measured_points: Sequence[PaperPoint],
    names: Mapping[str, str],
    cells: Sequence[CellRuns],
) -> Iterator[str]:
    yield f"published: {published.conditions}" if published.conditions else published.source
    yield from _machines(published)
    layout = published.layout
    if published.column_factor == cell_runs.STORAGE_ROLE:
        are_of_machines = cell_runs.roles_are_of_machines(cells)
        roles = {
            str(cell.level(cell_runs.STORAGE_ROLE)): str(cell.factors["storage"])
            + (f" on {cell.level(MACHINE)}" if are_of_machines else "")
            for cell in cells
        }
        for title, level in zip(published.columns, published.column_levels, strict=True):
            yield f"{title}: {roles.get(str(level), 'no storage of this kind was measured')}"
    measured = {cell.system_label for cell in cells if cell.measured}
    for label, name in names.items():
        if label in measured and label.casefold() != name.casefold():
            is_other = label.partition(" ")[0].casefold() != name.casefold()
            yield f"{name}: measured with {label}{' in its place' if is_other else ''}"
    yield from _other_levels(published, cells)
    if any(len(cell.measured) > 1 for cell in cells):
        yield OF_MEANS
    if not any(point.origin.startswith(MEASURED_POINT) for point in measured_points):
        yield "nothing was measured that stands in this table"
    if _has_other_numbers(published) and layout and HARDWARE not in layout.rows:
        yield _NOT_DIVIDED


def _has_other_numbers(published: Published) -> bool:
    """Whether it has numbers that are no ratios."""
    return any(
        not isinstance(value, str) and unit not in RATIO_UNITS
        for row in published.rows
        for value, unit in zip(row.values, published.units, strict=False)
    )


def _other_levels(published: Published, cells: Sequence[CellRuns]) -> Iterator[str]:
    """Conditions of the published table, as keys of its rows, that measured points do not have."""
    layout = published.layout
    placed = (*layout.rows, *layout.columns) if layout else ()
    yield from published.other_parameters(cell.factors for cell in cells)
    for factor in dict.fromkeys(name for row in published.rows for name in row.levels):
        there = published.levels(factor)
        here = cell_runs.levels(cells, factor)
        if there and here and factor not in placed and set(here) != set(there):
            yield (
                f"{factor}: {', '.join(map(str, there))} published, {', '.join(map(str, here))} "
                "measured"
            )


def joined_table(
    experiment: ExperimentRecord, series: Series, published: Published | None
) -> ReportTable | None:
    """None where fewer than two of the series' tests were run, or not its only one."""
    tests = {column.test for column in series.columns}
    by_test = {
        test: cell_runs.cells(experiment, runs)
        for test, runs in cell_runs.tests(experiment).items()
        if test in tests
    }
    if len(by_test) < min(2, len(tests)):
        return None
    every = [cell for found in by_test.values() for cell in found]
    shared = _shared(by_test, every)
    if any(CACHE in column.levels for column in series.columns):
        shared = [factor for factor in shared if factor != CACHE]
    apart = [DURABILITY] if len(durability.durabilities(every)) > 1 else []
    labels = [series.rows, *(factor for factor in shared if factor != series.rows), *apart]
    scaled = claim_cases.scaled_tests(experiment)
    less = [_less(column, labels, scaled.get(column.test, {})) for column in series.columns]
    of_all = less[0] if less.count(less[0]) == len(less) > 1 else []
    columns = [
        _column(column, [] if of_all else own)
        for column, own in zip(series.columns, less, strict=True)
    ]
    measured = pivot_rows(every, labels, columns, [series.rows, *apart])
    rows: list[Row] = []
    levels = cell_runs.levels(every, series.rows)
    for level in levels:
        rows += [table_row(row, labels) for row in measured if row.levels[series.rows] == level]
        rows += _published(published, series, level, labels)
    if not any(row.is_published for row in rows):  # those of other levels, rather than none
        for level in published.levels(series.rows) if published else ():
            rows += _published(published, series, level, labels)
    rows += _published(published, series, None, labels)
    return ReportTable(
        name=series.name,
        title=series.heading,
        is_answer=series.name in experiment.experiment.series,
        label_columns=len(labels),
        columns=(*(ReportColumn(name, is_number=name == series.rows) for name in labels), *columns),
        rows=tuple(rows),
        notes=(
            *([f"less than in the paper: {', '.join(of_all)}"] if of_all else []),
            *durability.lines(every),
            *notes.notes_on_failures(every),
            *(_source(published) if published else ()),
        ),
    )


def scaled_columns(experiment: ExperimentRecord, series: Series) -> frozenset[int]:
    """Places of the series' columns whose tests have less of something, other than its rows, than
    their paper: published numbers of these are of another size."""
    scaled = claim_cases.scaled_tests(experiment)
    return frozenset(
        place
        for place, column in enumerate(series.columns)
        if _less(column, [series.rows], scaled.get(column.test, {}))
    )


def _shared(by_test: Mapping[str, Sequence[CellRuns]], every: Sequence[CellRuns]) -> list[str]:
    """The system, and the factors of every test that vary within a test; a factor that differs
    only between tests (their clients) is left out."""
    varying = [name for found in by_test.values() for name in cell_runs.varying(found, "system")]
    return [name for name in dict.fromkeys(varying) if all(name in cell.factors for cell in every)]


def _column(column: SeriesColumn, less: Sequence[str]) -> ReportColumn:
    """``less``: what the test has less of than its paper, which the title says."""
    median = aggregates.median(declaration.read_of(column), column.unit)

    def shown(cell: CellRuns) -> ReportCell:
        made = median(cell)
        notes = (
            aggregates.note_on_client_process(cell, (declaration.read_of(column).name,))
            if made.number
            else "",
            made.note,
        )
        return replace(made, note="; ".join(filter(None, notes)))

    return value_column(
        f"{column.title} ({', '.join(less)})" if less else column.title,
        shown,
        column.levels,
        column.unit if declaration.read_of(column).unit == "ns" else "",
    )


def _less(column: SeriesColumn, labels: Sequence[str], scaled: Mapping[str, str]) -> list[str]:
    return [
        f"{name} {level}"
        for name, level in scaled.items()
        if name not in (*labels, *column.independent_of)
    ]


def _published(
    published: Published | None, series: Series, level: Scalar | None, labels: Sequence[str]
) -> list[Row]:
    """The published rows of that level, as printed. None: those that are of no level, which
    stand last."""
    if published is None:
        return []
    found = []
    for row in published.rows:
        if row.levels.get(series.rows) != level:
            continue
        hardware = row.levels.get(HARDWARE)
        words = [row.system, *([] if hardware is None else [str(hardware)]), "published"]
        named = {
            series.rows: ReportCell("") if level is None else cell_runs.label(level),
            "system": ReportCell(", ".join(words), level=row.system),
        }
        values = row.values or [""] * len(published.columns)
        cells = map(_printed, values, published.units)
        found.append(
            Row((*(named.get(one, ReportCell("")) for one in labels), *cells), is_published=True)
        )
    return found


def _printed(value: float | str, unit: str) -> ReportCell:
    """A size with its unit, as those measured in the same column have it."""
    cell = printed_cell(value, unit)
    is_size = cell.number is not None and unit in BYTES_PER
    return replace(cell, shown=f"{cell.shown} {unit}") if is_size else cell


def _source(published: Published) -> list[str]:
    note = f"published: {published.source}, in {published.unit}"
    return [f"{note} ({published.conditions})" if published.conditions else note]
