"""Takes ``[test.NAME]`` of an experiment file; returns what the file says of single tests, as
fields of `Experiment` by test.

::

    [test.insert]
    clients = 40                    # and each setting that is of tests (`Setting.is_of_tests`)
    systems = ["mydb"]              # of those of the file; storages in the same way

    [test.insert.parameters]
    rows = 625000

    [test.insert.drive]
    duration_s = 1800
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.contracts.driving import STOPS
from assay.contracts.driving import without as driving_without
from assay.contracts.experiment import Experiment, OfTest
from assay.errors import ArgumentError
from assay.experiment.settings import levels
from assay.experiment.settings.catalogue import Words
from assay.experiment.settings.repeated_levels import refuse_repeated
from assay.experiment.settings.unused_settings import refuse_unused
from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.values import Workload

_PLACES = ("systems", "storages")


def read(top: TomlTable, experiment: Experiment, workload: Workload) -> dict[str, OfTest]:
    """Raises `ExperimentError` with the line: a test that is not among those of the file, a level
    or a setting that does not apply to its test."""
    if "test" not in top or not top.is_table("test"):
        return {}
    declared = top.section("test")
    found = {}
    for name in declared.names():
        section = declared.section(name)
        if name not in experiment.tests:
            raise declared.error(
                f"settings of the test {name}, which is not among the tests",
                name,
                hint=did_you_mean(name, experiment.tests),
            )
        given = levels.read(section, workload)
        if "systems" in section:
            given["systems"] = _chosen(section, "systems", experiment.systems)
        if "storages" in section:
            given["storages"] = _chosen(section, "storages", experiment.storages)
        section.done()
        with levels.ErrorPlace(declared, name):
            _check(given, name, experiment, workload)
        found[name] = given
    return found


def _chosen(section: TomlTable, key: str, known: Iterable[Any]) -> tuple[str, ...]:
    """Names of systems or storages of the file, for this test alone. A storage that carries a label
    (``disk (modelled)``) is named without it."""
    names = {name.partition(" (")[0]: name for one in known for name in one.names}
    found = section.texts(key)
    for name in found:
        if name not in names:
            raise section.error(
                f"{name} is not among the {key} of this file", key, hint=did_you_mean(name, names)
            )
    return tuple(names[name] for name in found)


def _check(given: OfTest, name: str, experiment: Experiment, workload: Workload) -> None:
    """Raises `ArgumentError` for what does not apply to the test, or is said twice."""
    own = {key: value for key, value in given.items() if key not in _PLACES}
    bare = Experiment(experiment.workload, (name,), experiment.systems)
    alone = bare.changed(OfTest(own))
    for parameter in alone.parameters:
        takers = workload.parameters[parameter].tests
        if takers and name not in takers:
            raise ArgumentError(f"{parameter} does not apply to {name}")
    refuse_repeated(alone)
    refuse_unused(alone, workload, Words(target=""))


def without(
    of_tests: Mapping[str, OfTest],
    fields: Iterable[str],
    parameters: Iterable[str],
    driving: Iterable[str],
) -> dict[str, OfTest]:
    """``of_tests`` where something that is said elsewhere takes the place of these fields, levels
    of these parameters, and these settings of the driving."""
    limits = STOPS if set(driving) & set(STOPS) else ()
    gone_levels = set(parameters)
    dropped = set(fields)
    if dropped & {"clients", "group_clients"}:
        dropped |= {"clients", "group_clients"}
    left: dict[str, OfTest] = {}
    for name, said in of_tests.items():
        kept = {key: value for key, value in said.items() if key not in dropped}
        left[name] = of_test = OfTest(kept)
        if "parameters" in of_test:
            own = of_test["parameters"].items()
            of_test["parameters"] = {one: levels for one, levels in own if one not in gone_levels}
        if "driving" in of_test:
            of_test["driving"] = driving_without(of_test["driving"], {*driving, *limits})
    return left
