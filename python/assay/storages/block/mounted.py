"""Takes a device with a file system; mounts it until the entry of the ledger is undone."""

from __future__ import annotations

import subprocess
from pathlib import Path

from assay.errors import ArgumentError, SystemUnderTestError
from assay.provision.ledger import HeldEntry
from assay.provision.resources import Mount
from assay.provision.tools import tool
from assay.storages.block.file_systems import FileSystem


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
    words = [tool("mount"), "-t", file_system.name, *(["-o", together] if together else [])]
    done = subprocess.run(
        [*words, str(device), str(point)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"mount ended with status {done.returncode}"
        if asked:
            raise ArgumentError(
                f"mounting {file_system.name} with {','.join(asked)} failed: {said}",
                hint="mount(8) lists the options of each file system; see the kernel's log: dmesg",
            )
        raise SystemUnderTestError(f"mounting {file_system.name} failed: {said}")
    point.chmod(0o755)  # of the file system's own root directory, whatever its tool made it
