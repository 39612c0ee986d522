"""Takes an experiment's record; returns its `Report`, from which every format is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from assay.contracts.metric import WarningText, unit_of
from assay.judge import RunWarning
from assay.judge.warning_kinds import place, texts
from assay.record import ExperimentRecord, Run
from assay.record.runs.run_names import machine_shown
from assay.report import cell_runs, durability, factor_order
from assay.report.cell_runs import CellRuns
from assay.report.declared import declaration
from assay.report.sections import conditions
from assay.report.values import MadeWhenAsked, Report, ReportTable, Section, TidyRow, WarningNote
from assay.text import units
from assay.workload.declared_reports import Declaration

if TYPE_CHECKING:
    from assay.comparison.conclusions import Question
    from assay.comparison.effects import SettingEffects
    from assay.comparison.ratios import Knee
    from assay.report.figure import Figure, Point


def build(experiment: ExperimentRecord, *, is_brief: bool = False) -> Report:
    """The report of an experiment, of those of its runs that ``experiment`` holds. ``is_brief``: as
    far as `assay.report.summaries.first_look` shows it."""
    cells = {
        test: cell_runs.cells(experiment, runs)
        for test, runs in cell_runs.tests(experiment).items()
    }
    every = [cell for found in cells.values() for cell in found]
    questions, grids = _compared(experiment) if len(every) > 1 else ((), ())
    sections: list[Section] = []
    already: Collection[str] = ()
    printed: Collection[str] = ()
    if experiment.reproduces:
        from assay.report.papers import paper_table, published_measured

        compared = published_measured.section(experiment)
        sections += [compared] if compared is not None else []
        already, printed = paper_table.shown(compared), published_measured.shown(compared)
    sections += _series(experiment, already, printed)
    report = Report(
        title=experiment.title,
        experiments=tuple(one.id for one in experiment.each),
        record=experiment.path,
        facts={},
        sections=_finished(sections) if is_brief else (),
        warnings=_warning_notes(_noted(experiment, every), _limits(experiment)),
        cell_count=len(every),
        questions=questions,
        effects=grids,
    )
    if is_brief:
        return report
    from assay.report.summaries import summary
    from assay.report.values import RunOfCell, timed_histograms

    knees = [knee for question in questions for _, knee in question.knees]
    sections += _every_section(experiment, cells, already, knees, grids)
    return replace(
        report,
        facts=conditions.facts(experiment),
        sections=_finished(sections),
        tidy={"experiment": facts(experiment), "tables": tables(experiment)},
        histograms=partial(timed_histograms, experiment),
        summary=summary.section(experiment, every),
        runs=tuple(
            RunOfCell(run, cell.runs[0].id, cell.name) for cell in every for run in cell.runs
        ),
    )


def _compared(
    experiment: ExperimentRecord,
) -> tuple[tuple[Question, ...], tuple[SettingEffects, ...]]:
    """What each factor changes; it needs two cells."""
    from assay.comparison import conclusions, effects

    return conclusions.questions(experiment), effects.effects(experiment)


def _noted(experiment: ExperimentRecord, every: Sequence[CellRuns]) -> Iterator[RunWarning]:
    for run in experiment.runs:
        yield from run.warnings
    yield from _cell_warnings(every)
    if any(run.probe is not None for run in experiment.runs):
        from assay.report.sections import probes

        yield from probes.warnings(factor_order.runs_in_order(experiment))
    if any(step.reported is not None for run in experiment.runs for step in run.steps):
        from assay.report.sections import loads

        yield from loads.step_report_warnings(experiment.runs)


def _finished(sections: Iterable[Section]) -> tuple[Section, ...]:
    from assay.report import columns

    return tuple(
        replace(section, tables=tuple(map(columns.numbered_footnotes, section.tables)))
        for section in _said_once(without(sections))
    )


def _every_section(
    experiment: ExperimentRecord,
    cells: Mapping[str, Sequence[CellRuns]],
    already: Collection[str],
    knees: Sequence[Knee],
    grids: Iterable[SettingEffects],
) -> list[Section]:
    """The results of each test, each with what explains it, and what holds for all of them."""
    from assay.report.sections import derived, loads
    from assay.report.sections import probes as storage_probes

    sections: list[Section] = []
    in_order = factor_order.runs_in_order(experiment)
    probes = sections_by_machine(in_order, storage_probes.section)
    for test, found in cells.items():
        sections.append(shown := _results(experiment, test, found, test not in already, knees))
        from_here = len(sections) - 1
        explained = [*_effects(grids, test, found), *_test_sections(experiment, test, found)]
        if probes and len(cell_runs.levels(found, "storage")) > 1:
            explained[:0] = probes  # beside the first results that compare storages
            probes = []
        sections += [replace(section, part_of=shown.title) for section in explained]
        sections[from_here:] = [
            _sourced(experiment, found[0].runs[0].full_test_name, one)
            for one in sections[from_here:]
        ]
    sections += derived.sections(experiment)
    sections += [
        section
        for section in (
            *probes,
            loads.section(experiment.runs),
            *sections_by_machine(in_order, partial(_setup, experiment)),
        )
        if section is not None
    ]
    sections += loads.sheet_sections(experiment.workload)
    return sections


def _setup(experiment: ExperimentRecord, runs: Sequence[Run]) -> Section | None:
    from assay.report.sections import probes as storage_probes

    return conditions.section(experiment, runs, storage_probes.why_none(runs))


def _effects(
    grids: Iterable[SettingEffects], test: str, cells: Sequence[CellRuns]
) -> Iterator[Section]:
    """Beside the results of their test."""
    from assay.report.sections import results

    for grid in grids:
        if grid.test == cells[0].runs[0].full_test_name:
            yield results.effects_section(grid, test)


def _said_once(sections: Iterable[Section]) -> Iterator[Section]:
    """Which runs are taken apart is left out where a table above says it of the same runs, unless
    that table is a detail, which may be hidden."""
    said: set[str] = set()
    for section in sections:
        tables = []
        for table in section.tables:
            tables.append(replace(table, notes=tuple(n for n in table.notes if n not in said)))
            if not table.is_detail:
                said |= {note for note in table.notes if note.startswith(cell_runs.OF_MIDDLE)}
        yield replace(section, tables=tuple(tables))


def _sourced(experiment: ExperimentRecord, test: str, section: Section) -> Section:
    """Its charts, which may be files of their own, with experiment, workload, test and date."""
    days = dict.fromkeys(
        f"{datetime.fromtimestamp(one.begun_unix_ns / 1e9, UTC):%Y-%m-%d}"
        for one in experiment.each
    )
    numbers = units.numbered("experiment", [one.id for one in experiment.each])
    named = f"{experiment.title}: {test}" if experiment.title != test else test
    source = f"{named}, {numbers}, {', '.join(days)}"
    return replace(section, figures=tuple(replace(one, source=source) for one in section.figures))


def _series(
    experiment: ExperimentRecord, already: Container[str], printed: Container[str]
) -> Iterator[Section]:
    """The tables over several tests, which come first, but for those that are shown ``already``.
    ``printed``: those whose published numbers are shown."""
    from assay.report.declared import published

    for declared in declaration.series_of_record(experiment.workload):
        is_asked = declared.name in experiment.experiment.series
        if (declared.paper_only and not is_asked) or declared.name in already:
            continue
        from assay.report.figures import bars
        from assay.report.papers import paper_table

        beside = published.of_record(experiment.workload, declared.name)
        if (whole := paper_table.joined_table(experiment, declared, beside)) is None:
            continue
        shown = whole
        if declared.name in printed:
            shown = replace(whole, rows=tuple(row for row in whole.rows if not row.is_published))
        scaled = paper_table.scaled_columns(experiment, declared)
        figures = bars.series_figures(whole, without_published=scaled)
        yield Section(f"Series {declared.name}", (), (shown,), figures)


def _results(
    experiment: ExperimentRecord,
    test: str,
    cells: Sequence[CellRuns],
    has_published: bool,
    knees: Sequence[Knee],
) -> Section:
    from assay.report.figures import bars, level_chart
    from assay.report.papers import paper_points
    from assay.report.sections import goals, results

    runs = (run for cell in cells for run in cell.runs)
    declared = declaration.of_test(experiment.workload, test, runs)
    from assay.report.declared import published

    beside = published.of_record(experiment.workload, test) if has_published else None
    tables = results.tables(test, declared, cells, beside)
    kept = partial(goals.kept_rate, experiment)
    along = level_chart.figures(test, declared, cells, knees, kept)
    figures = (
        *bars.of_tables(tables),
        *paper_points.figures_of_results(tables),
        *bars.throughput(test, declared, cells, has_lines=bool(along)),
        *along,
        *figures_of_fields(test, declared, cells),
    )
    lines = (
        *durability.lines(cells),
        *cell_runs.agreement_lines([cell.runs for cell in cells], [cell.judged for cell in cells]),
    )
    return Section(_title(cells[0]), lines, tables, figures)


def _test_sections(
    experiment: ExperimentRecord, test: str, cells: Sequence[CellRuns]
) -> list[Section]:
    from assay.report.figures import over_time
    from assay.report.sections import (
        answers,
        costs,
        endpoints,
        generators,
        goals,
        groups,
        headline,
        loads,
        machine_use,
        outcomes,
        storage_prices,
        storage_ranks,
        storages,
        timeline,
        times,
    )

    declared = declaration.of_record(experiment.workload, test)
    return [
        section
        for section in (
            goals.section(experiment, test, cells),
            headline.section(test, cells),
            goals.precision_section(experiment, test, cells),
            storage_prices.ratios_section(test, declared, cells),
            storage_prices.section(test, declared, cells),
            storage_ranks.section(test, cells),
            storage_ranks.commit_efficiency_section(test, cells),
            generators.native_clients_section(test, cells),
            generators.section(test, cells),
            groups.section(test, cells),
            endpoints.section(test, cells),
            groups.deferred_section(test, cells),
            outcomes.section(test, cells),
            outcomes.logs_section(test, cells),
            headline.service_section(test, cells),
            answers.section(test, cells),
            times.section(test, cells),
            groups.statements_section(test, cells),
            _with_figures(timeline.section(test, cells), over_time.timeline_figures(test, cells)),
            costs.caches_section(test, cells),
            costs.section(test, cells),
            machine_use.section(test, cells),
            storages.requests_section(test, cells),
            machine_use.server_section(test, cells),
            loads.step_reports_section(test, cells),
        )
        if section is not None
    ]


def _with_figures(section: Section | None, figures: tuple[Figure, ...]) -> Section | None:
    return None if section is None else replace(section, figures=figures)


def _title(cell: CellRuns) -> str:
    """``Test simple-update``; of an ad hoc script ``Script read.sql``; ``tpcb with read.sql``."""
    run = cell.runs[0]
    if run.is_ad_hoc:
        return f"Script {run.full_test_name}"
    return run.full_test_name if run.scripts_given else f"Test {run.test}"


def _cell_warnings(cells: Sequence[CellRuns]) -> Iterator[RunWarning]:
    """Those that need all repetitions, as they are on record; of several cells each with the name
    of its cell, but what is the same of many cells is said once."""
    tests = {cell.runs[0].full_test_name for cell in cells}
    for cell in cells:
        test = f"{cell.runs[0].full_test_name}: " if len(tests) > 1 else ""
        named = f"{test}{cell.name}: " if len(cells) > 1 else ""
        for one in cell.judged.warnings:
            yield RunWarning(one.name, f"{named}{one.detail}")


def _limits(experiment: ExperimentRecord) -> dict[str, None]:
    """What ends its runs: ``duration_s``, ``transactions`` …"""
    drivings = (run.driving for run in experiment.runs)
    return dict.fromkeys(limit for driving in drivings for limit in driving.stop)


_DETAILS_SHOWN = 4


def _warning_notes(
    warnings: Iterable[RunWarning], limits: Collection[str]
) -> tuple[WarningNote, ...]:
    """The warnings of many runs, which end by these ``limits``, each kind once. Kinds that this
    version does not know come last, without cause and fix."""
    details: dict[str, list[str]] = {}
    for name, detail in warnings:
        details.setdefault(name, []).append(detail)
    return tuple(
        WarningNote(name, text.cause, _distinct(details[name]), text.fix_of(limits))
        for name in sorted(details, key=place)
        for text in [texts().get(name, WarningText("", ""))]
    )


def _distinct(details: Iterable[str]) -> tuple[str, ...]:
    """The first few distinct details, and the number of the others."""
    distinct = list(dict.fromkeys(detail for detail in details if detail))
    more = len(distinct) - _DETAILS_SHOWN
    return (*distinct[:_DETAILS_SHOWN], *([f"and {more} more"] if more > 0 else []))


# Takes an experiment's record; returns its tidy tables: a row per cell, run, transaction type …,
# and a column per factor and number, each with a stable name and a unit, numbers as measured.
#
# A parameter of the workload is the column ``parameter_NAME``, if any run has it.


def facts(experiment: ExperimentRecord) -> dict[str, Any]:
    """What was run, when, on what."""
    return {
        "id": experiment.id,
        "experiments": [one.id for one in experiment.each],
        "title": experiment.title,
        "reproduces": experiment.reproduces or None,
        "workload": experiment.workload.name,
        "workload_fingerprint": experiment.workload.fingerprint,
        "seed": str(experiment.seed),
        "begun_unix_ns": experiment.begun_unix_ns,
        "ended_unix_ns": experiment.ended_unix_ns,
        "is_under_way": experiment.is_under_way,
        "runs_planned": experiment.runs_planned,
        "runs_ended": experiment.runs_ended,
        "continued_by": experiment.continued_by or None,
        "record": str(experiment.path),
        "machine": experiment.machine,
        "machines": {machine_shown(run): run.machine for run in experiment.runs},
        "build": experiment.build,
    }


def tables(experiment: ExperimentRecord) -> MadeWhenAsked[Sequence[TidyRow]]:
    """Each is made when a form asks for it."""
    from assay.report.tidy.tables import TABLES

    return MadeWhenAsked({name: partial(table.rows, experiment) for name, table in TABLES.items()})


# Takes the sections of a report; returns them without what holds no value: tables that explain
# results and have neither a number nor a footnote that says why, columns whose cells are all
# empty, and charts without a point.


def without(sections: Iterable[Section]) -> Iterator[Section]:
    """A section of results says why it has no number, and stays."""
    for section in sections:
        tables = tuple(
            _without_columns(table)
            for table in section.tables
            if not section.part_of or _has_value(table)
        )
        if tables or not section.tables or section.lines:
            figures = tuple(figure for figure in section.figures if figure.points)
            yield replace(section, tables=tables, figures=figures)


def _has_value(table: ReportTable) -> bool:
    values = [cell for row in table.rows for cell in row.cells[table.label_columns :]]
    return not values or any(cell.note or (cell.shown and not cell.is_absent) for cell in values)


def _without_columns(table: ReportTable) -> ReportTable:
    """One column stays."""
    every = range(len(table.columns))
    kept = [
        place
        for place in every
        if place < table.label_columns
        or table.columns[place].role
        or any(row.cells[place].shown for row in table.rows)
    ]
    if len(kept) in (len(every), table.label_columns):
        return table
    return replace(
        table,
        columns=tuple(table.columns[place] for place in kept),
        rows=tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in table.rows),
    )


# Takes runs, and what makes a section of those of one machine; returns one for each machine.


def sections_by_machine(
    runs: Sequence[Run], make: Callable[[Sequence[Run]], Section | None]
) -> list[Section]:
    """What has one name on two machines (a storage, a system) is another on each."""
    found = []
    for number, machine in enumerate(dict.fromkeys(run.machine_name for run in runs), 1):
        made = make([run for run in runs if run.machine_name == machine])
        if made is not None:
            found.append(_named(made, machine, number))
    return found


def _named(section: Section, machine: str, place: int) -> Section:
    """Names of tables and figures are unique in a report."""
    if not machine:
        return section
    behind = f"_{place}" if place > 1 else ""
    return replace(
        section,
        title=f"{section.title} on {machine}",
        tables=tuple(replace(one, name=f"{one.name}{behind}") for one in section.tables),
        figures=tuple(replace(one, name=f"{one.name}{behind}") for one in section.figures),
    )


# Takes the cells of a test whose fields count something, such as the days of each query; returns
# each field's value along these counts, a line for each system.


def figures_of_fields(
    test: str, declared: Declaration | None, cell_runs: Sequence[CellRuns]
) -> tuple[Figure, ...]:
    """Empty where the report does not say what its fields count (``along``)."""
    from assay.report.figures.bars import panels

    if declared is None or not declared.along:
        return ()
    unit = units.comparable_unit({unit_of(field.key) for field in declared.fields})
    made = panels(cell_runs, "system")
    shown = []
    from assay.report.figure import Axis, DataSeries, Figure, Mark, Scale

    for number, panel in enumerate(made.shown, 1):
        lines = [(name, tuple(_points(declared, cells))) for name, cells in panel.series]
        series = tuple(DataSeries(name, points) for name, points in lines if len(points) > 1)
        if not series:
            continue
        is_log = all(point.y > 0 for one in series for point in one.points)
        shown.append(
            Figure(
                f"{test}_along_{number}",
                f"{declared.title}: {panel.title}" if panel.title else declared.title,
                Mark.LINES,
                Axis(declared.along),
                Axis(unit, Scale.LOG if is_log else Scale.LINEAR),
                series,
                notes=made.notes(panel),
            )
        )
    from assay.report.figure import on_one_scale

    return on_one_scale(shown)


def _points(declared: Declaration, cells: Sequence[CellRuns]) -> Iterator[Point]:
    from assay.report.declared import aggregates
    from assay.report.figure import Point

    for field in declared.fields:
        for cell in cells:
            made = aggregates.number(cell, aggregates.at(field.key))
            if made is not None:
                low, high = (
                    None if one is None else units.comparable(one, made.unit)
                    for one in (made.low, made.high)
                )
                value = units.comparable(made.value, made.unit)
                yield Point(float(field.title), value, low, high, cell.run_ids, made.verdict)
