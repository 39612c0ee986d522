"""Takes ``[tests]`` of a workload file; gives its tests, every name in them checked."""

from __future__ import annotations

from pathlib import Path

from assay.registry import did_you_mean
from assay.toml_file import Section
from assay.workloads.parameters import Parameter, Scalar
from assay.workloads.values import Script, Stop, Test

PROCEDURES = ("drive", "update", "limit")
ORDERS = ("sequence", "mix")
PROTOCOLS = ("simple", "prepared")


def read(
    section: Section, known: dict[str, Script], parameters: dict[str, Parameter]
) -> list[Test]:
    """Every test; raises `ExperimentError` with the line."""
    names = section.names()
    if not names:
        raise section.error("no test is declared", hint="a workload has at least one [tests.NAME]")
    return [_test(name, section.section(name), known, parameters) for name in names]


def _test(
    name: str, section: Section, known: dict[str, Script], parameters: dict[str, Parameter]
) -> Test:
    procedure = section.choice("procedure", PROCEDURES, "drive")
    globs = section.texts("scripts", ())
    if procedure == "drive" and not globs:
        raise section.error(
            "a test that drives needs scripts", hint='scripts = ["folder/*.sql"], in their order'
        )
    test = Test(
        name=name,
        title=section.text("title"),
        help=section.text("help"),
        reproduces=section.text("reproduces", ""),
        procedure=procedure,
        scripts=_script_names(section, globs, known),
        order=section.choice("order", ORDERS, "sequence"),
        clients=section.wholes("clients", (1,), least=1),
        stop=_stop(section, parameters),
        protocol=section.choice("protocol", PROTOCOLS, "simple"),
        defaults=_levels(section.section("defaults"), parameters),
    )
    section.done()
    if procedure == "drive" and test.stop == Stop():
        raise section.error(
            f"test {name} never ends", hint="give passes, transactions or duration_s"
        )
    return test


def _script_names(
    section: Section, globs: tuple[str, ...], known: dict[str, Script]
) -> tuple[str, ...]:
    names: list[str] = []
    for glob in globs:
        matching = [one for one in known.values() if Path(one.path).match(glob)]
        if not matching:
            raise section.error(
                f"no script is called {glob!r}",
                "scripts",
                hint=did_you_mean(glob, [one.path for one in known.values()]),
            )
        names += [one.name for one in matching if one.name not in names]
    return tuple(names)


def _stop(section: Section, parameters: dict[str, Parameter]) -> Stop:
    limits = {
        key: section.scalar(key)
        for key in ("passes", "transactions", "duration_s")
        if key in section
    }
    for key, value in limits.items():
        if isinstance(value, str) and value not in parameters:
            raise section.error(
                f"{key} = {value!r} is neither a number nor a parameter",
                key,
                hint=did_you_mean(value, parameters),
            )
    return Stop(**limits)  # type: ignore[arg-type]


def _levels(section: Section, parameters: dict[str, Parameter]) -> dict[str, tuple[Scalar, ...]]:
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
