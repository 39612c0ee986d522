"""Takes an experiment's record and the claims of the paper that it reproduces; returns each claim
with what was measured and the judgement."""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.experiment import Scalar
from assay.judge import order
from assay.judge.estimate import LeastDeviation
from assay.judge.order import ConfidenceInterval
from assay.record import ExperimentRecord, RunRecord
from assay.report.cells import aggregates, cell_runs, client_process, field_path, selection
from assay.report.cells.aggregates import Key
from assay.report.cells.cell_runs import CellRuns
from assay.report.cells.selection import Quantity
from assay.report.papers import claims, comparability, judgement
from assay.report.papers.claims import BOUNDS, Claim, Kind, Term
from assay.report.papers.judgement import ONE_REPETITION, ClaimVerdict, Judgement
from assay.text import units

_LEAST_SIZES = 3
ALIKE = "repetitions alike"
"""In the place of an interval that has no width in the digits that are shown."""


@dataclass(frozen=True, kw_only=True)
class JudgedClaim(Judgement):
    """A claim with its judgement, for one combination of the levels of other factors."""

    claim: Claim
    of: str
    """These levels, in words."""
    published: str
    measured: str


ByRatio = Mapping[tuple[ConfidenceInterval, float], JudgedClaim]
"""(measured ratio, published ratio) → the claim about it."""


_AGAINST = {
    ClaimVerdict.REVERSED,
    ClaimVerdict.PARTLY_REVERSED,
    ClaimVerdict.DIFFERENT,
    ClaimVerdict.GROWS_FASTER,
    ClaimVerdict.GROWS_SLOWER,
    ClaimVerdict.DOES_NOT_HOLD,
}
_MOST_CONTRADICTED = 8
"""Claims that are named at the end of a run; the table has all."""


@dataclass(frozen=True)
class _Case:
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
        measured: str = "",
        number: ConfidenceInterval | None = None,
    ) -> JudgedClaim:
        return JudgedClaim(
            claim=self.claim,
            of=self.of,
            published=_published(self.claim),
            measured=measured,
            word=word,
            why=why,
            remark=remark,
            number=number,
        )

    def not_comparable(self, why: str) -> JudgedClaim:
        return self.judged(ClaimVerdict.NOT_COMPARABLE, why)

    @property
    def modelled(self) -> str:
        """The remark on its storages."""
        return comparability.modelled(self.cells, self.keys[0].unit)

    @cached_property
    def keys(self) -> list[Key]:
        """By which the value of each term is read."""
        terms = self.claim.terms
        return [term.quantity.key(self.experiment.workload, term.test) for term in terms]

    def values(self) -> list[list[float]]:
        """Of the repetitions of each cell, which is that of a term."""
        return [aggregates.values(*one) for one in zip(self.cells, self.keys, strict=True)]

    def ratio(self, after: Sequence[float], before: Sequence[float]) -> ConfidenceInterval:
        return order.ratio(after, before, _least_deviation(self.keys))


def judged(experiment: ExperimentRecord) -> list[JudgedClaim]:
    """Of every claim that is about a test which was run."""
    found = selection.all_cells(experiment)
    tests = {cell.runs[0].test for cell in found}
    return [
        one
        for claim in claims.of_record(experiment.workload)
        if any(term.test in tests for term in claim.terms)
        for one in _judged(experiment, claim, found)
    ]


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
    if why := why or comparability.why_no_ratio(of_both):
        return judgement.not_comparable(why)
    before, after = of_both
    above, below = (after, before) if is_more_better else (before, after)
    measured = order.ratio(above, below, _least_deviation(keys))
    return of_claims.get((measured, published)) or judgement.of_speed_up(
        measured, published, comparability.modelled(cells, keys[0].unit)
    )


