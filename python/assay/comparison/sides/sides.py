"""Takes experiments; gives the two sides of a comparison: two experiments (or lists of them), or
two levels of a factor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from assay.comparison.sides import factors
from assay.comparison.sides.values import Side
from assay.contracts.experiment import VERSION
from assay.errors import ArgumentError
from assay.plan import cell_names, system_settings
from assay.record import ExperimentRecord, Run
from assay.record.runs import run_names
from assay.text.quantities import BUFFER_BYTES, OFFERED_RATE_PER_S

_TWO_VERSIONS = re.compile(r"([\w-]+)@([\w.~+-]+),([\w-]+)@([\w.~+-]+)")
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
    found = run_names.with_machines(run_names.of_records(runs))
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
    known = [_levels(one, factor, default) for one in sides]
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
    return _at(a, factor, left, default), _at(b, factor, right, default), factor


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


def _levels(side: Side, factor: str, default: str) -> list[str]:
    return factors.levels_of((run for _, run in side.runs), factor, default)


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
    word = default if word == system_settings.DEFAULT else word
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
