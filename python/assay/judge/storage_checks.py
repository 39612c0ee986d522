"""Takes deployments and evidence; returns what lowers the durability of commits, what was read from
storage past the caches, and how modelled disks kept their times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.durability import CONTRADICTED, NOT_MEASURED, Durability
from assay.contracts.observation import Observation
from assay.contracts.storage_facts import IN_MEMORY, StorageFacts
from assay.experiment import COLD_CACHES, WARM
from assay.judge.run import Run
from assay.probe.flushes import COMMITS
from assay.text import units

HIGHEST_DURABILITY = "D3"
LEAST_COMMITS = COMMITS
"""A run of fewer says less than those by which the class was measured."""
_ALLOWED = 2
"""Times the commits that so many flushes can end."""
MEMORY = "memory, where all is lost with the power"


def what_lowers_durability(deployment: Deployment) -> Iterator[str]:
    """Each cause; nothing where commits are flushed before they are answered, as far as is
    known."""
    found = deployment.durability
    measured = f"; measured {found.described}" if found and found.durability_class else ""
    on = (deployment.log_storage or deployment.storage).name
    set_by_sessions = ", ".join(found.session_statements) if found else ""
    for setting in deployment.durability_lowered_by:
        instead = deployment.durable_instead.get(setting, "its default")
        yield f"{setting}; durable: {instead}{measured}"
    is_lower = found is not None and found.durability_class not in (None, HIGHEST_DURABILITY)
    if is_lower and set_by_sessions:
        yield f"on {on}{measured}; its sessions execute {set_by_sessions}"
    elif is_lower and not deployment.durability_lowered_by:
        yield f"on {on}{measured}, and no setting that explains it is known"


def durability_that_held(
    durability: Durability, commits: int, clients: int, flushes: int
) -> Durability:
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
    if (
        durability.durability_class != HIGHEST_DURABILITY
        or commits < LEAST_COMMITS
        or not is_too_few
    ):
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
    if found.durability_class == HIGHEST_DURABILITY and deployment.durability_lowered_by:
        return f"{HIGHEST_DURABILITY}, lowered by settings"
    return found.durability_class


def durability_compared_by(
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


def durability_fix(deployment: Deployment) -> str:
    """What to set so that its commits are of the highest class; empty: not known."""
    return ", ".join(_instead(deployment, setting) for setting in deployment.durability_lowered_by)


def _instead(deployment: Deployment, setting: str) -> str:
    """Of a setting as it is named there: ``fsync = off``."""
    if (durable := deployment.durable_instead.get(setting)) is not None:
        return durable
    name = setting.partition(" = ")[0]
    asked = deployment.settings_asked
    return f"leave {name}={asked[name]} out" if name in asked else f"{name} at its default"


READ_LIMIT_BYTES = 8
"""Per transaction: a page of 8 KiB in a thousand transactions. Beyond it a cache is not warm."""


def is_to_be_warm(run: Run) -> bool:
    return _asked_cache(run) == WARM


def is_to_be_cold(run: Run) -> bool:
    """Its throughput grows while the caches fill, which is what is measured."""
    return _asked_cache(run) in COLD_CACHES


def _asked_cache(run: Run) -> str | None:
    state = run.driven.cache_state if run.driven else None
    return None if state is None else state.cache


def read_per_transaction(run: Run) -> float | None:
    """Bytes; None where it is unknown, or nothing ended."""
    driven = run.driven
    if driven is None or not driven.ended:
        return None
    read_bytes = _read_bytes(driven)
    if read_bytes is None and run.deployment is not None:
        read_bytes = 0 if run.deployment.storage.file_system in IN_MEMORY else None
    return None if read_bytes is None else read_bytes / driven.ended


def own_read_bytes(driven: Observation) -> int | None:
    """By the processes of the system; None where the kernel does not say."""
    return driven.server_cost.read_bytes if driven.server_cost else driven.embedded_read_bytes


def _read_bytes(driven: Observation) -> int | None:
    """By the processes of the system; where the kernel does not say, by the whole device."""
    own = own_read_bytes(driven)
    if own is None and driven.device_cost is not None:
        return driven.device_cost.read_bytes
    return own


_READ = "read"
NEAR = 0.05
"""Share of the modelled time by which the measured one may differ."""
_PATHS = 2
"""Times the I/O path overhead that it explains."""


class Calibrated(msgspec.Struct, frozen=True):
    """The mean time of one kind of request."""

    depth: int
    path_cost_ns: int
    """Of a request that the disk answers at once: the I/O path overhead."""
    modelled_ns: int
    measured_ns: int
    operation: str = _READ
    """Earlier versions measured reads alone."""

    @property
    def is_kept(self) -> bool:
        """Whether it took what the model says. What a write cache takes is less than the overhead,
        and has no such limit."""
        differs_ns = abs(self.measured_ns - self.modelled_ns)
        return self.operation != _READ or differs_ns <= NEAR * self.modelled_ns

    @property
    def is_by_the_path(self) -> bool:
        """Whether the I/O path overhead, which is a mean as well, explains the difference."""
        beyond_ns = self.measured_ns - self.modelled_ns
        return 0 < beyond_ns <= _PATHS * self.path_cost_ns


def calibrated_disks(storage: StorageFacts) -> tuple[Calibrated, ...]:
    """Empty where the storage is no modelled disk."""
    return msgspec.convert(storage.facts.get("path_cost", ()), tuple[Calibrated, ...])


def missed_disk_times(storage: StorageFacts) -> Iterator[str]:
    """A sentence for each depth at which the model was not kept."""
    for found in calibrated_disks(storage):
        if found.is_kept:
            continue
        path = units.latency(found.path_cost_ns)
        why = (
            f"the I/O path overhead is {path}"
            if found.is_by_the_path
            else f"more than the I/O path overhead of {path} explains; was the machine busy?"
        )
        yield (
            f"{storage.name} at depth {found.depth}: {units.latency(found.measured_ns)} measured, "
            f"{units.latency(found.modelled_ns)} by its model; {why}"
        )
