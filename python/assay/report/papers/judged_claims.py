"""Takes an experiment's record and the claims of the paper that it reproduces; returns each claim
with what was measured and the judgement."""

from __future__ import annotations

import bisect
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import ratios
from assay.contracts.metric import ReportColumn
from assay.experiment import Scalar
from assay.judge.run import ONE_REPETITION
from assay.judge.statistics import estimate
from assay.judge.statistics.estimate import ConfidenceInterval
from assay.judge.warning_kinds import WarningKind as Warned
from assay.plan import cell_names
from assay.plan.cell_names import MACHINE
from assay.record import ExperimentRecord, Run
from assay.report import cell_runs
from assay.report.cell_runs import STORAGE_ROLE, CellRuns
from assay.report.declared import aggregates, published
from assay.report.declared import published as selection
from assay.report.declared.published import Published, PublishedColumn
from assay.report.papers import claim_cases, claims
from assay.report.papers.claim_cases import ClaimCase, JudgedClaim
from assay.report.papers.claims import (
    BOUNDS,
    Claim,
    ClaimKind,
    ClaimVerdict,
    GrowthBound,
    Judgement,
    Term,
    shown_interval,
)
from assay.text import units
from assay.workload.workload_record import WorkloadRecord

# Takes a claim about how a value grows with a factor, and the cells that differ in it; judges it
# on the range that was run, by the paper's own values in that range.

_LEAST_SIZES = 3


def claim_growth_judged(case: ClaimCase) -> JudgedClaim:
    """Sizes that the paper's values do not reach over are left out: of these it says nothing."""
    claim, key = case.claim, case.keys[0]
    curve = published_curve(case.experiment.workload, claim, key, case.cells[0])
    sizes, values = [], []
    for cell in case.cells:
        size = selection.level_of(cell, claim.growth)
        if isinstance(size, int | float) and size > 0 and (curve is None or curve.has(size)):
            positive = [value for value in aggregates.values(cell, key) if value > 0]
            sizes += [float(size)] * len(positive)
            values += positive
    different = len(set(sizes))
    if different < _LEAST_SIZES:
        within = _range(curve.sizes[0], curve.sizes[-1]) if curve else ""
        measured = units.counted(different, "size")
        return case.not_comparable(f"{measured} measured{within}, expected {_LEAST_SIZES} at least")
    beside = [curve.value(size) for size in sizes] if curve else None
    found = estimate.growth(sizes, values, beside)
    expected = _expected(case, curve, sizes)
    of_sizes = f"{claim.growth}{_range(min(sizes), max(sizes))}"
    published = f"{claim.growth_bound} exponent {expected:.2f}"
    if curve:
        published += f", of the printed values{_range(min(sizes), max(sizes))}"
    word, why = _word(case, found, expected), ""
    if why_undecided := claim_cases.why_undecided(case.cells, case.keys):
        word, why = ClaimVerdict.NOT_DECIDED, why_undecided
    return case.judged(
        word,
        why,
        remark=case.modelled if not why else "",
        published=published.removeprefix(f"{GrowthBound.ABOUT} "),
        measured=f"{shown_interval(found, 'exponent ')}, {of_sizes}",
        number=found,
        expected=expected,
    )


def _expected(case: ClaimCase, curve: PublishedCurve | None, sizes: list[float]) -> float:
    if curve is None:
        return case.claim.exponent or 0.0
    different = sorted(set(sizes))
    return estimate.growth(different, [curve.value(size) for size in different]).value


def _word(case: ClaimCase, interval: ConfidenceInterval, expected: float) -> ClaimVerdict:
    """A growth that the paper has is not half of it or less, however much it may differ."""
    bound, tolerance = case.claim.growth_bound, case.claim.tolerance
    least = expected - tolerance
    if bound is GrowthBound.AT_LEAST and expected > 0:
        least = max(least, expected / 2)
    most = expected + tolerance
    if bound is not GrowthBound.AT_LEAST and interval.is_above(most):
        return ClaimVerdict.GROWS_FASTER
    if bound is not GrowthBound.AT_MOST and interval.is_below(least):
        return ClaimVerdict.GROWS_SLOWER
    is_enough = bound is GrowthBound.AT_MOST or interval.is_above(least)
    is_not_more = bound is GrowthBound.AT_LEAST or interval.is_below(most)
    return ClaimVerdict.SAME_GROWTH if is_enough and is_not_more else ClaimVerdict.NOT_DECIDED


