"""Takes a count that grows while clients progress; ends the run when the system no longer responds.

A run that ends by counts has no other limit: with a stopped server it would never end. Long
transactions do not end it, because the system still shows signs of life.
"""

from __future__ import annotations

from collections.abc import Callable

from assay.contracts.deployment import Deployment
from assay.contracts.events import Sink, Warned
from assay.provision.engine.engine_calls import calls_python
from assay.provision.engine.session import responds
from assay.provision.engine.silence import (
    Silence,
    ticks_of_children,
    ticks_of_libraries,
    ticks_of_processes,
)


def silence_of_clients(deployment: Deployment, emit: Sink) -> Silence:
    """Of clients that the engine runs."""
    are_children = calls_python(deployment.address.driver)
    of_library = ticks_of_children if are_children else ticks_of_libraries
    return _silence(deployment, emit, of_library, "no transaction has ended")


def silence_of_programs(deployment: Deployment, emit: Sink) -> Silence:
    """Of client programs."""
    nothing = "the client programs have written nothing"
    return _silence(deployment, emit, ticks_of_children, nothing)


def _silence(
    deployment: Deployment, emit: Sink, of_library: Callable[[], int], no_progress: str
) -> Silence:
    processes = [node.pid or node.seen_pid for node in deployment.nodes]

    def warn(sentence: str) -> None:
        emit(Warned(sentence))

    if deployment.is_embedded:
        return Silence(deployment.label, None, of_library, no_progress, warn)
    return Silence(
        deployment.label,
        lambda: responds(deployment.address),
        lambda: ticks_of_processes(processes),
        no_progress,
        warn,
    )
