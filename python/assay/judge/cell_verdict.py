"""Takes the evidence of all runs of a cell; returns the cell's verdict, and the warnings that need
all of its repetitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay.contracts.observation import Observation
from assay.judge import undisturbed, verdict
from assay.judge.evidence.values import Evidence
from assay.judge.precision import number_of
from assay.judge.statistics import samples
from assay.judge.statistics.spread import Spread, spread
from assay.judge.verdict import NONE, Verdict
from assay.judge.warnings import cell_changes, kinds
from assay.judge.warnings.run_warnings import RunWarning
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


def of_cell(runs: Sequence[tuple[Evidence, Verdict]]) -> CellVerdict:
    """``runs``: every repetition that was asked for, each with its own verdict, and those that were
    measured again in the place of a disturbed one. The number that is judged is the throughput;
    where there are no transactions, the elapsed time."""
    measured = [(run, own) for run, own in runs if run.is_measured]
    over = _spread([run for run, _ in measured])
    if over is None:
        judged = verdict.worst([own for _, own in runs]) if _has_failed(runs) else NONE
        return CellVerdict(judged, (), len(runs), len(measured))
    counted = undisturbed.counted(
        measured, lambda judged_run: judged_run[0], lambda judged_run: judged_run[0].of_repetition
    )
    evidence = [run for run, _ in counted]
    over = _spread(evidence) or over
    verdicts = [own for _, own in counted]
    if cell_changes.changes([run for run, _ in measured]):
        verdicts.append(Verdict.because("indicative", _name(kinds.WarningKind.CELL_CHANGED)))
    left_out = len(measured) - len(counted)
    judged = verdict.of_number(verdicts, len(counted), len(runs) - left_out, over)
    warnings = tuple(_warnings(len(runs), over, evidence))
    return CellVerdict(judged, warnings, len(runs), len(measured))


def _warnings(asked: int, over: Spread, measured: Sequence[Evidence]) -> Iterator[RunWarning]:
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


def _outlying(measured: Sequence[Evidence]) -> Iterator[RunWarning]:
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
        run = measured[outlier.at].run
        named = f"run {run}: " if run else ""
        from assay.judge.warnings.seconds import deviation

        yield RunWarning(
            kinds.WarningKind.OUTLYING_REPETITION.id, f"{named}{deviation(outlier, unit)}"
        )


def _name(kind: kinds.WarningKind) -> str:
    """As reasons of verdicts say it."""
    return kind.id.replace("-", " ")


def _has_failed(runs: Sequence[tuple[Evidence, Verdict]]) -> bool:
    return any(run.state in ("failed", "interrupted") for run, _ in runs)


def _spread(measured: Sequence[Evidence]) -> Spread | None:
    values = [value for one in measured if (value := number_of(one)) is not None]
    return spread(values) if values else None