def _range(least: float, most: float) -> str:
    return f" from {least:g} to {most:g}"


FreeLevels = tuple[tuple[str, Scalar], ...]
"""Factor and level, of the factors that a claim leaves free."""


def judged_claims(experiment: ExperimentRecord) -> list[JudgedClaim]:
    """Of every claim that is about a test which was run."""
    found = selection.all_cells(experiment)
    tests = {cell.runs[0].test for cell in found}
    return [
        one
        for claim in claims.of_record(experiment.workload)
        if any(term.test in tests for term in claim.terms)
        for one in _judged(experiment, claim, found)
    ]


def _judged(
    experiment: ExperimentRecord, claim: Claim, cell_runs: Sequence[CellRuns]
) -> Iterator[JudgedClaim]:
    whole = ClaimCase(experiment, claim)
    here = max(map(_processors, experiment.runs), default=0)
    if why := _too_few(here, claim):
        yield whole.not_comparable(why)
        return
    if why := claim.not_here or _smaller(experiment, claim):
        yield whole.not_comparable(why)
        return
    of_terms = []
    for term in claim.terms:
        cells = selection.cells_with_levels(cell_runs, term.levels)
        if not cells:
            yield whole.not_comparable(claim_cases.why_no_cell(term, cell_runs))
            return
        of_terms.append([cell for cell in cells if not _outside(claim, cell)])
        if not of_terms[-1]:
            yield whole.not_comparable(_outside(claim, cells[-1]))
            return
    if claim.kind in BOUNDS:
        yield from bounds(experiment, claim, of_terms[0])
        return
    judge = _JUDGES[claim.kind]
    level_of = _free_levels(claim, of_terms)
    for levels, groups in _groups(of_terms, level_of).items():
        of = ", ".join(
            f"{name} {level}" if name != "system" else f"{level}" for name, level in levels
        )
        together = (
            [tuple(groups[0])] if claim.kind is ClaimKind.GROWTH else itertools.product(*groups)
        )
        for compared in list(together) or [()]:
            case = ClaimCase(experiment, claim, of, compared)
            if not compared:
                terms = zip(claim.terms, groups, strict=True)
                missing = next((term for term, group in terms if not group), claim.terms[0])
                alike = [cell for cell in cell_runs if level_of(cell) == levels]
                yield case.not_comparable(claim_cases.why_no_cell(missing, alike))
            elif why := _why_not(case):
                yield case.not_comparable(why)
            else:
                yield judge(case)


def _why_not(case: ClaimCase) -> str:
    keys = case.keys
    of_cells = itertools.chain(keys, itertools.repeat(keys[0]))  # growth has one for all cells
    reasons = map(claim_cases.why_not_comparable, case.cells, of_cells)
    return (
        next(filter(None, reasons), "")
        or case.why_not_of_system
        or claim_cases.other_durability(case.cells)
    )


def _groups(
    of_terms: Sequence[Sequence[CellRuns]], level_of: Callable[[CellRuns], FreeLevels]
) -> dict[FreeLevels, list[list[CellRuns]]]:
    """The cells of each term, by these levels."""
    groups: dict[FreeLevels, list[list[CellRuns]]] = {}
    for place, cells in enumerate(of_terms):
        for cell in cells:
            made = groups.setdefault(level_of(cell), [[] for _ in of_terms])
            made[place].append(cell)
    return groups


def _free_levels(
    claim: Claim, of_terms: Sequence[Sequence[CellRuns]]
) -> Callable[[CellRuns], FreeLevels]:
    """Of a cell the levels of the factors that vary among the cells of a term and are not what the
    claim compares; where that is a setting, of its system without it."""
    compared = {claim.growth} if claim.growth else _differing(claim.terms)
    if cell_runs.STORAGE_ROLE in compared:  # which a storage has, so that it is no other factor
        compared = {*compared, "storage"}
        every = [cell for cells in of_terms for cell in cells]
        compared |= {MACHINE} if cell_runs.roles_are_of_machines(every) else set()
    free = list(
        dict.fromkeys(
            name for cells in of_terms for name in cell_runs.varying(cells) if name not in compared
        )
    )

    def level_of(cell: CellRuns) -> FreeLevels:
        levels = {**cell.factors, "system": selection.system_apart_from(cell, compared)}
        return tuple((name, levels[name]) for name in free if name in levels)

    return level_of


