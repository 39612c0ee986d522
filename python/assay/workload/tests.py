"""Takes ``[tests]`` of a workload file; returns its tests, with every name checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from assay.contracts.driving import STOPS, Driving, DrivingChanges
from assay.text.toml_file import TomlTable
from assay.workload import declared_results, declared_steps
from assay.workload.keys_of_tests import PROCEDURES
from assay.workload.parameters import Parameter
from assay.workload.scripts import needed_values
from assay.workload.steps import Drive, Group, Names, Step
from assay.workload.values import Quick, Test


def read_tests(section: TomlTable, known: Names) -> list[Test]:
    """Every test; raises `ExperimentError` with the line."""
    names = section.names()
    if not names:
        raise section.error("no test is declared", hint="a workload has at least one [tests.NAME]")
    return [_test(name, section.section(name), known) for name in names]


def _test(name: str, section: TomlTable, known: Names) -> Test:
    given: dict[str, Any] = {**declared_steps.read_scripts_of_clients(section, known)}
    given["steps"] = _steps(section, known)
    if "checks" not in section:
        given["checks"] = tuple(known.checks)
    test: Test = section.thing(Test, known, name=name, **given)
    if sum(step.is_result for step in test.drives) > 1:
        raise section.error("two steps are the result of the test: expected one", "steps")
    test = _with_the_only_drive(section, test)
    test = _with_groups(section, test, known.parameters)
    declared_results.refuse_results_of_others(section, test)
    declared_steps.refuse_beside_deferred(section, test)
    _refuse_contradictions(section, test)
    _refuse_not_native(section, test, known)
    if test.quick != Quick():
        _refuse_quick(section, test)
    return test


def _refuse_quick(section: TomlTable, test: Test) -> None:
    """Raises `ExperimentError` where the quick version of the test contradicts itself."""
    if test.quick.clients and (test.groups or len(test.drives) > 1):
        raise section.error("quick: expected no clients: its steps have their own", "quick")
    _refuse_contradictions(section.section("quick"), test.quickly())


def _steps(section: TomlTable, known: Names) -> tuple[Step, ...]:
    """``[[tests.NAME.steps]]``, or the steps of ``procedure = "…"``."""
    if "steps" not in section:
        procedure = section.choice("procedure", PROCEDURES, "drive")
        return declared_steps.steps_of_procedure(section, procedure, known)
    if "procedure" in section:
        raise section.error("steps and procedure are both given: expected one of them", "procedure")
    found = declared_steps.read_steps(section.sections("steps"), known)
    if not found:
        raise section.error("no step is declared", "steps", hint='steps = [{ do = "load" }]')
    return found


def _with_the_only_drive(section: TomlTable, test: Test) -> Test:
    """The test with the scripts, clients and pace of its only drive step moved to the test
    itself."""
    if len(test.drives) != 1 or test.overlaps:
        return test
    (step,) = test.drives
    if step.scripts:
        if test.scripts:
            raise section.error(
                "scripts are given in the test and in its only drive step",
                "scripts",
                hint="leave one of them out",
            )
        test = structs.replace(test, scripts=step.scripts, order=step.order, mix=step.mix)
    plain = replace(step, scripts=(), order="sequence", mix={}, driving_changes=DrivingChanges())
    clients = test.clients
    if isinstance(step.clients, int):
        plain, clients = replace(plain, clients=None), (step.clients,)
    return structs.replace(
        test,
        clients=clients,
        driving=test.driving.changed(step.driving_changes),
        steps=tuple(plain if other is step else other for other in test.steps),
    )


def _with_groups(section: TomlTable, test: Test, known: Mapping[str, Parameter]) -> Test:
    """The test with the client counts of its groups, and the scripts of all its steps."""
    if test.groups and "clients" in section:
        raise section.error("clients: each group has its own", "clients")
    names = [name for drive in test.drives for name in drive.scripts]
    names += [name for group in test.groups for name in group.scripts]
    counts = [
        sum(_by_default(drive.clients, known) for drive in step.groups or (step,))
        for step in test.drives
    ]
    return structs.replace(
        test,
        scripts=tuple(dict.fromkeys([*test.scripts, *names])),
        clients=(max(counts),) if counts and all(counts) else test.clients,
    )


def _by_default(clients: int | str | None, known: Mapping[str, Parameter]) -> int:
    """The number of clients, which may be the default of a parameter; 0: not given, or a constant,
    whose value is known when parameters are."""
    if isinstance(clients, str):
        return int(known[clients].default) if clients in known else 0
    return clients or 0


def _refuse_contradictions(section: TomlTable, test: Test) -> None:
    """Raises `ExperimentError` for keys that contradict one another."""
    if not test.changes_data and test.leaves_other_data:
        step = next(changing for changing in test.steps if changing.changes_data)
        raise section.error(
            f"changes_data = false, but the step {step.do!r} changes data",
            "changes_data",
            hint="leave changes_data out",
        )
    for drive in test.drives:
        _refuse_idle(section, test, drive)
        _refuse_incomparable(section, test, drive)
    if "cache" in section and test.why_no_cache:
        raise section.error(
            f"the caches of this test cannot be set: {test.why_no_cache}",
            "cache",
            hint="leave cache out",
        )
    if test.cold_each_script and (why := _why_not_cold_each(test)):
        raise section.error(
            f"the caches cannot be cold when each script begins: {why}",
            "cold_each_script",
            hint="leave cold_each_script out",
        )
    if test.overlaps and test.driving.transactions is None:
        raise section.error(
            "clients that overlap end by a count", hint="give transactions, of each client"
        )
    if test.driving.queue is not None and test.driving.has_count_of_each_client:
        raise section.error(
            "queue, which all clients share, is given beside a count of each client",
            "queue",
            hint="give queue, or transactions, or passes",
        )
    if test.order != "sequence" and test.driving.passes is not None:
        raise section.error("a mix has no passes", "passes", hint="give transactions or duration_s")


def _why_not_cold_each(test: Test) -> str | None:
    if test.why_no_cache:
        return test.why_no_cache
    if test.only_drive is None or test.order != "sequence":
        return "its scripts are not run in order by clients that are all alike"
    ends = {name for name in STOPS if getattr(test.driving, name) is not None}
    return None if ends == {"passes"} else "it does not end by passes alone"


def _refuse_not_native(section: TomlTable, test: Test, known: Names) -> None:
    """Raises `ExperimentError` where a client program is allowed that could not run the test:
    parameters are written into its statements, other values are not."""
    if not test.allows_native_client:
        return
    with_values = [
        (name, value)
        for name in test.scripts
        for value in needed_values(known.scripts[name])
        if value not in known.parameters
    ]
    why = ""
    if (
        test.only_drive is None
        or not test.only_drive.is_as_the_test_says
        or test.order != "sequence"
    ):
        why = "its scripts are not run in order by clients that are all alike"
    elif test.changes_data:
        why = "it may change data"
    elif set(test.driving.not_default) != {"passes"}:
        why = "more is said of its clients than their passes"
    elif test.protocol != "simple":
        why = f"its protocol is {test.protocol}"
    elif with_values:
        why = f"{with_values[0][0]} needs the value of :{with_values[0][1]}"
    if why:
        raise section.error(
            f"a client program cannot run this test: {why}",
            "allows_native_client",
            hint="leave allows_native_client out",
        )


def _refuse_incomparable(section: TomlTable, test: Test, step: Drive) -> None:
    """Raises `ExperimentError` where how much is asked depends on how fast a system is."""
    driving = test.driving.changed(step.driving_changes)
    key = "duration_s" if driving.duration_s is not None else "warm_up_s"
    if test.compare_results and (driving.duration_s is not None or driving.warm_up_s):
        raise section.error(
            f"compare_results with {key}: a faster system would be asked more",
            "compare_results",
            hint="give passes, transactions or queue",
        )


def _refuse_idle(section: TomlTable, test: Test, step: Drive) -> None:
    """Raises `ExperimentError` where clients have nothing to do, or never end."""
    if not (test.scripts or step.scripts or step.groups):
        raise section.error(
            "a test that drives needs scripts",
            hint='scripts = ["folder/*.sql"], in their order, or weights in [tests.NAME.mix]',
        )
    ends = test.driving.changed(step.driving_changes)
    for group in step.groups or (None,):
        changes = DrivingChanges() if group is None else group.driving_changes
        if group is not None and group.ends_with:
            continue
        if all(changes.get(name) is None and getattr(ends, name) is None for name in STOPS):
            name = f"group {group.name}" if group is not None else f"test {test.name}"
            raise section.error(
                f"{name} never ends", hint="give passes, transactions or duration_s"
            )
        if group is not None:
            _refuse_no_rate(section, ends.changed(changes), group)


def _refuse_no_rate(section: TomlTable, driving: Driving, group: Group) -> None:
    """Raises `ExperimentError` for a group in an open loop without a rate, which no option can
    give."""
    if driving.is_open and driving.offered_rate_per_s is None:
        raise section.error(
            f"group {group.name}: arrival = {driving.arrival!r} needs offered_rate_per_s",
            "steps",
            hint=f"add offered_rate_per_s = 1000 to the group {group.name}",
        )
