"""Takes the evidence of all runs of a cell; gives the cell's verdict, and the warnings that need
all of its repetitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.judge import kinds, verdict
from assay.judge.evidence import Document, Evidence
from assay.judge.spread import Spread, spread
from assay.judge.verdict import NONE, Verdict
from assay.judge.warnings import RunWarning
from assay.text import units


@dataclass(frozen=True)
class CellVerdict:
    verdict: Verdict
    warnings: tuple[RunWarning, ...]
    repetitions: int
    """As many as were asked for."""
    measured: int
    """Of them, those that came to their end."""


def of_cell(runs: Sequence[tuple[Evidence, Verdict]], name: str = "") -> CellVerdict:
    """``runs``: every repetition that was asked for, each with its own verdict. The number that is
    judged is the throughput; where there are no transactions, the elapsed time."""
    measured = [(run, own) for run, own in runs if run.is_measured]
    over = _spread([run.observation or {} for run, _ in measured])
    if over is None:
        judged = verdict.worst([own for _, own in runs]) if _has_ended_badly(runs) else NONE
        return CellVerdict(judged, (), len(runs), len(measured))
    judged = verdict.of_number([own for _, own in measured], len(measured), len(runs), over)
    return CellVerdict(judged, tuple(_warnings(len(runs), over, name)), len(runs), len(measured))


def _warnings(repetitions: int, over: Spread, name: str) -> list[RunWarning]:
    found = []
    if repetitions == 1:
        found.append(RunWarning(kinds.Kind.ONE_REPETITION.id, ""))
    if over.relative > kinds.NOISE_LIMIT:
        detail = f"{name}: {units.share(over.relative)} over {over.n} repetitions"
        found.append(RunWarning(kinds.Kind.NOISY_REPETITIONS.id, detail.removeprefix(": ")))
    return found


def _has_ended_badly(runs: Sequence[tuple[Evidence, Verdict]]) -> bool:
    return any(run.state in ("failed", "interrupted") for run, _ in runs)


def _spread(observations: Sequence[Document]) -> Spread | None:
    found = [value for one in observations if (value := _number(one)) is not None]
    return spread(found) if found else None


def _number(observation: Document) -> float | None:
    elapsed_ns = observation.get("elapsed_ns")
    if not elapsed_ns:
        return None
    outcomes = observation.get("outcomes")
    return float(outcomes["ok"] / elapsed_ns * 1e9) if outcomes else float(elapsed_ns)