def _differing(terms: Sequence[Term]) -> set[str]:
    names = {name for term in terms for name in term.levels}
    return {name for name in names if len({str(term.levels.get(name)) for term in terms}) > 1}


def _order(case: ClaimCase) -> JudgedClaim:
    of_cells = case.values()
    if why := claim_cases.why_no_ratio(of_cells, case.keys):
        return case.not_comparable(why)
    places = range(len(of_cells))
    steps = [case.ratio(after, before) for before, after in itertools.pairwise(places)]
    whole = case.whole_ratio
    word, why = ClaimVerdict.SAME_ORDER, ""
    pairs = itertools.combinations(places, 2)  # the ends may be apart where neighbours are not
    if why_undecided := claim_cases.why_undecided(case.cells, case.keys):
        word, why = ClaimVerdict.NOT_DECIDED, why_undecided
    elif any(case.ratio(after, before).is_below(1) for before, after in pairs):
        is_whole = all(step.is_below(1) for step in steps)
        word = ClaimVerdict.REVERSED if is_whole else ClaimVerdict.PARTLY_REVERSED
    elif not all(step.is_above(1) for step in steps):
        word, why = ClaimVerdict.NO_ORDER, "" if whole.is_known else ONE_REPETITION
    elif case.claim.ratio is not None:
        word, why = claims.judgement_of_size(whole, case.claim.ratio)
    return _of_ratio(case, Judgement(word=word, why=why, remark=case.modelled), whole)


def _equal(case: ClaimCase) -> JudgedClaim:
    of_cells, within = case.values(), case.claim.within
    if why := claim_cases.why_no_ratio(of_cells, case.keys):
        return case.not_comparable(why)
    found = case.whole_ratio
    made = claims.judgement_of_equal(found, within, case.modelled)
    return _of_ratio(case, made, found, f"{case.claim.names[-1]} ÷ {case.claim.names[0]} = ")


def _times(case: ClaimCase) -> JudgedClaim:
    claim = case.claim
    if why := claim_cases.why_no_ratio(case.values(), case.keys):
        return case.not_comparable(why)
    found = case.whole_ratio
    made = claims.judgement_of_times(found, claim.least, claim.most, case.modelled)
    if made.word is ClaimVerdict.HOLDS and claim.ratio is not None:
        word, why = claims.judgement_of_size(found, claim.ratio)
        made = replace(made, word=word, why=why)
    return _of_ratio(case, made, found)


def _of_ratio(
    case: ClaimCase, made: Judgement, whole: ConfidenceInterval, of: str = "x "
) -> JudgedClaim:
    """``whole``: of the last value and the first."""
    return case.judged(
        made.word,
        made.why,
        remark=made.remark,
        measured=shown_interval(whole, of),
        number=whole,
        ratio_identity=case.ratio_identity,
    )


_JUDGES: Mapping[ClaimKind, Callable[[ClaimCase], JudgedClaim]] = {
    ClaimKind.GROWTH: claim_growth_judged,
    ClaimKind.EQUAL: _equal,
    ClaimKind.ORDER: _order,
    ClaimKind.TIMES: _times,
}


def _processors(run: Run) -> int:
    """Of its machine, as far as Assay could use them."""
    return int(run.machine.get("processors_usable") or 0)


def _too_few(processors: int, claim: Claim) -> str:
    """Empty: they are enough."""
    if processors >= claim.processors:
        return ""
    here = units.counted(processors, "processor")
    return f"{here} here, the claim is about {claim.processors} or more"


