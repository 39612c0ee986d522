"""Takes the section of a drive step; returns the step, with its groups of clients."""

from __future__ import annotations

from typing import TypeVar

from assay.contracts.driving import OF_GROUPS
from assay.text import quantities
from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload import driving
from assay.workload.steps import Drive, Group, Names, common
from assay.workload.tests import declared_scripts

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
