"""Optional abilities of systems, each a protocol of its own.

Callers test with ``isinstance``. A system without an ability has none of its methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, Protocol, runtime_checkable

from msgspec import Struct, field

from assay.contracts.experiment import SystemChoice
from assay.contracts.plugins import protocols_of
from assay.contracts.server_url import Resolved
from assay.contracts.systems.protocol import ProcessSample, ServerDirectory, System
from assay.env_vars import EnvVar
from assay.text.keys import TEXT, in_file, named

if TYPE_CHECKING:
    from assay.contracts.deployment import Address, Deployment
    from assay.contracts.systems.protocol import Prefix, ReportInstalling


@runtime_checkable
class ReachedByUrl(Protocol):
    """A running server can be reached by URL."""

    url_schemes: tuple[str, ...]
    """The schemes before ``://``, the preferred one first."""

    def check_url(self, text: str) -> None:
        """Raises `ArgumentError` for an invalid URL; its message holds no password. Opens no
        connection."""
        ...

    def attach(self, choice: SystemChoice) -> AbstractContextManager[Deployment]:
        """Connects to the server of ``choice.url``; starts and stops nothing."""
        ...


@runtime_checkable
class HasDefaultPort(Protocol):
    """Its servers listen at one port by convention, which a URL may leave out."""

    default_port: int
    """That port, from 1 to 65535."""


@runtime_checkable
class CompletesUrls(Protocol):
    """Its own clients read parts of an address from the environment, from files, or from the
    current folder."""

    url_variables: tuple[EnvVar, ...]
    """The environment variables that they read."""

    def complete_url(self, text: str) -> Resolved:
        """The URL completed with the values that its clients would use, without adding a password,
        and the origin of each value. Raises `ArgumentError`. Opens no connection."""
        ...


@runtime_checkable
class LimitsWaitingByOption(Protocol):
    """Reached by URL, its first session may already wait for a lock; how long is an option."""

    def waiting_at_most(self, choice: SystemChoice, wait_s: float) -> SystemChoice:
        """The choice with sessions of which none waits for a lock much longer than this."""
        ...


@runtime_checkable
class VaryingCapabilities(Protocol):
    """Some of its options remove capabilities (a storage engine without transactions), or a URL
    says that its server has more (a replica set)."""

    def capabilities_with(self, choice: SystemChoice) -> frozenset[str]:
        """Those with these options; of a private server a subset of `System.capabilities`. Opens no
        connection."""
        ...


_TEXTS_BY_NAME = in_file((), below=named(TEXT))


class Profile(Struct, frozen=True):
    """Settings of a private server that have a name together (``durable``)."""

    name: str
    title: Annotated[str, in_file(TEXT)]
    """One line: what they are for, or where they are from."""
    settings: Annotated[Mapping[str, str], _TEXTS_BY_NAME]
    options: Annotated[Mapping[str, str], _TEXTS_BY_NAME] = field(default_factory=dict)
    """Of the plugin."""
    option_settings: Annotated[Mapping[str, str], _TEXTS_BY_NAME] = field(default_factory=dict)
    """Option → the server's setting for which it stands: where that is asked for, the option is
    left out."""
    durability: Annotated[str, in_file(TEXT)] = ""
    """The class of its commits on any storage that can be written (`assay.contracts.durability`),
    also where it cannot be measured; empty: it depends on the storage."""
    printed: Annotated[Mapping[str, str], _TEXTS_BY_NAME] = field(default_factory=dict)
    """Setting as a paper printed it → what stands for it here, of those that have another name
    today, or none."""


@runtime_checkable
class HasProfiles(Protocol):
    """It has profiles of settings: ``--set SYSTEM.profile=NAME``."""

    def profiles(self) -> Mapping[str, Profile]:
        """By name."""
        ...


@runtime_checkable
class ChecksSettings(Protocol):
    """Its programs say, without starting a server, whether they take settings."""

    def refuse_settings(self, choice: SystemChoice) -> None:
        """Raises `ArgumentError` for a setting of a private server that its programs do not know,
        or a value that they do not take; its hint has the nearest name. Called where the programs
        are here."""
        ...


