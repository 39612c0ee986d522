"""Takes a claim and the cells that it is judged on; returns their ratio with its interval, or
why they cannot be compared, so that one number has one judgement in claims and tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from assay.comparison import ratios
from assay.contracts.metric import ReportColumn
from assay.judge.statistics import estimate
from assay.judge.statistics.estimate import ConfidenceInterval, LeastDeviation
from assay.judge.warning_kinds import WarningKind
from assay.plan.cell_names import MACHINE
from assay.record import ExperimentRecord
from assay.report import cell_runs
from assay.report.cell_runs import CellRuns
from assay.report.declared import aggregates, published
from assay.report.declared.published import Levels, Quantity
from assay.report.papers import claims
from assay.report.papers.claims import (
    BOUNDS,
    COMPARISONS,
    Claim,
    ClaimKind,
    ClaimVerdict,
    Judgement,
    Term,
)
from assay.text.phrases import reason_sentence


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
            expected=(self.claim.ratio.value if self.claim.ratio else self.claim.exponent)
            if expected is None
            else expected,
        )

    def not_comparable(self, why: str) -> JudgedClaim:
        return self.judged(ClaimVerdict.NOT_COMPARABLE, why)

    @property
    def modelled(self) -> str:
        """The remark on its storages."""
        return modelled_note(self.cells, self.keys[0].unit)

    @property
    def why_not_of_system(self) -> str:
        """Why a value of the system's processes is none of the system's; empty: it is."""
        keys = [key for term in self.claim.terms for key in term.quantity.keys]
        return next(
            filter(None, (aggregates.why_not_of_system(cell, keys) for cell in self.cells)), ""
        )

    @cached_property
    def keys(self) -> list[ReportColumn]:
        """By which the value of each term is read."""
        terms = self.claim.terms
        return [term.quantity.key(self.experiment.workload, term.test) for term in terms]

    def values(self) -> list[list[float]]:
        """Of the repetitions of each cell, which is that of a term."""
        return [aggregates.values(*one) for one in zip(self.cells, self.keys, strict=True)]

    @property
    def ratio_identity(self) -> RatioIdentity:
        """The last value divided by the first."""
        return ratio_identity(*self._operands(-1, 0))

    def ratio(self, after: int, before: int) -> ConfidenceInterval:
        """Of the cells in these places."""
        return measured_ratio(*self._operands(after, before))

    def _operands(self, *places: int) -> Iterator[Operand]:
        return ((self.cells[place], self.keys[place]) for place in places)

    @property
    def whole_ratio(self) -> ConfidenceInterval:
        """The last value divided by the first."""
        return self.ratio(len(self.cells) - 1, 0)


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


MODELLED = "on a modelled storage"
"""Beside a judgement: the storage is a model of one."""
_NOT_SIZES = ("repetitions",)
"""What may be scaled down and leaves each number as it is."""
OF_SPEED = ("ns", "per_s", "per_min", "bytes_per_s", "ratio")
"""Units of what depends on how fast storage and machine are; sizes and counts do not."""
_NAMED = "`assay report NAME=3 NAME=5`"
"""What gives the machines of two experiments the names by which a paper compares them."""
NO_VALUE = "this system has no such value"


def why_not_comparable(cell: CellRuns, key: ReportColumn | None = None) -> str:
    """Why the cell cannot be compared by this key; empty: it can."""
    if not (cell.measured if key is None else aggregates.runs_of(cell, key)):
        run = cell.runs[0]
        if run.state == "planned":
            return f"{run.system} was not run"
        reason, _, _hint = reason_sentence(run.reason).partition(" (")
        return f"{run.system} was not measured: {reason or run.state}"
    for measured in cell.measured:
        warned = {one.name for one in measured.warnings}
        if WarningKind.NOT_FROM_DEVICE.id in warned:
            return f"{cell.name}: nothing was read from the device"
        if WarningKind.SCRIPTS_LEFT_OUT.id in warned:
            return f"{cell.name}: not all scripts of the test were run"
    verdict = cell.judged.verdict
    return f"{cell.name} is invalid: {verdict.reason}" if verdict.word == "invalid" else ""


def why_no_cell(term: Term, cells: Sequence[CellRuns]) -> str:
    """The first level of the term that no cell has, beside those before it."""
    left = list(cells)
    wanted: Levels = {"test": term.test, **term.levels}
    for name, level in wanted.items():
        kept = published.cells_with_levels(left, {name: level})
        if not kept and left and not any(cell.measured for cell in left):
            return why_not_comparable(left[0])
        if not kept:
            there = cell_runs.levels(left, name)
            if name == MACHINE:
                return _other_machine(str(level), [str(one) for one in there])
            if name == "storage" and len(there) == 1:
                return f"one storage only ({there[0]})"
            several = level if isinstance(level, tuple | list) else (level,)
            words = ", ".join(map(str, several))
            return f"{words if name == 'system' else f'{name} {words}'} was not measured"
        left = kept
    return "it was not measured"


def _other_machine(wanted: str, there: Sequence[str]) -> str:
    """Why no run was made on that machine of the paper, and what to do."""
    if not there:
        return f"one machine only ({_NAMED} has two)"
    return f"no machine is called {wanted} ({_NAMED} names them)"


def why_no_ratio(of_cells: Sequence[Sequence[float]], keys: Sequence[ReportColumn]) -> str:
    """Why these values of cells, each with its key, have no ratio; empty: they have."""
    if not all(of_cells):
        return NO_VALUE
    every = zip(of_cells, keys, strict=True)
    return next(filter(None, (estimate.why_no_ratio(one, key.unit) for one, key in every)), "")


def other_durability(cells: Sequence[CellRuns]) -> str:
    """Systems on the same storage, or one on two machines, of which one answers before a commit is
    safe and another not."""
    systems = {cell.system_on_machine for cell in cells}
    durabilities = {cell.system_on_machine: cell.durability for cell in cells}
    known = {level for level in durabilities.values() if level is not None}
    if len(systems) < 2 or len(known) < 2:
        return ""
    listed = ", ".join(f"{name} {level}" for name, level in durabilities.items())
    return f"unequal durability ({listed})"


def scaled_tests(experiment: ExperimentRecord) -> dict[str, dict[str, str]]:
    """By test: what is smaller than in the paper's own size, and its levels here."""
    found: dict[str, dict[str, str]] = {}
    for one in experiment.experiment.scaled:
        if one.name not in _NOT_SIZES and not one.reason:
            found.setdefault(one.test, {})[one.name] = one.quick
    return found


