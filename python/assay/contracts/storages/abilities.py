"""Optional abilities of storages, each a protocol of its own; takes a kind of storage, reports
every violation of the contract of `Storage` and of its abilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from assay.contracts.experiment import StorageChoice
from assay.contracts.observation.costs import DeviceRequests
from assay.contracts.plugins import (
    ContractBroken,
    half_an_ability,
    members_broken,
    options_broken,
    protocols_of,
)
from assay.contracts.storages.protocol import PreparedStorage, Storage
from assay.contracts.systems.abilities import AlsoCalled
from assay.errors import ArgumentError

if TYPE_CHECKING:
    from assay.contracts.storages.protocol import GroupLimit


@runtime_checkable
class HasDefaultDirectory(Protocol):
    """A choice without a directory has one all the same."""

    def default_directory(self) -> Path:
        """The folder, without links, whose name changes nothing where it is asked for."""
        ...


@runtime_checkable
class OwnDevice(Protocol):
    """It has a block device that nothing else uses, so that reads, writes and flushes of the device
    are those of the system. ``StorageFacts.is_own_device`` is true."""

    def device_node(self, prepared: PreparedStorage) -> Path:
        """The block device (``/dev/loop3``)."""
        ...


@runtime_checkable
class ErasesDevice(Protocol):
    """It may be on a block device that is there already, whose contents it destroys (``--erase``).
    One deployment at a time can be on it."""

    def device_of(self, choice: StorageChoice) -> Path | None:
        """The device that is erased; None: this choice has none."""
        ...


@runtime_checkable
class RawDevice(Protocol):
    """It may have a block device without a file system, for systems that take one
    (`assay.contracts.systems.abilities.TakesRawDevice`); what else they write is in the
    directory."""

    def is_raw(self, choice: StorageChoice) -> bool:
        """Whether the choice has no file system."""
        ...

    def raw_device(self, prepared: PreparedStorage) -> Path | None:
        """The device's node, which the servers' user may read and write; None: it has a file
        system."""
        ...


@runtime_checkable
class LimitsProcesses(Protocol):
    """It limits processes, not a device: servers are started in a control group that has its
    limits. A system that works in the client's own process is refused."""

    def group_limits(self, prepared: PreparedStorage) -> tuple[GroupLimit, ...]:
        """The limits of the control group."""
        ...


@runtime_checkable
class Labelled(Protocol):
    """What is measured on it must not be taken for the real thing."""

    label_note: str
    """A word that is shown with the storage's name everywhere (``throttled``, ``modelled``)."""


@runtime_checkable
class PowerCut(Protocol):
    """Its power can be cut: what no flush had reached is lost."""

    def cut_power(
        self,
        prepared: PreparedStorage,
        *,
        keep: Literal["none", "all", "random"] = "none",
        torn: Literal["no", "prefix", "subset"] = "no",
        seed: int = 0,
    ) -> Mapping[str, int]:
        """Every request fails from now on. ``keep``: which of the writes that no flush had reached
        stay; ``torn``: which sectors of each of these. Returns counts of what was lost
        (``lost_writes``, ``lost_bytes``)."""
        ...

    def restore_power(self, prepared: PreparedStorage) -> None:
        """The device works again and has what the power cut left."""
        ...


class Fault(Struct, frozen=True):
    """RequestCounts that meet all conditions fail with an I/O error."""

    kind: Literal["read", "write", "flush"]
    """Of the requests that fail."""
    first_byte: int = 0
    """Where the damaged part of the device begins."""
    length_bytes: int | None = None
    """None: to the end of the device."""
    nth: int | None = None
    """Only the n-th such request, from 1."""
    probability: float = 1.0
    """That such a request fails, from 0 to 1."""


@runtime_checkable
class FaultInjection(Protocol):
    """It returns I/O errors on demand."""

    def inject(self, prepared: PreparedStorage, faults: tuple[Fault, ...]) -> None:
        """These faults and no others from now on; without any, requests succeed again."""
        ...


@runtime_checkable
class Fills(Protocol):
    """It is full on demand."""

    def fill(self, prepared: PreparedStorage, after_bytes: int = 0) -> None:
        """After so many more bytes have been written, writes fail: no space left."""
        ...

    def free_again(self, prepared: PreparedStorage) -> None:
        """Writes succeed again."""
        ...


