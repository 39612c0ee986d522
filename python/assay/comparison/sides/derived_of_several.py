"""Takes the runs of a cell on two sides; gives the metrics that their workload derives from several
tests, each read from the runs of one repetition.

Such a metric stands with the cell of the last of its tests: a run of it is taken together with the
run of each other test that has the same repetition and, but for clients and pace, the same levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.comparison.sides import factors
from assay.comparison.sides.side_cells import SideCell
from assay.contracts.metric import Metric
from assay.contracts.recorded import DerivedRecord
from assay.plan import cell_names
from assay.record import ExperimentRecord, RunRecord
from assay.record.metrics import catalogue
from assay.workload.derived_metrics import DerivedMetric

_OF_A_TEST = ("clients", *factors.OF_DRIVING)
"""Factors whose levels are, as a rule, those of a test."""

Declared = Mapping[str, DerivedRecord]
"""By name."""


def metrics(a: SideCell, b: SideCell) -> list[Metric]:
    """Those whose last test is that of the cell."""
    found = {}
    experiment_of = {
        id(run): cell.side.experiments[place] for cell in (a, b) for place, run in cell.placed
    }
    for experiment in {id(one): one for one in experiment_of.values()}.values():
        declared = _declared(experiment)
        for name, one in declared.items():
            if not one["test"] and [*_tests(one, declared)][-1:] == [a.first.test]:
                found[name] = one
    return [_metric(one, experiment_of) for one in found.values()]


def _metric(declared: DerivedRecord, experiment_of: Mapping[int, ExperimentRecord]) -> Metric:
    name = declared["name"]

    def value(run: RunRecord) -> float | None:
        experiment = experiment_of[id(run)]
        known = _declared(experiment)
        if name not in known:
            return None
        tests = dict.fromkeys(_tests(known[name], known))
        runs = {test: run if test == run.test else _partner(run, test, experiment)
                for test in tests}  # fmt: skip
        together = {test: one for test, one in runs.items() if one is not None}
        return _value(known[name], known, together) if len(together) == len(runs) else None

    return catalogue.of_derived(name, declared["title"], value, declared["is_more_better"])


def _value(
    declared: DerivedRecord, known: Declared, together: Mapping[str, RunRecord]
) -> float | None:
    if declared["test"]:
        run = together[declared["test"]]
        own = run.driven.derived if run.driven else ()
        return next((one.value for one in own if one.name == declared["name"]), None)
    formula = DerivedMetric.of_record(declared)
    values = {name: _value(known[name], known, together) for name in _needed(declared, known)}
    numbers = {name: value for name, value in values.items() if value is not None}
    if len(numbers) < len(values):
        return None
    parameters = {
        name: level for run in together.values() for name, level in run.parameters.items()
    }
    return formula.of_values({**parameters, **numbers}, Path("workload.toml"))


def _partner(run: RunRecord, test: str, experiment: ExperimentRecord) -> RunRecord | None:
    """The one run of that test, the last one where it was measured again; None: there is none that
    counts, or several."""
    own = factors.levels(run)
    found = [
        one
        for one in experiment.runs
        if (one.test, one.of_repetition) == (test, run.of_repetition)
        and one.evidence.is_measured
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
    return {one["name"]: one for one in experiment.workload.get("derived", [])}


def _tests(declared: DerivedRecord, known: Declared) -> Iterator[str]:
    """All that it needs, in the order in which its formula names them."""
    if declared["test"]:
        yield declared["test"]
    for name in () if declared["test"] else _needed(declared, known):
        yield from _tests(known[name], known)


def _needed(declared: DerivedRecord, known: Declared) -> Sequence[str]:
    return [name for name in DerivedMetric.of_record(declared).variables if name in known]
