"""Takes the cells of a test whose fields count something, such as the days of each query; returns
each field's value along these counts, a line for each system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import aggregates, field_path
from assay.report.declared.declaration import Declaration
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale, on_one_scale
from assay.report.figures.panels import panels
from assay.text import units


def figures(
    test: str, declared: Declaration | None, cell_runs: Sequence[CellRuns]
) -> tuple[Figure, ...]:
    """Empty where the report does not say what its fields count (``along``)."""
    if declared is None or not declared.along:
        return ()
    unit = units.comparable_unit({field_path.unit(field.key) for field in declared.fields})
    made = panels(cell_runs, "system")
    shown = []
    for place, panel in enumerate(made.shown, 1):
        lines = [(name, tuple(_points(declared, cells))) for name, cells in panel.series]
        series = tuple(DataSeries(name, points) for name, points in lines if len(points) > 1)
        if not series:
            continue
        is_log = all(point.y > 0 for one in series for point in one.points)
        shown.append(
            Figure(
                f"{test}_along_{place}",
                f"{declared.title}: {panel.title}" if panel.title else declared.title,
                Mark.LINES,
                Axis(declared.along),
                Axis(unit, Scale.LOG if is_log else Scale.LINEAR),
                series,
                notes=made.notes(panel),
            )
        )
    return on_one_scale(shown)


def _points(declared: Declaration, cells: Sequence[CellRuns]) -> Iterator[Point]:
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
