"""Takes the record of an experiment that reproduces a paper; returns the section "Published and
measured": what was scaled down, each published table with our values between its rows, and the
paper's claims with their judgements.

A published number and ours stand in the unit of the paper. Their ratio is no target: the machines
are decades apart. It is left out where the test was scaled down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.experiment import Scalar
from assay.record import ExperimentRecord
from assay.report.cells import cell_runs, client_process, declaration, published, selection, series
from assay.report.cells.aggregates import number
from assay.report.cells.cell_runs import CellRuns
from assay.report.cells.published import NOT_FACTORS, Published
from assay.report.cells.selection import Quantity
from assay.report.papers import comparability, judged_claims, paper_table
from assay.report.papers import figure as published_figures
from assay.report.papers.comparability import MODELLED
from assay.report.papers.judged_claims import ALIKE, Judged
from assay.report.papers.judgement import Word, not_comparable
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent, judged, text
from assay.text import units

TITLE = "Published and measured"
_PREFIX = "published_and_measured_"
_PER: Mapping[str, float] = {
    "min": 60e9, "s": 1e9, "ms": 1e6, "µs": 1e3, "MB": 1e6, "GB": 1e9
}  # fmt: skip
"""How many of the unit in the record are one of the paper's."""


@dataclass(frozen=True)
class _Column:
    """A column of the paper's table, and our cells for it."""

    title: str
    unit: str
    test: str
    levels: Mapping[str, Any]
    quantity: Quantity

    def number(self, experiment: ExperimentRecord, cell: CellRuns) -> Number | None:
        """Our number in the paper's unit."""
        found = number(cell, self.quantity.key(experiment, self.test))
        if found is None:
            return None
        per = _PER.get(self.unit, 1.0) if found.unit in ("ns", "bytes") else 1.0
        return Number(
            found.value / per, self.unit, found.n, verdict=found.verdict, reason=found.reason
        )


def section(experiment: ExperimentRecord) -> Section | None:
    """None where the experiment reproduces no paper."""
    if not experiment.reproduces:
        return None
    found = selection.all_cells(experiment)
    tests = {cell.runs[0].test for cell in found}
    scaled = comparability.scaled(experiment)
    tables = [
        table
        for name, (beside, columns) in _published(experiment).items()
        if {column.test for column in columns} & tests
        and (table := _table(experiment, name, beside, columns, found, scaled)) is not None
    ]
    figures = [figure for one in tables for figure in published_figures.of_pairs(one)]
    if (of_paper := paper_table.section(experiment)) is not None:
        figures = [*of_paper.figures, *figures]
        tables = [*of_paper.tables, *tables]
    claims = judged_claims.judged(experiment)
    if claims:
        tables.append(_claims_table(claims))
    if shrunk := _scaled_table(experiment):
        tables.insert(0, shrunk)
    if not tables:
        return None
    lines = (judged_claims.summary(claims),) if claims else ()
    return Section(TITLE, lines, tuple(tables), tuple(figures))


def shown(found: Section | None) -> set[str]:
    """The tests and series whose published rows stand in that section."""
    return {one.name.removeprefix(_PREFIX) for one in found.tables} if found else set()


def _published(
    experiment: ExperimentRecord,
) -> dict[str, tuple[Published, list[_Column]]]:
    """By test or series: the published table, and our cells for its columns."""
    workload = experiment.workload
    joined = {one.name: one for one in series.of_record(workload)}
    found = {}
    for name in workload.get("published", {}):
        beside = published.of_record(workload, name)
        if beside is None or beside.layout is not None:  # that one is in the paper's own shape
            continue
        if beside.measured:
            own: list[Mapping[str, Any]] = list(beside.measured)
        elif name in joined:
            own = [
                {
                    "test": column.test,
                    "key": column.key,
                    **({"cache": column.cache} if column.cache else {}),
                }
                for column in joined[name].columns
            ]
        else:
            declared = declaration.of_record(workload, name)
            factor = declared.columns if declared else "storage"
            own = [{factor: title} for title in beside.columns]
        found[name] = (beside, list(_columns(name, beside, own)))
    return found


def _columns(name: str, beside: Published, own: Sequence[Mapping[str, Any]]) -> Iterator[_Column]:
    for place, (title, asked) in enumerate(zip(beside.columns, own, strict=True)):
        unit = beside.units[place] if len(beside.units) > 1 else beside.unit
        keys = asked.get("key", ())
        quantity = Quantity(
            str(asked.get("value", "")),
            (keys,) if isinstance(keys, str) else tuple(keys),
            str(asked.get("per", "")),
        )
        levels = {key: one for key, one in asked.items() if key not in selection.QUANTITY}
        test = str(levels.pop("test", name))
        yield _Column(title, unit, test, {"test": test, **levels}, quantity)