@runtime_checkable
class ConfinesSessions(Protocol):
    """It can do the work of others (a capsule). Of a private server on a directory that
    `ServerDirectory.is_confined`, sessions have the rights of their database alone: no statement
    runs a program, or reads or writes a file elsewhere."""

    def refuse_reaching_settings(self, choice: SystemChoice) -> None:
        """Raises `ArgumentError` for the first setting of a private server that is a program, a
        library or a path, or has another one run or read it. Called where the programs are
        here."""
        ...


@runtime_checkable
class SessionPowers(Protocol):
    """Users of a server by URL may have rights that reach beyond its databases."""

    def powers(self, deployment: Deployment) -> tuple[str, ...]:
        """Those of the deployment's user by which statements run programs, or read and write files
        of the server, in the system's own words."""
        ...


class Spelled(NamedTuple):
    """A setting as a system itself writes it."""

    name: str
    value: str
    is_default: bool
    """Whether it has this value without being asked, on a private server."""


@runtime_checkable
class SpellsSettings(Protocol):
    """Its settings have several spellings (``16MB``, ``16384kB``), of which it knows one itself."""

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        """Each setting of a private server in its one spelling, by which cells are known; as
        it was given where its programs do not say. Starts no server. Called where the programs
        are here."""
        ...


@runtime_checkable
class ReadsDurability(Protocol):
    """A session can read the settings with which its own transactions commit."""

    def durability_lowered_after(
        self, deployment: Deployment, statements: Sequence[str]
    ) -> tuple[str, ...]:
        """The settings, as they are in a new session that has executed the statements, with which
        an acknowledged commit can be lost: ``synchronous_commit = off``. Empty where the server
        does not say. Raises `SystemRefused` where it refuses a statement."""
        ...


@runtime_checkable
class SessionLimit(Protocol):
    """A server by URL may have too few free sessions."""

    def refuse_too_many(self, deployment: Deployment, clients: int) -> None:
        """Raises `SystemRefused` where the server has too few free sessions for the clients."""
        ...


@runtime_checkable
class Restartable(Protocol):
    """A private deployment can be restarted on its data directory, or on a copy of it."""

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        """The effective settings of the data directory: a copy of it can be used by a server of the
        same version with the same values of these settings."""
        ...


@runtime_checkable
class WorksInProcess(Protocol):
    """It is, or can be, a library in the client's own process."""

    def is_in_process(self, choice: SystemChoice) -> bool:
        """Whether it is one with the options of the choice (``Deployment.is_embedded``)."""
        ...


@runtime_checkable
class BoundedInProcess(Protocol):
    """A library in the client's own process that bounds its memory, so that the process can be
    limited to a size in which it will not be killed (``--memory``)."""

    def most_memory_bytes(self, choice: SystemChoice, sessions: int) -> int:
        """The most memory that it takes with so many sessions, the page cache left out."""
        ...


@runtime_checkable
class TakesRawDevice(Protocol):
    """Its data can be on a block device without a file system: `ServerDirectory.raw_device`."""

    def check_raw_device(self, choice: SystemChoice) -> None:
        """Raises `ArgumentError` where it cannot with these options and settings."""
        ...


@runtime_checkable
class SeparateLog(Protocol):
    """The log of its changes, which commits wait for, can be in a folder of its own, on another
    storage than its data: `ServerDirectory.log`."""

    def check_separate_log(self, choice: SystemChoice) -> None:
        """Raises `ArgumentError` where it cannot with these options and settings."""
        ...


@runtime_checkable
class SpreadsSchema(Protocol):
    """Its nodes learn one after another of a table that is made."""

    def wait_for_schema(self, deployment: Deployment) -> None:
        """Returns when all nodes know the same tables. Raises `SystemDied` where they do not."""
        ...


@runtime_checkable
class Sized(Protocol):
    """It reports the size of its data."""

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """Bytes that the loaded database occupies, including log and catalogue where they are
        stored with it."""
        ...

    def data_bytes(self, deployment: Deployment) -> int:
        """Bytes of the tables and indexes of the deployment's database, without logs and catalogue:
        the size that a buffer needs to hold them all."""
        ...


