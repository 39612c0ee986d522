"""`THROTTLED`: a loop storage on which the server's requests are limited by a control group.

The limits hold for the server's processes. They do not know seeks, and what the kernel writes by
itself (its journal, its write-back) is not limited where control groups are of version 1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from assay.errors import ArgumentError, StorageUnavailable
from assay.experiment.values import StorageChoice
from assay.option_spec import OptionSpec
from assay.provision import control_groups
from assay.provision.control_groups import Controller
from assay.storages.block import io_limits
from assay.storages.block.file_systems import FS, MOUNT
from assay.storages.block.io_limits import LIMITS
from assay.storages.loop import (
    check_image,
    file_system_on_image,
    file_systems_not_here,
    why_no_images,
)
from assay.storages.mounts import device_number
from assay.storages.options import SIZE, size_bytes, values
from assay.storages.protocol import PreparedStorage
from assay.text.quantities import BYTES_PER_S, OPERATIONS_PER_S

_HELP: Mapping[str, str] = {
    "read_iops": "Reads per second.",
    "write_iops": "Writes and flushes per second; a commit is often one of each.",
    "read_bps": "Bytes read per second, or with a unit (20M).",
    "write_bps": "Bytes written per second, or with a unit (20M).",
}


@dataclass(frozen=True)
class _Made:
    node: Path
    group: Path


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
            )
            for limit in LIMITS
        ),
        FS,
        SIZE,
        MOUNT,
    )

    def check(self, choice: StorageChoice) -> None:
        if not self._limits(choice):
            raise ArgumentError(
                f"storage {choice.name!r}: without a limit nothing is throttled",
                hint="throttled[read_iops=150,write_iops=150]",
            )
        check_image(self, choice)
        _need_controller()

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
            controller = _need_controller()
            group = control_groups.make(image.entry, controller)
            io_limits.apply(controller, group, device_number(image.loop.node), limits)
            about = {
                "limits": limits,
                "control_groups_version": controller.version,
            }
            facts = replace(facts, label_notes=(self.label_note,), facts={**facts.facts, **about})
            yield PreparedStorage(facts, _Made(image.loop.node, group))

    def device_node(self, prepared: PreparedStorage) -> Path:
        return _made(prepared).node

    def control_groups(self, prepared: PreparedStorage) -> tuple[Path, ...]:
        return (_made(prepared).group,)

    def size_bytes(self, choice: StorageChoice) -> int:
        return size_bytes(values(self, choice)[SIZE.name])

    def why_unavailable(self) -> str | None:
        if (reason := why_no_images(self.name)) is not None:
            return reason
        try:
            _need_controller()
        except StorageUnavailable as error:
            return f"{error.message}; {error.hint}"
        return None

    def unavailable_levels(self) -> Mapping[str, str]:
        return file_systems_not_here()


def _made(prepared: PreparedStorage) -> _Made:
    made: _Made = prepared.handle
    return made


def _need_controller() -> Controller:
    found = control_groups.find(("blkio", "io"))
    if found is None:
        raise StorageUnavailable(
            "this machine has no control groups that limit devices: expected the controller "
            "blkio (version 1) or io (version 2)",
            hint="see /proc/cgroups; a container must be given the host's control groups",
        )
    return found


THROTTLED = Throttled()
