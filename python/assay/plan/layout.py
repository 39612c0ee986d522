"""Takes an `Experiment` and its workload; returns its `Plan`: cells, with the client counts of
each, repetitions, order and seeds."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from msgspec import to_builtins

from assay.contracts.experiment import OF_SCRIPTS
from assay.contracts.factors import CACHE, FACTORS, PROTOCOL, THREADS, VARIED_LEVELS
from assay.errors import ArgumentError
from assay.experiment import Driving, Experiment, Scalar, ServerMachine, StorageChoice, SystemChoice
from assay.experiment.choices import written_systems
from assay.experiment.choices.identity import plain_value
from assay.experiment.choices.server_limits import systems_on_machines
from assay.plan import fingerprint
from assay.plan.drives import PlannedDrive, clients_of, declared_clients, drives, driving, on_cache
from assay.plan.values import Cell, Plan, PlannedRun
from assay.text import rates
from assay.text.phrases import Mention, phrase
from assay.text.rates import Rate
from assay.workload.ad_hoc_script import TEST
from assay.workload.steps import Drive
from assay.workload.values import Test, Workload

Place = tuple[SystemChoice, StorageChoice]
_T = TypeVar("_T")

MOST_RUNS = 10_000
"""Of one experiment."""


class CellLevels(NamedTuple):
    """One level of every factor except the system and the storage."""

    parameters: dict[str, Scalar]
    clients: ClientCount
    driving: Driving
    of_cell: dict[str, Scalar]
    """By the factors of `OF_LEVELS`."""


def plan(experiment: Experiment, workload: Workload) -> Plan:
    """Every run of the experiment in the order of execution.

    ``interleaved``: the repetition is the outer loop and the system the inner one, so that changes
    on the machine affect all systems alike; each repetition begins with another level of every
    factor (A B, B A), so that none is always first. ``randomized``: the same in random order by the
    seed, another one for each repetition; runs on the same data stay together. ``sequential``: all
    runs of a system on a storage, then the next. With a precision or a budget every repetition that
    may be needed is laid out; which of them are, is found out later (`assay.lab.repetitions`).
    """
    _refuse_too_many(experiment, workload)
    lay_out = {"interleaved": _interleaved, "randomized": _randomized, "sequential": _sequential}[
        experiment.order
    ]
    runs = [
        PlannedRun(cell, repetition, seed_of(experiment.seed, cell, repetition), position)
        for position, (cell, repetition) in enumerate(lay_out(experiment, workload))
    ]
    of_cells = {  # contradictions are reported here, before anything is started
        run.cell.fingerprint: drives(workload, run) for run in runs if run.repetition == 1
    }
    return Plan(experiment, tuple(_with_steps(run, of_cells[run.cell.fingerprint]) for run in runs))


def _with_steps(run: PlannedRun, planned_drives: Sequence[PlannedDrive]) -> PlannedRun:
    """The run with what is known of its drive steps."""
    cells = [planned.run.cell for planned in planned_drives]
    return replace(
        run,
        most_clients=max((planned.clients for planned in planned_drives), default=0),
        drives_s=tuple(cell.driving.planned_s for cell in cells),
    )


def _refuse_too_many(experiment: Experiment, workload: Workload) -> None:
    """Raises `ArgumentError` if there are too many runs."""
    cells = 0
    runs = 0
    for test, asked in _tests(experiment, workload):
        factors = [
            *_parameter_levels(asked, workload, test),
            offered_rates(asked),
            *_varied(asked, test).values(),
            _places(asked),
        ]
        counts = number_of_levels(asked, test)
        of_test = counts * math.prod(len(levels) for levels in factors)
        cells += of_test
        runs += of_test * asked.most_repetitions
    if runs > MOST_RUNS:
        raise ArgumentError(
            f"{runs:,} runs are asked for ({cells:,} cells, "
            f"{experiment.most_repetitions:,} "
            f"{'repetition' if experiment.most_repetitions == 1 else 'repetitions'} of each): "
            f"expected at most {MOST_RUNS:,}",
            hint="fewer repetitions, or fewer levels of the factors",
        )


def _interleaved(experiment: Experiment, workload: Workload) -> Iterator[tuple[Cell, int]]:
    tests = _tests(experiment, workload)
    for repetition in range(1, _most_repetitions(tests) + 1):
        turn = repetition - 1
        for test, asked in _turned(tests, turn):
            if repetition > asked.most_repetitions:
                continue
            places = list(_turned_places(asked, turn))
            for levels in _levels(asked, workload, test, turn):
                for place in places:
                    yield _cell(asked, test, place, levels), repetition


def _turned(levels: Sequence[_T], turn: int) -> list[_T]:
    """Each turn begins with the level behind the one that the turn before began with. Data are
    loaded no more often for that: of two levels a turn begins with the one before it ended with."""
    first = turn % len(levels) if levels else 0
    return [*levels[first:], *levels[:first]]


def _turned_places(experiment: Experiment, turn: int) -> Iterator[Place]:
    """The systems take turns, and of each its machines and its storages."""
    for of_system in _turned(_together(_places(experiment), _without_machine), turn):
        for on_machine in _turned(_together(of_system, lambda place: place[0]), turn):
            yield from _turned(on_machine, turn)


def _together(places: Iterable[Place], part: Callable[[Place], SystemChoice]) -> list[list[Place]]:
    """Those that follow one another and have an equal part."""
    return [list(found) for _, found in itertools.groupby(places, part)]


def _without_machine(place: Place) -> SystemChoice:
    return replace(place[0], machine=ServerMachine())


def _randomized(experiment: Experiment, workload: Workload) -> Iterator[tuple[Cell, int]]:
    blocks: dict[str, list[Cell]] = {}
    repetitions = {}
    tests = _tests(experiment, workload)
    for test, asked in tests:
        for levels in _levels(asked, workload, test):
            name = _canonical([test.name, levels.parameters])
            repetitions[name] = asked.most_repetitions
            blocks.setdefault(name, []).extend(
                _cell(asked, test, place, levels) for place in _places(asked)
            )
    for repetition in range(1, _most_repetitions(tests) + 1):
        names = [name for name, most in repetitions.items() if repetition <= most]
        for data in sorted(names, key=lambda data_set: _lot(experiment, repetition, data_set)):
            cells = blocks[data]
            for cell in sorted(
                cells, key=lambda cell: _lot(experiment, repetition, cell.fingerprint)
            ):
                yield cell, repetition


def _lot(experiment: Experiment, repetition: int, drawn: str) -> str:
    """A random place in the order of a repetition, of what is drawn alone: a cell that is added
    leaves the order of the others."""
    return hashlib.sha256(_canonical([experiment.seed, repetition, drawn]).encode()).hexdigest()


def _sequential(experiment: Experiment, workload: Workload) -> Iterator[tuple[Cell, int]]:
    tests = _tests(experiment, workload)
    for place in _places(experiment):
        for test, asked in tests:
            if place not in _places(asked):
                continue
            for levels in _levels(asked, workload, test):
                for repetition in range(1, asked.most_repetitions + 1):
                    yield _cell(asked, test, place, levels), repetition


def _places(experiment: Experiment) -> list[Place]:
    return written_systems.systems_on_storages(systems_on_machines(experiment), experiment.storages)


def _tests(experiment: Experiment, workload: Workload) -> list[tuple[Test, Experiment]]:
    """Each test, and what is asked of it alone."""
    return [(workload.test(name), experiment.for_test(name)) for name in experiment.tests]


def _most_repetitions(tests: list[tuple[Test, Experiment]]) -> int:
    return max(asked.most_repetitions for _, asked in tests)


def _levels(
    experiment: Experiment, workload: Workload, test: Test, turn: int = 0
) -> Iterator[CellLevels]:
    """Every combination of the parameters this test takes, of client counts, offered rates,
    and other levels of the cell, each factor in this turn (`_turned`). Parameters are the outer
    loop: some of them change the data set, and loading costs more than a run."""
    declared = workload.parameters_of(test)
    levels = _parameter_levels(experiment, workload, test)
    varied = _varied(experiment, test)
    for values in itertools.product(*(_turned(one, turn) for one in levels)):
        parameters = {
            parameter.name: value for parameter, value in zip(declared, values, strict=True)
        }
        known = workload.with_defaults(parameters)
        for clients in _turned(client_levels(experiment, test, known), turn):
            for rate_per_s in _turned(offered_rates(experiment), turn):
                driven = driving(experiment, test, parameters, rate_per_s)
                for chosen in itertools.product(*(_turned(one, turn) for one in varied.values())):
                    of_cell = {
                        PROTOCOL.name: experiment.protocol or test.protocol,
                        THREADS.name: experiment.threads,
                        **dict(zip(varied, chosen, strict=True)),
                    }
                    on_it = on_cache(driven, str(of_cell[CACHE.name]))
                    yield CellLevels(parameters, clients, on_it, of_cell)


def _varied(experiment: Experiment, test: Test) -> dict[str, tuple[Scalar, ...]]:
    """The levels of each factor of the cells that an experiment may vary. A test whose caches
    cannot be set is run once, not once for each state."""
    asked = {
        name: experiment.levels.get(name) or (factor.default,)
        for name, factor in VARIED_LEVELS.items()
    }
    caches = experiment.levels.get(CACHE.name) if test.caches_can_be_set else ()
    return {**asked, CACHE.name: caches or test.caches}


def _parameter_levels(
    experiment: Experiment, workload: Workload, test: Test
) -> list[tuple[Scalar, ...]]:
    """The levels of each parameter of the test."""
    return [
        experiment.parameters.get(parameter.name)
        or test.defaults.get(parameter.name)
        or (parameter.default,)
        for parameter in workload.parameters_of(test)
    ]


def _cell(experiment: Experiment, test: Test, place: Place, levels: CellLevels) -> Cell:
    cell = Cell(
        workload=experiment.workload,
        test=test.name,
        system=place[0],
        storage=place[1],
        clients=levels.clients.at_once,
        group_clients=levels.clients.of_groups,
        parameters=levels.parameters,
        levels=levels.of_cell,
        feed=experiment.feed,
        feed_content=experiment.feed_content,
        workload_content=experiment.workload_content,
        scripts=experiment.scripts,
        driving=levels.driving.of_system(place[0].name),
    )
    return replace(cell, fingerprint=fingerprint.fingerprint_of_cell(cell))


def _work(cell: Cell) -> Any:
    """What is run, by its content: the same from any folder, on every machine."""
    if cell.workload_content == OF_SCRIPTS:
        return fingerprint.scripts_by_content(map(to_builtins, cell.scripts))
    return cell.workload_content or cell.workload


def _canonical(document: Any) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def seed_of(experiment_seed: int, cell: Cell, repetition: int) -> int:
    """63 bits of SHA-256 over all factors except system and storage: these get the same random
    choices in the same repetition, so that they do the same work."""
    parameters = plain_value(cell.parameters)
    test = TEST if cell.workload_content == OF_SCRIPTS else cell.test
    asked: list[Any] = [_work(cell), test, cell.clients, parameters]
    levels = ((factor, cell.level(factor)) for factor in FACTORS if factor.is_other_work)
    asked += [level for factor, level in levels if level != factor.default]
    if cell.group_clients:
        asked.append(dict(cell.group_clients))
    text = _canonical([experiment_seed, asked, repetition])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def further(run: PlannedRun, experiment_seed: int, repetition: int, position: int) -> PlannedRun:
    """One more repetition of the cell of a run, with random choices of its own, that the plan did
    not have."""
    seed = seed_of(experiment_seed, run.cell, repetition)
    return replace(run, repetition=repetition, position=position, seed=seed, in_place_of=None)


def in_place(run: PlannedRun, repetition: int, position: int) -> PlannedRun:
    """The repetition of a run once more, since that was disturbed: the same work, with the same
    random choices."""
    return replace(run, repetition=repetition, position=position, in_place_of=run.of_repetition)


# Takes an experiment with a goal; returns the offered rates among which the highest that meets it
# is searched for.
#
# They are those of a geometric series from 1/s, rounded to three digits, so that searches on
# other systems and on other days try the same rates: their cells are equal, and can be compared.

LEAST_PER_S, MOST_PER_S = 1.0, 1_000_000.0
"""Where no other range is given."""


def offered_rates(experiment: Experiment) -> tuple[Rate | None, ...]:
    """The levels of the offered rate: those of the search, or those that were given; None: that of
    the test. Raises `ArgumentError` where a search has no range."""
    given = experiment.offered_rates_per_s
    if not experiment.goal or experiment.goal_over:
        return given or (None,)
    return _between(*_range(given), experiment.goal_tolerance)


def _range(given: tuple[Rate, ...]) -> tuple[float, float]:
    if not given:
        return LEAST_PER_S, MOST_PER_S
    numbers = [float(one) for one in given if not isinstance(one, str)]
    if len(numbers) != len(given) or len(numbers) != 2 or numbers[0] >= numbers[1]:
        found = ", ".join(map(rates.shown, given))
        raise ArgumentError(
            phrase(
                "expected the least and the greatest rate that {--goal} may try, found {}", found
            ),
            hint=phrase("{--offered-rate 100,2000}, or leave it out"),
        )
    return numbers[0], numbers[1]


def _between(least: float, most: float, tolerance: float) -> tuple[float, ...]:
    """The ends, and what is between them of the series whose neighbours differ by the tolerance at
    most, but for the rounding."""
    of_decade = math.ceil(math.log(10) / math.log1p(tolerance))
    first = math.floor(math.log10(least) * of_decade)
    last = math.ceil(math.log10(most) * of_decade)
    series = (float(f"{10 ** (place / of_decade):.3g}") for place in range(first, last + 1))
    inside = {rate for rate in series if least < rate < most}
    return tuple(sorted({least, most} | inside))


class ClientCount(NamedTuple):
    at_once: int
    """The most clients at once, over all groups."""
    of_groups: Mapping[str, int]
    """Clients of each group; empty: all are as declared."""


def number_of_levels(experiment: Experiment, test: Test) -> int:
    """The number of `levels`."""
    if test.groups and experiment.group_clients:
        return math.prod(len(counts) for counts in _named(experiment, test).values())
    return len(experiment.clients or test.clients)


def client_levels(
    experiment: Experiment, test: Test, parameters: Mapping[str, Scalar]
) -> list[ClientCount]:
    """Every client count of the test. A single count for a test with groups is divided among them
    in the declared ratio; raises `ArgumentError` where that leaves a fraction of a client."""
    found = []
    for of_all, of_groups in _asked(experiment, test, parameters):
        at_once = clients_of(test, parameters, of_groups)
        declared = {count.name: declared_clients(count, parameters) for count in test.groups}
        in_full = {**declared, **of_groups}
        changed = {} if in_full == declared else in_full
        found += [ClientCount(at_once or count, changed) for count in of_all]
    return list(
        {(count.at_once, *sorted(count.of_groups.items())): count for count in found}.values()
    )


def _asked(
    experiment: Experiment, test: Test, parameters: Mapping[str, Scalar]
) -> Iterator[tuple[tuple[int, ...], dict[str, int]]]:
    """Counts of clients without a group, and counts by group."""
    if test.groups and experiment.group_clients:
        named = _named(experiment, test)
        for values in itertools.product(*named.values()):
            yield test.clients, dict(zip(named, values, strict=True))
    elif test.groups and experiment.clients:
        for count in experiment.clients:
            yield (count,), _shared(test, count, parameters)
    else:
        yield experiment.clients or test.clients, {}


def _named(experiment: Experiment, test: Test) -> dict[str, tuple[int, ...]]:
    """Levels of each group of this test."""
    groups = {group.name: group for group in test.groups}
    named = {name: group for name, group in experiment.group_clients.items() if name in groups}
    for name, counts in named.items():
        if isinstance(parameter := groups[name].clients, str):
            raise _is_parameter(name, parameter, counts[0])
    return named


def _shared(test: Test, count: int, parameters: Mapping[str, Scalar]) -> dict[str, int]:
    shared: dict[str, int] = {}
    for step in test.drives:
        of_step = _shared_in(step, count, parameters)
        for name, clients in of_step.items():
            if shared.setdefault(name, clients) != clients:
                raise ArgumentError(
                    f"clients = {count}: the steps of {test.name} divide clients among their "
                    "groups in different ratios",
                    hint=phrase(
                        "give the clients of each group: {}",
                        Mention("clients", f"{name}={clients},…"),
                    ),
                )
    return shared


def _shared_in(step: Drive, count: int, parameters: Mapping[str, Scalar]) -> dict[str, int]:
    for group in step.groups:
        if isinstance(group.clients, str):
            raise _is_parameter(group.name, group.clients, count)
    declared = {clients.name: declared_clients(clients, parameters) for clients in step.groups}
    whole = sum(declared.values())
    if any(clients * count % whole for clients in declared.values()):
        least = whole // math.gcd(*declared.values())
        listed = ",".join(f"{name}={clients}" for name, clients in declared.items())
        raise ArgumentError(
            f"clients = {count}: the groups are declared as {listed}, and {count} clients "
            "cannot be divided in that ratio",
            hint=phrase(
                "a multiple of {}, or the clients of each group: {}",
                least,
                Mention("clients", listed),
            ),
        )
    return {name: clients * count // whole for name, clients in declared.items()}


def _is_parameter(group: str, parameter: str, count: int) -> ArgumentError:
    return ArgumentError(
        f"group {group} has as many clients as the parameter {parameter} says",
        hint=phrase("{}", Mention("set", f"{parameter}={count}")),
    )
