"""Takes experiments; gives the two sides of a comparison, two experiments (or lists of them) or two
levels of a factor; and the values of which a comparison of two sides is made."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from assay.comparison import factors
from assay.contracts.experiment import VERSION
from assay.contracts.metric import ReportColumn
from assay.errors import ArgumentError
from assay.judge.run import RunVerdict
from assay.judge.statistics.estimate import Estimate, center
from assay.judge.statistics.samples import UNREACHED
from assay.plan import cell_names
from assay.record import ExperimentRecord, Run
from assay.record.runs import run_names
from assay.text import pattern
from assay.text.quantities import BUFFER_BYTES, OFFERED_RATE_PER_S

_TWO_VERSIONS = pattern(r"([\w-]+)@([\w.~+-]+),([\w-]+)@([\w.~+-]+)")
_TRUTH = {"true": "yes", "on": "yes", "false": "no", "off": "no"}


def side(name: str, title: str, experiments: Sequence[ExperimentRecord]) -> Side:
    """All runs of these experiments."""
    runs = tuple((place, run) for place, one in enumerate(experiments) for run in one.runs)
    return Side(name, title, tuple(experiments), runs)


def named_together(a: Side, b: Side | None, between: str = "") -> tuple[Side, Side | None]:
    """With names of systems and storages that no two different ones share on either side. Machines
    are a factor where one side has several, or where they are what is compared (``between``); else
    they are what differs between the sides."""
    runs = [run for one in (a, b) if one is not None for _, run in one.runs]
    found = run_names.with_machines(run_names.named(runs))
    of_a = {run.machine_name for run in found[: len(a.runs)]}
    of_b = {run.machine_name for run in found[len(a.runs) :]}
    is_factor = between.partition("=")[0] == cell_names.MACHINE or max(len(of_a), len(of_b)) > 1
    named = iter(found if is_factor else [replace(run, machine_name="") for run in found])

    def of_side(side: Side) -> Side:
        return replace(side, runs=tuple((place, next(named)) for place, _ in side.runs))

    return of_side(a), None if b is None else of_side(b)


def at_levels(a: Side, b: Side | None, between: str) -> tuple[Side, Side, str]:
    """The runs at two levels of a factor, and its name. ``between``: ``FACTOR``, or
    ``FACTOR=LEVEL,LEVEL`` where it has others as well; ``b`` None: both levels are those of A."""
    factor, equals, words = _of_versions(between).partition("=")
    both = [run for one in (a, b) if one is not None for _, run in one.runs]
    factor = factors.known_factor(factor, both)
    default = factors.default_of(both, factor)
    sides = (a, a) if b is None else (a, b)
    known = [factors.levels_of((run for _, run in one.runs), factor, default) for one in sides]
    given = _two_given(words, known, factor, default) if equals else ()
    if b is None:
        found = known[0]
        chosen = [_chosen(one, found, factor, default) for one in given] or found
        if len(chosen) != 2:
            raise ArgumentError(
                f"expected two levels of {factor}, found {len(found)}: {', '.join(found)}",
                hint=_two_of(factor, found, both),
            )
        left, right = chosen
        b = replace(a, name="B")
        return _at(a, factor, left, default), _at(b, factor, right, default), factor
    levels = []
    for place, (one, found) in enumerate(zip(sides, known, strict=True)):
        if not given and len(found) != 1:
            raise ArgumentError(
                f"{one.name} has {len(found)} levels of {factor}: {', '.join(found)}",
                hint=f"name one for A and one for B: --between '{factor}=LEVEL,LEVEL'",
            )
        levels.append(_chosen(given[place], found, factor, default) if given else found[0])
    left, right = levels
    if factor == factors.SCRIPT and left == right and len({*map(_texts, both)}) == 1:
        raise ArgumentError(
            f"expected two scripts, found {left} with the same text in A and in B",
            hint="leave --between out: equal cells of A and B are compared then",
        )
    return _at(a, factor, left, default), _at(b, factor, right, default), factor


def _texts(run: Run) -> tuple[str, ...]:
    return tuple(script.text for script in run.scripts)


def _of_versions(between: str) -> str:
    """``NAME@15,NAME@18`` as levels of the version, of different systems as levels of the
    system."""
    found = _TWO_VERSIONS.fullmatch(between)
    if found is None:
        return between
    name, version, other, other_version = found.groups()
    if name != other:
        return f"system={between}"
    return f"{name}.{VERSION}={version},{other_version}"


def insist_on_other_runs(a: Side, b: Side) -> None:
    """Raises `ArgumentError` where a run is on both sides, in the same file or in a copy of it."""
    of_a, of_b = (
        {run.identity: run for _, run in one.runs if run.begun_unix_ns is not None}
        for one in (a, b)
    )
    if shared := [run for identity, run in of_a.items() if identity in of_b]:
        raise ArgumentError(
            f"expected other runs in B than in A, found run {shared[0].id} of A in both",
            hint=_how_to_name_two(run for one in (a, b) for _, run in one.runs),
        )


def one_side(a: Side) -> ArgumentError:
    """Where there is neither a second side nor a factor."""
    hint = _how_to_name_two(run for _, run in a.runs)
    return ArgumentError("expected two sides, found one", hint=hint)


def _how_to_name_two(runs: Iterable[Run]) -> str:
    example = factors.example_of_two_levels(runs)
    return f"name two experiments{example and f', or two levels of a factor: {example}'}"


def _two_given(
    words: str, known: Sequence[Sequence[str]], factor: str, default: str
) -> tuple[str, ...]:
    """The words of both levels, of which each may have commas: a profile of a rate, the options of
    a storage. ``known``: the levels of A, and those of B."""
    parts = words.split(",")
    ways = [(",".join(parts[:place]), ",".join(parts[place:])) for place in range(1, len(parts))]
    if len(ways) > 1:
        ways = [
            way
            for way in ways
            if all(
                len(_meant(word, names, factor, default)) == 1
                for word, names in zip(way, known, strict=True)
            )
        ]
    if len(ways) != 1 or not all(ways[0]) or ways[0][0] == ways[0][1]:
        names = ", ".join(dict.fromkeys(name for of_side in known for name in of_side))
        raise ArgumentError(
            f"expected two levels of {factor}, found {words!r}",
            hint=f"{factor}=FIRST,SECOND; known: {names}",
        )
    return ways[0]


def _chosen(word: str, names: Sequence[str], factor: str, default: str) -> str:
    levels = _meant(word, names, factor, default)
    if len(levels) == 1:
        return levels[0]
    known = f"known: {', '.join(names)}"
    if levels:
        raise ArgumentError(f"{word!r} may be {' or '.join(levels)} of {factor}", hint=known)
    raise ArgumentError(f"there is no level {word!r} of {factor} in these runs", hint=known)


def _meant(word: str, names: Sequence[str], factor: str, default: str) -> list[str]:
    """The levels that a word may mean. ``default`` is also the level that spells it out."""
    word = default if word == cell_names.DEFAULT_SETTING else word
    if word in names:
        return [word]
    if equal := [level for level in names if _meaning(level) == _meaning(word)]:
        return equal[:1]
    begun = [level for level in names if word in (level.split(" ")[0], level.partition("[")[0])]
    if not begun and (factor.endswith(f".{VERSION}") or "@" in word):
        begun = [level for level in names if level.startswith(f"{word}.")]
    return begun


def _meaning(word: str) -> float | str:
    """``800`` and ``800.0`` are one level, as are ``OFF`` and ``false``, ``16MB`` and ``16384kB``,
    ``0s:200,1min:800`` and ``0s:200,60s:800``, and options in any order."""
    text = word.strip().lower()
    name, bracket, options = text.removesuffix("]").partition("[")
    if bracket:
        return f"{name}[{','.join(sorted(map(str.strip, options.split(','))))}]"
    for read in (float, BUFFER_BYTES.of_word, OFFERED_RATE_PER_S.of_word):
        try:
            return read(text)
        except ValueError:
            continue
    return _TRUTH.get(text, text)


def _two_of(factor: str, names: Sequence[str], runs: Iterable[Run]) -> str:
    if len(names) < 2 and factor == factors.WORKLOAD:
        return "an experiment has one workload: name two experiments, A and B"
    if len(names) < 2 and factor == factors.SCRIPT:
        return f"measure both in one experiment: assay run {names[0]},OTHER.sql"
    if len(names) < 2:
        other = factors.example_of_two_levels(runs)
        another = f", or compare levels of another factor: {other}" if other else ""
        return f"vary {factor} in the experiment{another}"
    return f"name two of them: --between '{factor}={names[0]},{names[1]}'"


def _at(side: Side, factor: str, level: str, default: str) -> Side:
    runs = tuple(
        (place, run) for place, run in side.runs if factors.level_of(run, factor, default) == level
    )
    return replace(side, title=f"{factor} {level}, {side.title}", runs=runs)


NOT_KNOWN = "not known"
"""How a value begins that could not be read."""

PlacedRun = tuple[int, Run]
"""A run, with the place of its experiment in its side."""


class Side(Struct, frozen=True):
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
    """``machine``, ``probe``, ``workload``, ``data`` … (`assay.comparison.differences`)."""
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

    metric: ReportColumn
    a_values: tuple[float, ...]
    """`UNREACHED` where a time is not reached."""
    b_values: tuple[float, ...]
    estimate: Estimate | None
    """None: there is no ratio (a value is missing, or 0)."""
    adjusted_p: float | None = None
    """Of its family of comparisons; None: there is no interval."""
    direction: Direction = Direction.UNKNOWN
    verdict: str = ""
    """``faster``, ``slower``, ``no difference seen``, ``not decided: …``, ``not comparable: …``"""

    @property
    def a(self) -> float | None:
        """The geometric mean of its values; None: there is none."""
        return center(self.a_values) if self.a_values else None

    @property
    def b(self) -> float | None:
        return center(self.b_values) if self.b_values else None

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
        return self.verdict.removeprefix("not comparable: ")


class ComparedCell(Struct, frozen=True):
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
    what is the same (`assay.comparison.unequal_work.safeguard_clauses` says what is not); and the
    differences of indexes."""
    not_comparable: str
    """Why there is no verdict; empty: there is one."""
    not_decided: str = ""
    """Why no number that depends on time is decided; empty: they may be."""
    disturbance: float | None = None
    """The factor by which that reason may have changed a ratio: a speed whose whole interval lies
    beyond it is decided all the same. None: not bounded."""
    few_pairs: str = ""
    """``2 of 6 pairs are left …``, where that alone leaves it open; empty: there are enough."""
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


def factor_to_set_aside(a: Side, b: Side) -> str:
    """What ``--between`` may be given so that both have a cell: ``FACTOR``, of several levels
    ``FACTOR=LEVEL,LEVEL``; the narrowest factor where several would do, as a setting of a system.
    Empty: they differ in more than one."""
    of_a, of_b = _one_of_each_cell(a), _one_of_each_cell(b)
    for factor in reversed(factors.known_factors([*of_a, *of_b])):
        own = {factors.identity(run, factor): run for run in reversed(of_a)}
        pairs = [
            (own[identity], run)
            for run in of_b
            if (identity := factors.identity(run, factor)) in own
        ]
        if not pairs:
            continue
        default = factors.default_of([*of_a, *of_b], factor)
        first = [factors.level_of(run, factor, default) for run in pairs[0]]
        if None in first:
            continue
        counts = [len(factors.levels_of(runs, factor, default)) for runs in (of_a, of_b)]
        if max(counts) == 1:
            return factor
        if first[0] != first[1]:
            return f"{factor}={first[0]},{first[1]}"
    return ""


def _one_of_each_cell(side: Side) -> list[Run]:
    return list({run.cell_key: run for _, run in reversed(side.runs)}.values())[::-1]
