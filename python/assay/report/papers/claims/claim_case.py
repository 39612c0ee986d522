"""A claim of a paper, the cells that it is judged on, and its judgement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from assay.judge.statistics.order import ConfidenceInterval
from assay.record import ExperimentRecord
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import aggregates, client_process
from assay.report.declared.aggregates import RunValue
from assay.report.papers.claims import comparability
from assay.report.papers.claims.cell_ratio import measured_ratio
from assay.report.papers.claims.claims import BOUNDS, COMPARISONS, Claim, ClaimKind
from assay.report.papers.claims.judgement import ClaimVerdict, Judgement
from assay.report.papers.claims.ratio_identity import RatioIdentity, ratio_identity


class JudgedClaim(Judgement, frozen=True, kw_only=True):
    """A claim with its judgement, for one combination of the levels of other factors."""

    claim: Claim
    of: str
    """These levels, in words."""
    published: str
    measured: str
    ratio_identity: RatioIdentity | None = None
    """What `number` is the ratio of."""
    expected: float | None = None
    """The published ratio, or the exponent of the published values in the range that was run; None:
    neither is printed, or a range of ratios is."""


class ClaimCase(Struct, frozen=True, dict=True):
    """The cells that a claim is judged on."""

    experiment: ExperimentRecord
    claim: Claim
    of: str = ""
    cells: Sequence[CellRuns] = ()

    def judged(
        self,
        word: ClaimVerdict,
        why: str = "",
        *,
        remark: str = "",
        published: str = "",
        measured: str = "",
        number: ConfidenceInterval | None = None,
        ratio_identity: RatioIdentity | None = None,
        expected: float | None = None,
    ) -> JudgedClaim:
        return JudgedClaim(
            claim=self.claim,
            of=self.of,
            published=published or _published(self.claim),
            measured=measured,
            word=word,
            why=why,
            remark=remark,
            number=number,
            ratio_identity=ratio_identity,
            expected=_expected(self.claim) if expected is None else expected,
        )

    def not_comparable(self, why: str) -> JudgedClaim:
        return self.judged(ClaimVerdict.NOT_COMPARABLE, why)

    @property
    def modelled(self) -> str:
        """The remark on its storages."""
        return comparability.modelled(self.cells, self.keys[0].unit)

    @property
    def why_not_of_system(self) -> str:
        """Why a value of the system's processes is none of the system's; empty: it is."""
        keys = [key for term in self.claim.terms for key in term.quantity.keys]
        return next(filter(None, (client_process.why_not(cell, keys) for cell in self.cells)), "")

    @cached_property
    def keys(self) -> list[RunValue]:
        """By which the value of each term is read."""
        terms = self.claim.terms
        return [term.quantity.key(self.experiment.workload, term.test) for term in terms]

    def values(self) -> list[list[float]]:
        """Of the repetitions of each cell, which is that of a term."""
        return [aggregates.values(*one) for one in zip(self.cells, self.keys, strict=True)]

    @property
    def ratio_identity(self) -> RatioIdentity:
        """The last value divided by the first."""
        last, first = ((self.cells[place], self.keys[place]) for place in (-1, 0))
        return ratio_identity(last, first)

    def ratio(self, after: int, before: int) -> ConfidenceInterval:
        """Of the cells in these places."""
        numerator, denominator = (
            (self.cells[place], self.keys[place]) for place in (after, before)
        )
        return measured_ratio(numerator, denominator)

    @property
    def whole_ratio(self) -> ConfidenceInterval:
        """The last value divided by the first."""
        return self.ratio(len(self.cells) - 1, 0)


def _expected(claim: Claim) -> float | None:
    return claim.ratio.value if claim.ratio else claim.exponent


def _published(claim: Claim) -> str:
    if claim.kind is ClaimKind.GROWTH:
        return "" if claim.exponent is None else f"exponent {claim.exponent:.2f}"
    if claim.kind in BOUNDS:
        word = claim.kind.replace("_", " ")
        is_path = isinstance(claim.limit, str)
        return f"{word} {claim.limit}" if is_path else f"{word} {claim.limit:g}"
    assert claim.kind in COMPARISONS
    derived = ", derived" if claim.is_derived else ""
    ratio = f" (x {claim.ratio.shown}{derived})" if claim.ratio else ""
    if claim.kind is ClaimKind.TIMES:
        bounds = (("least", claim.least), ("most", claim.most))
        words = " and ".join(f"at {word} x {of:g}" for word, of in bounds if of is not None)
        return f"{claim.names[-1]} ÷ {claim.names[0]} {words}{ratio}"
    sign = " < " if claim.kind is ClaimKind.ORDER else " = "
    return f"{sign.join(claim.names)}{ratio}"
