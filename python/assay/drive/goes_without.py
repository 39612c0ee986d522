"""Takes a test and a system's choice; returns the capabilities that the test needs elsewhere, that
the system lacks, and without which the test runs all the same in the system's language."""

from __future__ import annotations

from collections.abc import Iterable

from assay import registry
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.abilities import capabilities_of
from assay.workload.values import Test

TRANSACTIONS = "transactions"


def lacking(test: Test, choice: SystemChoice) -> tuple[str, ...]:
    """In the order of the workload file."""
    system = registry.system(choice.name)
    had = capabilities_of(system, choice)
    return tuple(name for name in test.goes_without_in(system.dialect) if name not in had)


def variables(test: Test, choice: SystemChoice) -> dict[str, bool]:
    """``has_transactions`` → whether the system has them, for each need of the test."""
    without = lacking(test, choice)
    return {_variable(name): name not in without for name in test.needs}


def variables_with_all(tests: Iterable[Test]) -> dict[str, bool]:
    """The variables of all these tests on a system that lacks nothing."""
    return {_variable(name): True for test in tests for name in test.needs}


def _variable(capability: str) -> str:
    return f"has_{capability.replace(' ', '_')}"