def by_ratio(found: Sequence[JudgedClaim]) -> ByRatio:
    """For tables that print these ratios, so that one number has one judgement."""
    return {
        (one.number, one.claim.published): one
        for one in found
        if one.number and one.claim.published is not None and one.claim.kind is not Kind.GROWTH
    }


def _least_deviation(keys: Sequence[Key]) -> LeastDeviation:
    """Of the coarsest."""
    return lambda value: max(key.least_deviation(value) for key in keys)


def summary(found: Sequence[JudgedClaim]) -> str:
    """``7 judgements: 4 same order, 3 not comparable``."""
    words = Counter(one.word for one in found)
    counts = ", ".join(f"{number} {word}" for word, number in words.most_common())
    return f"{units.counted(len(found), 'judgement')}: {counts}"


def contradicted(found: Sequence[JudgedClaim]) -> Iterator[str]:
    """``reversed:  CLAIM; measured x 0.63 (0.58 to 0.69)``: a line for each claim that these
    measurements contradict; of many the first."""
    against = [one for one in found if one.word in _AGAINST]
    for one in against[:_MOST_CONTRADICTED]:
        of = f", {one.of}" if one.of else ""
        why = f" ({one.why})" if one.why else ""
        yield f"{one.word}:  {one.claim.shown}{of}; measured {one.measured}{why}"
    if len(against) > _MOST_CONTRADICTED:
        yield f"and {len(against) - _MOST_CONTRADICTED} more"


def _judged(
    experiment: ExperimentRecord, claim: Claim, found: Sequence[CellRuns]
) -> Iterator[JudgedClaim]:
    whole = _Case(experiment, claim)
    here = int(experiment.machine.get("processors_usable") or 0)
    if here < claim.processors:
        processors = units.counted(here, "processor")
        yield whole.not_comparable(
            f"{processors} here, the claim is about {claim.processors} or more"
        )
        return
    if smaller := _smaller(experiment, claim):
        yield whole.not_comparable(smaller)
        return
    of_terms = [selection.with_levels(found, term.levels) for term in claim.terms]
    for term, cells in zip(claim.terms, of_terms, strict=True):
        if not cells:
            yield whole.not_comparable(comparability.why_none(term, found))
            return
    if claim.kind in BOUNDS:
        yield from _bounds(experiment, claim, of_terms[0])
        return
    judge = {Kind.GROWTH: _growth, Kind.EQUAL: _equal, Kind.ORDER: _order}[claim.kind]
    for levels, groups in _groups(claim, of_terms).items():
        of = ", ".join(
            f"{name} {level}" if name != "system" else f"{level}" for name, level in levels
        )
        together = [tuple(groups[0])] if claim.kind is Kind.GROWTH else itertools.product(*groups)
        for compared in list(together) or [()]:
            case = _Case(experiment, claim, of, compared)
            if not compared:
                terms = zip(claim.terms, groups, strict=True)
                missing = next((term for term, group in terms if not group), claim.terms[0])
                yield case.not_comparable(comparability.why_none(missing, found))
            elif why := _why_not(case):
                yield case.not_comparable(why)
            else:
                yield judge(case)


def _why_not(case: _Case) -> str:
    keys = case.keys
    of_cells = itertools.chain(keys, itertools.repeat(keys[0]))  # growth has one for all cells
    reasons = map(comparability.why_not, case.cells, of_cells)
    return (
        next(filter(None, reasons), "")
        or _of_client(case.claim, case.cells)
        or comparability.other_durability(case.cells)
    )


def _of_client(claim: Claim, cells: Sequence[CellRuns]) -> str:
    """Why a value of the system's processes is none of the system's."""
    keys = [key for term in claim.terms for key in term.quantity.keys]
    return next(filter(None, (client_process.why_not(cell, keys) for cell in cells)), "")


