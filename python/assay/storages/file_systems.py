"""Takes the name of a file system; returns how it is made and mounted, and whether this machine
has it; mounts it on a device until the entry of the ledger is undone."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from assay import registry
from assay.contracts.plugins import OptionSpec
from assay.contracts.storages.abilities import FileSystemKnown
from assay.errors import ArgumentError, StorageUnavailable, SystemUnderTestError
from assay.experiment import StorageChoice
from assay.provision.machine.program import Program
from assay.provision.undo.ledger import HeldEntry
from assay.provision.undo.resources import MOUNT, Mount
from assay.storages.block_devices import need_program

MODPROBE: Final = Program("modprobe", "kmod", is_optional=True)
KNOWN_TO_KERNEL = Path("/proc/filesystems")
_MIB = 1 << 20


class FileSystem(Struct, frozen=True):
    name: str
    """As in ``mount -t``."""
    make: Program
    """It makes one."""
    make_options: tuple[str, ...]
    """Of that program, without the device."""
    smallest_bytes: int
    """Rounded up from what the command accepts."""
    mount_options: tuple[str, ...] = ()
    """Besides those that are asked for."""


FILE_SYSTEMS: Final[Mapping[str, FileSystem]] = {
    one.name: one
    for one in (
        FileSystem(
            "ext2",
            Program("mkfs.ext2", "e2fsprogs"),
            ("-q", "-F", "-E", "nodiscard,lazy_itable_init=0"),
            16 * _MIB,
        ),
        FileSystem(
            "ext3",
            Program("mkfs.ext3", "e2fsprogs"),
            ("-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
            16 * _MIB,
        ),
        FileSystem(
            "ext4",
            Program("mkfs.ext4", "e2fsprogs"),
            ("-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
            16 * _MIB,
        ),
        FileSystem("xfs", Program("mkfs.xfs", "xfsprogs"), ("-q", "-f", "-K"), 300 * _MIB),
        FileSystem(
            "btrfs",
            Program("mkfs.btrfs", "btrfs-progs"),
            ("-q", "-f", "-K"),
            128 * _MIB,
            ("nodiscard",),
        ),
        FileSystem(
            "f2fs",
            Program("mkfs.f2fs", "f2fs-tools", is_optional=True),
            ("-q", "-f", "-t", "0"),
            64 * _MIB,
            ("nodiscard",),
        ),
        FileSystem("jfs", Program("mkfs.jfs", "jfsutils", is_optional=True), ("-q",), 16 * _MIB),
        FileSystem(
            "reiserfs",
            Program("mkfs.reiserfs", "reiserfsprogs", is_optional=True),
            ("-q", "-f"),
            64 * _MIB,
        ),
        FileSystem(
            "minix", Program("mkfs.minix", "util-linux", is_optional=True), ("-3",), 16 * _MIB
        ),
        FileSystem(
            "nilfs2",
            Program("mkfs.nilfs2", "nilfs-tools", is_optional=True),
            ("-q", "-f", "-K"),
            256 * _MIB,
        ),
    )
}

FILE_SYSTEM_OPTION: Final = OptionSpec(
    name="fs", default="ext4", levels=tuple(FILE_SYSTEMS), help="The file system."
)

_MOUNT_OPTION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/=-]*")


def _refuse_no_mount_options(word: str) -> None:
    for option in word.split("+"):
        if not _MOUNT_OPTION.fullmatch(option):
            raise ArgumentError(
                f"mount: expected options joined by +, found {word!r}",
                hint="mount=noatime+data=journal",
            )


MOUNT_OPTIONS: Final = OptionSpec(
    name="mount",
    default="",
    levels=(),
    help="Mount options, joined by + (noatime+data=journal), as mount(8) takes them. Empty: the "
    "file system's defaults.",
    refuse=_refuse_no_mount_options,
)


_NOT_OF_A_FILE_SYSTEM = frozenset(
    {"ro", "loop", "offset", "sizelimit", "bind", "rbind", "move", "remount"}
)


def need_mount_options(options: str, storage: str) -> None:
    """Raises `ArgumentError` for an option that is not of a file system, but says what is mounted
    and where, or leaves nothing to write to. ``options`` are joined by +."""
    for option in options.split("+"):
        if option.partition("=")[0] in _NOT_OF_A_FILE_SYSTEM:
            raise ArgumentError(
                f"storage {storage!r}: the mount option {option!r} cannot be used here: a database "
                "must be able to write there, and Assay decides what is mounted where",
                hint="leave it out",
            )


def need_file_system(name: str) -> FileSystem:
    """The file system; raises `StorageUnavailable` where this machine cannot make it."""
    found = FILE_SYSTEMS[name]
    if not kernel_has(name):
        others = [other for other in FILE_SYSTEMS if why_not_here(other) is None]
        raise StorageUnavailable(
            f"this machine's kernel has no file system {name}",
            hint=f"choose one that is here: fs={', fs='.join(others)}" if others else None,
        )
    need_program(found.make, f"the file system {name}")
    return found


def need_any_file_system(what: str) -> None:
    """Raises `StorageUnavailable` where this machine can make none."""
    reasons = {name: why_not_here(name) for name in FILE_SYSTEMS}
    if all(reasons.values()):
        usual = FILE_SYSTEMS[FILE_SYSTEM_OPTION.default]
        raise StorageUnavailable(
            f"{what} needs a file system, and none can be made here; {usual.name}: "
            f"{reasons[usual.name]}",
            hint=usual.make.hint,
        )


def why_not_here(name: str) -> str | None:
    """Why this machine cannot make the file system; None: it can."""
    found = FILE_SYSTEMS[name]
    if not kernel_has(name):
        return "not in this machine's kernel"
    if found.make.find() is None:
        return f"{found.make.name} is not installed: {found.make.hint}"
    return None


def kernel_has(name: str) -> bool:
    """Whether the kernel has the file system, or a module of it that it would load."""
    try:
        known = KNOWN_TO_KERNEL.read_text().split()
    except OSError:
        known = []
    if name in known:
        return True
    modprobe = MODPROBE.find()
    if modprobe is None:
        return False
    asked = subprocess.run(
        [modprobe, "--dry-run", "--quiet", f"fs-{name}"], capture_output=True, check=False
    )
    return asked.returncode == 0


def need_size(file_system: FileSystem, size_bytes: int, storage: str) -> None:
    """Raises `ArgumentError` where the file system needs more."""
    if size_bytes < file_system.smallest_bytes:
        raise ArgumentError(
            f"storage {storage!r}: {file_system.name} needs {file_system.smallest_bytes >> 20}M at "
            f"least, found {size_bytes >> 20}M",
            hint=f"size={file_system.smallest_bytes >> 20}M, or another fs",
        )


def make_file_system(file_system: FileSystem, device: Path) -> None:
    """Makes it on a device; what was there is gone."""
    program = need_program(file_system.make, f"the file system {file_system.name}")
    made = subprocess.run(
        [program, *file_system.make_options, str(device)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if made.returncode != 0:
        words = " ".join((made.stderr or made.stdout).split())
        raise SystemUnderTestError(f"{file_system.make.name} failed on {device}: {words}")


_KERNEL_LOG = "/dev/kmsg"
_LONGEST_RECORD = 1 << 13


def mount_device(
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


def known_file_system(choice: StorageChoice) -> str:
    """By its name in the kernel; empty: not known, or a raw disk."""
    kind = registry.storage(choice.kind)
    return kind.file_system_of(choice) if isinstance(kind, FileSystemKnown) else ""
