"""Takes ``[tests]`` of a workload file; returns its tests, every name in them checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from assay.capabilities import CAPABILITIES
from assay.experiment.values import PROTOCOLS, STOPS, Driving
from assay.files.toml_file import Section
from assay.registry import did_you_mean
from assay.text import quantities
from assay.workload import declared_scripts, declared_steps, driving, procedures
from assay.workload.parameters import Parameter, Scalar
from assay.workload.steps import Drive, Step
from assay.workload.values import Script, Test

DATA = ("loaded", "empty")


@dataclass(frozen=True)
class Known:
    """What a test may name."""

    scripts: Mapping[str, Script]
    parameters: Mapping[str, Parameter]


def read(
    section: Section, scripts: Mapping[str, Script], parameters: Mapping[str, Parameter]
) -> list[Test]:
    """Every test; raises `ExperimentError` with the line."""
    names = section.names()
    if not names:
        raise section.error("no test is declared", hint="a workload has at least one [tests.NAME]")
    known = Known(scripts, parameters)
    return [_test(name, section.section(name), known) for name in names]


def _test(name: str, section: Section, known: Known) -> Test:
    scripts = declared_scripts.read(section, known.scripts)
    test = Test(
        name=name,
        title=section.text("title"),
        help=section.text("help"),
        reproduces=section.text("reproduces", ""),
        steps=_steps(section, known),
        scripts=scripts.names,
        order=scripts.order,
        mix=scripts.mix,
        clients=section.wholes("clients", quantities.CLIENTS, (1,)),
        driving=Driving(**driving.read(section, known.parameters)),
        protocol=section.choice("protocol", PROTOCOLS, "prepared"),
        data=section.choice("data", DATA, "loaded"),
        changes_data=section.boolean("changes_data", True),
        compare_results=section.boolean("compare_results", False),
        data_to_buffer=_data_to_buffer(section, known.parameters),
        checks=section.texts("checks", ("*",), may_be_empty=True),
        counted_checks=section.texts("counted_checks", ()),
        defaults=_levels(section.section("defaults"), known.parameters),
        needs=_needs(section),
        not_expressible=_not_expressible(section.section("not_expressible")),
    )
    section.done()
    test = _with_the_only_drive(section, test)
    test = _with_groups(section, test, known.parameters)
    _refuse_contradictions(section, test)
    return test


def _steps(section: Section, known: Known) -> tuple[Step, ...]:
    """``[[tests.NAME.steps]]``, or those that ``procedure = "…"`` stands for."""
    if "steps" not in section:
        procedure = section.choice("procedure", procedures.PROCEDURES, "drive")
        return procedures.read(section, procedure, known.scripts, known.parameters)
    if "procedure" in section:
        raise section.error("steps and procedure: one of the two", "procedure")
    found = declared_steps.read(section.sections("steps"), known.scripts, known.parameters)
    if not found:
        raise section.error("no step is declared", "steps", hint='steps = [{ do = "load" }]')
    return found


def _with_the_only_drive(section: Section, test: Test) -> Test:
    """What the only drive of a test says of scripts, clients and pace is said of the test."""
    if len(test.drives) != 1 or test.overlaps:
        return test
    (step,) = test.drives
    if step.scripts:
        if test.scripts:
            raise section.error(
                "scripts stand in the test and in its only step that drives",
                "scripts",
                hint="leave one of them out",
            )
        test = replace(test, scripts=step.scripts, order=step.order, mix=step.mix)
    plain = replace(step, scripts=(), order="sequence", mix={}, said={})
    clients = test.clients
    if isinstance(step.clients, int):
        plain, clients = replace(plain, clients=None), (step.clients,)
    return replace(
        test,
        clients=clients,
        driving=test.driving.changed(step.said),
        steps=tuple(plain if one is step else one for one in test.steps),
    )


def _with_groups(section: Section, test: Test, known: Mapping[str, Parameter]) -> Test:
    """Groups say how many clients there are; scripts of the test are those of all its steps."""
    if test.groups and "clients" in section:
        raise section.error("clients: each group has its own", "clients")
    names = [name for one in test.drives for name in one.scripts]
    names += [name for group in test.groups for name in group.scripts]
    counts = [
        sum(_by_default(one.clients, known) for one in step.groups or (step,))
        for step in test.drives
    ]
    return replace(
        test,
        scripts=tuple(dict.fromkeys([*test.scripts, *names])),
        clients=(max(counts),) if counts and all(counts) else test.clients,
    )


def _by_default(clients: int | str | None, known: Mapping[str, Parameter]) -> int:
    """How many clients that is, where their number may be a parameter; 0: nothing is said."""
    return int(known[clients].default) if isinstance(clients, str) else clients or 0


def _needs(section: Section) -> tuple[str, ...]:
    needs = section.texts("needs", (), may_be_empty=True)
    for name in needs:
        if name not in CAPABILITIES:
            raise section.error(
                f"unknown capability {name!r}", "needs", hint=did_you_mean(name, CAPABILITIES)
            )
    return needs


def _not_expressible(section: Section) -> dict[str, str]:
    """``[tests.NAME.not_expressible]``: dialect or language → the reason, which reports show where
    the number would stand."""
    return {name: section.text(name) for name in section.names()}


def _refuse_contradictions(section: Section, test: Test) -> None:
    """What no single key can be wrong about."""
    if not test.changes_data and test.leaves_other_data:
        step = next(one for one in test.steps if one.changes_data)
        raise section.error(
            f"changes_data = false, and the step {step.do!r} changes data",
            "changes_data",
            hint="leave changes_data out",
        )
    for drive in test.drives:
        _refuse_idle(section, test, drive)
        _refuse_incomparable(section, test, drive)
    if test.overlaps and test.driving.transactions is None:
        raise section.error(
            "clients that overlap end by a count", hint="give transactions, of each client"
        )
    if test.order == "mix" and test.driving.passes is not None:
        raise section.error("a mix has no passes", "passes", hint="give transactions or duration_s")


def _refuse_incomparable(section: Section, test: Test, step: Drive) -> None:
    """Raises `ExperimentError` where how much is asked depends on how fast a system is."""
    driving = test.driving.changed(step.said)
    key = "duration_s" if driving.duration_s is not None else "warm_up_s"
    if test.compare_results and (driving.duration_s is not None or driving.warm_up_s):
        raise section.error(
            f"compare_results with {key}: a faster system would be asked more",
            "compare_results",
            hint="give passes, transactions or queue",
        )


def _refuse_idle(section: Section, test: Test, step: Drive) -> None:
    """Raises `ExperimentError` where clients have nothing to do, or never end."""
    if not (test.scripts or step.scripts or step.groups):
        raise section.error(
            "a test that drives needs scripts",
            hint='scripts = ["folder/*.sql"], in their order, or weights in [tests.NAME.mix]',
        )
    ends = test.driving.changed(step.said)
    for group in step.groups or (None,):
        said = {} if group is None else group.said
        if all(said.get(name) is None and getattr(ends, name) is None for name in STOPS):
            name = f"group {group.name}" if group is not None else f"test {test.name}"
            raise section.error(
                f"{name} never ends", hint="give passes, transactions or duration_s"
            )


def _data_to_buffer(section: Section, parameters: Mapping[str, Parameter]) -> float | str | None:
    if "data_to_buffer" not in section:
        return None
    if section.is_text("data_to_buffer") and section.text("data_to_buffer") in parameters:
        return section.text("data_to_buffer")
    return section.number("data_to_buffer", quantities.DATA_TO_BUFFER)


def _levels(section: Section, parameters: Mapping[str, Parameter]) -> dict[str, tuple[Scalar, ...]]:
    levels = {}
    for name in section.names():
        if name not in parameters:
            raise section.error(
                f"unknown parameter {name!r}", name, hint=did_you_mean(name, parameters)
            )
        levels[name] = section.scalars(name)
        for value in levels[name]:
            if not parameters[name].fits(value):
                raise section.error(f"{name}: {value!r} is not {parameters[name].type}", name)
    return levels
