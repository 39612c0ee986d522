"""Takes an experiment's record and the claims of the paper that it reproduces; returns each claim
with what was measured and the judgement.

``same order``, ``reversed``, ``partly reversed``: the repetitions separate the cells. ``no order
seen``: they do not. ``about equal``, ``different``, ``same growth``, ``grows faster``, ``grows
slower``, ``holds``, ``does not hold``; ``not decided``: the interval reaches over the limit. ``not
comparable``: something was not measured, is invalid, or is of another durability.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.experiment import Scalar
from assay.judge import order
from assay.judge.order import Interval
from assay.record import ExperimentRecord, RunRecord
from assay.report.cells import cell_runs, field_path, selection
from assay.report.cells.aggregates import Key
from assay.report.cells.cell_runs import CellRuns
from assay.report.cells.selection import Quantity
from assay.report.papers import claims
from assay.report.papers.claims import Claim, Term
from assay.text import units
from assay.text.reasons import sentence

NOT_COMPARABLE = "not comparable"
MODELLED = "on a modelled storage"
"""Beside a judgement: the storage is a model of one."""
_LEAST_SIZES = 3


@dataclass(frozen=True)
class Judged:
    """A claim, for one combination of the levels of other factors."""

    claim: Claim | None
    of: str
    """These levels, in words."""
    published: str
    measured: str
    word: str
    why: str = ""
    number: Interval | None = None

    @property
    def sentence(self) -> str:
        """``not comparable: one storage only``."""
        return f"{self.word}: {self.why}" if self.why else self.word


def judged(experiment: ExperimentRecord) -> list[Judged]:
    """Of every claim that is about a test which was run."""
    found = selection.all_cells(experiment)
    tests = {cell.runs[0].test for cell in found}
    return [
        one
        for claim in claims.of_record(experiment.workload)
        if any(term.test in tests for term in claim.terms)
        for one in _judged(experiment, claim, found)
    ]


def speed_up(
    experiment: ExperimentRecord,
    first: tuple[CellRuns, Quantity],
    other: tuple[CellRuns, Quantity],
    is_more_better: bool,
) -> Judged:
    """How many times faster the other cell is than the first; `Judged.word` is empty where that can
    be said."""
    cells = [first[0], other[0]]
    why = next(filter(None, map(_why_not, cells)), "")
    of_both = [
        selection.values(cell, of.key(experiment, cell.runs[0].test)) for cell, of in (first, other)
    ]
    why = why or _why_no_ratio(of_both)
    if why:
        return Judged(None, "", "", "", NOT_COMPARABLE, why)
    before, after = of_both
    found = order.ratio(after, before) if is_more_better else order.ratio(before, after)
    return Judged(None, "", "", _shown(found, "x "), "", _modelled(cells), found)


def judged_speed_up(found: Judged, published: float) -> Judged:
    """Whether the published speed-up is on the same side of 1."""
    number = found.number
    if number is None:
        return found
    if not number.is_known:
        return replace(found, word="no order seen", why="one repetition")
    if not (number.is_above(1) or number.is_below(1)):
        return replace(found, word="no order seen", why="")
    is_same = number.is_above(1) == (published > 1)
    return replace(found, word="same order" if is_same else "reversed")


def summary(found: Sequence[Judged]) -> str:
    """``7 judgements: 4 same order, 3 not comparable``."""
    words = Counter(one.word for one in found)
    counts = ", ".join(f"{number} {word}" for word, number in words.most_common())
    return f"{units.counted(len(found), 'judgement')}: {counts}"


def _judged(
    experiment: ExperimentRecord, claim: Claim, found: Sequence[CellRuns]
) -> Iterator[Judged]:
    published = _published(claim)
    here = int(experiment.machine.get("processors_usable") or 0)
    if here < claim.processors:
        why = f"{units.counted(here, 'processor')} here, it is about {claim.processors} or more"
        yield Judged(claim, "", published, "", NOT_COMPARABLE, why)
        return
    of_terms = [selection.with_levels(found, term.levels) for term in claim.terms]
    for term, cells in zip(claim.terms, of_terms, strict=True):
        if not cells:
            yield Judged(claim, "", published, "", NOT_COMPARABLE, _why_none(term, found))
            return
    if claim.kind in claims.BOUNDS:
        yield from _bounds(experiment, claim, of_terms[0])
        return
    keys = [term.quantity.key(experiment, term.test) for term in claim.terms]
    for levels, groups in _groups(claim, of_terms).items():
        of = ", ".join(
            f"{name} {level}" if name != "system" else f"{level}" for name, level in levels
        )
        together = [tuple(groups[0])] if claim.kind == "growth" else itertools.product(*groups)
        for compared in list(together) or [()]:
            reasons = map(_why_not, compared, itertools.chain(keys, itertools.repeat(keys[0])))
            why = next(filter(None, reasons), "") or _other_durability(compared)
            if not compared or why:
                missing = next(
                    (term for term, group in zip(claim.terms, groups, strict=True) if not group),
                    None,
                )
                why = why or _why_none(missing or claim.terms[0], found)
                yield Judged(claim, of, published, "", NOT_COMPARABLE, why)
                continue
            judge = {"growth": _growth, "equal": _equal, "order": _order}[claim.kind]
            yield judge(experiment, claim, of, published, compared)


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


def _order(
    experiment: ExperimentRecord,
    claim: Claim,
    of: str,
    published: str,
    cells: Sequence[CellRuns],
) -> Judged:
    of_cells = _values(experiment, claim, cells)
    if why := _why_no_ratio(of_cells):
        return Judged(claim, of, published, "", NOT_COMPARABLE, why)
    steps = [order.ratio(after, before) for before, after in itertools.pairwise(of_cells)]
    whole = order.ratio(of_cells[-1], of_cells[0])
    word, why = "same order", _modelled(cells)
    pairs = itertools.combinations(of_cells, 2)  # the ends may be apart where neighbours are not
    if any(order.ratio(after, before).is_below(1) for before, after in pairs):
        word = "reversed" if all(step.is_below(1) for step in steps) else "partly reversed"
    elif not all(step.is_above(1) for step in steps):
        word, why = "no order seen", "" if whole.is_known else "one repetition"
    return Judged(claim, of, published, _shown(whole, "x "), word, why, whole)


def _equal(
    experiment: ExperimentRecord,
    claim: Claim,
    of: str,
    published: str,
    cells: Sequence[CellRuns],
) -> Judged:
    of_cells = _values(experiment, claim, cells)
    if why := _why_no_ratio(of_cells):
        return Judged(claim, of, published, "", NOT_COMPARABLE, why)
    found = order.ratio(of_cells[-1], of_cells[0])
    word = "not decided"
    if found.is_above(claim.within) or found.is_below(1 / claim.within):
        word = "different"
    elif found.is_above(1 / claim.within) and found.is_below(claim.within):
        word = "about equal"
    why = _modelled(cells) if found.is_known else "one repetition"
    return Judged(claim, of, published, _shown(found, "x "), word, why, found)


def _growth(
    experiment: ExperimentRecord,
    claim: Claim,
    of: str,
    published: str,
    cells: Sequence[CellRuns],
) -> Judged:
    key = claim.terms[0].quantity.key(experiment, claim.terms[0].test)
    sizes, values = [], []
    for cell in cells:
        size = selection.level_of(cell, claim.growth)
        for value in selection.values(cell, key):
            if isinstance(size, int | float) and size > 0 and value > 0:
                sizes.append(float(size))
                values.append(value)
    different = len(set(sizes))
    if different < _LEAST_SIZES:
        why = f"{units.counted(different, 'size')} measured, expected {_LEAST_SIZES} at least"
        return Judged(claim, of, published, "", NOT_COMPARABLE, why)
    found = order.growth(sizes, values)
    expected = claim.published or 0.0
    most, least = expected + claim.tolerance, expected - claim.tolerance
    word = "not decided"
    if found.is_above(most):
        word = "grows faster"
    elif found.is_below(least):
        word = "grows slower"
    elif found.is_above(least) and found.is_below(most):
        word = "same growth"
    levels = f"{claim.growth} {min(sizes):g} to {max(sizes):g}"
    measured = f"{_shown(found, 'exponent ')}, {levels}"
    return Judged(claim, of, published, measured, word, _modelled(cells), found)


def _bounds(
    experiment: ExperimentRecord, claim: Claim, found: Sequence[CellRuns]
) -> Iterator[Judged]:
    """By system, over all of its runs."""
    key = claim.terms[0].quantity.key(experiment, claim.terms[0].test)
    for label in cell_runs.levels(found, "system"):
        cells = [cell for cell in found if cell.factors["system"] == label]
        runs = [run for cell in cells for run in cell.measured]
        read = [(key.value(run), _limit(claim, run)) for run in runs]
        known = [
            (float(value), float(limit))
            for value, limit in read
            if isinstance(value, int | float) and isinstance(limit, int | float)
        ]
        published = _published(claim)
        if not known:
            why = next(filter(None, map(_why_not, cells)), "") or "it has no such value"
            yield Judged(claim, str(label), published, "", NOT_COMPARABLE, why)
            continue
        holding = sum(_holds(claim.kind, *one) for one in known)
        measured = ", ".join(
            dict.fromkeys(units.shown(value, key.unit) for value, _ in sorted(known))
        )
        word = "holds" if holding == len(known) else "does not hold"
        why = "" if holding == len(known) else f"{len(known) - holding} of {len(known)} runs"
        yield Judged(claim, str(label), published, measured, word, why)


def _limit(claim: Claim, run: RunRecord) -> object:
    return field_path.value(run, claim.limit) if isinstance(claim.limit, str) else claim.limit


def _holds(kind: str, value: float, limit: float) -> bool:
    return {"equals": value == limit, "at_least": value >= limit, "at_most": value <= limit}[kind]


def _values(
    experiment: ExperimentRecord, claim: Claim, cells: Sequence[CellRuns]
) -> list[list[float]]:
    return [
        selection.values(cell, term.quantity.key(experiment, term.test))
        for term, cell in zip(claim.terms, cells, strict=True)
    ]


def _why_no_ratio(of_cells: Sequence[Sequence[float]]) -> str:
    if not all(of_cells):
        return "it has no such value"
    return "" if all(value > 0 for values in of_cells for value in values) else "a value of 0"


def _why_not(cell: CellRuns, key: Key | None = None) -> str:
    """Why the cell cannot be compared by this key; empty: it can."""
    if not (cell.measured if key is None else key.runs(cell)):
        run = cell.runs[0]
        if run.state == "planned":
            return f"{run.system} was not run"
        reason, _, _hint = sentence(run.reason).partition(" (")
        return f"{run.system} was not measured: {reason or run.state}"
    verdict = cell.judged.verdict
    return f"{cell.name} is invalid: {verdict.reason}" if verdict.word == "invalid" else ""


def _other_durability(cells: Sequence[CellRuns]) -> str:
    """Systems on the same storage, one of which answers before a commit is safe and another not."""
    systems = {str(cell.factors["system"]) for cell in cells}
    durabilities = {str(cell.factors["system"]): cell.durability for cell in cells}
    known = {level for level in durabilities.values() if level is not None}
    if len(systems) < 2 or len(known) < 2:
        return ""
    listed = ", ".join(f"{name} {level}" for name, level in durabilities.items())
    return f"unequal durability ({listed})"


def _modelled(cells: Sequence[CellRuns]) -> str:
    is_modelled = any(
        run.deployment and run.deployment.storage and run.deployment.storage.kind == "modelled"
        for cell in cells
        for run in cell.runs
    )
    return MODELLED if is_modelled else ""


def _why_none(term: Term, found: Sequence[CellRuns]) -> str:
    """The first level of the term that no cell has, beside those before it."""
    left = list(found)
    wanted: Mapping[str, object] = {"test": term.test, **term.levels}
    for name, level in wanted.items():
        kept = selection.with_levels(left, {name: level})
        if not kept and left and not any(cell.measured for cell in left):
            return _why_not(left[0])
        if not kept:
            there = cell_runs.levels(left, name)
            if name == "storage" and len(there) == 1:
                return f"one storage only ({there[0]})"
            several = level if isinstance(level, tuple | list) else (level,)
            words = ", ".join(map(str, several))
            return f"{words if name == 'system' else f'{name} {words}'} was not measured"
        left = kept
    return "it was not measured"


def _published(claim: Claim) -> str:
    if claim.kind == "growth":
        return "" if claim.published is None else f"exponent {claim.published:.2f}"
    if claim.kind in claims.BOUNDS:
        word = claim.kind.replace("_", " ")
        is_path = isinstance(claim.limit, str)
        return f"{word} {claim.limit}" if is_path else f"{word} {claim.limit:g}"
    sign = " < " if claim.kind == "order" else " = "
    ratio = "" if claim.published is None else f" (x {claim.published:.2f})"
    return f"{sign.join(claim.names)}{ratio}"


def _shown(found: Interval, before: str) -> str:
    middle = f"{before}{units.digits(found.value, 3)}"
    if found.low is None or found.high is None:
        return middle
    return f"{middle} ({units.digits(found.low, 3)} to {units.digits(found.high, 3)})"