def modelled_note(cells: Sequence[CellRuns], unit: str) -> str:
    """`MODELLED`, where a storage of the cells is and values of this unit depend on it; else
    empty."""
    is_modelled = unit in OF_SPEED and any(
        run.deployment and run.deployment.storage and run.deployment.storage.kind == "modelled"
        for cell in cells
        for run in cell.runs
    )
    return MODELLED if is_modelled else ""


_LEAST_BLOCKS = 3
"""Two differences hardly say how differences vary: two blocks are judged as independent cells,
whose interval has what varies between the blocks as well, so that it is wide enough."""
Operand = tuple[CellRuns, ReportColumn]


def measured_ratio(numerator: Operand, denominator: Operand) -> ConfidenceInterval:
    """All of their values are above 0, and each has one at least."""
    cells, keys = (numerator[0], denominator[0]), (numerator[1], denominator[1])
    values, divided_by = (aggregates.values(cell, key) for cell, key in (numerator, denominator))
    return estimate.ratio_of_means(
        values,
        divided_by,
        least_deviation(keys),
        is_paired=_are_in_blocks(cells, keys),
        why_undecided=why_undecided(cells, keys),
    )


def why_undecided(cells: Sequence[CellRuns], keys: Sequence[ReportColumn]) -> str:
    """Why nothing is decided from these cells by these keys; empty: it may be."""
    if not any(depends_on_machine(key) for key in keys):
        return ""
    different = {cell.run_ids: cell for cell in cells}.values()
    disturbed = ratios.why_undecided(run for cell in different for run in cell.measured)
    is_apart = any(
        ratios.one_after_the_other(one.measured, other.measured)
        for one, other in itertools.combinations(different, 2)
    )
    return disturbed or (ratios.SEQUENTIAL if is_apart else "")


def depends_on_machine(key: ReportColumn) -> bool:
    """Whether it changes with what else the machine does in the run. The load is no run."""
    return key.unit in OF_SPEED and key.measured_once is None


def least_deviation(keys: Sequence[ReportColumn]) -> LeastDeviation:
    """Of the coarsest."""
    return lambda _value: max(key.relative_resolution for key in keys)


def _are_in_blocks(cells: Sequence[CellRuns], keys: Sequence[ReportColumn]) -> bool:
    if any(key.measured_once for key in keys):
        return False
    (one, other) = ([(0, run) for run in cell.measured] for cell in cells)
    matched = ratios.interleaved_pairs(one, other)
    return matched is not None and _LEAST_BLOCKS <= len(matched) == len(one) == len(other)


IdentityOfOperand = tuple[tuple[int, ...], str]
"""Numbers of the cell's runs, and what is read from them (its name)."""


class RatioIdentity(Struct, frozen=True):
    numerator: IdentityOfOperand
    denominator: IdentityOfOperand


def ratio_identity(numerator: Operand, denominator: Operand) -> RatioIdentity:
    return RatioIdentity(*((cell.run_ids, key.name) for cell, key in (numerator, denominator)))


ByRatio = Mapping[tuple[RatioIdentity, float], JudgedClaim]
"""(what is divided by what, published ratio) → the claim about it."""


def cases_by_ratio(claims: Sequence[JudgedClaim]) -> ByRatio:
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
    why = next(filter(None, map(why_not_comparable, cells)), "")
    if why := why or why_no_ratio(of_both, keys):
        return claims.not_comparable(why)
    operands = [*zip(cells, keys, strict=True)]
    denominator, numerator = operands if is_more_better else reversed(operands)
    identity = ratio_identity(numerator, denominator)
    if (claim := of_claims.get((identity, published))) is not None:
        return claim
    measured = measured_ratio(numerator, denominator)
    return claims.judgement_of_speed_up(measured, published, modelled_note(cells, keys[0].unit))
