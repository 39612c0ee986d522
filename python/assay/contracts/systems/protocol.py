"""The contract of a system under test and of a family of systems, the values it uses, and where
its programs are put while they are installed."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from msgspec import Struct, field

from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.plugins import OptionSpec
from assay.contracts.storage_facts import StorageFacts

if TYPE_CHECKING:
    from assay.contracts.deployment import Deployment

__all__ = ["OptionSpec", "ProcessSample", "ServerDirectory", "System"]

LOOPBACK = "127.0.0.1"


class ServerDirectory(Struct, frozen=True):
    """The directories of a private server: created, owned and removed by ``provision``."""

    root: Path
    """Everything below is the server's; removed at teardown."""
    data: Path
    """The data directory, on the storage under test. Does not exist yet."""
    run: Path
    """Socket, pid file, log; a short path, because socket paths end at 107 bytes. Exists."""
    storage: StorageFacts
    raw_device: Path | None = None
    """A block device without a file system, for a system that has the ability `TakesRawDevice`;
    the servers' user may read and write it."""
    log: Path | None = None
    """A folder on a storage of its own for the log of changes, of a system that has the ability
    `SeparateLog`; it exists, is the server's alone, and is empty before the first start."""
    log_storage: StorageFacts | None = None
    """That of `log`."""
    address: str = LOOPBACK
    """Of this machine, at which a server listens that is reached by TCP. Beyond loopback it must
    have a password or TLS: a system that has neither raises `ArgumentError`."""
    control_groups: tuple[Path, ...] = ()
    """Folders of control groups that every process of the server joins before its program begins:
    they hold the limits of its storage, memory and processors."""

    is_confined: bool = False
    """Whether the work is that of others (a capsule): every program that is started here is
    confined to these directories, and a system with the ability `ConfinesSessions` gives sessions
    that have no rights beyond their database."""

    @property
    def is_on_loopback(self) -> bool:
        return ipaddress.ip_address(self.address).is_loopback

    @property
    def plain_root(self) -> Path:
        """`root` by another path, of letters, digits and slashes alone: a symbolic link in `run`.
        For programs that split paths at blanks or colons."""
        return self.run / "root"


class ProcessSample(Struct, frozen=True):
    """The server's processes at one instant."""

    processes: int
    threads: int
    resident_bytes: int
    """Resident memory, summed; shared pages count once where the kernel reports it (PSS)."""
    virtual_bytes: int
    open_files: int | None
    """Open handles of files inside the data directory, summed over processes: a file that is open
    twice counts twice; None: the directory is not known, or closed to us, so that none could be
    counted."""
    cpu_ns: int
    """User and system time since each process began, summed."""
    read_bytes: int | None
    """From storage, without the page cache; None where the kernel does not allow reading it."""
    files: int | None = None
    """How many different files these handles are of; None: not counted."""
    handles: Mapping[str, int] = field(default_factory=dict)
    """Handles of each of these files, by its path inside the data directory."""
    pids: tuple[int, ...] = ()
    """The numbers of these processes; empty: not known, so that other programs' CPU time is not
    known either."""
    counts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """What else the kernel counts (`assay.provision.machine.sampling.COUNTED`), by name: number of
    a process → since it began; what cannot be read is not in it."""


class System(Protocol):
    """The members that every system under test has; optional abilities are in
    `assay.contracts.systems.abilities`. Built-in systems and those of other packages are found in
    the same way, by the entry-point group ``assay.systems``."""

    name: str
    """As in ``--on``; lower case."""
    dialect: Dialect
    """How its statements are spelled; `assay.dialects.minimal` is a base for few abilities."""
    driver: str
    """Name of the engine's driver."""
    capabilities: frozenset[str]
    """Names of `assay.contracts.capabilities.CAPABILITIES`, which tests may need."""
    option_specs: tuple[OptionSpec, ...]
    """Options of the plugin, not settings of the server: ``--on 'mydb[engine=x]'``."""

    def check(self, choice: SystemChoice) -> None:
        """Raises `ArgumentError` for invalid options and settings, as far as they can be checked
        without the server, and for a machine (``choice.machine``) on which it would not work with
        them. Opens no connection."""
        ...

    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> AbstractContextManager[Deployment]:
        """Starts a private deployment and stops it again, also after errors and signals.

        Where ``directory.data`` does not exist, it is initialised. Where it does, it was written by
        this system and shut down cleanly, or is a copy: the server is started on it unchanged, with
        its data.

        ``connections`` is how many sessions the run needs, besides a few of Assay's own; None keeps
        the server's default limit.

        Raises `SystemMissing` (its hint names the packages), `SystemRefused`, `SystemDied`.
        """
        ...


class SystemFamily(Protocol):
    """Found by the entry-point group ``assay.system_families``."""

    name: str
    """As before the colon."""
    help: str
    """What it is and how its members are named, for references."""
    member_word: str
    """What stands behind the colon, for messages: ``MODULE``."""
    known_members: Sequence[str]
    """What lists show; others can be named too."""

    null_member: str
    """One that answers every statement at once with one row, for calibration."""

    dialects: Mapping[str, Dialect]
    """Those that its members may speak, by name."""

    also_called: Mapping[str, str]
    """Name of a system, in lower case → the member by which it is reached."""

    def member(self, word: str) -> System:
        """The system of that name, which is ``FAMILY:WORD``. Raises `ArgumentError`."""
        ...

    def url(self, word: str, given: Mapping[str, str]) -> str:
        """The URL of a choice from what stands in brackets and is no option of the system: systems
        of a family are reached, not started. Raises `ArgumentError`, also for a password, which
        belongs in no command line."""
        ...


@runtime_checkable
class TakesDialectFiles(Protocol):
    """Ability of a family: a member may speak a dialect that is a file."""

    def dialect_of_file(self, file: Path) -> Dialect:
        """The dialect, which is among `SystemFamily.dialects` from then on. Raises
        `ExperimentError` with the line, `ArgumentError` where another dialect is called so."""
        ...

    def dialect_content(self, word: str) -> str:
        """Digest of the file that a member's name ends with, behind a plus sign; empty: of none."""
        ...


ReportInstalling = Callable[[str], None]
"""Takes one line for the person at the terminal."""


class Prefix(Struct, frozen=True):
    """A folder that becomes the installation when everything in it is complete."""

    folder: Path
    """Where to write. Exists, is empty, and is removed if the installation fails."""
    becomes: Path
    """The path it is renamed to at the end: for files that hold absolute paths."""
    identity: str
    """The mark of the processes that write into it (`assay.provision.install.package_clients`)."""

    def final(self, path: Path) -> Path:
        """The path that a file of the folder has at the end."""
        return self.becomes / path.relative_to(self.folder)
