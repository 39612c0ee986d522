"""`THROTTLED`: a loop storage on which the server's requests are limited by a control group.

The limits hold for the server's processes. They do not know seeks, and what the kernel writes by
itself (its journal, its write-back) is not limited where control groups are of version 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.experiment import StorageChoice
from assay.contracts.plugins import OptionSpec
from assay.contracts.storages.abilities import FreeSpace
from assay.contracts.storages.protocol import SIZE, GroupLimit, PreparedStorage, size_bytes, values
from assay.errors import ArgumentError, MachineLimit, StorageUnavailable
from assay.provision.limits import Parent, parent_groups
from assay.provision.machine.mounts import device_number
from assay.storages.block_devices import known_free_space, why_not
from assay.storages.file_systems import FILE_SYSTEM_OPTION, MOUNT_OPTIONS
from assay.storages.here import default_of_choices
from assay.storages.loop import (
    check_image,
    file_system_on_image,
    file_systems_not_here,
    need_images_with_file_systems,
)
from assay.text.quantities import BYTES_PER_S, OPERATIONS_PER_S
from assay.text.units import option_word

_VERSION_1: Mapping[str, str] = {
    "read_iops": "blkio.throttle.read_iops_device",
    "write_iops": "blkio.throttle.write_iops_device",
    "read_bps": "blkio.throttle.read_bps_device",
    "write_bps": "blkio.throttle.write_bps_device",
}
_VERSION_2: Mapping[str, str] = {
    "read_iops": "riops",
    "write_iops": "wiops",
    "read_bps": "rbps",
    "write_bps": "wbps",
}
LIMITS = tuple(_VERSION_1)


def group_limit(device_number: str, limits: Mapping[str, int]) -> GroupLimit:
    """For a device as ``major:minor``."""
    together = " ".join(f"{_VERSION_2[name]}={limit}" for name, limit in limits.items())
    return GroupLimit(
        "io",
        version_1=tuple(
            (_VERSION_1[name], f"{device_number} {limit}") for name, limit in limits.items()
        ),
        version_2=(("io.max", f"{device_number} {together}"),),
    )


_HELP: Mapping[str, str] = {
    "read_iops": "Reads per second.",
    "write_iops": "Writes and flushes per second; a commit is often one of each.",
    "read_bps": "Bytes read per second, or with a unit (20M).",
    "write_bps": "Bytes written per second, or with a unit (20M).",
}


def _operations_spelled(word: str) -> str:
    return str(OPERATIONS_PER_S.of_word(word))


def _bytes_spelled(word: str) -> str:
    return option_word(int(BYTES_PER_S.of_word(word)))


class _Made(Struct, frozen=True):
    node: Path
    limit: GroupLimit


class Throttled:
    name = "throttled"
    label_note = "throttled"
    option_specs: tuple[OptionSpec, ...] = (
        *(
            OptionSpec(
                name=limit,
                default="",
                levels=(),
                help=f"{_HELP[limit]} Empty: no limit.",
                quantity=OPERATIONS_PER_S if limit.endswith("iops") else BYTES_PER_S,
                spelling=_operations_spelled if limit.endswith("iops") else _bytes_spelled,
            )
            for limit in LIMITS
        ),
        FILE_SYSTEM_OPTION,
        SIZE,
        MOUNT_OPTIONS,
    )

    def default_directory(self) -> Path:
        return default_of_choices()

    def check(self, choice: StorageChoice) -> None:
        if not self._limits(choice):
            raise ArgumentError(
                f"storage {choice.name!r}: without a limit nothing is throttled",
                hint="throttled[read_iops=150,write_iops=150]",
            )
        check_image(self, choice)
        _need_controller()

    def file_system_of(self, choice: StorageChoice) -> str:
        return values(self, choice)[FILE_SYSTEM_OPTION.name]

    def _limits(self, choice: StorageChoice) -> dict[str, int]:
        given = values(self, choice)
        of = {spec.name: spec.quantity for spec in self.option_specs}
        found = {}
        for name in LIMITS:
            quantity = of[name]
            if given[name] and quantity is not None:
                found[name] = int(quantity.of_word(given[name]))
        return found

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        limits = self._limits(choice)
        with file_system_on_image(self, choice) as (image, facts):
            about = {"limits": limits, "control_groups_version": _need_controller().version}
            facts = replace(facts, label_notes=(self.label_note,), facts={**facts.facts, **about})
            node = image.loop.node
            limit = group_limit(device_number(node), limits)
            yield PreparedStorage(facts, _Made(node, limit))

    def device_node(self, prepared: PreparedStorage) -> Path:
        return _made(prepared).node

    def group_limits(self, prepared: PreparedStorage) -> tuple[GroupLimit, ...]:
        return (_made(prepared).limit,)

    def size_bytes(self, choice: StorageChoice) -> int:
        return size_bytes(values(self, choice)[SIZE.name])

    def free_space(self, choice: StorageChoice) -> FreeSpace:
        return known_free_space(choice)

    def why_unavailable(self) -> str | None:
        return why_not(need_images_with_file_systems, self.name) or why_not(
            lambda _: _need_controller(), self.name
        )

    def unavailable_levels(self) -> Mapping[str, str]:
        return file_systems_not_here()


def _made(prepared: PreparedStorage) -> _Made:
    made: _Made = prepared.handle
    return made


def _need_controller() -> Parent:
    """Where a group that limits devices can be made. Nothing is made."""
    try:
        return parent_groups(["io"])["io"]
    except MachineLimit as error:
        raise StorageUnavailable(error.message, hint=error.hint) from error


THROTTLED = Throttled()
