"""What is known of a storage, of a running system and in a record: where it is, what holds it, and
which limits are in force there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from msgspec import Struct, field

from assay.contracts import durability
from assay.contracts.durability import Safeguard

RAW = "raw"
"""In place of a file system: a block device without one."""
IN_MEMORY = ("tmpfs", "ramfs")
"""File systems in memory: what is flushed there is lost with the power, too."""


NOT_SEEN = "not seen"
"""The name of the storage of a server by URL."""


class StorageFacts(Struct, frozen=True):
    """The storage of the data directory, as found."""

    name: str
    """As the experiment calls it."""
    kind: str
    """Name in the registry."""
    directory: str
    """Where the data directory is made."""
    file_system: str = ""
    """Its type (``ext4``); empty: not known."""
    device: str = ""
    """Path of the block device; empty: none, or not known."""
    mount_options: str = ""
    """As the kernel lists them."""
    size_bytes: int = 0
    """Of the file system; 0: not known."""
    free_bytes: int = 0
    """Before the system started; 0: not known."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the kind of storage knows of it besides, for the record."""
    is_own_device: bool = False
    """Whether nothing else uses the block device, so that its counters are the system's."""
    label_notes: tuple[str, ...] = ()
    """What is shown with its name everywhere (``throttled``, ``modelled``)."""

    @classmethod
    def of_url(cls, directory: str = "") -> Self:
        """Of a server or file that is not Assay's."""
        return cls(NOT_SEEN, "url", directory)

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
    def safeguards(self) -> tuple[Safeguard, ...]:
        """What its file system does so that files are kept."""
        return durability.safeguards_of_file_system(self.file_system, self.mount_options)

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
        return limits | self._of_model("parameters") | dict(self.facts.get("asked", {}))

    @property
    def profile_values(self) -> dict[str, str]:
        """Of the parameters that differ from the model's profile, the profile's values."""
        return self._of_model("profile_values")

    def _of_model(self, name: str) -> dict[str, str]:
        return dict(self.facts.get("model", {}).get(name, {}))

    def _of_device(self, fact: str) -> str | None:
        found = self.facts.get(fact)
        return None if found is None else str(found)