def _table(
    experiment: ExperimentRecord,
    name: str,
    beside: Published,
    columns: Sequence[_Column],
    found: Sequence[CellRuns],
    scaled: Mapping[str, Mapping[str, str]],
) -> Table | None:
    """The paper's rows, each with ours below it; rows that were not measured are only named."""
    factors = [
        factor
        for factor in dict.fromkeys(key for row in beside.rows for key in row)
        if factor not in NOT_FACTORS and len(beside.levels(factor)) > 1
    ]
    has_speed_up = any(row.get("speed_up") for row in beside.rows)
    rows: list[Row] = []
    left_out: list[str] = []
    for printed in beside.rows:
        ours = list(_ours(experiment, printed, beside, columns, found, factors, scaled))
        if not ours:
            left_out.append(_row_name(printed, factors))
            continue
        labels = [_label(printed.get(factor)) for factor in factors]
        cells = [text(printed["system"]), *labels, text("published")]
        values = [
            published.printed_cell(value, column.unit)
            for value, column in zip(printed["values"], columns, strict=False)
        ] or [absent("not printed") for _ in columns]
        speed_ups = ", ".join(f"{one:.2f}" for one in printed.get("speed_up", ()))
        extra = [text(speed_ups), text("")] if has_speed_up else []
        rows += [Row((*cells, *values, *extra), is_published=True), *ours]
    if not rows:
        return None
    titles = [Column("system"), *(Column(factor, is_number=True) for factor in factors), Column("")]
    extra_titles = [Column("speed-up", is_number=True), Column("judged")] if has_speed_up else []
    return Table(
        name=f"{_PREFIX}{name}",
        title=f"{beside.source}: published and measured",
        is_answer=not beside.in_text,
        label_columns=len(titles),
        columns=(
            *titles,
            *(
                Column(_heading(one, set(factors), scaled), is_number=True, unit=one.unit)
                for one in columns
            ),
            *extra_titles,
        ),
        rows=tuple(rows),
        notes=(
            f"published: {beside.conditions}" if beside.conditions else "",
            *_notes(beside, factors, found, columns),
            f"published, not measured here: {'; '.join(left_out)}" if left_out else "",
        ),
    )


def _heading(column: _Column, factors: set[str], scaled: Mapping[str, Mapping[str, str]]) -> str:
    """The title in the paper, and above it what ours has less of."""
    of_test = scaled.get(column.test, {})
    less = ", ".join(f"{name} {level}" for name, level in of_test.items() if name not in factors)
    return f"{less} here\n{column.title}" if less else column.title


def _ours(
    experiment: ExperimentRecord,
    printed: Mapping[str, Any],
    beside: Published,
    columns: Sequence[_Column],
    found: Sequence[CellRuns],
    factors: Sequence[str],
    scaled: Mapping[str, Mapping[str, str]],
) -> Iterator[Row]:
    """A row of measured values for each of our systems that this row is about, and the ratios."""
    wanted = {name: printed[name] for name in factors if name in printed}
    if not beside.any_system:
        wanted["system"] = printed["system"]
    wanted |= printed.get("measured", {})
    has_speed_up = any(row.get("speed_up") for row in beside.rows)
    of_columns = [selection.with_levels(found, {**column.levels, **wanted}) for column in columns]
    every = [cell for cells in of_columns for cell in cells]
    for label in cell_runs.levels(every, "system"):
        chosen = [
            next((cell for cell in cells if cell.factors["system"] == label), None)
            for cells in of_columns
        ]
        numbers = [
            None if cell is None else column.number(experiment, cell)
            for cell, column in zip(chosen, columns, strict=True)
        ]
        labels = [_label(printed.get(factor)) for factor in factors]
        values = [
            _shown(one, cell, column) if one is not None and cell is not None else _none(cell)
            for one, cell, column in zip(numbers, chosen, columns, strict=True)
        ]
        extra = []
        if has_speed_up:
            extra = list(_speed_up(experiment, printed, columns, chosen))
        yield Row((text(label), *labels, text("measured"), *values, *extra))
        ratios = [
            _ratio(one, value, cell, column, set(factors), scaled)
            for one, value, cell, column in zip(
                numbers, printed["values"], chosen, columns, strict=False
            )
        ]
        if any(cell.shown for cell in ratios):
            blank = [text("")] * len(extra)
            yield Row((text(label), *labels, text("measured ÷ published"), *ratios, *blank))


def _shown(number: Number, cell: CellRuns, column: _Column) -> Cell:
    shown = judged(units.digits(number.value), number)
    notes = (client_process.note(cell, column.quantity.keys), shown.note)
    return replace(shown, runs=cell.run_ids, note="; ".join(filter(None, notes)))


def _none(cell: CellRuns | None) -> Cell:
    return (
        absent("not asked")
        if cell is None
        else cell.absent
        if not cell.measured
        else absent("none")
    )