@runtime_checkable
class HasTableFiles(Protocol):
    """Its tables and indexes have files of their own, beside those of logs and catalogue."""

    def table_files_bytes(self, deployment: Deployment) -> int:
        """Bytes of these files, with the free space in them."""
        ...


@runtime_checkable
class LeastSpace(Protocol):
    """Its tables are not compressed, so that it is known from the rows how much space they need at
    least."""

    def least_bytes(self, rows: int, text_bytes: int) -> int:
        """What the tables of these rows need on disk at the least, without indexes. Numbers and
        times take less than their text."""
        ...


@runtime_checkable
class LeastServer(Protocol):
    """It is known what a private server needs at the least, before it holds any rows."""

    least_memory_bytes: int
    """With a smaller ``--memory`` no server starts, whatever its settings."""

    def least_storage_bytes(self, choice: SystemChoice) -> int:
        """On a smaller storage its data directory cannot be made."""
        ...


@runtime_checkable
class ChecksAddress(Protocol):
    """It is known beforehand whether a private server listens where other machines reach it."""

    def refuse_address(self, choice: SystemChoice, address: str) -> None:
        """Raises `ArgumentError` where its private server, with these options, is reached by TCP
        and cannot listen at this address of this machine, which may be one beyond loopback. Opens
        no connection."""
        ...


@runtime_checkable
class BufferSize(Protocol):
    """It has a buffer for pages of data, whose size can be read."""

    def buffer_bytes(self, deployment: Deployment) -> int | None:
        """The effective size of the server's buffer in bytes; None: not reported."""
        ...


@runtime_checkable
class Counters(Protocol):
    """It has counters of its own."""

    def counters(self, deployment: Deployment) -> Mapping[str, int]:
        """The server's counters since it was started, as far as it has them:
        ``buffer_hits`` (pages found in the buffer), ``buffer_misses`` (read from outside) and
        ``rows_changed`` (inserted, updated or deleted)."""
        ...


@runtime_checkable
class MayLeaveParts(Protocol):
    """Some of its tables may keep a part of a statement that has failed."""

    def leaves_parts(self, deployment: Deployment) -> bool:
        """Whether a table that is there does: then the outcome of a transaction with such a
        statement, outside BEGIN … COMMIT, is not known."""
        ...


@runtime_checkable
class Sampled(Protocol):
    """The resource usage of its processes can be read."""

    def sample(self, deployment: Deployment) -> ProcessSample | None:
        """A sample of the processes of all its nodes; None where they cannot be read (a URL)."""
        ...


@runtime_checkable
class CrashReport(Protocol):
    """It reports whether and why it has stopped."""

    def why_it_died(self, deployment: Deployment) -> str | None:
        """None while every process of it runs; else how one ended, and the end of its log. Asked
        twice a second while clients work."""
        ...


@runtime_checkable
class WaitsForSpace(Protocol):
    """On a full storage it may wait until space is freed, instead of reporting an error."""

    def why_waiting(self, directory: ServerDirectory) -> str | None:
        """What its programs have logged of such a wait; None: nothing. Asked once a second while
        the storage of a private server is full."""
        ...


@runtime_checkable
class OwnClient(Protocol):
    """It has a command-line client that reads SQL."""

    def client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        """The program as (argument list, environment); it reads SQL on standard input."""
        ...


@runtime_checkable
class NativeClient(Protocol):
    """Its command-line client can be one of many clients of a test."""

    def native_client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        """As `OwnClient.client_command`: the client runs the address's session statements, then
        writes a line for each row, and nothing else. No password is among the arguments."""
        ...


@runtime_checkable
class OwnDump(Protocol):
    """It has a program that writes a database as SQL, which its `OwnClient` reads again."""

    def dump_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        """The program as (argument list, environment); it writes the tables with their rows to
        standard output, as of one instant where the tables have transactions. Raises
        `SystemMissing`."""
        ...


