"""Takes a device with a file system; mounts it until the entry of the ledger is undone."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from assay.errors import ArgumentError, SystemUnderTestError
from assay.provision.undo.ledger import HeldEntry
from assay.provision.undo.resources import Mount
from assay.provision.undo.resources.mount import MOUNT
from assay.storages.block.file_systems import FileSystem

_KERNEL_LOG = "/dev/kmsg"
_LONGEST_RECORD = 1 << 13


def mount(
    entry: HeldEntry, device: Path, file_system: FileSystem, point: Path, options: str
) -> None:
    """Makes the directory ``point``, whose name ends in the mark of the entry, and mounts the
    device there. ``options`` are those asked for, joined by +. Raises `ArgumentError` where these
    are refused."""
    asked = [option for option in options.split("+") if option]
    together = ",".join([*file_system.mount_options, *asked])
    point.mkdir(mode=0o755)
    entry.add(Mount(str(point)))
    words = [MOUNT.path, "-t", file_system.name, *(["-o", together] if together else [])]
    with _kernel_messages() as said_by_kernel:
        done = subprocess.run(
            [*words, str(device), str(point)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            why = said_by_kernel().removeprefix(f"{file_system.name}: ") or _of_program(
                done, str(point)
            )
            if asked:
                raise ArgumentError(
                    f"{file_system.name} cannot be mounted with mount={'+'.join(asked)}: {why}",
                    hint=f"leave the option out, or see what {file_system.name} takes: mount(8)",
                )
            raise SystemUnderTestError(f"{file_system.name} cannot be mounted: {why}")
    point.chmod(0o755)  # of the file system's own root directory, whatever its tool made it


@contextlib.contextmanager
def _kernel_messages() -> Iterator[Callable[[], str]]:
    """The last message that the kernel has logged since, without what it is about; empty: none, or
    its log cannot be read."""
    try:
        log = os.open(_KERNEL_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield str
        return
    try:
        os.lseek(log, 0, os.SEEK_END)
        yield lambda: _last_message(log)
    finally:
        os.close(log)


def _last_message(log: int) -> str:
    """Of records ``priority,number,time,flags;message``, each of which is read at once."""
    found = ""
    with contextlib.suppress(OSError):  # no more of them
        while record := os.read(log, _LONGEST_RECORD):
            text = record.decode(errors="replace").partition(";")[2]
            found = text.partition("\n")[0].rpartition("): ")[2] or found
    return found


def _of_program(done: subprocess.CompletedProcess[str], point: str) -> str:
    """Its reason, without its name and the mount point, and without the advice after it."""
    said = done.stderr.strip().partition("\n")[0].removeprefix(f"mount: {point}: ")
    return said.rstrip(".") or f"mount ended with status {done.returncode}"
