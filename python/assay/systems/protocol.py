"""What a system under test must be able to do, and the values it speaks in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from assay.dialects.protocol import Dialect
from assay.errors import ArgumentError
from assay.experiment.values import SystemChoice
from assay.provision.deployment import Deployment, StorageFacts
from assay.text.quantities import Quantity


@dataclass(frozen=True)
class OptionSpec:
    """An option of a system that is ours and not the server's (``engine``)."""

    name: str
    default: str
    levels: tuple[str, ...]
    """Allowed values; empty: any."""
    help: str
    quantity: Quantity | None = None
    """What number it is; None: it is none."""
    refuse: Callable[[str], None] | None = None
    """Raises `ArgumentError` for a value that is none of its form; None: it has no form."""

    def check(self, value: str) -> None:
        """Raises `ArgumentError` for what it cannot be. Its default, also where that is nothing, is
        always one."""
        if value == self.default:
            return
        if self.quantity is not None:
            try:
                self.quantity.of_word(value)
            except ValueError as error:
                raise ArgumentError(f"{self.name}: {error}", hint=self.help) from None
        if self.refuse is not None:
            self.refuse(value)


@dataclass(frozen=True)
class ServerDirectory:
    """Where a private server may write: made, owned and removed by ``provision``."""

    root: Path
    """Everything below is the server's; removed at teardown."""
    data: Path
    """The data directory, on the storage under test. Does not exist yet."""
    run: Path
    """Socket, pid file, log; a short path, because socket paths end at 107 bytes. Exists."""
    storage: StorageFacts

    @property
    def plain_root(self) -> Path:
        """`root` by another path, of letters, digits and slashes alone: a symbolic link in `run`.
        For programs that divide paths at blanks or colons."""
        return self.run / "root"


@dataclass(frozen=True)
class ProcessSample:
    """The server's processes at one instant."""

    processes: int
    threads: int
    resident_bytes: int
    """Resident memory, summed; shared pages count once where the kernel reports it (PSS)."""
    virtual_bytes: int
    open_files: int
    """Open regular files inside the data directory, summed over processes."""
    cpu_ns: int
    """User and system time since each process began, summed."""
    read_bytes: int | None
    """From storage, page cache left out; None where the kernel does not let us see it."""


class System(Protocol):
    """A system under test: what every one must have. What only some can do is in
    `assay.systems.abilities`. Built-in systems and those of other packages are found in the same
    way, by the entry-point group ``assay.systems``."""

    name: str
    """As in ``--on``; lower case."""
    dialect: Dialect
    """How its statements are spelled; `assay.dialects.minimal` is a base for few abilities."""
    driver: str
    """Name of the engine's driver."""
    capabilities: frozenset[str]
    """Names out of `assay.capabilities.CAPABILITIES`: what tests may need of it."""
    option_specs: tuple[OptionSpec, ...]
    """Options that are ours and not settings of the server: ``--on 'mydb[engine=x]'``."""

    def check(self, choice: SystemChoice) -> None:
        """Raises `ArgumentError` for options and settings that cannot be right, as far as that can
        be known without the server. Reaches nothing."""
        ...

    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> AbstractContextManager[Deployment]:
        """Brings up a private deployment and takes it down again, also after errors and signals.

        It is a new one where ``directory.data`` does not exist. Where it does, this system has
        written it before and was stopped in order, or it is a copy of such: the server is started
        on it as it is, so that it holds what it held.

        ``connections`` is how many sessions the run needs beside our own few; None leaves the
        server's own default limit.

        Raises `SystemMissing` (its hint names the packages), `SystemRefused`, `SystemDied`.
        """
        ...
