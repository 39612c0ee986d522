"""Takes what a storage needs of this machine; raises `StorageUnavailable` with the fix where it is
not here. Changes nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from assay.errors import StorageUnavailable
from assay.provision.mount_right import may_mount
from assay.provision.programs import SEARCH_PATH

LOOP_CONTROL = Path("/dev/loop-control")


def need_root(what: str) -> None:
    if os.geteuid() != 0:
        raise StorageUnavailable(
            f"{what} needs root: only root can mount file systems and set up block devices",
            hint="run assay as root (sudo), or use the storage `here`",
        )
    if not may_mount():
        raise StorageUnavailable(
            f"{what} needs the right to mount file systems (the capability CAP_SYS_ADMIN), which "
            "this container does not give",
            hint="start the container with --privileged, or use the storage `here`",
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


def why_not_root(what: str) -> str | None:
    """The same as a sentence; None: this is root."""
    try:
        need_root(what)
    except StorageUnavailable as error:
        return f"{error.message}; {error.hint}"
    return None


def need_loop_devices(what: str) -> None:
    need_root(what)
    need_device(what, "loop devices", LOOP_CONTROL, "loop")
    need_program("losetup", "util-linux", what)


def need_program(name: str, package: str, what: str) -> str:
    """The path of the program."""
    found = shutil.which(name, path=SEARCH_PATH)
    if found is None:
        raise StorageUnavailable(
            f"{what} needs the program {name}, which is not installed",
            hint=f"apt-get install {package}",
        )
    return found
