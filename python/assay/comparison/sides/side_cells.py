"""Takes a side; gives its cells, each with its runs in the order of their repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from assay.comparison.sides import factors
from assay.comparison.sides.values import PlacedRun, Side
from assay.judge import undisturbed
from assay.record import Run


class SideCell(Struct, frozen=True, dict=True):
    """A cell on one side."""

    side: Side
    placed: tuple[PlacedRun, ...]
    """Its runs, each with the place of its experiment."""
    counts_disturbed: bool = False
    """Whether runs count that other programs disturbed, where others would do
    (`assay.judge.undisturbed`)."""

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
        return undisturbed.counted(
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
