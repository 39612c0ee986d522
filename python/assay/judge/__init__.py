"""Takes what is known of a run that has ended, or of all runs of a cell; returns the verdict and
the warnings that are kept with it. Reads no record, and writes none.
"""

from assay.judge import run_warnings, verdict
from assay.judge.run import Run, RunWarning, Verdict
from assay.judge.verdict import CellVerdict, of_cell

__all__ = ["CellVerdict", "Run", "RunWarning", "Verdict", "judge_run", "of_cell"]


def judge_run(run: Run) -> tuple[Verdict, list[RunWarning]]:
    """Verdict and warnings of a single run."""
    return verdict.of_run(run), run_warnings.of_run(run)
