"""Takes what scripts and tests ask of a system; returns the isolation levels that its dialect has
for those that they name, and the capabilities that it lacks and the test does without."""

from __future__ import annotations

from collections.abc import Iterable

from assay import registry
from assay.contracts.dialects import Dialect
from assay.contracts.documents import ScriptDocument
from assay.contracts.driving import ISOLATION_LEVELS
from assay.contracts.experiment import SystemChoice
from assay.contracts.observation.transactions import BegunLevelReport
from assay.contracts.systems.abilities import capabilities_of
from assay.text import pattern
from assay.workload.in_dialect import with_words
from assay.workload.values import Script, Test, Workload

_BEGIN = pattern(rf"(?m)^[ \t]*\\begin[ \t]+({'|'.join(ISOLATION_LEVELS)})\b")


def begins_transaction(dialect: Dialect) -> dict[str, list[str]]:
    """Isolation level → the statements that begin a transaction of this level, or of the weakest
    stronger one that the system has, as the SQL standard allows."""
    return {
        level: dialect.begin_at(found) if found in dialect.isolation_levels else dialect.begin()
        for level, found in _levels_in_effect(dialect).items()
    }


def other_isolation(
    workload: Workload,
    dialect: Dialect,
    scripts: Iterable[ScriptDocument],
    begun: Iterable[BegunLevelReport],
) -> dict[str, str]:
    """Isolation level that a script names → the one at which its transactions are, where that is
    another: the system has it not, or its own text names a weaker one. ``scripts``: as they are
    sent; ``begun``: which of their places clients reached."""
    other: dict[str, str] = {}
    in_effect = _levels_in_effect(dialect)
    sent = {script.name: script.text for script in scripts}
    for place in begun:
        common = workload.scripts.get(place.script)
        named = _BEGIN.findall(with_words(common.text)) if common is not None else []
        # A common form with other places than an override cannot be compared with it.
        is_alike = len(named) == len(_BEGIN.findall(sent[place.script])) > place.number
        level = named[place.number] if is_alike else place.level
        if in_effect.get(place.level, level) != level:
            other[level] = in_effect[place.level]
    return {level: other[level] for level in ISOLATION_LEVELS if level in other}


def too_strong(scripts: Iterable[Script], dialect: Dialect) -> str | None:
    """The first script with a level for which the system has none that is as strong, in words;
    None: there is none, or the system has no levels at all."""
    in_effect = _levels_in_effect(dialect)
    if not in_effect:
        return None
    for script in scripts:
        for level in _BEGIN.findall(script.text):
            if level not in in_effect:
                strongest = list(in_effect.values())[-1]
                return (
                    f"{script.path} begins a transaction that is {level}; the strongest level "
                    f"there is {strongest}"
                )
    return None


def _levels_in_effect(dialect: Dialect) -> dict[str, str]:
    """Without those for which the system has none that is as strong."""
    there = {*dialect.isolation_levels, dialect.own_isolation}
    found = {}
    for place, level in enumerate(ISOLATION_LEVELS):
        sufficient = next((one for one in ISOLATION_LEVELS[place:] if one in there), None)
        if sufficient is not None:
            found[level] = sufficient
    return found


TRANSACTIONS = "transactions"


def lacking_capabilities(test: Test, choice: SystemChoice) -> tuple[str, ...]:
    """In the order of the workload file."""
    system = registry.system(choice.name)
    had = capabilities_of(system, choice)
    return tuple(name for name in test.goes_without_in(system.dialect) if name not in had)


def capability_variables(test: Test, choice: SystemChoice) -> dict[str, bool]:
    """``has_transactions`` → whether the system has them, for each need of the test."""
    without = lacking_capabilities(test, choice)
    return {_variable(name): name not in without for name in test.needs}


def all_capability_variables(tests: Iterable[Test]) -> dict[str, bool]:
    """The variables of all these tests on a system that lacks nothing."""
    return {_variable(name): True for test in tests for name in test.needs}


def _variable(capability: str) -> str:
    return f"has_{capability.replace(' ', '_')}"