def _groups(
    claim: Claim, of_terms: Sequence[Sequence[CellRuns]]
) -> dict[tuple[tuple[str, Scalar], ...], list[list[CellRuns]]]:
    """The cells of each term, by the levels of the factors that vary among the cells of a term and
    are not what the claim compares."""
    compared = {claim.growth} if claim.growth else _differing(claim.terms)
    if cell_runs.STORAGE_ROLE in compared:  # which a storage has, so that it is no other factor
        compared = {*compared, "storage"}
    free = list(
        dict.fromkeys(
            name for cells in of_terms for name in cell_runs.varying(cells) if name not in compared
        )
    )
    groups: dict[tuple[tuple[str, Scalar], ...], list[list[CellRuns]]] = {}
    for place, cells in enumerate(of_terms):
        for cell in cells:
            levels = tuple((name, cell.factors[name]) for name in free if name in cell.factors)
            made = groups.setdefault(levels, [[] for _ in of_terms])
            made[place].append(cell)
    return groups


def _differing(terms: Sequence[Term]) -> set[str]:
    names = {name for term in terms for name in term.levels}
    return {name for name in names if len({str(term.levels.get(name)) for term in terms}) > 1}


def _order(case: _Case) -> JudgedClaim:
    of_cells = case.values()
    if why := comparability.why_no_ratio(of_cells):
        return case.not_comparable(why)
    steps = [case.ratio(after, before) for before, after in itertools.pairwise(of_cells)]
    whole = case.ratio(of_cells[-1], of_cells[0])
    word, why = ClaimVerdict.SAME_ORDER, ""
    pairs = itertools.combinations(of_cells, 2)  # the ends may be apart where neighbours are not
    if any(case.ratio(after, before).is_below(1) for before, after in pairs):
        is_whole = all(step.is_below(1) for step in steps)
        word = ClaimVerdict.REVERSED if is_whole else ClaimVerdict.PARTLY_REVERSED
    elif not all(step.is_above(1) for step in steps):
        word, why = ClaimVerdict.NO_ORDER, "" if whole.is_known else ONE_REPETITION
    return case.judged(word, why, remark=case.modelled, measured=_shown(whole, "x "), number=whole)


def _equal(case: _Case) -> JudgedClaim:
    of_cells, within = case.values(), case.claim.within
    if why := comparability.why_no_ratio(of_cells):
        return case.not_comparable(why)
    found = case.ratio(of_cells[-1], of_cells[0])
    made = judgement.of_equal(found, within, case.modelled)
    return case.judged(
        made.word,
        made.why,
        remark=made.remark,
        measured=_shown(found, f"{case.claim.names[-1]} ÷ {case.claim.names[0]} = "),
        number=found,
    )


def _growth(case: _Case) -> JudgedClaim:
    claim, key = case.claim, case.keys[0]
    sizes, values = [], []
    for cell in case.cells:
        size = selection.level_of(cell, claim.growth)
        for value in aggregates.values(cell, key):
            if isinstance(size, int | float) and size > 0 and value > 0:
                sizes.append(float(size))
                values.append(value)
    different = len(set(sizes))
    if different < _LEAST_SIZES:
        measured = units.counted(different, "size")
        return case.not_comparable(f"{measured} measured, expected {_LEAST_SIZES} at least")
    found = order.growth(sizes, values)
    expected = claim.published or 0.0
    most, least = expected + claim.tolerance, expected - claim.tolerance
    word = ClaimVerdict.NOT_DECIDED
    if found.is_above(most):
        word = ClaimVerdict.GROWS_FASTER
    elif found.is_below(least):
        word = ClaimVerdict.GROWS_SLOWER
    elif found.is_above(least) and found.is_below(most):
        word = ClaimVerdict.SAME_GROWTH
    levels = f"{claim.growth} {min(sizes):g} to {max(sizes):g}"
    return case.judged(
        word,
        remark=case.modelled,
        measured=f"{_shown(found, 'exponent ')}, {levels}",
        number=found,
    )


