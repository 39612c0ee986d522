"""The contract of a storage: it is created, described and removed; its options, those that every
storage has, and a limit of a control group by which a storage limits processes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol, TypedDict

from msgspec import Struct

from assay.contracts.experiment import StorageChoice
from assay.contracts.plugins import OptionSpec, option_values
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ArgumentError
from assay.text.quantities import RTT_S, STORAGE_BYTES
from assay.text.units import exact_duration, option_word


class PreparedStorage(Struct, frozen=True):
    """A storage that was created; it exists until the end of the block that yielded it."""

    facts: StorageFacts
    """What was made, as found."""
    handle: Any = None
    """What the kind needs to find it again, for its abilities (see
    `assay.contracts.storages.abilities`); only the kind itself reads it."""


class Storage(Protocol):
    """A kind of storage under test, found by the entry-point group ``assay.storages``. Optional
    abilities are in `assay.contracts.storages.abilities`."""

    name: str
    """As in ``--storage``."""
    option_specs: tuple[OptionSpec, ...]
    """Its options: ``--storage 'mykind[size=2G]'``."""

    def check(self, choice: StorageChoice) -> None:
        """Raises `ArgumentError` for a directory or an option that this kind never accepts,
        `NotOnThisMachine` where the directory or device is not there or has no room, and
        `StorageUnavailable` where this machine can have no such storage (no root, a missing
        program). Creates nothing and changes nothing."""
        ...

    def prepare(self, choice: StorageChoice) -> AbstractContextManager[PreparedStorage]:
        """Creates the storage; ``facts.directory`` exists and the servers' user can access it.

        At the end everything that was created is removed, and a directory that existed before is
        kept. What must be removed even after a kill is recorded before it is created
        (`undone_at_end` of `assay.provision.undo.ledger`). Raises as `check` does.
        """
        ...


RTT_OPTION: Final = OptionSpec(
    name="rtt",
    default="0",
    levels=(),
    help="Round-trip time that is added between clients and a server on this storage (1ms), as "
    "--rtt does for all: that of a network disk, or of another machine. 0: none of its own.",
    quantity=RTT_S,
    spelling=lambda word: exact_duration(RTT_S.of_word(word)),
)
ROLE_OPTION: Final = OptionSpec(
    name="role",
    default="",
    levels=("", "disk", "solid-state", "memory"),
    help="What it is: the column of a paper's table in which it stands. Empty: what its model or "
    "the kernel says, which is often wrong on a virtual machine.",
)
SHARED_OPTIONS: Final = (RTT_OPTION, ROLE_OPTION)


class SharedFields(TypedDict, total=False):
    """Fields of `StorageChoice`."""

    rtt_s: float
    role: str


def shared_fields_of(options: Mapping[str, str]) -> SharedFields:
    """The fields of `StorageChoice` for those of the options that every storage has, as they were
    checked."""
    fields = SharedFields()
    if RTT_OPTION.name in options:
        fields["rtt_s"] = RTT_S.of_word(options[RTT_OPTION.name])
    if ROLE_OPTION.name in options:
        fields["role"] = options[ROLE_OPTION.name]
    return fields


def asked_options_of(choice: StorageChoice) -> dict[str, str]:
    """What was asked for: of its kind, and of every storage, as it is written."""
    shared = {
        **({RTT_OPTION.name: exact_duration(choice.rtt_s)} if choice.rtt_s else {}),
        **({ROLE_OPTION.name: choice.role} if choice.role else {}),
    }
    return {**choice.options, **shared}


Lines = tuple[tuple[str, str], ...]
"""Name of a file and what is written to it, in this order."""


class GroupLimit(Struct, frozen=True):
    """Of a storage (requests to its device), or of the machine that a server is given (memory, CPU
    time). All limits of a server are set on the same groups: in version 2 a process can be in one
    group only."""

    controller: str
    """By its name in version 2: ``cpu``, ``io``, ``memory``."""
    version_1: Lines
    version_2: Lines
    optional_files: frozenset[str] = frozenset()
    """Files that a kernel may lack; nothing is written there then."""

    def lines(self, version: int) -> Lines:
        return self.version_1 if version == 1 else self.version_2


def values(storage: Storage, choice: StorageChoice) -> dict[str, str]:
    """Every option's value: the one chosen, else its default. Raises `ArgumentError` for an unknown
    option and an invalid value."""
    try:
        return option_values(storage.option_specs, choice.options, f"the kind {storage.name!r}")
    except ArgumentError as error:
        raise ArgumentError(f"storage {choice.name!r}: {error.message}", hint=error.hint) from None


SIZE: Final = OptionSpec(
    name="size",
    default="2G",
    levels=(),
    help="Size of the storage, in bytes or with a unit (512M, 20G).",
    quantity=STORAGE_BYTES,
    spelling=lambda word: option_word(size_bytes(word)),
)


def size_bytes(word: str) -> int:
    """The bytes of a size that was checked."""
    return int(STORAGE_BYTES.of_word(word))
