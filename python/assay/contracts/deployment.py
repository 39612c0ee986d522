"""A running system: its nodes and their storages, its addresses, version, effective settings and
its role among other servers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct, structs

from assay.contracts.durability import Durability, Safeguard
from assay.contracts.engine import DeploymentDocument, SessionAddress
from assay.contracts.storage_facts import StorageFacts
from assay.errors import Bug

CLIENT_PROCESSES = 32
"""Each has a Python interpreter of its own, of about 30 MB."""


_SHARED = SessionAddress.__struct_fields__


def host_and_port(host: str, port: int | None) -> str:
    """``db:5432``, ``[::1]:5432``."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Address(SessionAddress, frozen=True):
    """How the engine connects to a system. Its secrets are left out of records (see
    `for_record`)."""

    secret_options: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Others of the driver's own, which are in no record."""
    origins: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Where each value of a server's address comes from: the URL, a variable, a file, a default."""
    programs: str = ""
    """Where the system's own clients are, as `SystemChoice.programs`."""

    @property
    def place(self) -> str:
        """``HOST:PORT``, or the path of its socket or file."""
        return self.unix or self.file or host_and_port(self.host or "", self.port)

    def for_engine(self) -> DeploymentDocument:
        """The document the engine takes; holds the password."""
        shared = {name: getattr(self, name) for name in _SHARED}
        return DeploymentDocument(**shared | {"options": {**self.options, **self.secret_options}})

    def for_record(self) -> dict[str, Any]:
        """The same without the password."""
        kept = {
            name: None if name == "password" else value
            for name, value in self.for_engine().plain.items()
            if name not in ("answer_timeout_s", "server_query")
        }
        return {**kept, "options": dict(self.options), "origins": dict(self.origins)}


@dataclass(frozen=True)
class Node:
    """One server of a deployment, or the file of one that is embedded."""

    name: str
    """Unique in the deployment."""
    storage: StorageFacts
    """Of its data directory."""
    pid: int | None = None
    """Its first process; None: in this process, or not started by Assay (a URL)."""
    directory: Path | None = None
    """The data directory, where we can see it."""
    log_storage: StorageFacts | None = None
    """Of its log of changes, where that is on a storage of its own."""
    log_directory: Path | None = None
    """The log's folder there."""
    seen_pid: int | None = None
    """Of a server that Assay did not start: the process that listens at its address, to read what
    it uses; None: not seen."""
    seen_program: str = ""
    """The name of that process."""
    why_not_seen: str = ""
    """Why there is none, where it was looked for."""


class Delay(Struct, frozen=True):
    """What a proxy adds between clients and server."""

    rtt_s: float
    """As asked."""
    measured_rtt_s: float
    """The median round trip to an echo behind the proxy, before the run; of several endpoints the
    longest."""
    direct_rtt_s: float
    """The same to the echo without the proxy."""
    round_trip_cpu_s: float
    """CPU time of the proxy for each round trip."""


