"""Takes deployments; returns in words what lowers the durability of their commits, and the
durability by which each is compared.

What lowers it are settings that the system names, and the class that was measured. A setting counts
whatever was measured: a class is an upper bound, and a setting may lose more than the flushes of a
device show (torn pages, a log that is taken back). A class below D3 counts whatever the settings
are: the storage may pass no flushes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from assay.provision.deployment import IN_MEMORY
from assay.provision.deployment_facts import DeploymentFacts

HIGHEST = "D3"
NOT_MEASURED = "not measured"
MEMORY = "memory, where all is lost with the power"


def lowered(deployment: DeploymentFacts) -> Iterator[str]:
    """Each cause; nothing where commits are flushed before they are answered, as far as is
    known."""
    found = deployment.durability
    measured = f"; measured {found.described}" if found and found.durability_class else ""
    for setting in deployment.durability_lowered_by:
        instead = deployment.durable_instead.get(setting, "its default")
        yield f"{setting}; durable: {instead}{measured}"
    is_lower = found is not None and found.durability_class not in (None, HIGHEST)
    if is_lower and not deployment.durability_lowered_by:
        yield f"on {deployment.storage.name}{measured}, and no setting that explains it is known"


def is_in_memory(deployment: DeploymentFacts) -> bool:
    """Whatever was measured elsewhere, its storage keeps nothing."""
    return deployment.storage.file_system in IN_MEMORY


def comparable_durability(deployment: DeploymentFacts) -> str | None:
    """By which numbers are compared; None: not measured. Of the highest class, settings that may
    lose more than its flushes show are kept apart."""
    found = deployment.durability
    if found is None or found.durability_class is None:
        return None
    if found.durability_class == HIGHEST and deployment.durability_lowered_by:
        return f"{HIGHEST}, lowered by settings"
    return found.durability_class


def compared_by(
    deployments: Iterable[tuple[str, str, DeploymentFacts]],
) -> Callable[[str, str], str | None]:
    """System and storage → the durability by which it is compared with the others; ``deployments``:
    each with its system and storage.

    Where it could not be measured (a directory, memory), a system has that of the other
    storages, if these agree: the storages are compared, and the settings are the same. None where
    nothing was measured at all.
    """
    measured = {
        (system, storage): found
        for system, storage, deployment in deployments
        if (found := comparable_durability(deployment)) is not None
    }
    of_system: dict[str, set[str]] = {}
    for (system, _), found in measured.items():
        of_system.setdefault(system, set()).add(found)

    def compared(system: str, storage: str) -> str | None:
        if not measured:
            return None
        if (system, storage) in measured:
            return measured[system, storage]
        elsewhere = of_system.get(system, set())
        return next(iter(elsewhere)) if len(elsewhere) == 1 else NOT_MEASURED

    return compared


def fix(deployment: DeploymentFacts) -> str:
    """What to set so that its commits are of the highest class; empty: not known."""
    return ", ".join(_instead(deployment, setting) for setting in deployment.durability_lowered_by)


def _instead(deployment: DeploymentFacts, setting: str) -> str:
    """Of a setting as it is named there: ``fsync = off``."""
    if (durable := deployment.durable_instead.get(setting)) is not None:
        return durable
    name = setting.partition(" = ")[0]
    asked = deployment.settings_asked
    return f"leave {name}={asked[name]} out" if name in asked else f"{name} at its default"
