"""Takes the cells of a test and the report declared by its workload; returns the table of
results, a pivot; and of a grid what each factor changes, and which two change each other's
effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from assay.comparison.effects import Effect, SettingEffects
from assay.comparison.ratios import NO_DIFFERENCE, NOT_DECIDED
from assay.contracts.metric import ReportColumn, unit_of
from assay.experiment import Scalar
from assay.judge.statistics.estimate import CONFIDENCE, ERROR_OF_POOLED
from assay.plan import cell_names
from assay.plan.cell_names import CACHE
from assay.record.metrics.resources import CLIENT_CPU, SERVER_CPU
from assay.report import cell_runs, cell_tables, columns, durability
from assay.report.cell_runs import REPETITION, CellRuns
from assay.report.cell_tables import Aggregate, PivotRow, pivot_rows, table_row, value_column
from assay.report.columns import numbers, words
from assay.report.declared import aggregates
from assay.report.declared import published as notes
from assay.report.declared.published import Published, PublishedRow
from assay.report.sections import costs
from assay.report.values import (
    SPEED_UP,
    Number,
    ReportCell,
    ReportTable,
    Section,
    absent,
    judged,
    text,
)
from assay.text import units
from assay.workload.declared_reports import Declaration

_PERCENTILES = ("p50", "p99")


def tables(
    test: str,
    declared: Declaration | None,
    of_test: Sequence[CellRuns],
    published: Published | None = None,
) -> tuple[ReportTable, ...]:
    """One for each group of cells with the same durability."""
    return durability.tables_by_durability(
        of_test, lambda cells: _table(test, declared, cells, published, cell_runs.varying(of_test))
    )


def _table(
    test: str,
    declared: Declaration | None,
    cells: Sequence[CellRuns],
    published: Published | None,
    varying: Sequence[str],
) -> ReportTable:
    """``varying``: the factors that vary in all tables of the test, which are named in each."""
    if declared is None:
        return _summary_table(test, cells, varying)
    if declared.fields:
        return _fields_table(test, declared, cells, varying, published)
    return _factors_table(test, declared, cells, published, varying)


def _named(cells: Sequence[CellRuns], varying: Sequence[str], *always: str) -> list[str]:
    there = dict.fromkeys(name for cell in cells for name in cell.factors)
    return [name for name in there if name in always or name in varying]


def _summary_table(test: str, cells: Sequence[CellRuns], varying: Sequence[str]) -> ReportTable:
    labels = _named(cells, varying, "system", "clients")
    has_range = any(len(cell.runs) > 1 for cell in cells)
    unit = cell_tables.unit_of_percentile(
        run.measurement.of_clients.all_ok.latency for _, run in cell_runs.middle_runs(cells)
    )

    def in_unit(made: Number) -> str:
        return units.time(made.value, unit, resolution_ns=made.resolution or 0)

    has_cold = cell_tables.any_timed_from_cold(cells)
    columns = [
        *([value_column(cell_tables.FIRST, cell_tables.first_executions)] * has_cold),
        *([value_column(cell_tables.WARM_AFTER, cell_tables.warm_after)] * has_cold),
        value_column("TPS", _if_not_cold(aggregates.median(aggregates.THROUGHPUT))),
        *(
            [value_column("min-max", _if_not_cold(aggregates.full_range(aggregates.THROUGHPUT)))]
            * has_range
        ),
        *(
            value_column(
                name, aggregates.each(cell_tables.latency_of_run(name, unit), in_unit), unit=unit
            )
            for name in _PERCENTILES
        ),
        *(
            value_column(title, aggregates.each(show, costs.shown_time), unit="µs")
            for title, show in (
                ("client CPU", partial(costs.metric_cell, CLIENT_CPU)),
                ("server CPU", partial(costs.metric_cell, SERVER_CPU)),
            )
        ),
    ]
    return cell_tables.pivot_table(
        test,
        "Throughput, latency and CPU time",
        cells,
        labels,
        columns,
        (
            "TPS: transactions that ended ok per second of the measurement; p50, p99: latency of "
            "these; client CPU, server CPU: CPU time per transaction",
            *([cell_tables.NOTE_ON_COLD] if has_cold else []),
            *([aggregates.OVER_REPETITIONS] if has_range else []),
            *notes.notes_on_failures(cells),
        ),
    )


def _if_not_cold(aggregate: Aggregate) -> Aggregate:
    """Of a cell that was measured for a time with cold caches nothing."""
    return lambda cell: absent("") if cell_tables.is_timed_from_cold(cell) else aggregate(cell)


def _fields_table(
    test: str,
    declared: Declaration,
    cells: Sequence[CellRuns],
    varying: Sequence[str],
    published: Published | None,
) -> ReportTable:
    labels = [*_named(cells, varying, "system"), REPETITION]
    columns = [
        value_column(
            field.title,
            aggregates.only(aggregates.at(field.key), field.unit, shows_reason=place == 0),
            unit=field.unit if unit_of(field.key) == "ns" else "",
        )
        for place, field in enumerate(declared.fields)
    ]
    runs = [run for cell in cells for run in cell.each()]
    rows = []
    for row in pivot_rows(runs, labels, columns):
        made = table_row(row, labels)
        (cell,) = {id(one): one for one in row.cells if one is not None}.values()
        last = len(labels) - 1
        marked = replace(made.cells[last], note=_of_its_cell(cell))
        rows.append(replace(made, cells=(*made.cells[:last], marked, *made.cells[last + 1 :])))
    return ReportTable(
        name=test,
        label_columns=len(labels),
        title=declared.heading,
        columns=(*(ReportColumn(name) for name in labels), *columns),
        rows=tuple(rows),
        notes=(*([declared.note] if declared.note else []), *notes.note_on_points(published)),
    )


def _of_its_cell(cell: CellRuns) -> str:
    """What limits a cell of which this run by itself is valid; empty: nothing, or the run does."""
    verdict = cell.judged.verdict
    is_own = cell.runs[0].judged.word != "valid"
    is_said = verdict.word != "unreliable" or is_own
    return "" if is_said else f"the cell is {verdict.word}: {verdict.reason}"


def _factors_table(
    test: str,
    declared: Declaration,
    cells: Sequence[CellRuns],
    published: Published | None,
    varying: Sequence[str],
) -> ReportTable:
    levels = cell_runs.levels(cells, declared.columns)
    caches = _caches(declared, cells)
    blocks = [
        name for name in _blocks(declared, cells, varying) if name != CACHE or len(caches) == 1
    ]
    key = aggregates.KEYS[declared.value]
    unit = {"ns": declared.unit, "per_s": "per s", "bytes": ""}[key.unit]
    columns = [
        value_column(
            _with_cache(units.level(level), cache),
            aggregates.median(key, declared.unit, with_range=True),
            {declared.columns: level, **({CACHE: cache} if cache else {})},
            unit,
        )
        for level in levels
        for cache in caches
    ]
    order = [*blocks, declared.rows]
    beside = _beside_rows(declared, blocks) if published is None else []
    blocks = [name for name in blocks if name not in beside]
    pivot = pivot_rows(cells, order, columns, order)
    printed = published if published and any(_printed(row, published) for row in pivot) else None
    rows = [
        table_row(
            row,
            [*beside, declared.rows],
            blocks,
            _beside(declared, key, row, levels, caches, printed),
        )
        for row in pivot
    ]
    role = SPEED_UP if declared.has_speed_up and not declared.has_scalability else ""
    speed_ups = [
        ReportColumn(title, is_number=True, role=role)
        for title in _speed_up_titles(declared, levels, caches)
    ]
    return ReportTable(
        name=test,
        title=declared.heading,
        label_columns=len(beside) + 1,
        columns=(
            *cell_runs.label_columns(cells, beside),
            ReportColumn(declared.rows),
            *columns,
            *speed_ups,
            *(printed.beside if printed else []),
        ),
        rows=tuple(rows),
        notes=(
            notes.explanation(declared, cells),
            *([declared.note] if declared.note else []),
            *notes.notes_on_failures(cells),
            *notes.notes_beside(published, cells),
        ),
    )


def _beside_rows(declared: Declaration, blocks: Sequence[str]) -> list[str]:
    """Several factors that the report does not place, as settings are, have columns of their own:
    a block for each combination would have one row."""
    others = [name for name in blocks if name != declared.blocks]
    return others if len(others) > 1 else []


def _caches(declared: Declaration, cells: Sequence[CellRuns]) -> Sequence[Scalar]:
    """The states of the caches that have a column for each storage; one, empty, where they do not
    vary or stand elsewhere."""
    is_placed = declared.columns != cell_runs.STORAGE or CACHE in (declared.rows, declared.blocks)
    states = [] if is_placed else cell_runs.levels(cells, CACHE)
    return states if len(states) > 1 else [""]


def _with_cache(title: str, cache: Scalar) -> str:
    return f"{title}\n{cache}" if cache else title


def _blocks(declared: Declaration, cells: Sequence[CellRuns], varying: Sequence[str]) -> list[str]:
    """The declared block factor, and every varying factor that is neither row nor column."""
    placed = (declared.rows, declared.columns)
    own = [declared.blocks] if cell_runs.levels(cells, declared.blocks) else []
    others = [name for name in _named(cells, varying) if name not in placed]
    return list(dict.fromkeys([*own, *others]))


def _beside(
    declared: Declaration,
    key: ReportColumn,
    row: PivotRow,
    levels: Sequence[Scalar],
    caches: Sequence[Scalar],
    published: Published | None,
) -> list[ReportCell]:
    """Speed-ups, for each state of the caches, scalability and published numbers, after the
    measured ones."""
    shown: list[ReportCell] = []
    if declared.has_scalability:
        shown += _scalability(key, row, levels)
    if declared.has_speed_up:
        numbers = [None if cell is None else aggregates.number(cell, key) for cell in row.cells]
        why_none = f"one {declared.columns}" if len(levels) == 1 else ""
        each = len(caches)
        others = list(enumerate(numbers))[each:] or [(0, None)]
        shown += [
            aggregates.speed_up(numbers[place % each], other, key) or absent(why_none)
            for place, other in others
        ]
    if published:
        shown += published.cells(_printed(row, published))
    return shown


def _printed(row: PivotRow, published: Published) -> PublishedRow | None:
    first = next(cell for cell in row.cells if cell is not None)
    return published.row(first.published_names, first.factors)


def _scalability(key: ReportColumn, row: PivotRow, levels: Sequence[Scalar]) -> list[ReportCell]:
    """Of each number of clients but the first, which need not be 1."""
    numbers = [None if cell is None else aggregates.number(cell, key) for cell in row.cells]
    shown = []
    for clients, other in zip(levels[1:], numbers[1:], strict=True):
        ratio = float(clients) / float(levels[0])
        found = aggregates.scalability(numbers[0], other, key, ratio)
        shown.append(absent("") if found is None else judged(units.ratio(found.value), found))
    return shown


def _speed_up_titles(
    declared: Declaration, levels: Sequence[Scalar], caches: Sequence[Scalar]
) -> list[str]:
    if declared.has_scalability:
        return [f"scalability\n{level}" for level in levels[1:]]
    if not declared.has_speed_up:
        return []
    if len(levels) < 2:
        return ["speed-up"]
    return [
        "\n".join(["speed-up", *([str(level)] if len(levels) > 2 else []), *filter(None, [cache])])
        for level in levels[1:]
        for cache in map(str, caches)
    ]


def effects_section(setting_effects: SettingEffects, name: str) -> Section:
    """``name``: of the test, as tables begin with it."""
    return Section("Effects of settings", (), (_effects_table(setting_effects, name),))


def _effects_table(setting_effects: SettingEffects, name: str) -> ReportTable:
    return columns.table(
        f"{name}_effects",
        f"What each factor changes over all of the grid: {setting_effects.metric.label}, "
        f"{units.counted(setting_effects.runs, 'run')} of "
        f"{units.counted(setting_effects.cells, 'cell')}",
        (
            words(
                "effect",
                lambda effect: " and ".join(change.factor for change in effect.of),
                is_label=True,
            ),
            words("levels", _levels, is_label=True),
            numbers("ratio", _ratio),
            numbers(f"{CONFIDENCE:.0%} interval", _interval),
            numbers("p", _p),
            ReportColumn("verdict", cell=_verdict),
        ),
        setting_effects.effects,
        notes=tuple(_effects_notes(setting_effects)),
    )


def _levels(effect: Effect) -> str:
    return " and ".join(
        f"{cell_names.level_text(one.level)} / {cell_names.level_text(one.compared_with)}"
        for one in effect.of
    )


def _ratio(effect: Effect) -> ReportCell:
    made = Number(effect.ratio, "ratio", effect.combinations, effect.low, effect.high)
    return ReportCell(units.digits(effect.ratio), made)


def _interval(effect: Effect) -> ReportCell:
    if effect.low is None or effect.high is None:
        return absent("-")
    return text(f"{units.digits(effect.low)} to {units.digits(effect.high)}")


def _p(effect: Effect) -> ReportCell:
    value = effect.adjusted_p
    if value is None:
        return absent("-")
    return text("<0.001" if value < 0.001 else f"{value:.3f}")


def _verdict(effect: Effect) -> ReportCell:
    if not effect.is_decided:
        return ReportCell(NOT_DECIDED, note=effect.reason)
    if not effect.is_seen:
        return text(NO_DIFFERENCE)
    word = "interact" if effect.is_interaction else "matters"
    if effect.durability == ("", ""):
        return text(word)
    (change,) = effect.of
    at = zip((change.level, change.compared_with), effect.durability, strict=True)
    named = ", ".join(f"{cell_names.level_text(level)}: {name}" for level, name in at)
    return ReportCell(word, note=f"commits are not equally durable: {named}")


def _effects_notes(setting_effects: SettingEffects) -> Iterator[str]:
    yield (
        "ratio: at the first level, divided by that at the second; the geometric mean over all "
        "combinations of the other factors"
    )
    if any(one.is_interaction for one in setting_effects.effects):
        yield (
            "A and B: the ratio of A at the first level of B, divided by that at its second; 1: A "
            "has the same effect at both"
        )
    yield f"p: adjusted for {len(setting_effects.effects)} effects (Holm)"
    if setting_effects.is_pooled:
        yield ERROR_OF_POOLED
    if setting_effects.left_out:
        yield (
            f"left out, with the combinations that need them: {_listed(setting_effects.left_out)}"
        )


def _listed(names: Sequence[str], most: int = 3) -> str:
    more = f"; and {len(names) - most} more" if len(names) > most else ""
    return "; ".join(names[:most]) + more
