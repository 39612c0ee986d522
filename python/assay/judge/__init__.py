"""Takes what is known of a run that has ended, or of all runs of a cell; returns the verdict and
the warnings that are kept with it. Reads no record, and writes none.
"""

from assay.judge import verdict, warnings
from assay.judge.cells import CellVerdict, of_cell
from assay.judge.evidence import Ceiling, Evidence
from assay.judge.verdict import Verdict
from assay.judge.warnings import RunWarning

__all__ = [
    "Ceiling",
    "CellVerdict",
    "Evidence",
    "RunWarning",
    "Verdict",
    "judge_run",
    "of_cell",
]


def judge_run(evidence: Evidence) -> tuple[Verdict, list[RunWarning]]:
    """Verdict and warnings of a single run."""
    return verdict.of_run(evidence), warnings.of_run(evidence)
