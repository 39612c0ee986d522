"""Takes the cells of a test that declares fields; gives one row per run, one column per field."""

from __future__ import annotations

from collections.abc import Sequence

from assay.judge import verdict
from assay.record import RunRecord
from assay.report import field_path, percentiles, pivot
from assay.report.declaration import Declaration, Field
from assay.report.pivot import CellRuns
from assay.report.values import MARKS, Cell, Column, Number, Row, Table, absent
from assay.text import units


def table(test: str, declaration: Declaration, found: Sequence[CellRuns]) -> Table:
    factors = pivot.varying(found, "system")
    declared = declaration.fields
    rows, notes = [], []
    for cell in found:
        for run in cell.runs:
            judged = run.judged
            labels = (*pivot.label_cells(cell, factors), Cell(str(run.repetition)))
            fields = [_cell(run, field, judged) for field in declared]
            if run.observation is None:
                fields = [absent(cell.why_absent), *fields[1:]]
            rows.append(Row((*labels, *fields)))
            if judged.word != "valid":
                mark = f"{MARKS[judged.word]} {judged.word}"
                notes.append(f"{mark}: run {run.id}, {cell.name}: {judged.reason}")
    columns = [Column(name) for name in (*factors, "repetition")]
    columns += [Column(one.title, is_number=True, unit=_shown_unit(one)) for one in declared]
    return Table(
        name=test,
        label_columns=len(factors) + 1,
        title=declaration.heading,
        columns=tuple(columns),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _cell(run: RunRecord, field: Field, judged: verdict.Verdict) -> Cell:
    value = field_path.value(run, field.key)
    if value is None:
        return absent("none")
    mark = MARKS[judged.word]
    if isinstance(value, bool):
        return Cell(f"{'yes' if value else 'no'}{mark}")
    if isinstance(value, int | float):
        unit = field_path.unit(field.key)
        width_ns = percentiles.width_of(field.key, value, run.observation or {})
        made = Number(
            value, unit, 1, verdict=judged.word, reason=judged.reason, resolution=width_ns or None
        )
        shown = units.shown(value, unit, field.unit, resolution_ns=width_ns)
        return Cell(f"{shown}{mark}", made)
    return Cell(str(value))


def _shown_unit(field: Field) -> str:
    return field.unit if field_path.unit(field.key) == "ns" else ""
