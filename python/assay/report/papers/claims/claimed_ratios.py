"""Takes judged claims; returns the judgement of a ratio in a table as the claim about it has it, so
that one number has one judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.record import ExperimentRecord
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import aggregates
from assay.report.declared.selection import Quantity
from assay.report.papers.claims import comparability, judgement
from assay.report.papers.claims.cell_ratio import measured_ratio
from assay.report.papers.claims.claim_case import JudgedClaim
from assay.report.papers.claims.judgement import Judgement
from assay.report.papers.claims.ratio_identity import RatioIdentity, ratio_identity

ByRatio = Mapping[tuple[RatioIdentity, float], JudgedClaim]
"""(what is divided by what, published ratio) → the claim about it."""


def by_ratio(claims: Sequence[JudgedClaim]) -> ByRatio:
    """For tables that print these ratios."""
    return {
        (one.ratio_identity, one.claim.ratio.value): one
        for one in claims
        if one.ratio_identity and one.claim.ratio and one.claim.ratio.value is not None
    }


def judged_speed_up(
    experiment: ExperimentRecord,
    cells: tuple[CellRuns, CellRuns],
    quantities: tuple[Quantity, Quantity],
    published: float,
    *,
    is_more_better: bool,
    of_claims: ByRatio,
) -> Judgement:
    """How many times faster the second cell is than the first, and whether it is so in the paper,
    as a claim about that ratio has it."""
    keys = [
        of.key(experiment.workload, cell.runs[0].test)
        for cell, of in zip(cells, quantities, strict=True)
    ]
    of_both = [aggregates.values(*one) for one in zip(cells, keys, strict=True)]
    why = next(filter(None, map(comparability.why_not, cells)), "")
    if why := why or comparability.why_no_ratio(of_both, keys):
        return judgement.not_comparable(why)
    denominator, numerator = (0, 1) if is_more_better else (1, 0)
    identity = ratio_identity(
        (cells[numerator], keys[numerator]), (cells[denominator], keys[denominator])
    )
    if (claim := of_claims.get((identity, published))) is not None:
        return claim
    measured = measured_ratio(
        (cells[numerator], keys[numerator]), (cells[denominator], keys[denominator])
    )
    return judgement.of_speed_up(measured, published, comparability.modelled(cells, keys[0].unit))
