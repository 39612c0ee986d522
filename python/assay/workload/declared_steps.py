"""Takes ``[[tests.NAME.steps]]`` of a workload file; returns the steps of the test, every name in
them checked.

::

    [[tests.mixed.steps]]
    do = "load"

    [[tests.mixed.steps]]
    do = "drive"
    duration_s = 30

    [[tests.mixed.steps.groups]]
    name = "readers"
    scripts = ["read.sql"]
    clients = 8

    [[tests.mixed.steps.groups]]
    name = "writers"
    scripts = ["write.sql"]
    clients = 2
    arrival = "constant"
    offered_rate_per_s = 50
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.files.toml_file import Section
from assay.registry import did_you_mean
from assay.text import quantities
from assay.workload import declared_scripts, driving, step_keys
from assay.workload.parameters import Parameter
from assay.workload.steps import (
    STEPS,
    Compare,
    Ddl,
    Drive,
    Dump,
    Group,
    Limit,
    Load,
    Overlap,
    Restart,
    SessionCost,
    Step,
    Update,
    Wait,
)
from assay.workload.values import Script

OF_GROUPS = (
    "passes", "transactions", "queue", "arrival", "offered_rate_per_s", "think_time",
    "keying_time", "latency_limit_s", "retries", "retry_classes",
)  # fmt: skip
"""Fields of `Driving` that each group has for itself; the others are of the whole step."""


_REFERRED_TO: tuple[tuple[type[Step], ...], ...] = ((Drive, Overlap), (Dump,))
"""Steps that others, and reports, find by their names."""


@dataclass(frozen=True)
class Names:
    """What a step may name."""

    scripts: Mapping[str, Script]
    parameters: Mapping[str, Parameter]
    before: tuple[Step, ...] = ()
    """The steps that stand before it."""


def read(
    sections: list[Section], scripts: Mapping[str, Script], parameters: Mapping[str, Parameter]
) -> tuple[Step, ...]:
    """The steps in their order; raises `ExperimentError` with the line."""
    steps: list[Step] = []
    for section in sections:
        do = section.choice("do", STEPS)
        step = _READERS[do](section, Names(scripts, parameters, tuple(steps)))
        section.done()
        same = next((kinds for kinds in _REFERRED_TO if isinstance(step, kinds)), ())
        if any(isinstance(one, same) and one.label == step.label for one in steps):
            raise section.error(
                f"two steps {do!r} are called {step.label!r}",
                "name" if "name" in section else "do",
                hint='add name = "…"',
            )
        steps.append(step)
    return tuple(steps)


def _common(section: Section, names: Names) -> dict[str, Any]:
    """What every step may say."""
    return {
        "name": section.text("name", ""),
        "parameters": step_keys.parameters(section.section("parameters"), names.parameters),
    }


def _plain(kind: Callable[..., Step]) -> Callable[[Section, Names], Step]:
    """The reader of a step without keys of its own."""
    return lambda section, names: kind(**_common(section, names))


def _ddl(section: Section, names: Names) -> Ddl:
    script = step_keys.script(section, "script", names.scripts)
    return Ddl(script=script, **_common(section, names))


def _wait(section: Section, names: Names) -> Wait:
    duration_s = section.number("duration_s", quantities.WAIT_S)
    return Wait(duration_s=duration_s, **_common(section, names))


def _drive(section: Section, names: Names) -> Drive:
    scripts = declared_scripts.read(section, names.scripts)
    groups = tuple(_groups(section, names))
    step = Drive(
        scripts=scripts.names,
        order=scripts.order,
        mix=scripts.mix,
        clients=_clients(section, names) if "clients" in section else None,
        is_one_client=section.boolean("one_client", False),
        said=driving.read(section, names.parameters),
        groups=groups,
        **_common(section, names),
    )
    for key in ("scripts", "mix", "clients", "one_client", *OF_GROUPS):
        if groups and key in section:
            raise section.error(f"{key}: each group has its own", key, hint=f"move {key} there")
    return step


def _groups(section: Section, names: Names) -> list[Group]:
    groups: list[Group] = []
    for one in section.sections("groups"):
        group = _group(one, names)
        if group.name in {other.name for other in groups}:
            raise one.error(f"two groups are called {group.name!r}", "name")
        groups.append(group)
    return groups


def _group(section: Section, names: Names) -> Group:
    scripts = declared_scripts.read(section, names.scripts)
    if not scripts.names:
        raise section.error(
            "a group needs scripts", hint='scripts = ["read.sql"], or weights in its mix'
        )
    said = driving.read(section, names.parameters)
    for key in said:
        if key not in OF_GROUPS:
            raise section.error(
                f"{key} is of the whole step", key, hint=f"move {key} out of the group"
            )
    group = Group(
        name=section.text("name"),
        scripts=scripts.names,
        order=scripts.order,
        mix=scripts.mix,
        clients=_clients(section, names) if "clients" in section else 1,
        said=said,
    )
    if not group.name:
        raise section.error("the name of a group is empty", "name")
    if group.order == "mix" and said.get("passes") is not None:
        raise section.error(
            "a mix has no passes", "passes", hint="give transactions, queue or duration_s"
        )
    section.done()
    return group


def _clients(section: Section, names: Names) -> int | str:
    """A number, or the name of a parameter that holds it."""
    if not section.is_text("clients"):
        return section.whole("clients", quantities.CLIENTS)
    name = section.text("clients")
    whole = [one.name for one in names.parameters.values() if one.type == "int"]
    if name not in whole:
        raise section.error(
            f"clients = {name!r} is neither a number nor a parameter",
            "clients",
            hint=did_you_mean(name, whole),
        )
    return name


def _overlap(section: Section, names: Names) -> Overlap:
    return Overlap(
        alone=_earlier(section, "alone", Drive, names),
        stagger=step_keys.seconds(section, "stagger", names.parameters),
        pause=step_keys.seconds(section, "pause", names.parameters),
        at_once=section.whole("at_once", quantities.CLIENTS),
        **_common(section, names),
    )


def _dump(section: Section, names: Names) -> Dump:
    return Dump(
        script=step_keys.script(section, "script", names.scripts),
        own=step_keys.script(section, "own", names.scripts) if "own" in section else "",
        each=section.text("each", ""),
        **_common(section, names),
    )


def _compare(section: Section, names: Names) -> Compare:
    return Compare(
        expected=_earlier(section, "expected", Dump, names),
        found=_earlier(section, "found", Dump, names),
        **_common(section, names),
    )


def _session_cost(section: Section, names: Names) -> SessionCost:
    return SessionCost(
        kept=_earlier(section, "kept", Drive, names),
        per_transaction=_earlier(section, "per_transaction", Drive, names),
        **_common(section, names),
    )


def _earlier(section: Section, key: str, kind: type[Step], names: Names) -> str:
    """The name of a step of that kind that stands before this one."""
    known = [one.label for one in names.before if isinstance(one, kind)]
    name = section.text(key)
    if name not in known:
        raise section.error(
            f"{key} = {name!r}: no step {kind.do!r} of that name stands before",
            key,
            hint=did_you_mean(name, known),
        )
    return name


_READERS: Mapping[str, Callable[[Section, Names], Step]] = {
    "load": _plain(Load),
    "ddl": _ddl,
    "restart": _plain(Restart),
    "wait": _wait,
    "drive": _drive,
    "overlap": _overlap,
    "dump": _dump,
    "compare": _compare,
    "session_cost": _session_cost,
    "update": _plain(Update),
    "limit": _plain(Limit),
}
