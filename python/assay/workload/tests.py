"""Takes ``[tests]`` of a workload file; returns its tests, with every name checked: what clients
run, and the steps, which are declared, or those of ``procedure = "…"``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypedDict, TypeVar

from msgspec import structs

from assay import registry
from assay.contracts.driving import OF_GROUPS, STOPS, Driving, DrivingChanges
from assay.errors import ExperimentError
from assay.registry import step
from assay.text import quantities
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload import declared_results, driving, script_names
from assay.workload.keys_of_tests import PROCEDURES, Reference
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression
from assay.workload.scripts import needed_values
from assay.workload.steps import ORDERS, Drive, Group, Names, Step
from assay.workload.values import Quick, Test


def read_tests(section: TomlTable, known: Names) -> list[Test]:
    """Every test; raises `ExperimentError` with the line."""
    names = section.names()
    if not names:
        raise section.error("no test is declared", hint="a workload has at least one [tests.NAME]")
    return [_test(name, section.section(name), known) for name in names]


def _test(name: str, section: TomlTable, known: Names) -> Test:
    scripts = read_scripts_of_clients(section, known)
    steps = _steps(section, known)
    all_checks = {} if "checks" in section else {"checks": tuple(known.checks)}
    test: Test = section.thing(Test, known, name=name, steps=steps, **scripts, **all_checks)
    if sum(step.is_result for step in test.drives) > 1:
        raise section.error("two steps are the result of the test: expected one", "steps")
    test = _with_the_only_drive(section, test)
    test = _with_groups(section, test, known.parameters)
    declared_results.refuse_results_of_others(section, test)
    refuse_beside_deferred(section, test)
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
        return steps_of_procedure(section, procedure, known)
    if "procedure" in section:
        raise section.error("steps and procedure are both given: expected one of them", "procedure")
    found = read_steps(section.sections("steps"), known)
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


Kind = TypeVar("Kind", bound=Drive)

_OF_EITHER = ("read",)
"""Fields that a group may set for itself, and a step for its groups that do not."""


def read_drive(section: TomlTable, names: Names, kind: type[Kind]) -> Kind:
    """The step, of class ``kind``."""
    scripts = read_scripts_of_clients(section, names)
    groups = tuple(_groups(section, names))
    own = section.fields(kind, names, given=("groups", *scripts))
    step = kind(groups=groups, **scripts, **own)
    for key in ("scripts", "mix", "clients", "one_client", *OF_GROUPS):
        if groups and key in section:
            raise section.error(f"{key}: each group has its own", key, hint=f"move {key} there")
    return step


def _groups(section: TomlTable, names: Names) -> list[Group]:
    groups: list[Group] = []
    for group_section in section.sections("groups"):
        group = _group(group_section, names)
        if group.name in {earlier.name for earlier in groups}:
            raise group_section.error(f"two groups are called {group.name!r}", "name")
        groups.append(group)
    by_itself = [group.name for group in groups if not group.ends_with]
    for group, group_section in zip(groups, section.sections("groups"), strict=True):
        if group.ends_with and group.ends_with not in by_itself:
            raise group_section.error(
                f"ends_with = {group.ends_with!r}: expected another group of the step that ends by "
                "itself",
                "ends_with",
                hint=did_you_mean(group.ends_with, by_itself),
            )
    return groups


def _group(section: TomlTable, names: Names) -> Group:
    scripts = read_scripts_of_clients(section, names)
    if not scripts["scripts"]:
        raise section.error(
            "a group needs scripts", hint='scripts = ["read.sql"], or weights in its mix'
        )
    group: Group = section.thing(Group, names, **scripts)
    for key in group.driving_changes:
        if key not in (*OF_GROUPS, *_OF_EITHER):
            raise section.error(
                f"{key} applies to the whole step", key, hint=f"move {key} out of the group"
            )
    if not group.name:
        raise section.error("the name of a group is empty", "name")
    if group.order != "sequence" and group.driving_changes.get("passes") is not None:
        raise section.error(
            "a mix has no passes", "passes", hint="give transactions, queue or duration_s"
        )
    return group


def refuse_beside_deferred(section: TomlTable, test: Test) -> None:
    """Raises `ExperimentError` where the clients of the test are not all alike, and where a script
    is both queued and run."""
    if test.deferred is None:
        return
    if test.only_drive is None:
        raise section.error(
            "deferred needs a single drive step, whose clients are all alike", "deferred"
        )
    if both := set(test.deferred.scripts) & set(test.scripts):
        raise section.error(
            f"{min(both)} is deferred, and run by the clients of the test as well",
            "deferred",
            hint="leave it out of the scripts or the mix of the test",
        )


class ScriptsOfClients(TypedDict):
    """Of `assay.workload.steps.Clients`, and of a test."""

    scripts: tuple[str, ...]
    order: str
    mix: Mapping[str, int | str]


def read_scripts_of_clients(section: TomlTable, names: Names) -> ScriptsOfClients:
    """The scripts, none where the section names none; raises `ExperimentError` with the line."""
    mix = _mix(section, names)
    listed: dict[str, None] = {}

    for word in section.texts("scripts", ()):
        named, at, weight = word.rpartition("@")
        found = script_names.named_scripts(
            section, "scripts", (named if at else word,), names.scripts
        )
        listed |= dict.fromkeys(found)
        for name in found if at else ():
            if name in mix:
                raise _two_weights(section, "scripts", name)
            mix[name] = _weight_of_word(section, named, weight, names.parameters)
    if mix and not any(mix.values()):
        key = "mix" if "mix" in section else "scripts"
        raise section.error("at least one weight of a mix must be above 0", key)
    order = section.choice("order", ORDERS, "mix" if mix else "sequence")
    if mix and order == "sequence":
        raise section.error("weights have no effect in a sequence", "order", hint='order = "mix"')
    return {"scripts": tuple(dict.fromkeys([*listed, *mix])), "order": order, "mix": mix}


def _mix(section: TomlTable, names: Names) -> dict[str, int | str]:
    """``[tests.NAME.mix]``: script → its weight."""
    weights = section.section("mix")
    mix: dict[str, int | str] = {}

    for word in weights.names():
        weight = (
            _parameter(weights, word, weights.text(word), names.parameters)
            if weights.is_text(word)
            else weights.whole(word, quantities.WEIGHT_IN_A_MIX)
        )
        for name in script_names.named_scripts(weights, word, (word,), names.scripts):
            if name in mix:
                raise _two_weights(weights, word, name)
            mix[name] = weight
    return mix


def _weight_of_word(
    section: TomlTable, script: str, word: str, parameters: Mapping[str, Parameter]
) -> int | str:
    """What stands behind the ``@``: a number, or ``:parameter``."""
    if word.startswith(":"):
        return _parameter(section, "scripts", word[1:], parameters)
    try:
        return quantities.WEIGHT_IN_A_MIX.of_word(word)
    except ValueError as error:
        raise section.error(
            f"{script}@{word}: {error}",
            "scripts",
            hint=f'"{script}@3", or "{script}@:name" with a parameter',
        ) from None


def _parameter(section: TomlTable, key: str, name: str, parameters: Mapping[str, Parameter]) -> str:
    """The name of a parameter that can hold a weight."""
    if name not in parameters or parameters[name].type not in ("int", "float"):
        raise driving.no_number(section, key, name, parameters, ("int", "float"))
    return name


def _two_weights(section: TomlTable, key: str, name: str) -> ExperimentError:
    return section.error(f"{name} has two weights", key, hint="leave one of them out")


def read_steps(sections: list[TomlTable], names: Names) -> tuple[Step, ...]:
    """The steps in order; raises `ExperimentError` with the line."""
    steps: list[Step] = []
    for section in sections:
        do = section.choice("do", registry.steps())
        step: Step = registry.step(do).read(section, replace(names, before=tuple(steps)))
        section.done()
        found_so = {one.label for one in steps if step.found_as == one.found_as != ""}
        if step.label in found_so:
            raise section.error(
                f"two steps {do!r} are called {step.label!r}",
                "name" if "name" in section else "do",
                hint="give each a name of its own" if "name" in section else 'add name = "…"',
            )
        steps.append(step)
    return tuple(steps)


def steps_of_procedure(section: TomlTable, procedure: str, names: Names) -> tuple[Step, ...]:
    """The steps of the test that ``section`` declares; raises `ExperimentError`."""
    if procedure == "update":
        return (step("load")(), step("update")())
    if procedure == "limit":
        return (step("limit")(),)
    if procedure == "connect":
        return _connect()
    if procedure == "reference":
        return _reference(section.section("reference").thing(Reference, names))
    return (step("load")(), step("drive")())


def _connect() -> tuple[Step, ...]:
    kept, each = "kept", "per transaction"
    return (
        step("load")(),
        step("drive")(kept, driving_changes={"connection": kept}),
        step("drive")(each, driving_changes={"connection": each}),
        step("session_cost")(kept=kept, per_transaction=each),
    )


def _reference(said: Reference) -> tuple[Step, ...]:
    """Compares the rows that a single client leaves on a small table with those of many clients."""
    small = said.parameters
    overlap = step("overlap")(
        "together", alone="alone", stagger=said.stagger, pause=said.pause, at_once=said.at_once
    )
    at_once = Expression("0.0", 0)
    unpaced = {said.stagger: at_once, said.pause: at_once}
    alone = step("dump")("alone", script=said.dump, own=said.own, each=said.each, parameters=small)
    return (
        step("load")(parameters=small),
        step("drive")("alone", is_one_client=True, parameters={**small, **unpaced}),
        alone,
        overlap,
        replace(alone, name="together", parameters={}),
        step("compare")(expected="alone", found="together"),
    )
