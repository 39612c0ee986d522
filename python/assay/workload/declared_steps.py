"""Takes the steps of a test as a workload file declares them: a drive step with its groups of
clients and the scripts that each runs, ``procedure = "…"``, or ``[[tests.NAME.steps]]``;
returns them, with every name checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TypeVar

from msgspec import Struct, field

from assay import registry
from assay.contracts.driving import OF_GROUPS
from assay.errors import ExperimentError
from assay.registry import step
from assay.text import quantities
from assay.text.phrases import did_you_mean
from assay.text.quantities import CLIENTS
from assay.text.toml_file import TomlTable
from assay.workload import driving, script_names, steps
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression
from assay.workload.script_names import NamedScript
from assay.workload.steps import Deferred, Drive, Group, Names, Step, common
from assay.workload.values import Script, Test

Kind = TypeVar("Kind", bound=Drive)

_OF_EITHER = ("read",)
"""Fields that a group may set for itself, and a step for its groups that do not."""


def read_drive(section: TomlTable, names: Names, kind: type[Kind]) -> Kind:
    """The step, of class ``kind``."""
    scripts = read_scripts_of_clients(section, names.scripts, names.parameters)
    groups = tuple(_groups(section, names))
    step = kind(
        scripts=scripts.names,
        order=scripts.order,
        mix=scripts.mix,
        clients=_clients(section, names) if "clients" in section else None,
        is_one_client=section.boolean("one_client", False),
        is_result=section.boolean("result", False),
        driving_changes=driving.read(section, names.parameters),
        groups=groups,
        **common(section, names),
    )
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
    scripts = read_scripts_of_clients(section, names.scripts, names.parameters)
    if not scripts.names:
        raise section.error(
            "a group needs scripts", hint='scripts = ["read.sql"], or weights in its mix'
        )
    changes = driving.read(section, names.parameters)
    for key in changes:
        if key not in (*OF_GROUPS, *_OF_EITHER):
            raise section.error(
                f"{key} applies to the whole step", key, hint=f"move {key} out of the group"
            )
    group = Group(
        name=section.text("name"),
        scripts=scripts.names,
        order=scripts.order,
        mix=scripts.mix,
        clients=_clients(section, names) if "clients" in section else 1,
        driving_changes=changes,
        ends_with=section.text("ends_with", ""),
    )
    if not group.name:
        raise section.error("the name of a group is empty", "name")
    if group.order != "sequence" and changes.get("passes") is not None:
        raise section.error(
            "a mix has no passes", "passes", hint="give transactions, queue or duration_s"
        )
    section.done()
    return group


def _clients(section: TomlTable, names: Names) -> int | str:
    """A number, or the name of a parameter or constant that holds it."""
    if not section.is_text("clients"):
        return section.whole("clients", quantities.CLIENTS)
    name = section.text("clients")
    if name in names.constants:
        return name
    if name not in names.parameters or names.parameters[name].type != "int":
        raise driving.no_number(section, "clients", name, names.parameters, ("int",))
    return name


def read_deferred(section: TomlTable, scripts: Mapping[str, Script]) -> Deferred | None:
    """``deferred = { scripts = ["deliver.sql"], clients = 2, latency_limit_s = 80 }``: the clients
    that run what scripts of the test queue; None where it declares none."""
    if "deferred" not in section:
        return None
    own = section.section("deferred")
    names = script_names.named_scripts(own, "scripts", own.texts("scripts"), scripts)
    clients = own.whole("clients", quantities.CLIENTS) if "clients" in own else 1
    limit_s = (
        own.number("latency_limit_s", quantities.LATENCY_LIMIT_S)
        if "latency_limit_s" in own
        else None
    )
    own.done()
    return Deferred(names, clients, limit_s or None)


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


ORDERS = ("sequence", "mix", "deck")


class ScriptsOfClients(Struct, frozen=True):
    """The scripts that clients run, and their order."""

    names: tuple[str, ...] = ()
    order: str = "sequence"
    mix: Mapping[str, int | str] = field(default_factory=dict)
    """Name → weight, or the parameter that holds it."""


def read_scripts_of_clients(
    section: TomlTable, known: Mapping[str, Script], parameters: Mapping[str, Parameter]
) -> ScriptsOfClients:
    """The scripts, none where the section names none; raises `ExperimentError` with the line."""
    mix = _mix(section, known, parameters)
    listed: dict[str, None] = {}

    for word in section.texts("scripts", ()):
        named, at, weight = word.rpartition("@")
        names = script_names.named_scripts(section, "scripts", (named if at else word,), known)
        listed |= dict.fromkeys(names)
        for name in names if at else ():
            if name in mix:
                raise _two_weights(section, "scripts", name)
            mix[name] = _weight_of_word(section, named, weight, parameters)
    if mix and not any(mix.values()):
        key = "mix" if "mix" in section else "scripts"
        raise section.error("at least one weight of a mix must be above 0", key)
    order = section.choice("order", ORDERS, "mix" if mix else "sequence")
    if mix and order == "sequence":
        raise section.error("weights have no effect in a sequence", "order", hint='order = "mix"')
    return ScriptsOfClients(tuple(dict.fromkeys([*listed, *mix])), order, mix)


def _mix(
    section: TomlTable, known: Mapping[str, Script], parameters: Mapping[str, Parameter]
) -> dict[str, int | str]:
    """``[tests.NAME.mix]``: script → its weight."""
    weights = section.section("mix")
    mix: dict[str, int | str] = {}

    for word in weights.names():
        weight = (
            _parameter(weights, word, weights.text(word), parameters)
            if weights.is_text(word)
            else weights.whole(word, quantities.WEIGHT_IN_A_MIX)
        )
        for name in script_names.named_scripts(weights, word, (word,), known):
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


def read_steps(
    sections: list[TomlTable],
    scripts: Mapping[str, Script],
    parameters: Mapping[str, Parameter],
    constants: Collection[str] = (),
) -> tuple[Step, ...]:
    """The steps in order; raises `ExperimentError` with the line."""
    steps: list[Step] = []
    for section in sections:
        do = section.choice("do", registry.steps())
        names = Names(scripts, parameters, tuple(steps), constants)
        step: Step = registry.step(do).read(section, names)
        section.done()
        same = [
            earlier_step
            for earlier_step in steps
            if step.found_as and earlier_step.found_as == step.found_as
        ]
        if any(earlier_step.label == step.label for earlier_step in same):
            raise section.error(
                f"two steps {do!r} are called {step.label!r}",
                "name" if "name" in section else "do",
                hint="give each a name of its own" if "name" in section else 'add name = "…"',
            )
        steps.append(step)
    return tuple(steps)


PROCEDURES = ("drive", "update", "limit", "reference", "connect")


def steps_of_procedure(
    section: TomlTable,
    procedure: str,
    scripts: Mapping[str, NamedScript],
    known: Mapping[str, Parameter],
) -> tuple[Step, ...]:
    """The steps of the test that ``section`` declares; raises `ExperimentError`."""
    if procedure == "update":
        return (step("load")(), step("update")())
    if procedure == "limit":
        return (step("limit")(),)
    if procedure == "connect":
        return _connect()
    if procedure == "reference":
        return _reference(section.section("reference"), scripts, known)
    return (step("load")(), step("drive")())


def _connect() -> tuple[Step, ...]:
    kept, each = "kept", "per transaction"
    return (
        step("load")(),
        step("drive")(kept, driving_changes={"connection": kept}),
        step("drive")(each, driving_changes={"connection": each}),
        step("session_cost")(kept=kept, per_transaction=each),
    )


def _reference(
    section: TomlTable, scripts: Mapping[str, NamedScript], known: Mapping[str, Parameter]
) -> tuple[Step, ...]:
    """Compares the rows that a single client leaves on a small table with those of many clients."""
    names = Names(scripts, known)
    small = steps.parameters_of_keys(section.section("parameters"), known)
    dump = steps.script_of_key(section, "dump", names)
    own = steps.script_of_key(section, "own", names) if "own" in section else ""
    overlap = step("overlap")(
        "together",
        alone="alone",
        stagger=steps.seconds_of_key(section, "stagger", names),
        pause=steps.seconds_of_key(section, "pause", names),
        at_once=section.whole("at_once", CLIENTS),
    )
    at_once = Expression("0.0", 0)
    unpaced = {overlap.stagger: at_once, overlap.pause: at_once}
    alone = step("dump")("alone", script=dump, own=own, each=section.text("each"), parameters=small)
    section.done()
    return (
        step("load")(parameters=small),
        step("drive")("alone", is_one_client=True, parameters={**small, **unpaced}),
        alone,
        overlap,
        replace(alone, name="together", parameters={}),
        step("compare")(expected="alone", found="together"),
    )
