"""Takes the section of a drive step; returns the step, with its groups of clients. Takes that of a
test; returns the clients that run what others queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from assay.contracts.driving import OF_GROUPS
from assay.text import quantities
from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload import driving
from assay.workload.scripts import script_names
from assay.workload.steps import Deferred, Drive, Group, Names, common
from assay.workload.tests import declared_scripts
from assay.workload.values import Script, Test

Kind = TypeVar("Kind", bound=Drive)

_OF_EITHER = ("read",)
"""Fields that a group may set for itself, and a step for its groups that do not."""


def read_drive(section: TomlTable, names: Names, kind: type[Kind]) -> Kind:
    """The step, of class ``kind``."""
    scripts = declared_scripts.read(section, names.scripts, names.parameters)
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
    scripts = declared_scripts.read(section, names.scripts, names.parameters)
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
    names = script_names.named(own, "scripts", own.texts("scripts"), scripts)
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
