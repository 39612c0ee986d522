"""Takes the plain data of a deployment that is on record (`Deployment.for_record`), also of an
earlier Assay; gives what judging and reporting read of it, typed.
"""

from __future__ import annotations

from typing import Any

import msgspec

from assay.contracts.durability import Durability
from assay.contracts.observation.parts.shape import convert
from assay.contracts.role import ClusterMember, Role

Value = str | int | float | bool | None


class AddressFacts(msgspec.Struct, frozen=True):
    driver: str
    unix: str | None = None
    host: str | None = None
    port: int | None = None
    tls: str = "off"


class _RecordedModel(msgspec.Struct, frozen=True):
    parameters: dict[str, str] = {}
    profile_values: dict[str, str] = {}
    """Records of before it was kept have none."""


class RecordedStorage(msgspec.Struct, frozen=True):
    name: str
    kind: str
    file_system: str | None = None
    device: str | None = None
    size_bytes: int | None = None
    mount_options: str | None = None
    facts: dict[str, Any] = {}
    is_own_device: bool = False
    label_notes: tuple[str, ...] = ()

    @property
    def scheduler(self) -> str | None:
        """Of the block device; None where there is none, or it is not known."""
        return self._of_device("scheduler")

    @property
    def write_cache(self) -> str | None:
        """``write back`` or ``write through``, as the kernel treats the block device."""
        return self._of_device("write_cache")

    @property
    def has_direct_io(self) -> bool | None:
        """Of a loop device: whether its data are not in the page cache a second time; None where
        the storage is none."""
        found = self.facts.get("has_direct_io")
        return found if isinstance(found, bool) else None

    @property
    def limits(self) -> dict[str, int]:
        """Of the server's requests, per second: ``read_iops``, ``write_bps`` …"""
        return dict(self.facts.get("limits", {}))

    @property
    def limits_write_back(self) -> bool:
        """Whether limits of writes hold for what the kernel writes back from the page cache."""
        return self.facts.get("control_groups_version") != 1

    @property
    def is_write_back_free(self) -> bool:
        """Whether it limits writes, but not those of the kernel's write-back."""
        return not self.limits_write_back and any(name.startswith("write_") for name in self.limits)

    @property
    def in_force(self) -> dict[str, str]:
        """Its limits, the parameters of its model, and what was asked of it beside these, such as a
        round-trip time; all in effect. Empty: none of them."""
        limits = {name: str(limit) for name, limit in self.limits.items()}
        return limits | self._model.parameters | dict(self.facts.get("asked", {}))

    @property
    def profile_values(self) -> dict[str, str]:
        """Of the parameters that differ from the model's profile, the profile's values."""
        return self._model.profile_values

    @property
    def _model(self) -> _RecordedModel:
        return msgspec.convert(self.facts.get("model", {}), _RecordedModel)

    def _of_device(self, fact: str) -> str | None:
        found = self.facts.get(fact)
        return None if found is None else str(found)


class RecordedNode(msgspec.Struct, frozen=True):
    pid: int | None = None
    """Its first process; None: in the client's process, or not started by Assay."""
    seen_program: str = ""
    """The name of the process that listens at its address, of a server that Assay did not start."""
    why_not_seen: str = ""
    log_storage: RecordedStorage | None = None
    """Of its log, where that was on a storage of its own."""


class RecordedDelay(msgspec.Struct, frozen=True):
    """What a proxy added between clients and server."""

    rtt_s: float
    measured_rtt_s: float
    direct_rtt_s: float
    round_trip_cpu_s: float


class DeploymentFacts(msgspec.Struct, frozen=True):
    """A deployment as it was."""

    version: str
    address: AddressFacts
    storage: RecordedStorage
    connection_limit: int | None
    settings: dict[str, Value]
    """In effect."""
    settings_asked: dict[str, Value]
    settings_confirmed: tuple[str, ...] = ()
    settings_unknown: str = ""
    durability_lowered_by: tuple[str, ...] = ()
    durable_instead: dict[str, str] = {}
    durability_promised: str = ""
    durability: Durability | None = None
    """None: it was left out, or an earlier Assay did not measure it."""
    role: Role | None = None
    """Of a server by URL; None: it did not say, or an earlier Assay did not ask."""
    members: tuple[ClusterMember, ...] = ()
    """Of a cluster: each endpoint's name and role; empty: one server, or all alike."""
    pooler: str = ""
    """Of a server by URL; empty: none that says so, or an earlier Assay did not ask."""
    is_embedded: bool | None = None
    """None: an earlier Assay did not say it."""
    endpoints: tuple[AddressFacts, ...] = ()
    creation_ns: int | None = None
    """To make its data directory and to start on it; None: by URL, a copy, or not measured."""
    page_cache_kept_bytes: int | None = None
    """None: the page cache was not dropped."""

    memory_limit_bytes: int | None = None
    """What its processes had together, page cache included; None: not limited by Assay."""
    cpu_limit: float | None = None
    nodes: tuple[RecordedNode, ...] = ()
    delay: RecordedDelay | None = None
    """None: clients and server were connected directly."""

    @property
    def log_storage(self) -> RecordedStorage | None:
        """None: its log was on the storage of its data."""
        return self.nodes[0].log_storage if self.nodes else None

    @property
    def all_storages(self) -> tuple[RecordedStorage, ...]:
        """That of its data, and that of its log if it is another one."""
        return (self.storage, *([self.log_storage] if self.log_storage else []))

    @property
    def was_embedded(self) -> bool:
        """Whether it was in the client's process: where that is not said, without a socket and a
        host."""
        if self.is_embedded is None:
            return self.address.unix is None and self.address.host is None
        return self.is_embedded

    @property
    def reached_at(self) -> tuple[AddressFacts, ...]:
        """Every endpoint; the address of a deployment that was kept before there were several."""
        return self.endpoints or (self.address,)

    @property
    def nodes_on_this_machine(self) -> int:
        """How many nodes of one cluster, among which clients are spread, were started on this
        machine; 0: it is no cluster. A server of several processes has one endpoint."""
        is_here = all(node.pid is not None for node in self.nodes)
        return len(self.nodes) if len(self.endpoints) > 1 and is_here else 0


def deployment_facts(document: Any, name: str) -> DeploymentFacts:
    """Raises `ShapeError`, with ``name`` and the key."""
    return convert(document, DeploymentFacts, name)