def _outside(claim: Claim, cell: CellRuns) -> str:
    """By what the cell is not what the claim is about; empty: it is."""
    if why := _too_few(_processors(cell.runs[0]), claim):
        return why
    for word, bounds in (("more", claim.least_levels), ("less", claim.most_levels)):
        for factor, bound in bounds.items():
            level = selection.level_of(cell, factor)
            is_inside = isinstance(level, int | float) and (
                level >= bound if word == "more" else level <= bound
            )
            if not is_inside:
                here = "no " + factor if level is None else cell_names.level_name(factor, level)
                return f"{here} here, the claim is about {bound:g} or {word}"
    warned = {one.name for run in cell.measured for one in run.warnings}
    if claim.is_beyond_memory and Warned.FITS_IN_MEMORY.id in warned:
        return f"{cell.name}: the data fit in memory, the claim is about more data than memory"
    return ""


def _smaller(experiment: ExperimentRecord, claim: Claim) -> str:
    """What is not as large here as the claim needs it; empty: nothing."""
    tests = {str(term.levels["test"]) for term in claim.terms}
    for one in experiment.experiment.scaled:
        if one.test in tests and one.name in claim.needs_full:
            return f"{one.name} {one.quick} here, the claim is about {one.full}"
    return ""


# Takes a claim that says how large a value is, or how small; judges it for each system.


class _Bounded(Struct, frozen=True):
    """A value of a run with its bound; ``undecided``: so many more it may be."""

    value: float
    limit: float
    undecided: float

    def holds(self, kind: ClaimKind) -> bool:
        """Whatever those that were not decided are."""
        return all(_HOLDS[kind](one, self.limit) for one in (self.value, self._most))

    def may_hold(self, kind: ClaimKind) -> bool:
        if kind is ClaimKind.EQUALS:
            return self.value <= self.limit <= self._most
        return any(_HOLDS[kind](one, self.limit) for one in (self.value, self._most))

    @property
    def _most(self) -> float:
        return self.value + self.undecided


def bounds(
    experiment: ExperimentRecord, claim: Claim, cell_runs: Sequence[CellRuns]
) -> Iterator[JudgedClaim]:
    """By system, and machine, over all of its runs."""
    for label in dict.fromkeys(cell.system_on_machine for cell in cell_runs):
        cells = [cell for cell in cell_runs if cell.system_on_machine == label]
        yield _of_system(ClaimCase(experiment, claim, label, cells))


def _of_system(case: ClaimCase) -> JudgedClaim:
    """Runs that are invalid, or were not run, confirm nothing; they contradict a claim about right
    answers alone, by wrong ones."""
    claim, key = case.claim, case.keys[0]
    if why := case.why_not_of_system:
        return case.not_comparable(why)
    invalid = {
        cell.run_ids: why for cell in case.cells if (why := claim_cases.why_not_comparable(cell))
    }
    judged_on = [
        cell for cell in case.cells if cell.run_ids not in invalid or _is_wrong(claim, cell)
    ]
    runs = [run for cell in judged_on for run in cell.measured]
    known = [one for run in runs if (one := _bounded(claim, key, run)) is not None]
    broken = sum(not one.may_hold(claim.kind) for one in known)
    if not broken and (invalid or not known):
        return case.not_comparable(next(iter(invalid.values()), claim_cases.NO_VALUE))
    measured = _values(sorted(one.value for one in known), key.unit)
    if claim_cases.depends_on_machine(key) and (why := ratios.why_undecided(runs)):
        return case.judged(ClaimVerdict.NOT_DECIDED, why, measured=measured)
    if broken:
        limits = {one.limit for one in known}
        limit = _with_unit(limits.pop(), key.unit) if len(limits) == 1 else "the limit of the run"
        why = f"{broken} of {units.counted(len(known), 'run')} {_BROKEN[claim.kind]} {limit}"
        return case.judged(ClaimVerdict.DOES_NOT_HOLD, why, measured=measured)
    if doubtful := [one for one in known if not one.holds(claim.kind)]:
        number = sum(one.undecided for one in doubtful)
        why = f"{number:g} {'was' if number == 1 else 'were'} not decided"
        return case.judged(ClaimVerdict.NOT_DECIDED, why, measured=measured)
    return case.judged(ClaimVerdict.HOLDS, measured=measured)


def _is_wrong(claim: Claim, cell: CellRuns) -> bool:
    """Whether the claim is about answers, and some of these are wrong."""
    checks = (check for run in cell.measured for check in run.checks)
    return claim.is_of_answers and any(check["ok"] is False for check in checks)


