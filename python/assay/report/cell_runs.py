"""Takes the runs of a test; returns its cells, each with its repetitions and factor levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from assay.experiment import AS_IS, Scalar
from assay.judge import CellVerdict, durability, repetitions
from assay.observation import Observation
from assay.record import ExperimentRecord, RunRecord
from assay.report.values import Cell, Column, absent
from assay.text import units

_ALWAYS_NAMED = ("system", "storage", "clients")
OFFERED_RATE = "offered_rate_per_s"
OF_GROUP = "clients of "
"""Begins the name of a factor: how many clients a group has."""
CACHE = "cache"
TEST, REPETITION = "test", "repetition"
"""Further factors that distinguish cells and runs."""
DURABILITY = "durability"
"""The name of the class that was measured for a system on a storage; a factor where any was, of
tests that commit."""
NOT_MEASURED = "not measured"
"""Its level where no class is known."""
_TITLES = {OFFERED_RATE: "offered/s"}
_NOT_SEEN = "not seen"
"""The storage of a server by URL."""


class DrivenRun(NamedTuple):
    """A run whose clients were driven."""

    run: RunRecord
    driven: Observation


@dataclass(frozen=True)
class CellRuns:
    """One combination of levels, and all runs of it in the order of their repetitions."""

    factors: Mapping[str, Scalar]
    runs: tuple[RunRecord, ...]
    name: str
    """As running text has it: system, storage, clients, and what else varies."""
    judged: CellVerdict
    """As it is on record."""

    @property
    def measured(self) -> tuple[RunRecord, ...]:
        """The runs that were measured to their end, whether right or wrong."""
        return tuple(run for run in self.runs if run.evidence.is_measured)

    @property
    def published_names(self) -> tuple[str, ...]:
        """What a published table may call the system: its name, or that of its driver."""
        found = [run.deployment for run in self.runs if run.deployment]
        return (self.runs[0].system, *(one.address.driver for one in found[:1]))

    def level(self, factor: str) -> Scalar | None:
        """The cell's level of a factor; None where it has no such factor."""
        return self.runs[0].test if factor == TEST else self.factors.get(factor)

    @property
    def absent(self) -> Cell:
        """The cell of a table where there is no number: the state, with its reason as a note."""
        for run in self.runs:
            if run.state == "refused":
                return absent("refused", note=f"refused: {run.reason}" if run.reason else "")
        for state in ("failed", "interrupted"):
            for run in self.runs:
                if run.state == state:
                    return absent(state, note=f"run {run.id}: {run.state_shown}")
        states = {run.state for run in self.runs}
        return absent("not run" if states == {"planned"} else "under way")

    def each(self) -> Iterator[CellRuns]:
        """A `CellRuns` for each run, whose repetition is a factor."""
        for run in self.runs:
            yield replace(self, factors={**self.factors, REPETITION: run.repetition}, runs=(run,))


def tests(runs: Iterable[RunRecord]) -> dict[str, list[RunRecord]]:
    """Runs by test, in the order of each test's first run."""
    by_test: dict[str, list[RunRecord]] = {}
    for run in runs:
        by_test.setdefault(run.test, []).append(run)
    return by_test


def cells(experiment: ExperimentRecord, runs: Iterable[RunRecord]) -> list[CellRuns]:
    """Runs by cell, in the order of each cell's first run."""
    runs = list(runs)
    groups = list(dict.fromkeys(name for run in runs for name in run.group_clients))
    by_factors: dict[tuple[tuple[str, Scalar], ...], list[RunRecord]] = {}
    classes = {} if _commit_nothing(runs) else _classes(experiment)
    for run in runs:
        by_factors.setdefault(tuple(_factors(run, groups, classes).items()), []).append(run)
    all_factors = [dict(factors) for factors in by_factors]
    is_cache_asked = any(run.cache != AS_IS for run in runs)
    named = _always_and_varying(all_factors, (*_ALWAYS_NAMED, *([CACHE] if is_cache_asked else [])))
    if len(set(classes.values())) < 2:
        named = [name for name in named if name != DURABILITY]
    return [
        CellRuns(
            factors,
            tuple(sorted(found, key=lambda run: run.repetition)),
            ", ".join(
                _level_name(name, factors[name])
                for name in named
                if name in factors and (name, factors[name]) != ("storage", _NOT_SEEN)
            ),
            experiment.cells[found[0].cell_fingerprint],
        )
        for factors, found in zip(all_factors, by_factors.values(), strict=True)
    ]


def levels(found: Sequence[CellRuns], factor: str) -> list[Scalar]:
    """The factor's levels: numbers by size, names in the order of their first run."""
    if factor == TEST:
        return list(dict.fromkeys(cell.runs[0].test for cell in found))
    return _levels([cell.factors for cell in found], factor)


