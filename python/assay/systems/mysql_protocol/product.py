"""How one server of the protocol differs from another: what each of them must say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from assay.contracts.deployment import Address
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory
from assay.env_vars import EnvVar
from assay.provision.engine.engine_calls import Session
from assay.systems.mysql_protocol.buffer import Buffer
from assay.systems.mysql_protocol.meaning import Described


class Programs(Struct, frozen=True):
    """The server's program, and how it finds its own files."""

    server: Path
    base_arguments: tuple[str, ...] = ()
    """Where its error messages and character sets are; empty: where it was built to look."""
    installer: Path | None = None
    """The program that makes a data directory; None: the server does it itself."""


class Product(ABC):
    name: str
    """As in ``--on``, and before ``://``."""
    title: str
    """As people write it."""
    folder: Path
    """Where its profiles of settings are."""
    base_folder: EnvVar
    """Names the folder of the programs to use."""
    option_groups: tuple[str, ...]
    """Of option files, those that its own client reads."""
    engine: OptionSpec
    """Its storage engines; the default one has transactions."""
    buffers: Mapping[str, Buffer]
    """Storage engine, in lower case → where it keeps pages."""
    shared_files: Mapping[str, str]
    """Storage engine, in lower case → names (a regular expression) of files and folders beside the
    databases in which it keeps what belongs to all its tables."""
    settings_of_the_directory: frozenset[str]
    """Settings that a data directory is made with; the server only runs with the same ones."""
    settings_of_assay: Mapping[str, str]
    """Where we do not leave a setting at its default, besides `server.CHOSEN_BY_ASSAY`."""
    settings_in_a_group: Mapping[str, str] = {}
    """Besides these, of a server in control groups."""
    writes_binary_log: bool
    """Whether a server writes one where nothing is asked."""
    default_table_open_cache: int
    changed_query: str
    """Gives the names of the variables that are not at their default."""
    sessions_query: str
    """Gives the number of sessions that are open."""
    checking_arguments: tuple[str, ...]
    """Of the server: it reads its other arguments and ends, without a data directory."""
    dump_arguments: tuple[str, ...] = ()
    """Of its dump program, so that its client can read the dump into the same server."""
    least_directory_bytes: int = 0
    """Of a data directory that is made with the default settings; 0: not known."""
    statistics_statements: tuple[str, ...] = ()
    """Before the size of tables is asked for, so that it is that of now."""

    @abstractmethod
    def find_programs(self, programs: str = "") -> Programs:
        """Those in the folder ``programs``, as `base_folder` names it; without it, where it or this
        machine has them; so below. Raises `SystemMissing`."""

    @abstractmethod
    def find_client(self, programs: str = "") -> Path:
        """Its command-line client. Raises `SystemMissing`."""

    @abstractmethod
    def find_dump(self, programs: str = "") -> Path:
        """Its program that writes a database as SQL. Raises `SystemMissing`."""

    @abstractmethod
    def places(self) -> Sequence[str]:
        """Folders of this machine that may have programs of it, as `base_folder` names one."""

    @abstractmethod
    def make_data_directory(
        self,
        programs: Programs,
        directory: ServerDirectory,
        temporary: Path,
        log: Path,
        arguments: list[str],
    ) -> list[str | Path]:
        """The command that makes it, with ``arguments`` for settings. What it prints goes into
        ``log``."""

    @abstractmethod
    def server_arguments(self) -> list[str]:
        """Of every private server."""

    connection_rights: str
    """To connect when the server is full, and what implies it: with them a test of the connection
    limit would find one session more than other users have."""
    monitoring_rights: str
    """To see what the server says of itself, and to have it flush and lock tables."""

    def rights(self, name: str, databases: str, *, is_confined: bool) -> list[str]:
        """Statements that give a user every right but those of `connection_rights`. With
        ``is_confined`` those of databases whose names begin so, without files and the server's own
        tables."""
        if not is_confined:
            return [
                f"GRANT ALL PRIVILEGES ON *.* TO {name};",
                f"REVOKE {self.connection_rights} ON *.* FROM {name};",
            ]
        return [
            f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM {name};",
            f"GRANT ALL PRIVILEGES ON `{databases}%`.* TO {name};",
            f"GRANT {self.monitoring_rights} ON *.* TO {name};",
        ]

    @abstractmethod
    def users(
        self, user: str, password: str | None, clients: str, *, is_confined: bool
    ) -> list[str]:
        """Statements that make the ordinary user anew, for the socket and, with a password, for
        ``clients``: the address that they come from, ``%`` for any; and that lock the
        administrator's account, which has no password. ``is_confined``: see `rights`."""

    @abstractmethod
    def descriptions(self, opened: Session) -> dict[str, Described]:
        """What the server says of its variables; empty where it does not."""

    @abstractmethod
    def why_it_is_gone(self, setting: str) -> str | None:
        """Why it has no such setting, as a sentence that ends with what to do; None: unknown."""

    @abstractmethod
    def tls_arguments(self, address: Address) -> list[str]:
        """Of its client, for TLS as the address has it, but for the names of files."""
