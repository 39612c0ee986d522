"""Takes a claim that says how large a value is, or how small; judges it for each system."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence

from assay.comparison import undecided
from assay.record import ExperimentRecord, RunRecord
from assay.report.cells import field_path
from assay.report.cells.cell_runs import CellRuns
from assay.report.papers import cell_ratio, comparability
from assay.report.papers.claim_case import ClaimCase, JudgedClaim
from assay.report.papers.claims import Claim, Kind
from assay.report.papers.judgement import ClaimVerdict
from assay.text import units


def bounds(
    experiment: ExperimentRecord, claim: Claim, found: Sequence[CellRuns]
) -> Iterator[JudgedClaim]:
    """By system, over all of its runs."""
    key = claim.terms[0].quantity.key(experiment.workload, claim.terms[0].test)
    for label in dict.fromkeys(cell.system_label for cell in found):
        cells = [cell for cell in found if cell.system_label == label]
        case = ClaimCase(experiment, claim, label, cells)
        if why := case.why_not_of_system:
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
        if cell_ratio.depends_on_machine(key) and (why := undecided.why_disturbed(runs)):
            yield case.judged(ClaimVerdict.NOT_DECIDED, why, measured=measured)
            continue
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
    return units.time_with_unit(value, "s") if unit == "ns" else units.shown(value, unit)


def _limit(claim: Claim, run: RunRecord) -> object:
    return field_path.value(run, claim.limit) if isinstance(claim.limit, str) else claim.limit
