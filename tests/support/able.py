"""Which systems of the registry can do something, by what they declare: a new one is in every list
that is made here, and is never silently absent."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest.mark import ParameterSet

from assay import registry
from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.systems.abilities import WorksInProcess
from assay.drive.prepare import Compiled
from assay.experiment.from_command_line import Words, experiment
from assay.lab.refusal import why_refused
from assay.plan import plan
from commands import why_missing

STORING = [
    name for name in registry.systems() if "stored rows" in registry.system(name).capabilities
]
"""All but the null system."""


def able(*capabilities: str, language: str = "") -> list[str]:
    """Those that have all these capabilities, and speak the language."""
    assert set(capabilities) <= set(CAPABILITIES)
    return [
        name
        for name in STORING
        if set(capabilities) <= registry.system(name).capabilities
        and language in ("", registry.system(name).dialect.language)
    ]


def able_to_run(test: str, *settings: str) -> list[str]:
    """Those that refuse no run of ``WORKLOAD.TEST``."""
    asked, workload = experiment(Words(test, on=tuple(STORING), set=settings))
    compiled = Compiled(workload)
    refused = {
        run.cell.system.name
        for run in plan(asked, workload).runs
        if why_refused(compiled, run) is not None
    }
    return [name for name in STORING if name not in refused]


def with_ability(ability: type, language: str = "") -> list[str]:
    """Those that have the ability (of systems, or of dialects), and speak the language."""
    return [
        name
        for name in able(language=language)
        if isinstance(registry.system(name), ability)
        or isinstance(registry.system(name).dialect, ability)
    ]


def line_of(name: str) -> tuple[str, str]:
    """Systems of one line share driver and dialect: scripts, statements and bytes are the same."""
    system = registry.system(name)
    return system.driver, system.dialect.name


def beside_their_line(names: Sequence[str]) -> list[str]:
    """Those for which another system of their line stands in a test of a workload: the first of the
    line that is on this machine."""
    lines: dict[tuple[str, str], list[str]] = {}
    for name in names:
        lines.setdefault(line_of(name), []).append(name)
    left: list[str] = []
    for several in lines.values():
        here = [name for name in several if len(several) > 1 and why_missing(name) is None]
        left += [name for name in several if name != (here or several)[0]]
    return left


def one_of_each_line(names: Sequence[str]) -> list[ParameterSet]:
    """Parameters of a test of a workload, which is not about the systems: the others of a line run
    with `--every-system`, as in `make prove`."""
    return _marked(names, beside_their_line(names))


def of_each_kind(names: Sequence[str], turn: int) -> list[ParameterSet]:
    """Parameters of a test of a workload, whose scripts have one text for all systems: of the
    systems that work in this process one, and of the servers of a language one. ``turn``: which,
    so that no test leaves out what all leave out. The others run with `--every-system`, too."""
    left = beside_their_line(names)
    kinds: dict[tuple[str, bool], list[str]] = {}
    for name in names:
        system = registry.system(name)
        if name not in left:
            kind = (system.dialect.language, isinstance(system, WorksInProcess))
            kinds.setdefault(kind, []).append(name)
    for several in kinds.values():
        here = [name for name in several if len(several) > 1 and why_missing(name) is None]
        left += [name for name in here if name != here[turn % len(here)]]
    return _marked(names, left)


def _marked(names: Sequence[str], left: Sequence[str]) -> list[ParameterSet]:
    return [
        pytest.param(name, marks=pytest.mark.same_line) if name in left else pytest.param(name)
        for name in names
    ]
