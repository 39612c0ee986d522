"""What servers have in common that are started by us and reached at a socket or at a port."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from assay.experiment.values import SystemChoice
from assay.systems.protocol import OptionSpec

TRANSPORT: Final = OptionSpec(
    name="transport",
    default="socket",
    levels=("socket", "tcp"),
    help="How clients reach a private server: its Unix socket, or 127.0.0.1 with a password.",
)

_RESERVED_CONNECTIONS = 10
"""For our own sessions beside the run's, and for one of yours that looks on."""


def values(specs: Iterable[OptionSpec], choice: SystemChoice) -> dict[str, str]:
    """Every option's value: the one chosen, else its default."""
    return {spec.name: choice.options.get(spec.name, spec.default) for spec in specs}


def connection_limit(connections: int, default: int) -> int:
    """The limit to give a server for so many sessions of a run, never below its own ``default``."""
    return max(default, connections + _RESERVED_CONNECTIONS)
