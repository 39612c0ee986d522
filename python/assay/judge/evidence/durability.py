"""Takes deployments; returns in words what lowers the durability of their commits, and the
durability by which each is compared.

What lowers it are settings that the system names, and the class that was measured. A setting counts
whatever was measured: a class is an upper bound, and a setting may lose more than the flushes of a
device show (torn pages, a log that is taken back). A class below D3 counts whatever the settings
are: the storage may pass no flushes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.durability import CONTRADICTED, NOT_MEASURED, Durability
from assay.contracts.storage_facts import IN_MEMORY
from assay.probe.durability.watching import COMMITS
from assay.text import units

HIGHEST = "D3"
LEAST_COMMITS = COMMITS
"""A run of fewer says less than those by which the class was measured."""
_ALLOWED = 2
"""Times the commits that so many flushes can end."""
MEMORY = "memory, where all is lost with the power"


def lowered(deployment: Deployment) -> Iterator[str]:
    """Each cause; nothing where commits are flushed before they are answered, as far as is
    known."""
    found = deployment.durability
    measured = f"; measured {found.described}" if found and found.durability_class else ""
    on = (deployment.log_storage or deployment.storage).name
    set_by_sessions = ", ".join(found.session_statements) if found else ""
    for setting in deployment.durability_lowered_by:
        instead = deployment.durable_instead.get(setting, "its default")
        yield f"{setting}; durable: {instead}{measured}"
    is_lower = found is not None and found.durability_class not in (None, HIGHEST)
    if is_lower and set_by_sessions:
        yield f"on {on}{measured}; its sessions execute {set_by_sessions}"
    elif is_lower and not deployment.durability_lowered_by:
        yield f"on {on}{measured}, and no setting that explains it is known"


def as_it_held(durability: Durability, commits: int, clients: int, flushes: int) -> Durability:
    """The durability that was measured, without its class where a run contradicts it.

    ``commits``: transactions of the run that changed data and ended ok; ``flushes``: those that the
    device ended, at most, while its ``clients`` worked.

    A commit that is flushed before its answer waits for a flush that ends between the two. A client
    waits for one answer at a time, so that at the instant at which a flush ends at most as many
    commits wait for it as there are clients: ``commits <= clients * flushes``, however the server
    and the kernel gather commits (group commit, one flush of the device for several writers). The
    bound allows twice as many: some of those that are counted may have had nothing to make durable,
    because no row matched, or because the script rolled back.
    """
    is_too_few = _ALLOWED * clients * flushes < commits
    if durability.durability_class != HIGHEST or commits < LEAST_COMMITS or not is_too_few:
        return durability
    words = (
        f"{durability.durability_class} was measured, but the device ended "
        f"{units.counted(flushes, 'flush', 'flushes')} for {units.counted(commits, 'commit')} of "
        f"{units.counted(clients, 'client')}"
    )
    return replace(durability, durability_class=None, reason=words, is_contradicted=True)


def is_in_memory(deployment: Deployment) -> bool:
    """Whatever was measured elsewhere, its storage keeps nothing."""
    return any(storage.file_system in IN_MEMORY for storage in deployment.all_storages)


def comparable_durability(deployment: Deployment) -> str | None:
    """By which numbers are compared; None: not measured. Of the highest class, settings that may
    lose more than its flushes show are kept apart."""
    found = deployment.durability
    if found is not None and found.is_contradicted:
        return CONTRADICTED
    if found is None or found.durability_class is None:
        return None
    if found.durability_class == HIGHEST and deployment.durability_lowered_by:
        return f"{HIGHEST}, lowered by settings"
    return found.durability_class


def compared_by(
    deployments: Iterable[tuple[str, str, Deployment]],
) -> Callable[[str, str, Sequence[Deployment]], str | None]:
    """System, storage and the deployments of a cell's runs → the durability by which it is compared
    with the others; ``deployments``: all, each with its system and storage.

    Where it could not be measured (a directory, memory), a cell has that of its system on the other
    storages, if these agree: the storages are compared, and the settings are the same, of the
    server and of its sessions. None where nothing was measured at all.
    """
    known: set[str] = set()
    of_system: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    of_place: dict[tuple[str, str], set[str]] = {}
    for system, storage, deployment in deployments:
        if (found := comparable_durability(deployment)) is not None:
            known.add(found)
        if found not in (None, CONTRADICTED):
            of_system.setdefault((system, _session_statements(deployment)), set()).add(found)
            of_place.setdefault((system, storage), set()).add(found)

    def compared(system: str, storage: str, of_cell: Sequence[Deployment]) -> str | None:
        if not known:
            return None
        own = [found for one in of_cell if (found := comparable_durability(one)) is not None]
        if own:
            return CONTRADICTED if CONTRADICTED in own else own[0]
        elsewhere = of_place.get((system, storage), set()) if not of_cell else set()
        for one in of_cell:
            elsewhere = elsewhere | of_system.get((system, _session_statements(one)), set())
        return next(iter(elsewhere)) if len(elsewhere) == 1 else NOT_MEASURED

    return compared


def _session_statements(deployment: Deployment) -> tuple[str, ...]:
    return deployment.durability.session_statements if deployment.durability else ()


def fix(deployment: Deployment) -> str:
    """What to set so that its commits are of the highest class; empty: not known."""
    return ", ".join(_instead(deployment, setting) for setting in deployment.durability_lowered_by)


def _instead(deployment: Deployment, setting: str) -> str:
    """Of a setting as it is named there: ``fsync = off``."""
    if (durable := deployment.durable_instead.get(setting)) is not None:
        return durable
    name = setting.partition(" = ")[0]
    asked = deployment.settings_asked
    return f"leave {name}={asked[name]} out" if name in asked else f"{name} at its default"
