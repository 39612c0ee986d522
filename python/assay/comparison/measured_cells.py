"""Takes the runs of a side, or of a test; gives its cells, with the runs of each and the levels
of what varies, and the best of those whose numbers are ranked."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from assay.comparison import factors
from assay.comparison.sides import PlacedRun, Side
from assay.contracts.durability import MEANINGS, NOT_MEASURED
from assay.experiment import Scalar
from assay.judge import machine_load, run_warnings, storage_checks
from assay.judge.run import CellKey
from assay.plan.cell_names import CACHE
from assay.record import Run
from assay.record.metrics import catalogue


class SideCell(Struct, frozen=True, dict=True):
    side: Side
    placed: tuple[PlacedRun, ...]
    """Its runs, each with the place of its experiment."""
    counts_disturbed: bool = False
    """Whether runs count that other programs disturbed, where others would do
    (`assay.judge.machine_load`)."""

    @property
    def first(self) -> Run:
        return self.placed[0][1]

    @cached_property
    def runs(self) -> list[Run]:
        return [run for _, run in self.placed]

    @cached_property
    def placed_ended(self) -> list[PlacedRun]:
        """Those that were measured to their end."""
        return [one for one in self.placed if one[1].is_measured]

    @cached_property
    def placed_measured(self) -> list[PlacedRun]:
        """Those of them by which it is compared."""
        if self.counts_disturbed:
            return self.placed_ended
        return machine_load.undisturbed_runs(
            self.placed_ended,
            lambda placed: placed[1],
            lambda placed: (placed[0], placed[1].of_repetition),
        )

    @cached_property
    def measured(self) -> list[Run]:
        return [run for _, run in self.placed_measured]

    @property
    def left_out(self) -> int:
        """Runs that other programs disturbed, and that do not count for that."""
        return len(self.placed_ended) - len(self.placed_measured)

    def experiments_are_those_of(self, other: SideCell) -> bool:
        """Whether all runs of both are of one experiment."""
        of_both = [
            one.side.experiments[place] for one in (self, other) for place, _ in one.placed_measured
        ]
        return all(experiment is of_both[0] for experiment in of_both)

    @property
    def why_no_number(self) -> str:
        """Why it has no number to compare; empty: it has."""
        name = self.side.name
        if not self.measured:
            begun = [run for run in self.runs if run.begun_unix_ns is not None]
            run = (begun or self.runs)[-1]
            why = ""
            if run.state == "done":
                why = (
                    ", cut short"
                    if run.observation
                    else ", and the record has no observation of it"
                )
            return f"{name} was not measured: run {run.id} {run.state_shown}{why}"
        for run in self.measured:
            if run.verdict == "invalid":
                return f"run {run.id} of {name} is invalid: {run.verdict_reason}"
        return ""


def with_shared_identities(
    a: Mapping[str, SideCell], b: Mapping[str, SideCell], between: str
) -> dict[str, SideCell]:
    """The cells of B, where one has no equal on the other side by the identity of the cell of A
    that has the same paths: what their files held is then a difference of them."""
    of_paths: dict[str, list[str]] = {}
    for identity, cell in a.items():
        if identity not in b:
            by_paths = factors.identity_by_paths(cell.first, between)
            of_paths.setdefault(by_paths, []).append(identity)
    found = {}
    for identity, cell in b.items():
        alike = (
            of_paths.get(factors.identity_by_paths(cell.first, between), ())
            if identity not in a
            else ()
        )
        place = alike[0] if len(alike) == 1 and alike[0] not in found else identity
        found[place] = cell
    return found


def side_cells(side: Side, between: str) -> dict[str, SideCell]:
    """Identity, apart from the factor ``between`` → cell."""
    found: dict[str, list[PlacedRun]] = {}
    for place, run in side.runs:
        found.setdefault(factors.identity(run, between), []).append((place, run))
    return {
        identity: SideCell(
            side, tuple(sorted(placed, key=lambda place: (place[0], place[1].of_repetition)))
        )
        for identity, placed in found.items()
    }


Levels = Mapping[str, Scalar]
"""Factor → level."""
IN_MEMORY = "none"
"""In place of a durability class: the storage is memory."""
_WITHOUT_CLASS = ("", IN_MEMORY, NOT_MEASURED)


class RankedCell(Struct, frozen=True):
    levels: Levels
    runs: tuple[Run, ...]

    @property
    def measured(self) -> list[Run]:
        """Without those that other programs disturbed (`assay.judge.machine_load`)."""
        ended = [run for run in self.runs if run.is_measured]
        return machine_load.undisturbed_runs(
            ended, lambda run: run, lambda run: run.key_of_repetition
        )

    @property
    def why_no_number(self) -> str:
        """Why it has no number; empty: it has."""
        if not self.measured:
            return "not measured"
        for run in self.measured:
            if run.verdict == "invalid":
                return run.verdict_reason or "invalid"
        return ""

    @property
    def why_not_ranked(self) -> str:
        """Why its number is compared with no other; empty: it is."""
        return self.why_no_number or run_warnings.why_not_ranked(
            warning for run in self.measured for warning in run.warnings
        )

    @property
    def durability(self) -> str:
        """Of its commits: the class that was measured, ``not measured``, or `IN_MEMORY`; empty
        where nothing is committed."""
        for run in self.measured:
            if run.may_commit and run.deployment:
                if storage_checks.is_in_memory(run.deployment):
                    return IN_MEMORY
                return storage_checks.comparable_durability(run.deployment) or NOT_MEASURED
        return ""


def ranked_cells(runs: Sequence[Run]) -> list[RankedCell]:
    """Each with its levels of the factors that vary; of scripts without a workload, which script it
    is, is one of them."""
    levels_of_runs: list[dict[str, Scalar]] = [
        {**({factors.SCRIPT: run.scripts_given} if run.is_ad_hoc else {}), **levels}
        for run, levels in zip(runs, factors.named_by(runs), strict=True)
    ]
    names = dict.fromkeys(name for levels in levels_of_runs for name in levels)
    varying = [
        name
        for name in names
        if len({levels.get(name) for levels in levels_of_runs}) > 1
        and not _is_of_cache(name, levels_of_runs)
        and not _is_of_system(name, levels_of_runs)
    ]
    by_cell: dict[CellKey, list[Run]] = {}
    levels_of_cells: dict[CellKey, Levels] = {}
    for run, levels in zip(runs, levels_of_runs, strict=True):
        own = {name: levels[name] for name in varying if name in levels}
        levels_of_cells.setdefault(run.cell_key, own)
        by_cell.setdefault(run.cell_key, []).append(run)
    return [
        RankedCell(levels_of_cells[cell], tuple(sorted(of_cell, key=lambda run: run.of_repetition)))
        for cell, of_cell in by_cell.items()
    ]


def _is_of_system(name: str, levels_of_runs: Sequence[Levels]) -> bool:
    """Whether each system has one level of its own: a setting of one of two servers (``new`` with
    ``work_mem``) belongs to that server, and the question is which server is faster."""
    by_system: dict[Scalar, set[Scalar | None]] = {}
    for levels in levels_of_runs:
        by_system.setdefault(levels.get("system", ""), set()).add(levels.get(name))
    return name != "system" and all(len(own) == 1 for own in by_system.values())


def _is_of_cache(name: str, levels_of_runs: Sequence[Levels]) -> bool:
    """Whether it only belongs to cold or warm caches, as a warm-up does."""
    caches = {levels.get(CACHE) for levels in levels_of_runs}
    both = {(levels.get(CACHE), levels.get(name)) for levels in levels_of_runs}
    return name in factors.OF_DRIVING and len(caches) > 1 and len(both) == len(caches)


def best_cell(cells: Sequence[RankedCell]) -> RankedCell:
    """Among those whose numbers are ranked, without those of a lower durability class than others;
    the first where none is ranked."""
    ranked = [cell for cell in cells if not cell.why_not_ranked] or [
        cell for cell in cells if cell.measured
    ]
    if not ranked:
        return cells[0]
    metric = catalogue.primary([run for cell in ranked for run in cell.measured])
    classes = [name for name in (cell.durability for cell in ranked) if name not in _WITHOUT_CLASS]
    lower = {name for name in classes if name != min(classes, key=_rank)}
    medians = {
        place: statistics.median(values)
        for place, cell in enumerate(ranked)
        if cell.durability not in lower
        and (values := [known for run in cell.measured if (known := metric.value(run)) is not None])
    }
    if not medians:
        return ranked[0]
    choose = max if metric.is_more_better else min
    return ranked[choose(medians, key=medians.__getitem__)]


def _rank(durability_class: str) -> tuple[str, int]:
    """D3 before D3 that is lowered by settings, before D2."""
    name = durability_class[:2]
    return (str([*MEANINGS].index(name)) if name in MEANINGS else name, len(durability_class))
