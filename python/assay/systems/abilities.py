"""What only some systems can do, each a protocol of its own: a system has it or has it not.

Callers ask with ``isinstance``. A system without an ability needs no method that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from assay.env_vars import EnvVar
from assay.experiment.values import SystemChoice
from assay.install.prefix import Prefix, Report
from assay.provision.deployment import Address, Deployment
from assay.server_url import Resolved
from assay.systems.protocol import ProcessSample, System


@runtime_checkable
class ReachedByUrl(Protocol):
    """One that is there already can be driven, not only one that Assay starts."""

    url_schemes: tuple[str, ...]
    """Before ``://``, the proper one first."""

    def check_url(self, text: str) -> None:
        """Raises `ArgumentError` for a URL that cannot be right, whatever is at the other end; its
        message holds no password. Reaches nothing."""
        ...

    def attach(self, choice: SystemChoice) -> AbstractContextManager[Deployment]:
        """Reaches the server of ``choice.url``; starts and stops nothing."""
        ...


@runtime_checkable
class CompletesUrls(Protocol):
    """Its own clients take parts of an address from elsewhere: the environment, files."""

    url_variables: tuple[EnvVar, ...]

    def complete_url(self, text: str) -> Resolved:
        """The URL with what its clients would use where it is silent, without a password that it
        does not hold itself, and the origin of each value. Raises `ArgumentError`. Reaches
        nothing."""
        ...


@runtime_checkable
class VaryingCapabilities(Protocol):
    """Some of its options take capabilities away (a storage engine without transactions)."""

    def capabilities_with(self, choice: SystemChoice) -> frozenset[str]:
        """Those of `System.capabilities` that it has with these options. Reaches nothing."""
        ...


@runtime_checkable
class SessionLimit(Protocol):
    """A server that is not ours may have too few sessions free."""

    def refuse_too_many(self, deployment: Deployment, clients: int) -> None:
        """Raises `SystemRefused` where the server is known to have no room for so many
        sessions."""
        ...


@runtime_checkable
class Restartable(Protocol):
    """A private deployment can be stopped and started again on what it wrote, or on a copy."""

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        """The effective settings that a data directory was made with: a copy of it can be started
        by a server of the same version with the same ones, whatever its other settings are."""
        ...


@runtime_checkable
class Sized(Protocol):
    """It can say how much room its data take."""

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """Bytes the loaded database occupies, log and catalogue included where they lie with it."""
        ...

    def data_bytes(self, deployment: Deployment) -> int:
        """Bytes of the tables and indexes of the deployment's database, without logs and catalogue:
        what would have to fit into the buffer."""
        ...


@runtime_checkable
class BufferSize(Protocol):
    """It keeps pages of data in memory of a size that can be known."""

    def buffer_bytes(self, deployment: Deployment) -> int | None:
        """Bytes of memory in which the server really keeps pages; None: it does not say."""
        ...


@runtime_checkable
class Counters(Protocol):
    """It counts what it does."""

    def counters(self, deployment: Deployment) -> Mapping[str, int]:
        """What the server has counted since it was started, as far as it counts it:
        ``buffer_hits`` (pages found in the buffer) and ``buffer_misses`` (read from outside)."""
        ...


@runtime_checkable
class Sampled(Protocol):
    """What its processes use can be seen."""

    def sample(self, deployment: Deployment) -> ProcessSample | None:
        """The processes of all its nodes now; None where they cannot be seen (a URL)."""
        ...


@runtime_checkable
class CrashReport(Protocol):
    """It can say that it is dead, and why."""

    def why_it_died(self, deployment: Deployment) -> str | None:
        """None while the server lives; else its exit status and the end of its log."""
        ...


@runtime_checkable
class OwnClient(Protocol):
    """It has a program of its own that reads SQL."""

    def client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        """The program as (argument list, environment); it reads SQL on standard input."""
        ...


@dataclass(frozen=True)
class Found:
    """The programs or the library of a system, as they are here."""

    version: str
    """As they say it themselves."""
    place: str
    """Their file or folder, or what else a person would look for."""


@runtime_checkable
class Findable(Protocol):
    """Whether it is on this machine can be seen without starting it."""

    def find(self) -> Found:
        """What `System.provision` would start. Raises `SystemMissing`, whose hint says how to get
        it."""
        ...


@runtime_checkable
class Installable(Protocol):
    """Its programs can be brought into the user's cache folder, by ``assay install``."""

    installable_version: str
    """The version that is installed where none is named."""
    install_source: str
    """One sentence for people: what is downloaded through which package client, and how large it
    is."""
    install_bytes: int
    """Free space that the installation needs, temporary files included."""

    def install(self, version: str, prefix: Prefix, report: Report) -> None:
        """Fills ``prefix.folder``, which becomes ``prefix.becomes``; says what it does by
        ``report``. What it leaves there on an error or an interruption is removed.

        Raises `ArgumentError` for a version that cannot be had, and
        `assay.install.client.InstallFailed` where the package client does not bring it.
        """
        ...


IN_THE_TESTS = "against a server in the tests"
NOT_VERIFIED = "not verified against a server"


@runtime_checkable
class Verified(Protocol):
    """It says how far it was tried."""

    verified: str
    """`IN_THE_TESTS`, or `NOT_VERIFIED`: written from documentation, and never run against the
    real thing."""


ABILITIES: tuple[type, ...] = (
    ReachedByUrl,
    VaryingCapabilities,
    CompletesUrls,
    SessionLimit,
    Restartable,
    Sized,
    BufferSize,
    Counters,
    Sampled,
    CrashReport,
    OwnClient,
    Findable,
    Installable,
    Verified,
)


def capabilities_of(system: System, choice: SystemChoice) -> frozenset[str]:
    """What the system has as it is chosen."""
    if isinstance(system, VaryingCapabilities):
        return system.capabilities_with(choice)
    return system.capabilities
