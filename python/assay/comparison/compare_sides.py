"""Takes two sides; gives their `Comparison`: cells that are equal, each with its metrics, ratios
and verdicts, and what differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import differences, factors, ratios, sides, unequal_work
from assay.comparison.measured_cells import SideCell, side_cells, with_shared_identities
from assay.comparison.ratios import compared, reasons_of, with_verdicts, worst_word
from assay.comparison.sides import ComparedCell, Comparison, Difference, Side, UnequalCell
from assay.contracts.metric import ReportColumn
from assay.judge.statistics.estimate import Design
from assay.judge.storage_checks import MEMORY
from assay.plan import cell_names
from assay.record import ExperimentRecord, Run
from assay.record.metrics import catalogue
from assay.record.metrics.catalogue import COMPARED
from assay.text import units
from assay.workload.derived_metrics import DerivedMetric


class ComparisonOptions(Struct, frozen=True):
    between: str
    """The factor whose levels are; empty: equal cells are."""
    metric: ReportColumn | None = None
    """The primary one; None: that of each test."""
    despite: Sequence[str] = ()
    """Differences that are passed over."""


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
        raise sides.one_side(a)
    a, b = sides.named_together(a, b, between)
    factor = ""
    if between:
        a, b, factor = sides.at_levels(a, b, between)
    assert b is not None
    sides.insist_on_other_runs(a, b)
    asked = ComparisonOptions(factor, None if metric is None else catalogue.metric(metric), despite)
    of_a = side_cells(a, factor)
    of_b = with_shared_identities(of_a, side_cells(b, factor), factor)
    shared = [identity for identity in of_a if identity in of_b]
    named = factors.names([of_a[identity].first for identity in shared], factor)
    cells = [
        compared_cell(name, of_a[identity], of_b[identity], asked, COMPARED.values(), of_types=True)
        for name, identity in zip(named, shared, strict=True)
    ]
    machines = differences.of_machines(a, b)
    probes = () if factor == "storage" else tuple(differences.of_probes(a, b))
    return Comparison(
        a=a,
        b=b,
        between=factor,
        machines=(*machines, *probes),
        is_other_machine=differences.are_other_machines(machines),
        unknown_of_machines=differences.unknown_of_machines(a, b),
        cells=with_verdicts(cells),
        unequal=unequal_cells(of_a, of_b, factor),
    )


def compared_cell(
    name: str,
    a: SideCell,
    b: SideCell,
    asked: ComparisonOptions,
    beside: Iterable[ReportColumn] = (),
    *,
    of_types: bool = False,
) -> ComparedCell:
    """Without verdicts on its metrics. ``beside``: those to compare, with the primary one;
    ``of_types``: those that the workload derives, and those of each transaction type, as well.
    Where disturbed runs are left out, the cell has the comparison of all runs too."""
    beside = [*beside]
    cell = _compared_cell(name, a, b, asked, beside, of_types=of_types)
    if not (a.left_out or b.left_out):
        return cell
    a, b = (replace(side, counts_disturbed=True) for side in (a, b))
    return replace(cell, of_all_runs=_compared_cell(name, a, b, asked, beside, of_types=of_types))


def _compared_cell(
    name: str,
    a: SideCell,
    b: SideCell,
    asked: ComparisonOptions,
    beside: Iterable[ReportColumn],
    *,
    of_types: bool,
) -> ComparedCell:
    both = [*a.measured, *b.measured]
    if of_types:
        derived = [*catalogue.derived(both), *metrics(a, b)]
        beside = [*beside, *derived, *catalogue.of_types(both)]
    chosen = asked.metric or catalogue.primary(both)
    matched = ratios.interleaved_pairs(a.placed_measured, b.placed_measured)
    others = [one for one in beside if one.name != chosen.name]
    first, *rest = (compared(one, a.measured, b.measured, matched) for one in (chosen, *others))
    differing = differences.of_cell(a.side, b.side, a.runs, b.runs, asked.between)
    blocking = tuple(_blocking(differing, asked.despite))
    fault = a.why_no_number or b.why_no_number
    is_apart = ratios.one_after_the_other(a.measured, b.measured)
    # Two experiments are never interleaved; the report then says that the verdict is unreliable.
    is_sequential = is_apart and a.experiments_are_those_of(b)
    changed = ratios.why_changed(a.measured) or ratios.why_changed(b.measured)
    cell = ComparedCell(
        name=name,
        fingerprint=a.first.cell_fingerprint,
        workload=a.first.workload,
        test=a.first.test_name,
        full_test_name=factors.test_of(a.first, asked.between),
        factors=factors.levels(a.first, asked.between),
        a_runs=tuple(run.id for run in a.runs),
        b_runs=tuple(run.id for run in b.runs),
        metrics=(first, *(one for one in rest if one.a is not None or one.b is not None)),
        differences=differing,
        other_work=(
            *unequal_work.known_safeguards(a.measured, b.measured),
            *(one for one in differing if one.what == unequal_work.INDEXES),
        ),
        not_comparable=fault or _why_blocked(blocking),
        answers=_agreement(a, b, differing),
        blocked_by=() if fault else tuple(one.what for one in blocking),
        b_does_not_count=b.why_no_number,
        not_decided=changed
        or ratios.why_disturbed(both)
        or (ratios.SEQUENTIAL if is_sequential else ""),
        few_pairs=_few_pairs(a, b, matched),
        disturbance=None
        if changed or is_sequential
        else ratios.factor_of_others(a.measured, b.measured),
        runs_verdict=worst_word(run.verdict for run in both) if both else None,
        runs_reasons=tuple(_reasons(a, b)),
        not_measured={one.side.name: count for one in (a, b) if (count := _not_measured(one))},
        notes=tuple(_notes(a, b, matched)),
    )
    if cell.not_decided and cell.is_decided(first):
        cell = replace(cell, notes=(*cell.notes, _beyond_others(cell)))
    return cell


def _few_pairs(a: SideCell, b: SideCell, matched: ratios.Pairs | None) -> str:
    """Where runs that other programs disturbed are left out, also of those measured again."""
    of_a, of_b = ({run.key_of_repetition for _, run in one.placed_ended} for one in (a, b))
    planned = min(len(of_a), len(of_b))
    if matched is None or len(matched) >= min(planned, ratios.LEAST_REPETITIONS):
        return ""
    return f"{len(matched)} of {planned} pairs are left, too few: more repetitions decide it"


def _beyond_others(cell: ComparedCell) -> str:
    factor = f"{cell.disturbance or 1.0:.3g}"
    return f"{cell.not_decided}, which explains a factor of {factor}: the interval is beyond it"


def _why_blocked(blocking: Sequence[Difference]) -> str:
    """Of many statements whose answers differ, the first; all are among the differences."""
    of_answers = [one for one in blocking if one.what == "answers"]
    shown = [one.sentence for one in blocking if one not in of_answers[1:]]
    if left := len(of_answers[1:]):
        shown.append(f"and the answers to {units.counted(left, 'further statement')}")
    return "; ".join(shown)


def _agreement(a: SideCell, b: SideCell, differing: Sequence[Difference]) -> str:
    if any(one.what in ("workload", "answers") for one in differing):
        return ""
    return differences.agreement_of_sides(a.measured, b.measured)


def _blocking(differing: Sequence[Difference], despite: Sequence[str]) -> Iterator[Difference]:
    """Those that leave no verdict."""
    for one in differing:
        if one.what in differences.BLOCKING and one.what not in despite:
            yield one


def _reasons(a: SideCell, b: SideCell) -> list[str]:
    """What limits the runs of both sides, then those of one."""
    limits = [reasons_of(cell.measured) for cell in (a, b)]
    found = [reason for reason in limits[0] if reason in limits[1]]
    for name, own, other in (("A", *limits), ("B", *limits[::-1])):
        found += [f"{name}: {reason}" for reason in own if reason not in other]
    return found


def _not_measured(side_cell: SideCell) -> int:
    """Runs that were not, beside others that were."""
    return len(side_cell.runs) - len(side_cell.placed_ended) if side_cell.measured else 0


def _notes(a: SideCell, b: SideCell, matched: ratios.Pairs | None) -> Iterator[str]:
    if rates := ratios.rates_of_sides(a.measured, b.measured):
        yield rates
    for one in (a, b):
        if words := _left_out(one):
            yield words
    if why := differences.why_answers_not_compared(a.measured, b.measured):
        yield why
    for one, other in ((a, b), (b, a)):
        if differences.in_memory(one.measured) and not differences.in_memory(other.measured):
            yield f"{one.side.name}: {MEMORY}, unlike {other.side.name}"
    if matched is None:
        return
    if alone := len(a.measured) + len(b.measured) - 2 * len(matched):
        yield f"{units.counted(alone, 'run')} without a partner left out of the pairs"
    if ratios.always_first(matched):
        yield (
            "the same side ran first in every pair: the ratio includes what a run changes for "
            "the next"
        )


def _left_out(cell: SideCell) -> str:
    """``B: 2 of 11 runs left out, as other programs disturbed them; 1 repetition measured again``;
    empty where none was."""
    again = sum(run.in_place_of is not None for run in cell.runs)
    words = []
    if cell.left_out:
        them = "it" if cell.left_out == 1 else "them"
        ended = units.counted(len(cell.placed_ended), "run")
        words.append(f"{cell.left_out} of {ended} left out, as other programs disturbed {them}")
    if again:
        words.append(f"{units.counted(again, 'disturbed repetition')} measured again")
    return f"{cell.side.name}: {'; '.join(words)}" if words else ""


def designs(comparison: Comparison) -> Counter[Design]:
    """Of the primary metrics that have a ratio: design → number of cells."""
    return Counter(
        cell.primary.estimate.design for cell in comparison.cells if cell.primary.estimate
    )


# Takes the cells of two sides; gives those that only one side has, each with the nearest cell of
# the other.


def unequal_cells(
    a: Mapping[str, SideCell], b: Mapping[str, SideCell], between: str
) -> tuple[UnequalCell, ...]:
    """Those of A first. Cells are given by their identity, apart from the factor ``between``."""
    return (*_alone(a, b, between), *_alone(b, a, between))


def _alone(
    own: Mapping[str, SideCell], other: Mapping[str, SideCell], between: str
) -> Iterator[UnequalCell]:
    alone = [cell for identity, cell in own.items() if identity not in other]
    every = [cell.first for cell in (*alone, *other.values())]
    named = factors.names(every, between)
    documents = [factors.identifying(run) for run in every]
    for place, cell in enumerate(alone):
        name = cell.side.name
        nearest, fewest = "", None
        for candidate in range(len(alone), len(every)):
            if factors.test_of(every[candidate], between) != factors.test_of(cell.first, between):
                continue
            both = (place, candidate) if name == "A" else (candidate, place)
            differing = differences.of_unequal_cells(*(documents[one] for one in both))
            if fewest is None or len(differing) < len(fewest):
                nearest, fewest = named[candidate], differing
        yield UnequalCell(name, named[place], nearest, fewest or ())


# Takes the runs of a cell on two sides; gives the metrics that their workload derives from
# several tests, each read from the runs of one repetition.
#
# Such a metric stands with the cell of the last of its tests: a run of it is taken together with
# the run of each other test that has the same repetition and, but for clients and pace, the same
# levels.

_OF_A_TEST = ("clients", *factors.OF_DRIVING)
"""Factors whose levels are, as a rule, those of a test."""

Declared = Mapping[str, DerivedMetric]
"""By name."""


def metrics(a: SideCell, b: SideCell) -> list[ReportColumn]:
    """Those whose last test is that of the cell."""
    found = {}
    experiment_of = {
        id(run): cell.side.experiments[place] for cell in (a, b) for place, run in cell.placed
    }
    for experiment in {id(one): one for one in experiment_of.values()}.values():
        declared = _declared(experiment)
        for name, one in declared.items():
            if not one.test and [*_tests(one, declared)][-1:] == [a.first.test]:
                found[name] = one
    return [_metric(one, experiment_of) for one in found.values()]


def _metric(declared: DerivedMetric, experiment_of: Mapping[int, ExperimentRecord]) -> ReportColumn:
    name = declared.name

    def value(run: Run) -> float | None:
        experiment = experiment_of[id(run)]
        known = _declared(experiment)
        if name not in known:
            return None
        tests = dict.fromkeys(_tests(known[name], known))
        runs = {test: run if test == run.test else _partner(run, test, experiment)
                for test in tests}  # fmt: skip
        together = {test: one for test, one in runs.items() if one is not None}
        return _value(known[name], known, together) if len(together) == len(runs) else None

    return catalogue.of_derived(name, declared.title, value, declared.is_more_better)


def _value(declared: DerivedMetric, known: Declared, together: Mapping[str, Run]) -> float | None:
    if declared.test:
        run = together[declared.test]
        own = run.driven.derived if run.driven else ()
        return next((one.value for one in own if one.name == declared.name), None)
    values = {name: _value(known[name], known, together) for name in _needed(declared, known)}
    numbers = {name: value for name, value in values.items() if value is not None}
    if len(numbers) < len(values):
        return None
    parameters = {
        name: level for run in together.values() for name, level in run.parameters.items()
    }
    return declared.of_values({**parameters, **numbers}, Path("workload.toml"))


def _partner(run: Run, test: str, experiment: ExperimentRecord) -> Run | None:
    """The one run of that test, the last one where it was measured again; None: there is none that
    counts, or several."""
    own = factors.levels(run)
    found = [
        one
        for one in experiment.runs
        if (one.test, one.of_repetition) == (test, run.of_repetition)
        and one.is_measured
        and one.verdict != "invalid"
        and _is_alike(own, factors.levels(one))
    ]
    is_one_cell = len({one.cell_key for one in found}) == 1
    return max(found, key=lambda partner: partner.repetition) if is_one_cell else None


def _is_alike(own: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return all(
        own[name] == other[name]
        for name in own
        if name in other and name not in _OF_A_TEST and not name.startswith(cell_names.OF_GROUP)
    )


def _declared(experiment: ExperimentRecord) -> Declared:
    return {one.name: one for one in experiment.workload.derived}


def _tests(declared: DerivedMetric, known: Declared) -> Iterator[str]:
    """All that it needs, in the order in which its formula names them."""
    if declared.test:
        yield declared.test
    for name in () if declared.test else _needed(declared, known):
        yield from _tests(known[name], known)


def _needed(declared: DerivedMetric, known: Declared) -> Sequence[str]:
    return [name for name in declared.variables if name in known]
