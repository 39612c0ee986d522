"""One folder per system under test: how to find, configure, start, query and stop it.

A folder here is the only place that knows a system's name, its programs and its settings. It is
reached through the entry-point group ``assay.systems``, as are those of other packages.
"""

from __future__ import annotations

from assay.contracts.systems.protocol import OptionSpec, ProcessSample, ServerDirectory, System

__all__ = ["OptionSpec", "ProcessSample", "ServerDirectory", "System", "validate"]


def validate(system: object) -> None:
    """Raises `ContractBroken` with every violation of the `System` contract by a plugin's
    system."""
    from assay.contracts.systems import validation

    validation.validate(system)
