"""Takes an experiment whose cells are repeated as needed; returns how precise each cell is, and why
it was not repeated further.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from assay.experiment import MOST_REPETITIONS
from assay.judge.precision import half_width, is_reached, number_to_be_precise
from assay.record import ExperimentRecord
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import counts, numbers, path, words
from assay.report.values import Number, ReportCell, Section, absent
from assay.text import units

REACHED = "precise enough"
BUDGET = "budget ended"
_NOT_ENDED = "not ended"
_NOT_MEASURED = "a run was not measured"


class CellPrecision(NamedTuple):
    repetitions: int
    """Measured."""
    half_width: float | None
    """Half the width of the interval of the mean, as a share of it; None: not known."""
    ended_by: str
    """Empty: the number of repetitions was given."""


def asked(experiment: ExperimentRecord) -> float | None:
    """The precision that was asked for; None: none."""
    found = experiment.experiment.get("precision")
    return float(found) if isinstance(found, int | float) else None


def is_repeated_as_needed(experiment: ExperimentRecord) -> bool:
    return asked(experiment) is not None or experiment.experiment.get("budget_s") is not None


def of_cell(experiment: ExperimentRecord, cell: CellRuns) -> CellPrecision:
    numbers = [number_to_be_precise(run) for run in cell.runs]
    known = [number for number in numbers if number is not None]
    why = ""
    if is_repeated_as_needed(experiment):
        why = _why(experiment, numbers, known, is_begun=bool(cell.measured))
    return CellPrecision(len(known), half_width(known), why)


def _why(
    experiment: ExperimentRecord,
    numbers: Sequence[float | None],
    known: Sequence[float],
    *,
    is_begun: bool,
) -> str:
    precision = asked(experiment)
    if precision is not None and is_reached(known, precision):
        return REACHED
    if experiment.is_unfinished:
        return _NOT_ENDED
    if not is_begun or len(known) < len(numbers):
        return _NOT_MEASURED
    if len(numbers) >= max(MOST_REPETITIONS, int(experiment.experiment.get("repetitions", 1))):
        return "most repetitions"
    return BUDGET


def line(experiment: ExperimentRecord) -> str:
    """``±5 % asked: 3 to 12 repetitions; precise enough: 3 of 4; budget ended: 1 of 4; ±1 % to
    ±7 %``; empty where neither a precision nor a budget was asked for."""
    if not is_repeated_as_needed(experiment):
        return ""
    found = [
        of_cell(experiment, cell)
        for runs in cell_runs.tests(experiment).values()
        for cell in cell_runs.cells(experiment, runs)
    ]
    numbers = sorted({one.repetitions for one in found})
    most = max(numbers, default=0)
    times = units.counted(most, "repetition")
    if len(numbers) > 1:
        times = f"{numbers[0]} to {times}"
    ends: dict[str, int] = {}
    for one in found:
        ends[one.ended_by] = ends.get(one.ended_by, 0) + 1
    said = [f"{why}: {number} of {len(found)}" for why, number in ends.items()]
    widths = [one.half_width for one in found if one.half_width is not None]
    if widths:
        least, widest = (units.percent(width) for width in (min(widths), max(widths)))
        said.append(f"±{least}" if least == widest else f"±{least} to ±{widest}")
    wanted = asked(experiment)
    first = f"±{units.percent(wanted)} asked: " if wanted is not None else ""
    return f"{first}{times}; {'; '.join(said)}"


def section(experiment: ExperimentRecord, test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where the number of repetitions was given."""
    if not is_repeated_as_needed(experiment):
        return None
    from assay.report.cells import by_cell

    table = by_cell.table(
        f"{test}_precision",
        "How precisely the mean of each cell is known, and why it was not repeated further",
        (cells, cell_runs.varying(cells, "system", "clients")),
        (
            counts("repetitions", path("repetitions")),
            numbers("±", lambda source: _share(source.half_width)),
            numbers("asked", lambda _: _share(asked(experiment))),
            words("ended", path("ended_by")),
        ),
        [(cell, of_cell(experiment, cell)) for cell in cells],
        notes=(
            "±: half the width of the 95 % interval of the mean of the repetitions (Student's t), "
            "of the throughput (in an open loop of the mean latency), or of the elapsed time where "
            "there is none",
        ),
    )
    return Section("Precision", (), (table,))


def _share(value: float | None) -> ReportCell:
    return (
        absent("-") if value is None else ReportCell(units.percent(value), Number(value, "ratio"))
    )
