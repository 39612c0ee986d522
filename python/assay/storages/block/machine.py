"""Takes what a storage needs of this machine; raises `StorageUnavailable` with the fix where it is
not here. Changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from assay.errors import StorageUnavailable
from assay.provision.disk.mount_right import may_mount
from assay.provision.machine.program import Program
from assay.provision.undo.resources.loop_device import LOSETUP
from assay.provision.undo.resources.mount import MOUNT, UMOUNT

WIPEFS = Program("wipefs", "util-linux")
LOOP_CONTROL = Path("/dev/loop-control")


def need_root(what: str) -> None:
    if os.geteuid() != 0:
        raise StorageUnavailable(
            f"{what} needs root: only root can mount file systems and set up block devices",
            hint="run assay as root (sudo)",
        )
    if not may_mount():
        raise StorageUnavailable(
            f"{what} needs the right to mount file systems (the capability CAP_SYS_ADMIN), which "
            "this container does not give",
            hint="start the container with --privileged",
        )


def need_device(what: str, needed: str, node: Path, module: str) -> None:
    """The device exists, and this process may open it."""
    if not node.exists():
        raise StorageUnavailable(
            f"{what} needs {needed}, and this machine has no {node}",
            hint=f"load the kernel's module: modprobe {module}; a container must be given the "
            "device",
        )
    if not os.access(node, os.R_OK | os.W_OK):
        raise StorageUnavailable(
            f"{what} needs {needed}, and this process may not open {node}",
            hint=f"start the container with --device {node}, or with --privileged",
        )


def need_mount(what: str) -> None:
    """The right to mount a file system, and what does it."""
    need_root(what)
    need_mount_programs(what)


def need_mount_programs(what: str) -> None:
    need_program(MOUNT, what)
    need_program(UMOUNT, what)


def need_loop_devices(what: str) -> None:
    need_root(what)
    need_device(what, "loop devices", LOOP_CONTROL, "loop")
    need_program(LOSETUP, what)


def why_not(need: Callable[[str], object], what: str) -> str | None:
    """Why this machine has not what ``need`` asks for, as a sentence with the fix; None: it has."""
    try:
        need(what)
    except StorageUnavailable as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message
    return None


def need_program(program: Program, what: str) -> str:
    """The path of the program."""
    found = program.find()
    if found is None:
        raise StorageUnavailable(
            f"{what} needs the program {program.name}, which is not installed", hint=program.hint
        )
    return found
