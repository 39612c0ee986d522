"""Takes a planned run; returns what its system lacks of what its test needs, or None."""

from __future__ import annotations

from collections.abc import Collection

from assay import capabilities, registry
from assay.experiment import COLD_CACHES, machines
from assay.plan import PlannedRun
from assay.systems.abilities import capabilities_of
from assay.workload.values import Workload


def why_refused(workload: Workload, run: PlannedRun) -> str | None:
    """Why the run is refused, or None. Nothing is started for a refused run, and the experiment
    goes on."""
    test, choice = workload.test(run.cell.test), run.cell.system
    if refused := machines.why_refused(choice):
        return refused
    had = capabilities_of(registry.system(choice.name), choice)
    dialect = registry.system(choice.name).dialect
    for word in (dialect.name, dialect.language):
        if word in test.not_expressible:
            return f"{choice.label}: {test.not_expressible[word]}"
    names = [*test.scripts, *(name for step in test.steps for name in step.scripts_run_once)]
    unspoken = [one for one in dict.fromkeys(names) if not workload.is_spoken(one, dialect)]
    if unspoken and not run.cell.feed:
        if reason := workload.why_not_expressible(unspoken[0], dialect):
            return f"{choice.label}: {reason}"
        language = dialect.language.upper()
        return f"{choice.label}: {workload.name} has no {language} statements for {unspoken[0]}"
    lacking = capabilities.missing(test.all_needs, choice.label, had)
    needs = set(test.all_needs)
    if run.cell.cache in COLD_CACHES:
        lacking = lacking or capabilities.missing(("restart",), choice.label, had)
        needs.add("restart")
    if lacking is None and choice.url is not None and "restart" in needs:
        return f"{choice.label} is not started by Assay, so it cannot be restarted"
    return lacking or _lacking_at_levels(workload, run, had)


def _lacking_at_levels(workload: Workload, run: PlannedRun, had: Collection[str]) -> str | None:
    """What single levels of the run's parameters need."""
    for parameter in workload.parameters.values():
        level = str(run.cell.parameters.get(parameter.name, ""))
        needs = parameter.needs.get(level, ())
        if lacking := capabilities.missing(needs, run.cell.system.label, had):
            return f"{parameter.name}={level}: {lacking}"
    return None
