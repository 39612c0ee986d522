"""Takes a claim that says how large a value is, or how small; judges it for each system."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from assay.comparison.ratios import undecided
from assay.record import ExperimentRecord, RunRecord
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import field_path
from assay.report.declared.aggregates import RunValue
from assay.report.papers.claims import cell_ratio, comparability
from assay.report.papers.claims.claim_case import ClaimCase, JudgedClaim
from assay.report.papers.claims.claims import Claim, ClaimKind
from assay.report.papers.claims.judgement import ClaimVerdict
from assay.text import units


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
    invalid = {cell.run_ids: why for cell in case.cells if (why := comparability.why_not(cell))}
    judged_on = [
        cell for cell in case.cells if cell.run_ids not in invalid or _is_wrong(claim, cell)
    ]
    runs = [run for cell in judged_on for run in cell.measured]
    known = [one for run in runs if (one := _bounded(claim, key, run)) is not None]
    broken = sum(not one.may_hold(claim.kind) for one in known)
    if not broken and (invalid or not known):
        return case.not_comparable(next(iter(invalid.values()), comparability.NO_VALUE))
    measured = _values(sorted(one.value for one in known), key.unit)
    if cell_ratio.depends_on_machine(key) and (why := undecided.why_undecided(runs)):
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


def _bounded(claim: Claim, key: RunValue, run: RunRecord) -> _Bounded | None:
    """None where the run has no such value, or no such limit."""
    doubtful = field_path.value(run, claim.undecided) if claim.undecided else 0
    read = (key.value(run), _limit(claim, run), doubtful or 0)
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


def _limit(claim: Claim, run: RunRecord) -> object:
    return field_path.value(run, claim.limit) if isinstance(claim.limit, str) else claim.limit
