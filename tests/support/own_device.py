"""A file system on a loop device of its own, in memory: its counters are those of what a test does
on it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from assay.contracts.experiment import StorageChoice
from assay.contracts.storage_facts import StorageFacts
from assay.provision.machine.mounts import facts_of
from assay.provision.undo import ledger
from assay.provision.undo.block_device import LoopDevice
from assay.provision.undo.ledger import undone_at_end
from assay.provision.undo.resources import Directory, Mount

MIB = 1 << 20
_MKFS = {
    "ext2": ["mkfs.ext2", "-q", "-F"],
    "ext3": ["mkfs.ext3", "-q", "-F"],
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}


def _is_formatted(file_system: str, node: str) -> bool:
    """False where btrfs looked at the image of another test whose file system is just ending."""
    done = subprocess.run([*_MKFS[file_system], node], capture_output=True, text=True)
    if "Transport endpoint is not connected" in done.stderr:
        time.sleep(0.1)
        return False
    assert done.returncode == 0, done.stderr
    return True


@contextmanager
def own_device(
    file_system: str = "ext4", mount_options: str = "defaults", size_bytes: int = 2048 * MIB
) -> Iterator[StorageFacts]:
    """Removed at the end. The image is sparse: it takes as much memory as is written."""
    identity = ledger.new_id()
    folder = Path(f"/dev/shm/assay-test-{identity}")
    image, point = folder / f"image-{identity}", folder / f"mounted-{identity}"
    with undone_at_end(identity) as entry:
        entry.add(Directory(str(folder)))
        folder.mkdir(mode=0o755)
        with image.open("wb") as file:
            file.truncate(size_bytes)
        loop = LoopDevice(str(image))
        entry.add(loop)
        node = loop.attach()
        assert any(_is_formatted(file_system, node) for _ in range(600)), f"{node} is not formatted"
        entry.add(Mount(str(point)))
        point.mkdir()
        subprocess.run(["mount", "-o", mount_options, node, point], check=True)
        point.chmod(0o755)
        facts = facts_of(StorageChoice(f"loop[fs={file_system}]", "loop"), point)
        yield replace(facts, is_own_device=True)