@runtime_checkable
class Quiesced(Protocol):
    """It can be asked to bring its files into a state in which a copy of them, taken at one
    instant, holds every transaction that was acknowledged."""

    def quiesced(self, deployment: Deployment) -> AbstractContextManager[None]:
        """While the block runs, its files are in that state. It opens a session of its own, and
        may let other sessions wait."""
        ...


class FoundPrograms(Struct, frozen=True):
    """The programs or the library of a system, as they are here."""

    version: str
    """As they say it themselves."""
    place: str
    """Their file or folder, or what else a person would look for."""


@runtime_checkable
class Findable(Protocol):
    """Whether it is on this machine can be seen without starting it."""

    def find(self) -> FoundPrograms:
        """What `System.provision` would start. Raises `SystemMissing`, whose hint says how to get
        it."""
        ...


@runtime_checkable
class SeveralVersions(Protocol):
    """Several versions of its programs can be on this machine. It uses those of
    `SystemChoice.programs`, also for clients (`Address.programs`)."""

    chosen_by: EnvVar
    """The environment variable that names the programs to use."""

    def places(self) -> Sequence[str]:
        """Where its programs may be on this machine, as `chosen_by` would name it, in the order in
        which it looks for them. What `assay install` brought is not among them."""
        ...

    def find_at(self, place: str) -> FoundPrograms:
        """The programs at a place as `chosen_by` names it, which is their `FoundPrograms.place`.
        Raises `SystemUnderTestError` that says what is missing for a run."""
        ...


class ProgramBuild(Struct, frozen=True):
    """The programs of a directory, as they tell themselves from others of their version."""

    parts: tuple[Path, ...]
    """They and their own libraries, as files, or as folders of programs and libraries."""
    said: str
    """How they say they were built, in their own words."""


@runtime_checkable
class DescribesBuild(Protocol):
    """It knows which files of a directory are its programs. Of a system without this ability,
    all programs and libraries below the directory are, and the words are its version."""

    def build_at(self, place: str) -> ProgramBuild:
        """What is at a place at which `SeveralVersions.find_at` finds programs."""
        ...


@runtime_checkable
class NeedsLibrary(Protocol):
    """Its sessions need a library or a Python module on this machine, also where the server is
    reached by URL."""

    def insist_on_library(self) -> None:
        """Raises `SystemMissing` where it is not here; its hint says how to get it."""
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

    def install(self, version: str, prefix: Prefix, report: ReportInstalling) -> None:
        """Fills ``prefix.folder``, which becomes ``prefix.becomes``; says what it does by
        ``report``. What it leaves there on an error or an interruption is removed.

        Raises `ArgumentError` for a version that cannot be had, and
        `assay.provision.install.package_clients.InstallFailed` where the package client does not
        bring it.
        """
        ...

    def find_in(self, folder: Path) -> FoundPrograms:
        """What `install` left in a folder; its place is what `SeveralVersions.chosen_by` can name.
        Raises `SystemUnderTestError` that says what is missing for a run."""
        ...


@runtime_checkable
class OfReleases(Protocol):
    """Only some of its versions can be installed; without this, it is tried."""

    installable_releases: tuple[str, ...]
    """Each by its first numbers (``18``, ``11.8``), the newest first."""


IN_THE_TESTS = "against a server in the tests"
NOT_VERIFIED = "not verified against a server"


@runtime_checkable
class Verified(Protocol):
    """It says how far it was tried."""

    verified: str
    """`IN_THE_TESTS`, or `NOT_VERIFIED`: written from documentation, and never run against the
    real thing."""


@runtime_checkable
class AlsoCalled(Protocol):
    """It is known by other names too, which are answered with its name."""

    also_called: tuple[str, ...]
    """In lower case. Not those that are spelled much like its name: these are found anyway."""


ABILITIES = protocols_of(__name__)


def capabilities_of(system: System, choice: SystemChoice) -> frozenset[str]:
    """The capabilities of the system with the options of ``choice``."""
    if isinstance(system, VaryingCapabilities):
        return system.capabilities_with(choice)
    return system.capabilities
