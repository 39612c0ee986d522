"""Takes what is known of a run that has ended, or of all runs of a cell; returns the verdict and
the warnings that are kept with it. Reads no record, and writes none.
"""

from assay.judge import verdict
from assay.judge.cell_verdict import CellVerdict, of_cell
from assay.judge.ended_run import EndedRun
from assay.judge.evidence.values import Ceiling, Evidence
from assay.judge.verdict import Verdict
from assay.judge.warnings import run_warnings
from assay.judge.warnings.run_warnings import RunWarning

__all__ = [
    "Ceiling",
    "CellVerdict",
    "EndedRun",
    "Evidence",
    "RunWarning",
    "Verdict",
    "judge_run",
    "of_cell",
]


def judge_run(evidence: Evidence) -> tuple[Verdict, list[RunWarning]]:
    """Verdict and warnings of a single run."""
    return verdict.of_run(evidence), run_warnings.of_run(evidence)
