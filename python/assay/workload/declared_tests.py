"""Takes ``[tests]`` of a workload file; gives its tests, every name in them checked."""

from __future__ import annotations

from pathlib import Path

from assay.experiment.values import PROTOCOLS, STOPS, Driving
from assay.files.toml_file import Section
from assay.registry import did_you_mean
from assay.text import quantities
from assay.workload import driving, reference
from assay.workload.parameters import Parameter, Scalar
from assay.workload.values import Script, Test

PROCEDURES = ("drive", "update", "limit", "reference", "connect")
DRIVING = ("drive", "reference", "connect")
"""Those whose clients run scripts."""
ORDERS = ("sequence", "mix")
DATA = ("loaded", "empty")


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
    mix = _mix(section, known)
    globs = section.texts("scripts", ())
    if procedure in DRIVING and not (globs or mix):
        raise section.error(
            "a test that drives needs scripts",
            hint='scripts = ["folder/*.sql"], in their order, or weights in [tests.NAME.mix]',
        )
    test = Test(
        name=name,
        title=section.text("title"),
        help=section.text("help"),
        reproduces=section.text("reproduces", ""),
        procedure=procedure,
        scripts=tuple(dict.fromkeys([*_script_names(section, globs, known), *mix])),
        order=section.choice("order", ORDERS, "mix" if mix else "sequence"),
        mix=mix,
        clients=section.wholes("clients", quantities.CLIENTS, (1,)),
        driving=Driving(**driving.read(section, parameters)),
        protocol=section.choice("protocol", PROTOCOLS, "prepared"),
        data=section.choice("data", DATA, "loaded"),
        changes_data=section.boolean("changes_data") if "changes_data" in section else None,
        data_to_buffer=_data_to_buffer(section, parameters),
        checks=section.texts("checks", ("*",), may_be_empty=True),
        defaults=_levels(section.section("defaults"), parameters),
        reference=(
            reference.read(section.section("reference"), known, parameters)
            if procedure == "reference"
            else None
        ),
    )
    section.done()
    _refuse_contradictions(section, test)
    return test


def _refuse_contradictions(section: Section, test: Test) -> None:
    """What no single key can be wrong about."""
    if test.procedure not in DRIVING:
        return
    limits = [getattr(test.driving, name) for name in STOPS]
    if not any(limit is not None for limit in limits):
        raise section.error(
            f"test {test.name} never ends", hint="give passes, transactions or duration_s"
        )
    if test.order == "mix" and test.driving.passes is not None:
        raise section.error("a mix has no passes", "passes", hint="give transactions or duration_s")
    if test.mix and test.order != "mix":
        raise section.error("weights mean nothing in a sequence", "mix", hint='order = "mix"')


def _mix(section: Section, known: dict[str, Script]) -> dict[str, int]:
    """``[tests.NAME.mix]``: name of a script → its weight."""
    weights = section.section("mix")
    mix = {name: weights.whole(name, quantities.WEIGHT_IN_A_MIX) for name in weights.names()}
    for name in mix:
        if name not in known:
            raise weights.error(
                f"no script is called {name!r}", name, hint=did_you_mean(name, known)
            )
    if mix and not any(mix.values()):
        raise section.error("one weight of a mix must be above 0", "mix")
    return mix


def _data_to_buffer(section: Section, parameters: dict[str, Parameter]) -> float | str | None:
    if "data_to_buffer" not in section:
        return None
    if section.is_text("data_to_buffer") and section.text("data_to_buffer") in parameters:
        return section.text("data_to_buffer")
    return section.number("data_to_buffer", quantities.DATA_TO_BUFFER)


def _script_names(
    section: Section, globs: tuple[str, ...], known: dict[str, Script]
) -> tuple[str, ...]:
    names: list[str] = []
    for glob in globs:
        matching = [one for one in known.values() if glob and Path(one.path).match(glob)]
        if not matching:
            raise section.error(
                f"no script is called {glob!r}",
                "scripts",
                hint=did_you_mean(glob, [one.path for one in known.values()]),
            )
        names += [one.name for one in matching if one.name not in names]
    return tuple(names)


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
