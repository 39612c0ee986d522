"""Takes an experiment and its workload; returns the quick version of both, for a laptop: parameters
and tests as the workload declares them for it, and all else as ``[quick]`` of the experiment file
says; and what differs between both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from assay.contracts.driving import DrivingChanges, without
from assay.contracts.experiment import (
    Experiment,
    ExperimentChanges,
    OfTest,
    Scaled,
    StorageChoice,
    driving_with,
)
from assay.contracts.factors import CACHE, VARIED, Factor
from assay.errors import ArgumentError
from assay.text.phrases import phrase
from assay.workload.values import Quick, Test, Workload

Asked = tuple[Experiment, Workload]
_NONE, _LEFT_OUT = "none", "left out"
_STORAGE = "storage "
_MOST = 6
"""Changes of one origin that are named in one sentence."""


def version_of(
    experiment: Experiment, workload: Workload, said: ExperimentChanges | None = None
) -> tuple[Experiment, Workload]:
    """``said``: fields of `Experiment` as ``[quick]`` sets them. What the workload declares comes
    before what the file says elsewhere. Raises `ArgumentError` where nothing is declared, so that
    nothing would be quicker."""
    declared = {
        parameter.name: (parameter.quick,)
        for parameter in workload.parameters.values()
        if parameter.quick is not None
        and (not parameter.tests or set(parameter.tests) & set(experiment.tests))
    }
    tests = {name: workload.test(name).quick for name in experiment.tests}
    changes = ExperimentChanges(said or {})
    if not declared and not changes and all(quick == Quick() for quick in tests.values()):
        raise ArgumentError(
            phrase("{} declares no quick values, so {--quick} would change nothing", workload.name),
            hint=phrase(
                "name them in an experiment file, [quick.parameters] or [quick.drive], or "
                "leave {--quick} out"
            ),
        )
    parameters = {**declared, **changes.pop("parameters", {})}
    driving = changes.pop("driving", DrivingChanges())
    of_driving = {name for quick in tests.values() for name in quick.driving}
    before = without(experiment.driving, of_driving)
    of_tests = changes.pop("of_tests", {})
    if any(quick.clients for quick in tests.values()):
        changes = ExperimentChanges({"clients": (), **changes})
    quickly = replace(
        experiment.changed(changes),
        parameters={**experiment.parameters, **parameters},
        driving=driving_with(before, driving),
        of_tests={
            name: _of_test(
                experiment.of_tests.get(name, OfTest()),
                ExperimentChanges(
                    {
                        **changes,
                        "parameters": parameters,
                        "driving": {**tests[name].driving, **driving},
                    }
                ),
                of_tests.get(name, OfTest()),
            )
            for name in {**experiment.of_tests, **of_tests}
        },
        is_quick=True,
    )
    return quickly, workload.quickly()


def _of_test(full: OfTest, of_all: ExperimentChanges, quick: OfTest) -> OfTest:
    """What a test has of its own in the quick version: what it has in the full one, without what
    the quick version has for all tests, and with what that has for this test."""
    left = {name: level for name, level in full.items() if name not in of_all}
    of_test = OfTest({**left, **quick})
    of_full = full.get("parameters", {}).items()
    own = {one: levels for one, levels in of_full if one not in of_all["parameters"]}
    if parameters := {**own, **quick.get("parameters", {})}:
        of_test["parameters"] = parameters
    own_driving = without(full.get("driving", DrivingChanges()), of_all["driving"])
    if driving := driving_with(own_driving, quick.get("driving", DrivingChanges())):
        of_test["driving"] = driving
    return of_test


def scaled(full: Asked, quickly: Asked, now: Asked) -> tuple[Scaled, ...]:
    """What differs between an experiment as its file or workload has it, and as it is run ``now``,
    test by test; ``quickly``: without the options of the command line."""
    found = []
    for test in full[0].tests:
        before, start, here = (
            _sizes(experiment.for_test(test), workload, workload.test(test))
            for experiment, workload in (full, quickly, now)
        )
        for what in dict.fromkeys([*before, *here]):
            if before.get(what) != (level := here.get(what)):
                is_asked = level != start.get(what)
                found.append(Scaled(test, what, before.get(what, ""), level or "", is_asked))
    return tuple(found)


def described(changes: Iterable[Scaled]) -> str:
    """``quick: scale 1, 2 → 1; asked: duration_s 30 → 0.5; left out: memory 64GB (this machine has
    16GB)``: each change, the same of several tests once, those of parameters first; where tests
    differ, with their names."""
    by_origin: dict[str, list[str]] = {"quick": [], "asked": [], _LEFT_OUT: []}
    tests: dict[Scaled, list[str]] = {}
    for one in changes:
        tests.setdefault(structs.replace(one, test=""), []).append(one.test)
    times = Counter((one.name, one.is_asked) for one in tests)
    for one, of_tests in tests.items():
        if one.reason:
            by_origin[_LEFT_OUT].append(f"{one.name} {one.full} ({one.reason})")
            continue
        gone = _LEFT_OUT if one.name.startswith(_STORAGE) else _NONE
        shown = f"{one.name} {one.full or _NONE} → {one.quick or gone}"
        if times[one.name, one.is_asked] > 1:
            shown += f" ({', '.join(of_tests)})"
        by_origin["asked" if one.is_asked else "quick"].append(shown)
    return "; ".join(f"{origin}: {_first(found)}" for origin, found in by_origin.items() if found)


def _first(changes: Sequence[str]) -> str:
    more = len(changes) - _MOST
    return "; ".join([*changes[:_MOST], *([f"and {more} more"] if more > 0 else [])])


def _sizes(asked: Experiment, workload: Workload, test: Test) -> dict[str, str]:
    """What makes a test large: name → levels in words."""
    parameters = {
        one.name: asked.parameters.get(one.name) or test.defaults.get(one.name) or (one.default,)
        for one in workload.parameters_of(test)
    }
    driving = test.driving.changed(asked.driving).described()
    found = {
        **{name: _listed(levels) for name, levels in parameters.items()},
        "clients": _listed(asked.clients or test.clients),
        **{name: _listed(counts) for name, counts in asked.group_clients.items()},
        **driving,
        **{
            factor.heading or name: _listed(
                map(factor.shown, asked.levels.get(name) or _levels_of_test(test, factor))
            )
            for name, factor in VARIED.items()
        },
        "repetitions": str(asked.repetitions),
        **{f"{_STORAGE}{one.name}": _options(one) for one in asked.storages},
    }
    return {name: words for name, words in found.items() if words}


def _levels_of_test(test: Test, factor: Factor) -> tuple[str, ...]:
    """Those that it has where nothing else is asked for."""
    return test.caches if factor is CACHE else ()


def _listed(levels: Any) -> str:
    return ", ".join(f"{one:.15g}" if isinstance(one, float) else str(one) for one in levels)


def _options(storage: StorageChoice) -> str:
    return ", ".join(f"{name}={level}" for name, level in storage.options.items())