def _smaller(experiment: ExperimentRecord, claim: Claim) -> str:
    """What is not as large here as the claim needs it; empty: nothing."""
    tests = {str(term.levels["test"]) for term in claim.terms}
    for one in experiment.experiment.get("scaled", ()):
        if one["test"] in tests and one["name"] in claim.needs_full:
            return f"{one['name']} {one['quick']} here, the claim is about {one['full']}"
    return ""


def _bounds(
    experiment: ExperimentRecord, claim: Claim, found: Sequence[CellRuns]
) -> Iterator[JudgedClaim]:
    """By system, over all of its runs."""
    key = claim.terms[0].quantity.key(experiment.workload, claim.terms[0].test)
    for label in cell_runs.levels(found, "system"):
        cells = [cell for cell in found if cell.factors["system"] == label]
        case = _Case(experiment, claim, str(label), cells)
        if why := _of_client(claim, cells):
            yield case.not_comparable(why)
            continue
        runs = [run for cell in cells for run in cell.measured]
        read = [(key.value(run), _limit(claim, run)) for run in runs]
        known = [
            (float(value), float(limit))
            for value, limit in read
            if isinstance(value, int | float) and isinstance(limit, int | float)
        ]
        if not known:
            reasons = filter(None, map(comparability.why_not, cells))
            yield case.not_comparable(next(reasons, comparability.NO_VALUE))
            continue
        beyond = sum(not _HOLDS[claim.kind](*one) for one in known)
        values = dict.fromkeys(_with_unit(value, key.unit) for value, _ in sorted(known))
        measured = ", ".join(values)
        if len(values) > _MOST_VALUES:
            measured = f"{len(known)} runs: {next(iter(values))} to {next(reversed(values))}"
        word, why = ClaimVerdict.HOLDS, ""
        if beyond:
            word = ClaimVerdict.DOES_NOT_HOLD
            limits = {limit for _, limit in known}
            limit = (
                _with_unit(limits.pop(), key.unit) if len(limits) == 1 else "the limit of the run"
            )
            why = f"{beyond} of {units.counted(len(known), 'run')} {_BROKEN[claim.kind]} {limit}"
        yield case.judged(word, why, measured=measured)


_HOLDS: Mapping[Kind, Callable[[float, float], bool]] = {
    Kind.EQUALS: operator.eq,
    Kind.AT_LEAST: operator.ge,
    Kind.AT_MOST: operator.le,
}
"""Of a value and its bound."""


_BROKEN: Mapping[Kind, str] = {Kind.EQUALS: "not", Kind.AT_LEAST: "below", Kind.AT_MOST: "above"}
_MOST_VALUES = 4
"""Different values of the runs that are listed; of more, the least and the greatest."""


def _with_unit(value: float, unit: str) -> str:
    shown = units.shown(value, unit)
    return f"{shown} s" if unit == "ns" else shown


def _limit(claim: Claim, run: RunRecord) -> object:
    return field_path.value(run, claim.limit) if isinstance(claim.limit, str) else claim.limit


def _published(claim: Claim) -> str:
    if claim.kind is Kind.GROWTH:
        return "" if claim.published is None else f"exponent {claim.published:.2f}"
    if claim.kind in BOUNDS:
        word = claim.kind.replace("_", " ")
        is_path = isinstance(claim.limit, str)
        return f"{word} {claim.limit}" if is_path else f"{word} {claim.limit:g}"
    sign = " < " if claim.kind is Kind.ORDER else " = "
    ratio = "" if claim.published is None else f" (x {claim.published:.2f})"
    return f"{sign.join(claim.names)}{ratio}"


def _shown(found: ConfidenceInterval, before: str) -> str:
    middle = f"{before}{units.digits(found.value, 3)}"
    if found.low is None or found.high is None:
        return middle
    low, high = units.digits(found.low, 3), units.digits(found.high, 3)
    return f"{middle} ({ALIKE})" if low == high else f"{middle} ({low} to {high})"
