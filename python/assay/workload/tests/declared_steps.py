"""Takes ``[[tests.NAME.steps]]`` of a workload file; returns the steps of the test, with every name
checked.

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

from collections.abc import Collection, Mapping

from assay import registry
from assay.text.files.toml_file import TomlTable
from assay.workload.parameters import Parameter
from assay.workload.steps import Names, Step
from assay.workload.values import Script


def read(
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