class RequestCounts(DeviceRequests[int], frozen=True, forbid_unknown_fields=False):
    """What a storage has answered since it was created; ``writes``: those that carry data."""


class Account(RequestCounts, frozen=True, kw_only=True):
    """What a storage did since it was created."""

    file: Path | None = None
    """Every request with its times; None: only the sums are kept."""


class AccountedSecond(Struct, frozen=True):
    """The requests of one kind that ended in a second. Times are from the arrival at the storage to
    its answer."""

    second: int
    """Counted from the beginning of the period."""
    operation: Literal["read", "write", "flush", "lost"]
    """``lost``: any request that the account has no row of; it has a count alone."""
    count: int
    """Failed ones included."""
    failed: int
    bytes: int
    time_ns: int
    """Sum of the times."""
    longest_ns: int
    late_ns: int
    """Sum of the time that answers came later than they should have."""


@runtime_checkable
class Accounted(Protocol):
    """It keeps an account of its own of every read, write and flush."""

    def account(self, prepared: PreparedStorage) -> Account:
        """The sums so far. Delays no request."""
        ...

    def seconds(
        self, prepared: PreparedStorage, from_unix_ns: int, to_unix_ns: int
    ) -> tuple[AccountedSecond, ...]:
        """The sums of each second of a period in which something ended."""
        ...


@runtime_checkable
class StorageCrashReport(Protocol):
    """It reports whether and why it has stopped: the process that serves it has ended, its power
    is off, or it was full."""

    def why_it_died(self, prepared: PreparedStorage) -> str | None:
        """None while it works; else why not, with the end of its log. Asked twice a second while
        clients work."""
        ...


@runtime_checkable
class Inspectable(Protocol):
    """What it needs of this machine can be seen without creating anything."""

    def why_unavailable(self) -> str | None:
        """Why this machine cannot have any such storage, as a sentence with the fix; None: it
        can."""
        ...

    def unavailable_levels(self) -> Mapping[str, str]:
        """Levels of its options that this machine cannot have: ``fs=xfs`` → why."""
        ...


class FreeSpace(Struct, frozen=True):
    """Of what storages are made from."""

    place: str
    """A directory, or what it is in words."""
    free_bytes: int


@runtime_checkable
class SizeChosen(Protocol):
    """Its size is chosen."""

    def size_bytes(self, choice: StorageChoice) -> int | None:
        """The size of the choice, before it is created; None: that of what is there."""
        ...

    def free_space(self, choice: StorageChoice) -> FreeSpace:
        """Where the bytes of the choice come from, and how many are free there now."""
        ...


@runtime_checkable
class FileSystemKnown(Protocol):
    """The file system of its data can be seen before it is created."""

    def file_system_of(self, choice: StorageChoice) -> str:
        """By its name in the kernel (``ext4``); empty: a raw disk, which has none."""
        ...


ABILITIES = (AlsoCalled, *protocols_of(__name__))


_NO_OPTION = "an_option_that_no_storage_has"


def validate(storage: Any) -> None:
    """Raises `ContractBroken` with every violation that can be found without creating anything."""
    violations = list(_violations(storage))
    if violations:
        raise ContractBroken(f"the storage {getattr(storage, 'name', storage)!r}", violations)


def _violations(storage: Any) -> Iterator[str]:
    broken = members_broken(storage, Storage)
    yield from broken.values()
    for ability in ABILITIES:
        yield from half_an_ability(storage, ability)
    if {"name", "check", "option_specs"} & broken.keys():
        return
    if not isinstance(storage.option_specs, tuple | list):
        found = type(storage.option_specs).__name__
        yield f"option_specs: expected a tuple of OptionSpec, found {found}"
        return
    yield from options_broken(storage.option_specs)
    choice = StorageChoice(storage.name, storage.name, options={_NO_OPTION: "1"})
    try:
        storage.check(choice)
    except ArgumentError:
        return
    except Exception as error:
        yield f"check() raises {type(error).__name__} for an unknown option, not ArgumentError"
    else:
        yield "check() accepts an unknown option"
