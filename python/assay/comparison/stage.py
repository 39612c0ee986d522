"""Takes two sides; gives their `Comparison`: cells that are equal, each with its metrics, ratios
and verdicts, and what differs.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.comparison import differences, factors, metrics, pairs, sides
from assay.comparison.estimate import Design, Estimate, center, independent, paired
from assay.comparison.limits_of_runs import reasons_of, worst_word
from assay.comparison.metrics import METRICS, Metric
from assay.comparison.values import (
    Compared,
    ComparedCell,
    Comparison,
    Side,
    UnequalCell,
)
from assay.comparison.verdicts import is_zero, with_verdicts
from assay.errors import ArgumentError
from assay.record import RunRecord
from assay.text import units


def compare(
    a: Side,
    b: Side | None,
    *,
    between: str = "",
    metric: str | None = None,
    despite: Sequence[str] = (),
) -> Comparison:
    """``b`` None: two levels of the factor ``between`` are compared. ``metric``: the primary one,
    in place of that of each test. ``despite``: differences that are passed over
    (`assay.comparison.differences.DESPITE`). Raises `ArgumentError`."""
    if b is None and not between:
        raise ArgumentError(
            "expected two sides, found one",
            hint="name two experiments, or a factor of one: --between storage",
        )
    factor = ""
    if between:
        a, b, factor = sides.at_levels(a, b, between)
    assert b is not None
    sides.insist_on_other_runs(a, b)
    main = None if metric is None else metrics.metric(metric)
    ours, theirs = (_cells(side, factor) for side in (a, b))
    shared = [identity for identity in ours if identity in theirs]
    machines = differences.of_machines(a, b)
    named = factors.names(
        [factors.levels(ours[one][0][1], factor) for one in shared],
        [ours[one][0][1].full_test_name for one in shared],
        factor,
    )
    cells = [
        _cell(name, a, b, ours[identity], theirs[identity], factor, main, despite)
        for name, identity in zip(named, shared, strict=True)
    ]
    probes = () if factor == "storage" else tuple(differences.of_probes(a, b))
    return Comparison(
        a=a,
        b=b,
        between=factor,
        machines=(*machines, *probes),
        is_other_machine=differences.are_other_machines(machines),
        unknown_of_machines=differences.unknown_of_machines(a, b),
        cells=with_verdicts(cells),
        unequal=(*_unequal("A", ours, theirs, factor), *_unequal("B", theirs, ours, factor)),
    )


Runs = list[tuple[int, RunRecord]]


def _cells(side: Side, between: str) -> dict[str, Runs]:
    """Identity → runs of the cell, in the order of their repetitions."""
    found: dict[str, Runs] = {}
    for place, run in side.runs:
        found.setdefault(factors.identity(run, between), []).append((place, run))
    return {
        identity: sorted(runs, key=lambda one: (one[0], one[1].repetition))
        for identity, runs in found.items()
    }


def _cell(
    name: str,
    a: Side,
    b: Side,
    ours: Runs,
    theirs: Runs,
    between: str,
    main: Metric | None,
    despite: Sequence[str],
) -> ComparedCell:
    left, right = _measured(ours), _measured(theirs)
    both = [run for _, run in (*left, *right)]
    chosen = main or metrics.primary(both)
    matched = pairs.interleaved(left, right)
    others = [one for one in METRICS.values() if one is not chosen]
    first = _compared(chosen, left, right, matched, is_primary=True)
    rest = [_compared(one, left, right, matched, is_primary=False) for one in others]
    a_fault, b_fault = _no_number("A", ours), _no_number("B", theirs)
    differing = differences.of_cell(
        a, b, [run for _, run in ours], [run for _, run in theirs], between
    )
    blocking = [
        one.sentence
        for one in differing
        if one.what in differences.BLOCKING and one.what not in despite
    ]
    run = ours[0][1]
    return ComparedCell(
        name=name,
        fingerprint=run.cell_fingerprint,
        workload=run.workload,
        test=run.test_name,
        factors=factors.levels(run, between),
        a_runs=tuple(run.id for _, run in ours),
        b_runs=tuple(run.id for _, run in theirs),
        metrics=(first, *(one for one in rest if one.a or one.b)),
        differences=differing,
        not_comparable=a_fault or b_fault or "; ".join(blocking),
        zero_counts=tuple(one.metric.name for one in (first, *rest) if is_zero(one)),
        b_does_not_count=b_fault,
        runs_verdict=worst_word(run.verdict for run in both),
        runs_reasons=tuple(_reasons([run for _, run in left], [run for _, run in right])),
        notes=tuple(_notes(ours, theirs, matched)),
    )


def _reasons(ours: Sequence[RunRecord], theirs: Sequence[RunRecord]) -> list[str]:
    """What limits the runs of both sides, then those of one."""
    limits = [reasons_of(runs) for runs in (ours, theirs)]
    found = [reason for reason in limits[0] if reason in limits[1]]
    for name, own, other in (("A", *limits), ("B", *limits[::-1])):
        found += [f"{name}: {reason}" for reason in own if reason not in other]
    return found


def _measured(runs: Runs) -> Runs:
    return [one for one in runs if one[1].evidence.is_measured]


def _compared(
    metric: Metric, ours: Runs, theirs: Runs, matched: pairs.Pairs | None, *, is_primary: bool
) -> Compared:
    a_values, b_values = (_values(metric, runs) for runs in (ours, theirs))
    estimate: Estimate | None = None
    if a_values and b_values and min(*a_values, *b_values) > 0:
        estimate = independent(a_values, b_values, metric.least_deviation)
        if matched is not None and metric.measured_once is None:
            both = [(metric.value(left), metric.value(right)) for left, right in matched]
            whole = [(left, right) for left, right in both if left and right]
            if len(whole) > 1:
                estimate = paired(
                    [left for left, _ in whole],
                    [right for _, right in whole],
                    metric.least_deviation,
                )
    return Compared(
        metric=metric,
        is_primary=is_primary,
        a=center(a_values) if a_values else None,
        b=center(b_values) if b_values else None,
        a_values=a_values,
        b_values=b_values,
        estimate=estimate,
    )


def _values(metric: Metric, runs: Runs) -> tuple[float, ...]:
    """Of each run; of those that share a measurement once."""
    found = []
    seen = set()
    for _, run in runs:
        value = metric.value(run)
        if value is None:
            continue
        if metric.measured_once is not None:
            shared = metric.measured_once(run)
            if shared in seen:
                continue
            seen.add(shared)
        found.append(float(value))
    return tuple(found)


def _no_number(name: str, runs: Runs) -> str:
    """Why the side has no number to compare; empty: it has."""
    measured = [run for _, run in _measured(runs)]
    if not measured:
        begun = [run for _, run in runs if run.begun_unix_ns is not None]
        run = (begun or [runs[-1][1]])[-1]
        why = ""
        if run.state == "done":
            why = ", cut short" if run.observation else ", and the record has no observation of it"
        return f"{name} was not measured: run {run.id} {run.state_shown}{why}"
    for run in measured:
        if run.verdict == "invalid":
            return f"run {run.id} of {name} is invalid: {run.verdict_reason}"
    return ""


def _notes(ours: Runs, theirs: Runs, matched: pairs.Pairs | None) -> list[str]:
    found = []
    for name, runs in (("A", ours), ("B", theirs)):
        if 0 < (measured := len(_measured(runs))) < len(runs):
            found.append(f"{len(runs) - measured} of {len(runs)} runs of {name} were not measured")
    if matched is None:
        return found
    count = len(_measured(ours)) + len(_measured(theirs))
    if (alone := count - 2 * len(matched)) > 0:
        found.append(f"{units.counted(alone, 'run')} without a partner left out of the pairs")
    if pairs.always_first(matched):
        found.append(
            "the same side ran first in every pair: the ratio includes what a run changes for "
            "the next"
        )
    return found


def _unequal(
    name: str, ours: dict[str, Runs], theirs: dict[str, Runs], between: str
) -> list[UnequalCell]:
    """The cells that the other side has not, each with its nearest one there."""
    alone = [runs[0][1] for identity, runs in ours.items() if identity not in theirs]
    others = [runs[0][1] for runs in theirs.values()]
    every = [*alone, *others]
    named = factors.names(
        [factors.levels(run, between) for run in every],
        [run.full_test_name for run in every],
        between,
    )
    documents = [factors.identifying(run) for run in every]
    found = []
    for place, run in enumerate(alone):
        nearest, fewest = "", None
        for other in range(len(alone), len(every)):
            if every[other].full_test_name != run.full_test_name:
                continue
            both = (place, other) if name == "A" else (other, place)
            differing = differences.of_unequal_cells(*(documents[one] for one in both))
            if fewest is None or len(differing) < len(fewest):
                nearest, fewest = named[other], differing
        found.append(UnequalCell(name, named[place], nearest, fewest or ()))
    return found


def designs(comparison: Comparison) -> set[Design]:
    """Of the primary metrics that have a ratio."""
    return {cell.primary.estimate.design for cell in comparison.cells if cell.primary.estimate}
