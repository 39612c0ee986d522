"""Takes all runs of a cell; returns the cell's verdict, and the warnings that need
all of its repetitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay.contracts.observation import Observation
from assay.judge import undisturbed, verdict
from assay.judge.precision import number_of
from assay.judge.run import NONE, Run, RunWarning, Verdict
from assay.judge.statistics import samples
from assay.judge.statistics.spread import Spread, spread
from assay.judge.warnings import cell_changes, kinds
from assay.text import units

LEAST_REPETITIONS = 4
"""Of three values one always lies at least as far off as the other two lie apart."""


class CellVerdict(Struct, frozen=True):
    verdict: Verdict
    warnings: tuple[RunWarning, ...]
    repetitions: int
    """As planned."""
    measured: int
    """Of them, those that were measured to their end."""


def of_cell(runs: Sequence[Run]) -> CellVerdict:
    """``runs``: every repetition that was asked for, and those that were measured again in the
    place of a disturbed one, each with its own verdict. The number that is judged is the
    throughput; where there are no transactions, the elapsed time."""
    measured = [run for run in runs if run.is_measured]
    over = _spread(measured)
    if over is None:
        judged = verdict.worst([run.judged for run in runs]) if _has_failed(runs) else NONE
        return CellVerdict(judged, (), len(runs), len(measured))
    counted = undisturbed.counted(measured, lambda run: run, lambda run: run.of_repetition)
    over = _spread(counted) or over
    verdicts = [run.judged for run in counted]
    if cell_changes.changes(measured):
        verdicts.append(Verdict.because("indicative", _name(kinds.WarningKind.CELL_CHANGED)))
    left_out = len(measured) - len(counted)
    judged = verdict.of_number(verdicts, len(counted), len(runs) - left_out, over)
    warnings = tuple(_warnings(len(runs), over, counted))
    return CellVerdict(judged, warnings, len(runs), len(measured))


def _warnings(asked: int, over: Spread, measured: Sequence[Run]) -> Iterator[RunWarning]:
    if asked == 1:
        yield RunWarning(kinds.WarningKind.ONE_REPETITION.id, "")
    if over.relative > kinds.NOISE_LIMIT:
        detail = f"{units.share_beyond(over.relative, kinds.NOISE_LIMIT)} over {over.n} repetitions"
        yield RunWarning(kinds.WarningKind.NOISY_REPETITIONS.id, detail)
    if changes := cell_changes.changes(measured):
        yield RunWarning(kinds.WarningKind.CELL_CHANGED.id, changes)
    yield from _outlying(measured)
    if detail := samples.few([run.driven for run in measured if run.driven]):
        yield RunWarning(kinds.WarningKind.FEW_SAMPLES.id, detail)


def _outlying(measured: Sequence[Run]) -> Iterator[RunWarning]:
    """The repetition that is unlike all others."""
    numbers = [number_of(run) for run in measured]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers) or len(known) < LEAST_REPETITIONS:
        return
    import numpy as np  # here, as in `assay.judge.warnings.seconds`

    from assay.judge.statistics.outliers import among_repetitions

    is_rate = isinstance(measured[0].observation, Observation)
    scale, unit = (1.0, "/s") if is_rate else (1e9, " s")
    outlier = among_repetitions(np.asarray(known, dtype=np.float64) / scale)
    if outlier is not None:
        run = measured[outlier.at].id
        named = f"run {run}: " if run else ""
        from assay.judge.warnings.seconds import deviation

        yield RunWarning(
            kinds.WarningKind.OUTLYING_REPETITION.id, f"{named}{deviation(outlier, unit)}"
        )


def _name(kind: kinds.WarningKind) -> str:
    """As reasons of verdicts say it."""
    return kind.id.replace("-", " ")


def _has_failed(runs: Sequence[Run]) -> bool:
    return any(run.state in ("failed", "interrupted") for run in runs)


def _spread(measured: Sequence[Run]) -> Spread | None:
    values = [value for one in measured if (value := number_of(one)) is not None]
    return spread(values) if values else None
