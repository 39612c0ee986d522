"""Takes the steps of a test as a workload file declares them: a drive step with its groups of
clients and the scripts that each runs, ``procedure = "…"``, or ``[[tests.NAME.steps]]``;
returns them, with every name checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypedDict, TypeVar

from assay import registry
from assay.contracts.driving import OF_GROUPS
from assay.errors import ExperimentError
from assay.registry import step
from assay.text import quantities
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload import driving, script_names
from assay.workload.keys_of_tests import Reference
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression
from assay.workload.steps import ORDERS, Drive, Group, Names, Step
from assay.workload.values import Test

Kind = TypeVar("Kind", bound=Drive)

_OF_EITHER = ("read",)
"""Fields that a group may set for itself, and a step for its groups that do not."""


def read_drive(section: TomlTable, names: Names, kind: type[Kind]) -> Kind:
    """The step, of class ``kind``."""
    scripts = read_scripts_of_clients(section, names)
    groups = tuple(_groups(section, names))
    given: dict[str, Any] = {**scripts, "groups": groups}
    step = kind(**given, **section.fields(kind, names, given=given))
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