def _bounded(claim: Claim, key: ReportColumn, run: Run) -> _Bounded | None:
    """None where the run has no such value, or no such limit."""
    doubtful = aggregates.value_at(run, claim.undecided) if claim.undecided else 0
    read = (
        aggregates.read(key, run),
        aggregates.value_at(run, claim.limit) if isinstance(claim.limit, str) else claim.limit,
        doubtful or 0,
    )
    if not all(isinstance(one, int | float) for one in read):
        return None
    return _Bounded(*(float(one) for one in read if isinstance(one, int | float)))


def _values(numbers: Sequence[float], unit: str) -> str:
    """Each once, of many the least and the greatest."""
    values = list(dict.fromkeys(_with_unit(value, unit) for value in numbers))
    if len(values) > _MOST_VALUES:
        return f"{units.counted(len(numbers), 'run')}: {values[0]} to {values[-1]}"
    return ", ".join(values)


_HOLDS: Mapping[ClaimKind, Callable[[float, float], bool]] = {
    ClaimKind.EQUALS: operator.eq,
    ClaimKind.AT_LEAST: operator.ge,
    ClaimKind.AT_MOST: operator.le,
}
"""Of a value and its bound."""


_BROKEN: Mapping[ClaimKind, str] = {
    ClaimKind.EQUALS: "not",
    ClaimKind.AT_LEAST: "below",
    ClaimKind.AT_MOST: "above",
}
_MOST_VALUES = 4
"""Different values of the runs that are listed; of more, the least and the greatest."""


def _with_unit(value: float, unit: str) -> str:
    return units.time_with_unit(value, "s") if unit == "ns" else units.shown(value, unit)


class PublishedCurve(Struct, frozen=True):
    """Sizes and values, both ascending in size and above 0, of two sizes at least."""

    sizes: tuple[float, ...]
    values: tuple[float, ...]

    def has(self, size: float) -> bool:
        """Whether the paper's values reach over that size."""
        return self.sizes[0] <= size <= self.sizes[-1]

    def value(self, size: float) -> float:
        """At a size that it reaches over; between two printed ones on the straight line of their
        logarithms."""
        place = min(max(bisect.bisect_right(self.sizes, size), 1), len(self.sizes) - 1)
        (size_before, size_after), (before, after) = (
            of[place - 1 : place + 1] for of in (self.sizes, self.values)
        )
        share = math.log(size / size_before) / math.log(size_after / size_before)
        return before * math.exp(share * math.log(after / before))


def published_curve(
    workload: WorkloadRecord, claim: Claim, key: ReportColumn, cell: CellRuns
) -> PublishedCurve | None:
    """Of the storage that the cell is on, where the paper has several; None: the paper
    printed fewer than two such values."""
    for name in workload.published:
        table = published.of_record(workload, name)
        assert table is not None
        columns = published.columns_of_table(workload, name, table)
        points = dict(_points(table, columns, claim, key, cell))
        if len(points) > 1:
            sizes = sorted(points)
            return PublishedCurve(tuple(sizes), tuple(points[size] for size in sizes))
    return None


def _points(
    table: Published,
    columns: Sequence[PublishedColumn],
    claim: Claim,
    key: ReportColumn,
    cell: CellRuns,
) -> Iterator[tuple[float, float]]:
    """Size and value. The unit of the paper does not matter to how they grow."""
    wanted = claim.terms[0].levels
    for row in table.rows:
        if not table.any_system and not _has_system(wanted.get("system"), row.system):
            continue
        for place, (column, value) in enumerate(zip(columns, row.values, strict=False)):
            levels = {**row.levels, **column.levels}
            if table.column_factor:
                levels[table.column_factor] = table.column_levels[place]
            is_of_storage = levels.get(STORAGE_ROLE) in (None, cell.level(STORAGE_ROLE))
            is_same = column.test == claim.terms[0].test and column.read.name == key.name
            size = levels.get(claim.growth)
            if not isinstance(size, int | float) or not isinstance(value, int | float):
                continue
            if is_same and is_of_storage:
                yield float(size), float(value)


def _has_system(wanted: object, printed: str) -> bool:
    several = wanted if isinstance(wanted, list | tuple) else (wanted,)
    return wanted is None or printed.casefold() in [str(one).casefold() for one in several]
