"""A loop device: a file that the kernel shows as a block device. Only root can have one."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import SystemUnderTestError
from assay.program import Program
from assay.provision.resources.resource import NOTHING, CannotUndo, Resource, Undone, retry

LOSETUP = Program("losetup", "mount")

_BLOCK_DEVICES = Path("/sys/block")
_DELETED = " (deleted)"
_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class LoopDevice(Resource):
    """Known by its file, whose name (without its ending) ends in the mark: which number the kernel
    gives the device is not known before it is made."""

    kind = "loop device"
    file: str

    def attach(self) -> Path:
        """Makes the device of the file; returns its node."""
        done = _losetup(["--find", "--show", self.file])
        if done.returncode != 0:
            raise SystemUnderTestError(
                f"a loop device for {self.file} cannot be made: {done.stderr.strip()}",
                hint="loop devices need root and free nodes: losetup --find",
            )
        return Path(done.stdout.strip())

    def undo(self, identity: str) -> Undone:
        if not Path(self.file).stem.endswith(identity):
            raise CannotUndo("it is not a file that Assay made")
        devices = _devices_of(self.file)
        if not devices:
            return NOTHING
        retry(self._detach, _TIMEOUT_S)
        return Undone(", ".join(devices))

    def _detach(self) -> str | None:
        """Also of a device that is in use the kernel says that it is detached; it then goes away
        with its last user. So the list of devices is what counts."""
        messages = [
            _losetup(["--detach", device]).stderr.strip() for device in _devices_of(self.file)
        ]
        left = _devices_of(self.file)
        return (
            f"{', '.join(left)}: {' '.join(filter(None, messages)) or 'in use'}" if left else None
        )

    def __str__(self) -> str:
        return f"loop device of {self.file}"


def _devices_of(file: str) -> list[str]:
    found = []
    for entry in sorted(_BLOCK_DEVICES.glob("loop*/loop/backing_file")):
        try:
            backing = entry.read_text().rstrip("\n").removesuffix(_DELETED)
        except OSError:
            continue  # detached in between
        if backing == file:
            found.append(f"/dev/{entry.parents[1].name}")
    return found


def _losetup(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run([LOSETUP.path, *words], capture_output=True, text=True, check=False)
    except OSError as error:
        message = f"losetup cannot be run: {error.strerror}"
        return subprocess.CompletedProcess(list(words), 127, "", message)
