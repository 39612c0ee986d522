"""A comparison of two sides as frozen values."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from msgspec import Struct, field

from assay.contracts.metric import Metric
from assay.judge.run import RunVerdict
from assay.judge.statistics.estimate import Estimate
from assay.judge.statistics.samples import UNREACHED
from assay.record import ExperimentRecord, Run

NOT_KNOWN = "not known"
"""How a value begins that could not be read."""

PlacedRun = tuple[int, Run]
"""A run, with the place of its experiment in its side."""


class Side(Struct, frozen=True):
    """The runs of A or of B."""

    name: str
    """``A`` or ``B``."""
    title: str
    """Its experiments and where they are kept; with the level of a factor, that level."""
    experiments: tuple[ExperimentRecord, ...]
    runs: tuple[PlacedRun, ...]
    """In the order of their repetitions."""


class Difference(NamedTuple):
    """A value that is not the same on both sides; empty: there is none."""

    what: str
    """``machine``, ``probe``, ``workload``, ``data`` … (`assay.comparison.sides.differences`)."""
    name: str
    a: str
    b: str

    @property
    def sentence(self) -> str:
        if self.a == self.b and self.a.startswith(NOT_KNOWN):
            return f"{self.name}: {self.a}"
        if self.a == self.b:
            return f"{self.name}: {self.a} on each side, not run by run the same"
        return f"{self.name}: {self.a or 'none'} → {self.b or 'none'}"


def joined(values: Iterable[Any]) -> str:
    """In an order of their own: that of the runs is no difference."""
    return " and ".join(sorted({str(value) for value in values if value != ""}))


class Direction(Enum):
    """What B is, compared with A."""

    BETTER = "better"
    WORSE = "worse"
    NONE = "none"
    """No difference was seen, or too few repetitions decide it."""
    UNKNOWN = "unknown"
    """Not comparable, or there is no interval."""


class Compared(Struct, frozen=True):
    """One metric of a cell on both sides."""

    metric: Metric
    is_primary: bool
    a: float | None
    """The geometric mean of the values below, which are `UNREACHED` where a time is not reached;
    None: there is none."""
    b: float | None
    a_values: tuple[float, ...]
    b_values: tuple[float, ...]
    estimate: Estimate | None
    """None: there is no ratio (a value is missing, or 0)."""
    adjusted_p: float | None = None
    """Of its family of comparisons; None: there is no interval."""
    direction: Direction = Direction.UNKNOWN
    verdict: str = ""
    """``faster``, ``slower``, ``no difference seen``, ``not decided: …``, ``not comparable: …``"""

    @property
    def repetitions(self) -> int:
        """Of the side that has fewer."""
        return min(len(self.a_values), len(self.b_values))

    @property
    def do_medians_disagree(self) -> bool:
        """Whether B is above A by the means of the repetitions, and below it by their medians, or
        the reverse."""
        if not self.a or not self.b:
            return False
        by_mean = self.b - self.a
        by_median = statistics.median(self.b_values) - statistics.median(self.a_values)
        return by_mean * by_median < 0

    @property
    def is_zero(self) -> bool:
        """Whether it counts, and counted nothing on either side."""
        return self.metric.unit == "count" and self.a == self.b == 0

    @property
    def is_reached_by_a_alone(self) -> bool:
        """Whether every repetition of A has such a time, and none of B; two or more of each."""
        is_of_a = UNREACHED not in self.a_values
        return self.repetitions > 1 and is_of_a and set(self.b_values) == {UNREACHED}

    @property
    def reason(self) -> str:
        """Why it is not comparable."""
        return self.verdict.removeprefix("not comparable: ")


class ComparedCell(Struct, frozen=True):
    """A cell that both sides have."""

    name: str
    fingerprint: str
    """Of A's cell."""
    workload: str
    test: str
    full_test_name: str
    """With its workload, as names of cells begin where there are several tests."""
    factors: Mapping[str, str | int | float | bool]
    a_runs: tuple[int, ...]
    """Their numbers, in the record of A."""
    b_runs: tuple[int, ...]
    metrics: tuple[Compared, ...]
    """Of which a side has a value; the primary one first."""
    differences: tuple[Difference, ...]
    """Beside those of the machines, which all cells share."""
    other_work: tuple[Difference, ...]
    """What is known of both sides that each writes, flushes or checks beside the same work, also
    what is the same (`assay.comparison.sides.safeguards.clauses` says what is not); and the
    differences of indexes."""
    not_comparable: str
    """Why there is no verdict; empty: there is one."""
    not_decided: str = ""
    """Why no number that depends on time is decided; empty: they may be."""
    disturbance: float | None = None
    """The factor by which that reason may have changed a ratio: a speed whose whole interval lies
    beyond it is decided all the same. None: not bounded."""
    of_all_runs: ComparedCell | None = None
    """The same with the runs that other programs disturbed, where these do not count here."""
    answers: str = ""
    """How far the answers of both sides were compared and are the same; empty: they differ, or are
    not known."""
    blocked_by: tuple[str, ...] = ()
    """The kinds of differences (``data``) that alone leave no verdict."""
    b_does_not_count: str = ""
    """Why the numbers of B alone do not count (not measured, or invalid); empty: they do."""
    runs_verdict: RunVerdict | None = None
    """The worst of the runs that were measured; None: there is none."""
    runs_reasons: tuple[str, ...] = ()
    """Why it is no better (``short measurement``, ``B: client busy``)."""
    not_measured: Mapping[str, int] = field(default_factory=dict)
    """Side → the runs of it that were not measured, beside others that were."""
    notes: tuple[str, ...] = ()

    def interval(self, compared: Compared) -> tuple[float, float] | None:
        """What the ratio may be with what disturbed the cell; None: not known, or not bounded."""
        found = compared.estimate.interval() if compared.estimate else None
        if found is None or not (self.not_decided and compared.metric.depends_on_machine):
            return found
        if self.disturbance is None or not compared.metric.is_speed:
            return None
        return found[0] / self.disturbance, found[1] * self.disturbance

    def is_decided(self, compared: Compared) -> bool:
        """Whether other reasons than its interval leave nothing open."""
        if self.not_comparable:
            return False
        if not (self.not_decided and compared.metric.depends_on_machine):
            return True
        found = self.interval(compared)
        return found is not None and not found[0] <= 1 <= found[1]

    @property
    def every_note(self) -> tuple[str, ...]:
        """With the runs that were not measured."""
        runs = {"A": len(self.a_runs), "B": len(self.b_runs)}
        few = (
            f"{count} of {runs[side]} runs of {side} were not measured"
            for side, count in self.not_measured.items()
        )
        return (*few, *self.notes)

    @property
    def primary(self) -> Compared:
        return self.metrics[0]

    @property
    def types_that_differ(self) -> tuple[Compared, ...]:
        """The metrics of transaction types with another direction than the whole has: a type that
        is slower while the whole is not."""
        seen = (Direction.BETTER, Direction.WORSE)
        return tuple(
            one
            for one in self.metrics[1:]
            if one.metric.transaction
            and one.direction in seen
            and one.direction is not self.primary.direction
        )

    @property
    def is_compared(self) -> bool:
        """Whether its primary metric has a ratio, or is 0 on both sides."""
        return not self.not_comparable and (
            self.primary.estimate is not None or self.primary.direction is Direction.NONE
        )


class UnequalCell(Struct, frozen=True):
    """A cell that only one side has."""

    side: str
    name: str
    nearest: str
    """The other side's cell with the fewest differences; empty: it has none of this test."""
    differences: tuple[Difference, ...]


class Machines(Enum):
    """Whether both sides were measured on one kind of machine."""

    SAME = "the same"
    OTHER = "not the same"
    UNKNOWN = "not known"


class Comparison(Struct, frozen=True):
    a: Side
    b: Side
    between: str
    """The factor whose levels are compared; empty: equal cells are."""
    machines: tuple[Difference, ...]
    """What differs between the machines of both sides, and between the probes of their storages."""
    is_other_machine: bool
    """Whether their processors or memory are not the same."""
    unknown_of_machines: tuple[str, ...]
    """Facts (``A's cpu_model``) without which it is not known whether they are the same."""
    cells: tuple[ComparedCell, ...]
    unequal: tuple[UnequalCell, ...]
    notes: tuple[str, ...] = ()

    @property
    def same_machine(self) -> Machines:
        if self.is_other_machine:
            return Machines.OTHER
        return Machines.UNKNOWN if self.unknown_of_machines else Machines.SAME