def varying(found: Sequence[CellRuns], *always: str) -> list[str]:
    """The factors ``always``, and those with more than one level in ``found``. The durability,
    which follows from the system and its storage, is among them only where it is asked for."""
    names = _always_and_varying([cell.factors for cell in found], always)
    return [name for name in names if name != DURABILITY or name in always]


def label_cells(cell: CellRuns, factors: Sequence[str]) -> tuple[Cell, ...]:
    """The cell's levels as the first cells of a row."""
    return tuple(
        label(cell.factors[name]) if name in cell.factors else absent("") for name in factors
    )


def label(level: Scalar) -> Cell:
    """A level as a cell."""
    return Cell(f"{level:g}" if isinstance(level, float) else str(level), level=level)


def label_columns(found: Sequence[CellRuns], factors: Sequence[str]) -> tuple[Column, ...]:
    """The columns of `label_cells`."""
    return tuple(
        Column(
            _TITLES.get(name, name),
            is_number=all(isinstance(level, int | float) for level in levels(found, name)),
        )
        for name in factors
    )


def _commit_nothing(runs: Iterable[RunRecord]) -> bool:
    """Whether durability makes no difference to them, as far as is known."""
    commits = [run.driven.commits for run in runs if run.driven is not None]
    return bool(commits) and not any(found is None or found for found in commits)


def _classes(experiment: ExperimentRecord) -> dict[tuple[str, str], str]:
    """The durability class of each system on each storage; without those not measured. Measured
    once, before the first of their runs."""
    return {
        (run.system_label, run.storage): level
        for run in experiment.runs
        if run.deployment and (level := durability.level(run.deployment))
    }


def _factors(
    run: RunRecord, groups: Iterable[str], classes: Mapping[tuple[str, str], str]
) -> dict[str, Scalar]:
    """``groups``: those whose clients are not as declared in some run; ``classes``: of systems on
    storages."""
    level = classes.get((run.system_label, run.storage), NOT_MEASURED)
    return {
        "system": run.system_label,
        "storage": run.storage or _NOT_SEEN,
        **({DURABILITY: level} if classes else {}),
        "clients": run.clients,
        **{f"{OF_GROUP}{one}": run.group_clients.get(one, "as declared") for one in groups},
        "protocol": run.protocol,
        "threads": run.threads,
        **_offered_rate(run),
        CACHE: run.cache,
        **run.parameters,
    }


def _offered_rate(run: RunRecord) -> dict[str, Scalar]:
    rate_per_s = run.driving.offered_rate_per_s if run.driving else None
    return {} if rate_per_s is None else {OFFERED_RATE: rate_per_s}


def middle_run(cell: CellRuns) -> DrivenRun | None:
    """The repetition whose percentiles stand for the cell (`assay.judge.repetitions`)."""
    measured = cell.measured
    place = repetitions.middle([run.driven for run in measured])
    if place is None or (driven := measured[place].driven) is None:
        return None
    return DrivenRun(measured[place], driven)


def middle_runs(found: Iterable[CellRuns]) -> list[tuple[CellRuns, DrivenRun]]:
    """Of each cell that has one."""
    return [(cell, run) for cell in found if (run := middle_run(cell)) is not None]


def driven_runs(found: Iterable[CellRuns]) -> list[tuple[CellRuns, DrivenRun]]:
    """Every run whose clients were driven, with its cell."""
    return [
        (cell, DrivenRun(run, driven))
        for cell in found
        for run in cell.runs
        if (driven := run.driven) is not None
    ]


def _level_name(factor: str, level: Scalar) -> str:
    """A level in text: a name alone, a number with what it counts."""
    if factor in ("system", "storage"):
        return str(level)
    if factor == "clients":
        return units.counted(int(level), "client")
    if factor == OFFERED_RATE:
        return f"{level:g} offered/s"
    if factor.startswith(OF_GROUP):
        return f"{factor.removeprefix(OF_GROUP)} {level}"
    return f"{factor} {level}"


def _always_and_varying(found: Sequence[Mapping[str, Scalar]], always: Iterable[str]) -> list[str]:
    names = dict.fromkeys(name for factors in found for name in factors)
    return [name for name in names if name in always or len(_levels(found, name)) > 1]


def _levels(found: Sequence[Mapping[str, Scalar]], factor: str) -> list[Scalar]:
    seen = list(dict.fromkeys(factors[factor] for factors in found if factor in factors))
    numbers = [level for level in seen if isinstance(level, int | float)]
    return [*sorted(numbers)] if len(numbers) == len(seen) else seen