@dataclass(frozen=True)
class Deployment:
    """A running system: its nodes, and the endpoints at which clients reach it."""

    system: str
    """Name in the registry."""
    label: str
    """As the report names it (`SystemChoice.label`)."""
    nodes: tuple[Node, ...]
    """At least one."""
    endpoints: tuple[Address, ...]
    """Client c uses endpoint c mod n, of those that its group reads at. They differ in where they
    are (socket, host, port, file) and in how they are logged in to there."""
    version: str
    """As the system says it; of programs whose directory the user named with their digest."""
    options: Mapping[str, str]
    """The system's own options as used (``engine``), defaults filled in."""
    settings_asked: Mapping[str, str]
    """Settings of the server that the experiment asked for."""
    settings: Mapping[str, str]
    """*Effective* settings, read back from the server."""
    settings_confirmed: tuple[str, ...] = ()
    """Names of the settings asked that the system found in effect, by what their values mean."""
    settings_unknown: str = ""
    """Why the settings cannot be read (another program that speaks the protocol); empty: they
    are."""
    connection_limit: int | None = None
    """None: the system has none."""
    is_embedded: bool = False
    """A library that works in the client's own process, not a server."""
    client_processes: int = CLIENT_PROCESSES
    """The most processes among which clients are distributed, where their driver calls Python;
    elsewhere they are threads of this process."""
    is_private: bool = True
    """Started by Assay, which stops it; False: reached by URL."""
    role: Role | None = None
    """Of a server or file by URL, what it is among others; None: it does not say, or Assay has
    started it."""
    members: tuple[ClusterMember, ...] = ()
    """Of a cluster whose hosts the URL names, what each endpoint is, in their order, the primary
    first; empty: there is one endpoint, or all are alike."""
    pooler: str = ""
    """A pooler between clients and server that says so itself, with its version; empty: none does,
    which is no proof that there is none."""
    durability_lowered_by: tuple[str, ...] = ()
    """Effective settings with which an acknowledged commit can be lost, in the system's own words
    (``fsync = off``); empty: the system knows of none."""
    durable_instead: Mapping[str, str] = field(default_factory=dict)
    """One of these settings → what to set so that commits are kept; left out where that is its
    default."""
    durability_promised: str = ""
    """The class that the profile of its settings has on any storage; empty: it has no profile, or
    one that says nothing of it, or other settings lower it, too."""
    safeguards: tuple[Safeguard, ...] = ()
    """What its effective settings make it write, flush and check beside the work that it is asked
    for; empty: not known."""
    durability: Durability | None = None
    """The durability class of its commits on its storage, as it was measured; None: not yet."""
    creation_ns: int | None = None
    """How long it took to make its data directory and to start on it, until it answered; None: it
    is reached by URL, or the directory was a copy."""
    page_cache_kept_bytes: int | None = None
    """Bytes of its files that remained in the operating system's page cache when that was dropped
    before the start; None: it was not dropped."""

    memory_limit_bytes: int | None = None
    """Of all its processes together, page cache included, in effect; None: not limited by us."""
    cpu_limit: float | None = None
    """CPU time per second that they may use together, in effect; None: not limited by us."""
    delay: Delay | None = None
    """What is added between clients and server; None: they are connected directly."""
    built: str = ""
    """How its programs say they were built, where the user named their directory."""

    def __post_init__(self) -> None:
        if not self.nodes or not self.endpoints:
            raise Bug(f"{self.label}: a deployment needs a node and an endpoint")
        if any(_login(endpoint) != _login(self.address) for endpoint in self.endpoints):
            raise Bug(f"{self.label}: endpoints differ in more than where and how to log in")
        if self.members and len(self.members) != len(self.endpoints):
            raise Bug(f"{self.label}: expected a member for each endpoint")

    @property
    def address(self) -> Address:
        """The first endpoint: for our own sessions, and of a system that has one."""
        return self.endpoints[0]

    @property
    def storage(self) -> StorageFacts:
        """Of the first node."""
        return self.nodes[0].storage

    @property
    def log_storage(self) -> StorageFacts | None:
        """Of the first node; None: its log is on the storage of its data."""
        return self.nodes[0].log_storage

    @property
    def all_storages(self) -> tuple[StorageFacts, ...]:
        """That of its data, and that of its log if it is another one."""
        return (self.storage, *([self.log_storage] if self.log_storage else []))

    @property
    def commit_storage(self) -> StorageFacts:
        """Of the first node: what commits are flushed to, that of its log."""
        return self.nodes[0].log_storage or self.storage

    @property
    def server_pid(self) -> int | None:
        """Of the first node."""
        return self.nodes[0].pid

    @property
    def data_directory(self) -> Path | None:
        """Of the first node."""
        return self.nodes[0].directory

    @property
    def nodes_on_this_machine(self) -> int:
        """How many nodes of one cluster, among which clients are spread, were started on this
        machine; 0: it is no cluster. A server of several processes has one endpoint."""
        is_here = all(node.pid is not None for node in self.nodes)
        return len(self.nodes) if len(self.endpoints) > 1 and is_here else 0

    def for_engine(self, session_statements: Iterable[str] = ()) -> DeploymentDocument:
        """Where the engine's clients go, as it takes it (``deployment``); holds the password. Each
        session runs ``session_statements`` behind its own."""
        own = self.address.session_statements
        first = structs.replace(self.address, session_statements=(*own, *session_statements))
        document = first.for_engine()
        if len(self.endpoints) == 1:
            return document
        statements = first.session_statements
        endpoints = [
            structs.replace(endpoint, session_statements=statements).for_engine()
            for endpoint in self.endpoints
        ]
        if self.members:
            endpoints = [
                structs.replace(
                    endpoint, name=member.name, is_replica=member.role.is_replica or UNSET
                )
                for endpoint, member in zip(endpoints, self.members, strict=True)
            ]
        return structs.replace(document, endpoints=tuple(endpoints))

    def for_record(self) -> dict[str, Any]:
        """All of it but the password. What is of the first node and endpoint stands beside the
        lists as well, where it stood before there were lists."""
        document = {field_.name: getattr(self, field_.name) for field_ in fields(self)}
        if not self.members:
            del document["members"]
        return document | {
            "endpoints": [endpoint.for_record() for endpoint in self.endpoints],
            "address": self.address.for_record(),
            "storage": self.storage,
            "server_pid": self.server_pid,
            "data_directory": self.data_directory,
        }


def _login(address: Address) -> Address:
    """What is the same at every endpoint."""
    return structs.replace(
        address,
        origins={},
        programs="",
        unix=None,
        host=None,
        port=None,
        host_address=None,
        file=None,
        password=None,
        tls="off",
    )


PRIMARY = "primary"
STANDBY = "standby"
REPLICA = "replica"
READ_ONLY = "read-only server"


class Role(Struct, frozen=True):
    """What a server is among others, as it says itself."""

    name: str
    """`PRIMARY` (also of a server that stands alone), `STANDBY`, `REPLICA`, `READ_ONLY`, or a word
    of a system's own."""
    follows: str = ""
    """``HOST:PORT`` of the server that it replicates from; empty: none, or it does not say."""
    why_read_only: str = ""
    """Why it takes no writes, as it says it (``read_only = ON``); empty: it takes them."""
    fix: str = ""
    """What to do where it takes no writes."""
    how_to_follow: str = ""
    """What to look at in a replica that does not apply the changes of its primary."""

    @property
    def described(self) -> str:
        """``standby of 10.0.0.7:5432 (pg_is_in_recovery() is true)``."""
        of = f" of {self.follows}" if self.follows else ""
        return f"{self.name}{of}" + (f" ({self.why_read_only})" if self.why_read_only else "")

    @property
    def is_replica(self) -> bool:
        """Whether it repeats what another server does."""
        return self.name in (STANDBY, REPLICA)


class ClusterMember(Struct, frozen=True):
    """One server of a cluster whose hosts a URL names."""

    name: str
    """``HOST:PORT``, or the path of its socket."""
    role: Role
