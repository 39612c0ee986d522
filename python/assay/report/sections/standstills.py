"""Takes the cells of a test; returns the stalls of the system and the suspensions of the client."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import Column, Row, Table, run_number, seconds, text

_SHOWN = 10


def table(test: str, found: Sequence[CellRuns]) -> Table | None:
    """The longest ones of all runs; None where there were none."""
    standstills = [
        (span.lasted_ns, who, span, cell, run.run)
        for cell, run in cell_runs.driven_runs(found)
        for who, stood_still in (
            ("system stalled", run.driven.stalls),
            ("client suspended", run.driven.suspensions),
        )
        for span in stood_still
    ]
    if not standstills:
        return None
    standstills.sort(key=lambda standstill: -standstill[0])
    rows = [
        Row(
            (
                run_number(run.id),
                text(cell.name),
                text(who),
                *(seconds(value_ns) for value_ns in (span.from_ns, span.to_ns, lasted_ns)),
            )
        )
        for lasted_ns, who, span, cell, run in standstills[:_SHOWN]
    ]
    left_out = len(standstills) - len(rows)
    return Table(
        name=f"{test}_standstills",
        label_columns=3,
        title="Stalls and suspensions",
        columns=(
            Column("run", is_number=True),
            Column("cell"),
            Column("who"),
            *(Column(title, is_number=True, unit="s") for title in ("from", "to", "lasted")),
        ),
        rows=tuple(rows),
        notes=(
            "stalled: no transaction ended while clients waited for an answer; suspended: this "
            "program did not run; from, to: since the beginning of the measurement"
            + (f"; and {left_out} shorter ones" if left_out else ""),
        ),
    )