def _ratio(
    ours: Number | None,
    printed: float | str,
    cell: CellRuns | None,
    column: _Column,
    factors: set[str],
    scaled: Mapping[str, Mapping[str, str]],
) -> Cell:
    if ours is None or cell is None or isinstance(printed, str) or not printed:
        return absent("")
    if client_process.is_client(cell, column.quantity.keys):
        return absent("other process")
    if scaled.get(column.test, {}).keys() - factors:
        return absent("scaled")
    ratio = ours.value / printed
    made = Number(ratio, "ratio", verdict=ours.verdict, reason=ours.reason)
    return Cell(units.digits(ratio, 3), made)


def _speed_up(
    experiment: ExperimentRecord,
    printed: Mapping[str, Any],
    columns: Sequence[_Column],
    chosen: Sequence[CellRuns | None],
) -> tuple[Cell, Cell]:
    """Of the first column against each other one, and whether the paper has them in that order."""
    declared = declaration.of_record(experiment.workload, columns[0].test)
    is_more_better = bool(declared and declared.is_more_better)
    shown, words = [], []
    for column, cell, expected in zip(
        columns[1:], chosen[1:], printed.get("speed_up", ()), strict=False
    ):
        first = chosen[0]
        if first is None or cell is None:
            missing = columns[0] if first is None else column
            words.append(not_comparable(f"{missing.title} was not measured").sentence)
            continue
        found = judged_claims.judged_speed_up(
            experiment,
            (first, cell),
            (columns[0].quantity, column.quantity),
            expected,
            is_more_better=is_more_better,
        )
        if found.number is not None:
            shown.append(f"{found.number.value:.2f}")
        words.append(found.sentence)
    return text(", ".join(shown)), text("; ".join(dict.fromkeys(words)))


def _row_name(printed: Mapping[str, Any], factors: Sequence[str]) -> str:
    return ", ".join(
        [
            str(printed["system"]),
            *(f"{name} {printed[name]}" for name in factors if name in printed),
        ]
    )


def _label(level: Scalar | None) -> Cell:
    return absent("") if level is None else cell_runs.label(level)


def _notes(
    beside: Published,
    factors: Sequence[str],
    found: Sequence[CellRuns],
    columns: Sequence[_Column],
) -> Iterator[str]:
    """The levels of what the paper did not vary, where ours are others."""
    tests = {column.test for column in columns}
    ours = [cell for cell in found if cell.runs[0].test in tests]
    for name in dict.fromkeys(key for row in beside.rows for key in row):
        there = beside.levels(name)
        here = {cell.factors[name] for cell in ours if name in cell.factors}
        if name not in factors and there and here - set(there):
            listed = ", ".join(map(str, sorted(here, key=str)))
            yield f"published for {name} = {there[0]}, measured with {listed}"


def _scaled_table(experiment: ExperimentRecord) -> Table | None:
    """What the quick version has in place of the full one; the same of several tests once."""
    by_change: dict[tuple[str, str, str], list[str]] = {}
    for one in experiment.experiment.get("scaled", ()):
        by_change.setdefault((one["name"], one["full"], one["quick"]), []).append(one["test"])
    if not by_change:
        return None
    return Table(
        name="scaled_down",
        title="Scaled down",
        columns=(Column("what"), Column("full size"), Column("here"), Column("tests")),
        rows=tuple(
            Row((text(name), text(full or "-"), text(quick or "-"), text(", ".join(tests))))
            for (name, full, quick), tests in by_change.items()
        ),
    )


def _claims_table(found: Sequence[Judged]) -> Table:
    rows = []
    for one in found:
        block = {"": one.claim.shown}
        cells = (one.of, one.published, one.measured, one.sentence)
        rows.append(Row(tuple(text(cell) for cell in cells), block))
    return Table(
        name="claims",
        title="Claims of the paper",
        columns=(Column("of"), Column("published"), Column("measured"), Column("judged")),
        rows=tuple(rows),
        notes=(
            "x: ratio of the geometric means of the repetitions (tables of results have medians)",
            "in parentheses the interval in which the ratio or exponent lies with 95 % confidence, "
            "from the repetitions; an order is judged where 1 is not in it",
            *_words(found),
            *_modelled(found),
        ),
    )


def _words(found: Sequence[Judged]) -> Iterator[str]:
    """Of judgements that give no reason of their own."""
    if any(one.word is Word.NOT_DECIDED and not one.why for one in found):
        yield "not decided: the interval reaches over the limit"
    if any(ALIKE in one.measured for one in found):
        yield f"{ALIKE}: they do not differ in the digits shown"


def _modelled(found: Sequence[Judged]) -> tuple[str, ...]:
    if not any(one.remark == MODELLED for one in found):
        return ()
    return (
        "modelled storage: the times of its requests are those of a model; the order is the one on "
        "such a model, and was not measured on the storage itself",
    )
