"""Takes a file; returns the loop device it is attached to, with direct I/O.

Without direct I/O the host's page cache would hold the data of the device a second time, and a
database that bypasses the page cache would still be served from memory.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from msgspec import Struct

from assay.provision.undo.ledger import HeldEntry
from assay.provision.undo.resources import LoopDevice
from assay.provision.undo.resources.loop_device import LOSETUP, LoopStatus


class AttachedLoop(Struct, frozen=True):
    node: Path
    """``/dev/loop3``."""
    has_direct_io: bool
    """False where the file system of the file does not offer it."""


def attach(entry: HeldEntry, file: Path) -> AttachedLoop:
    """Attaches the file, whose name (without its ending) ends in the mark of the entry."""
    resource = LoopDevice(str(file))
    entry.add(resource)
    node = resource.attach()
    subprocess.run(
        [LOSETUP.path, "--direct-io=on", str(node)], capture_output=True, check=False
    )  # what came of it is read from the kernel
    status = LoopStatus.of(node)
    return AttachedLoop(node, status is not None and status.has_direct_io)
