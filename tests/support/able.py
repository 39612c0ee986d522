"""Which systems of the registry can do something, by what they declare: a new one is in every list
that is made here, and is never silently absent."""

from __future__ import annotations

from assay import registry
from assay.contracts.capabilities import CAPABILITIES
from assay.drive.prepare import Compiled
from assay.experiment.from_command_line import Words, experiment
from assay.lab.preflight.refusal import why_refused
from assay.plan import plan

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
