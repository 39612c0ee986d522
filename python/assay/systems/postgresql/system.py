"""PostgreSQL behind the protocol of every system under test: a private server, or one by URL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.server_url import Resolved
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import (
    IN_THE_TESTS,
    FoundPrograms,
    Profile,
    ProgramBuild,
    Spelled,
)
from assay.contracts.systems.protocol import OptionSpec, Prefix, ReportInstalling, ServerDirectory
from assay.dialects.postgresql import POSTGRESQL as DIALECT
from assay.env_vars import EnvVar
from assay.errors import Bug, SystemRefused
from assay.provision import processes
from assay.provision.copying import allocated_bytes
from assay.provision.engine.engine_calls import brief_session, session
from assay.systems import sessions, urls
from assay.systems.options import (
    BUFFER,
    CHOSEN_VERSION,
    TRANSPORT,
    connection_limit,
    profiles_of,
    refuse_buffer,
    values,
    version_of,
)
from assay.systems.postgresql import cluster, installation, server, settings, url
from assay.systems.sessions import first_session, number_of, numbers_of

CHECKSUMS = OptionSpec(
    name="checksums",
    default="default",
    levels=("default", "on", "off"),
    help="Whether pages carry checksums; the server's default is on from version 18, off before.",
)

_DEFAULT_CONNECTIONS = 100

_DATA_SIZE_QUERY = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
"""

_COUNTERS_QUERY = """
SELECT blks_hit, blks_read, tup_inserted + tup_updated + tup_deleted
FROM pg_stat_database WHERE datname = current_database()
"""

_BUFFER_QUERY = "SELECT pg_size_bytes(current_setting('shared_buffers'))"

_OF_THE_DATA = ("block_size", "wal_segment_size", "data_checksums", "server_encoding", "lc_collate")

_LIMIT_QUERY = """
SELECT current_setting('max_connections')::int - CASE WHEN rolsuper THEN 0
       ELSE current_setting('superuser_reserved_connections')::int
          + coalesce(current_setting('reserved_connections', true), '0')::int END
FROM pg_roles WHERE rolname = current_user
"""

_IN_USE_QUERY = "SELECT sum(numbackends) FROM pg_stat_database"


class Postgresql(processes.OfProcesses):
    name = "postgresql"
    least_memory_bytes = 24 << 20
    dialect: Dialect = DIALECT
    driver = "postgresql"
    capabilities = frozenset(CAPABILITIES)
    option_specs: tuple[OptionSpec, ...] = (BUFFER, CHECKSUMS, TRANSPORT, CHOSEN_VERSION)
    url_schemes: tuple[str, ...] = url.SCHEMES
    default_port = url.DEFAULT_PORT
    chosen_by = installation.PROGRAMS_FOLDER
    url_variables: tuple[EnvVar, ...] = url.VARIABLES
    verified = IN_THE_TESTS
    also_called = ("pg", "postgres", "pgsql", "psql")
    installable_version = "18"
    installable_releases = tuple(installation.RELEASES)
    install_source = (
        "apt brings packages of the Debian release that has the version (18, 17, 15, 13), about 90 "
        "MB to download and 350 MB on disk; they run beside any release"
    )
    install_bytes = 800 << 20

    def profiles(self) -> Mapping[str, Profile]:
        return profiles_of(Path(__file__).parent)

    def find(self) -> FoundPrograms:
        postgres = installation.find_server().program("postgres")
        return FoundPrograms(version_of(postgres), str(postgres))

    def find_in(self, folder: Path) -> FoundPrograms:
        return self.find_at(str(installation.folder_in(folder)))

    def install(self, version: str, prefix: Prefix, report: ReportInstalling) -> None:
        installation.install(version, prefix, report)

    def places(self) -> Sequence[str]:
        return [str(folder) for folder in installation.folders()]

    def find_at(self, place: str) -> FoundPrograms:
        postgres = installation.find_server(place).program("postgres")
        return FoundPrograms(version_of(postgres), place)

    def build_at(self, place: str) -> ProgramBuild:
        return installation.build_of(installation.find_server(place))

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        """A cluster in ``directory.data``, new or as it is there; see `System.provision`.

        ``max_connections`` becomes what the run needs and some more, unless it is among the
        settings asked for: then the run meets the limit it wanted to meet.
        """
        options = values(self.option_specs, choice)
        self.check(choice)
        found = installation.find_server(choice.programs)
        own = settings.buffer_settings(options, choice.settings)
        given = {**_room_for(connections, choice.settings), **own, **choice.settings}
        password, keeps_another = server.new_password(), directory.data.exists()
        if not keeps_another:
            keeps_another = server.initialise(found, directory, options["checksums"], password)
        with server.running(found, directory, given, password) as running:
            address = structs.replace(
                _address(running, options[TRANSPORT.name]), programs=choice.programs
            )
            if keeps_another and address.password is not None:
                _set_password(running, password)
            if directory.is_confined:
                address = _with_role(running, address, password)
            yield _deployment(
                choice,
                address,
                options=options,
                source="command line",
                node=Node(self.name, directory.storage, running.process.pid, directory.data),
            )

    def check_url(self, text: str) -> None:
        url.address_of(text)

    def complete_url(self, text: str) -> Resolved:
        return url.complete(text)

    def check(self, choice: SystemChoice) -> None:
        if choice.url is not None:
            refuse_buffer(choice)
            return
        server.check_settings(choice.settings)
        settings.check_buffer(choice)

    def check_separate_log(self, choice: SystemChoice) -> None:
        """The folder of the write-ahead log can be anywhere, whatever the settings."""

    def refuse_settings(self, choice: SystemChoice) -> None:
        server.refuse_settings(installation.find_server(choice.programs), choice.settings)

    def refuse_reaching_settings(self, choice: SystemChoice) -> None:
        server.refuse_reaching_settings(installation.find_server(choice.programs), choice.settings)

    def powers(self, deployment: Deployment) -> tuple[str, ...]:
        with brief_session(deployment.address) as opened:
            return server.powers_of_session(opened)

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        return list(settings.spelled(installation.find_server(choice.programs), choice.settings))

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        """The server of a URL. Settings are set in each session, as far as the server lets one."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a server")
        self.check(choice)
        statements = tuple(
            f"SET {DIALECT.identifier(name)} = {DIALECT.literal(value)}"
            for name, value in choice.settings.items()
        )
        asked = url.servers_of(choice.url, session_statements=statements)
        shown = choice.url_without_password or ""

        def attach(address: Address) -> Deployment:
            own = urls.with_origins(address, choice.url_origins)
            return _as_admitted(choice, structs.replace(own, server_query=cluster.SERVER_QUERY))

        if asked.are_all_used:
            yield sessions.attached_cluster(asked.addresses, shown, attach, cluster.cluster_of)
        else:
            yield cluster.attached_as_asked(asked, shown, attach)

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """Of a private server the whole data directory, as allocated by the file system: tables,
        indexes and their maps, the write-ahead log (which keeps up to ``max_wal_size`` of old
        segments, and 16 MiB at least), the catalogues of three databases (about 23 MB), dead rows.
        Of one by URL the files of its one database, without any log."""
        if deployment.data_directory is not None:
            return allocated_bytes(deployment.data_directory)
        return number_of(deployment, "SELECT pg_database_size(current_database())")

    def least_bytes(self, rows: int, text_bytes: int) -> int:
        """Each row has a header of 23 bytes, aligned, and a pointer; texts of more than 2 kB are
        compressed."""
        return 28 * rows + text_bytes // 10

    def least_storage_bytes(self, choice: SystemChoice) -> int:
        """Three databases without tables, and the first segment of the write-ahead log."""
        del choice
        return 37 << 20

    def data_bytes(self, deployment: Deployment) -> int:
        """Tables with their indexes, maps and long values, in files of whole pages."""
        return number_of(deployment, _DATA_SIZE_QUERY)

    def table_files_bytes(self, deployment: Deployment) -> int:
        """As `data_bytes`: pages without rows are among them until a file is shortened."""
        return self.data_bytes(deployment)

    def buffer_bytes(self, deployment: Deployment) -> int | None:
        """``shared_buffers``; the operating system's cache of files comes on top of it. Not of a
        server that does not report its settings."""
        return None if deployment.settings_unknown else number_of(deployment, _BUFFER_QUERY)

    def counters(self, deployment: Deployment) -> Mapping[str, int]:
        """Of the deployment's database; the server adds up what a session has counted about once a
        second, and when it ends. A miss may still be found in the operating system's cache."""
        with brief_session(deployment.address) as opened:
            counted = numbers_of(opened, _COUNTERS_QUERY, columns=3)
        if counted is None:
            return {}
        hits, misses, changed = counted
        return {"buffer_hits": hits, "buffer_misses": misses, "rows_changed": changed}

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        known = deployment.settings
        found = {name: known[name] for name in _OF_THE_DATA if name in known}
        owner = deployment.address.user
        return found if owner == server.USER else {**found, "owner": owner}

    def durability_lowered_after(
        self, deployment: Deployment, statements: Sequence[str]
    ) -> tuple[str, ...]:
        with session(deployment.address) as opened:
            for statement in statements:
                opened.execute(statement)
            found = settings.read(opened) or {}
        return settings.durability_lowered_by({one.name: one.value for one in found.values()})

    def refuse_too_many(self, deployment: Deployment, clients: int) -> None:
        sessions.refuse_too_many(
            deployment, clients, in_use_query=_IN_USE_QUERY, setting="max_connections"
        )

    def client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        return installation.client_command(address)

    def native_client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        (program, *others), environment = self.client_command(address)
        first = [f"--command={one}" for one in address.session_statements]
        own = ["--no-align", "--tuples-only", "--quiet", *first, "--file=-"]
        return [program, *own, *others], environment

    def dump_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        return installation.dump_command(address)

    @contextlib.contextmanager
    def quiesced(self, deployment: Deployment) -> Iterator[None]:
        """After a checkpoint; what is committed later is in the write-ahead log beside it."""
        with session(deployment.address) as opened:
            opened.execute("CHECKPOINT")
        yield


def _set_password(running: processes.ListeningServer, password: str) -> None:
    """A cluster keeps the password that it was made with; the socket asks for none."""
    with session(_address(running, "socket")) as opened:
        word = DIALECT.literal(password)
        opened.execute(f"ALTER ROLE {server.USER} PASSWORD {word}")


def _with_role(running: processes.ListeningServer, address: Address, password: str) -> Address:
    """The same for a role that has no rights beyond its database."""
    with session(_address(running, "socket")) as opened:
        server.make_role(opened, server.DATABASE, password)
    return structs.replace(address, user=server.ROLE)


def _room_for(connections: int | None, asked: Mapping[str, str]) -> dict[str, str]:
    if connections is None or any(name.lower() == "max_connections" for name in asked):
        return {}
    return {"max_connections": str(connection_limit(connections, _DEFAULT_CONNECTIONS))}


def _address(running: processes.ListeningServer, transport: str) -> Address:
    if transport == "socket":
        return Address(
            driver="postgresql",
            unix=str(running.socket),
            user=server.USER,
            database=server.DATABASE,
        )
    return Address(
        driver="postgresql",
        host=running.host,
        port=running.port,
        user=server.USER,
        password=running.password,
        database=server.DATABASE,
    )


_NOT_ADMITTED = "28000"
"""No line of pg_hba.conf is for such a session."""
_TLS_TRIED = {"allow": ("off", "require"), "prefer": ("prefer", "off")}


def _as_admitted(choice: SystemChoice, asked: Address) -> Deployment:
    """The server of a URL. As with libpq ``allow`` begins without TLS, and ``prefer`` with it; a
    server that does not admit that is asked once more in the other way. All sessions then go as
    the first one did."""

    def attached(tls: str) -> Deployment:
        return _deployment(
            choice,
            structs.replace(asked, tls=tls),
            options={},
            source="session",
            node=Node(Postgresql.name, StorageFacts.of_url()),
            is_private=False,
        )

    first, *others = _TLS_TRIED.get(asked.tls, (asked.tls,))
    try:
        return attached(first)
    except SystemRefused as refused:
        if refused.code != _NOT_ADMITTED or not others or asked.host is None:
            raise
        try:
            return attached(*others)
        except SystemRefused as again:
            raise (refused if asked.tls == "prefer" else again) from None


def _deployment(
    choice: SystemChoice,
    address: Address,
    *,
    options: Mapping[str, str],
    source: str,
    node: Node,
    is_private: bool = True,
) -> Deployment:
    """Asks the server what it is and what it was really given; `source` is where it must say that
    the settings asked for come from."""
    with first_session(choice.url, address, url.EXPECTED) as opened:
        found = settings.read(opened)
        settings.insist(found or {}, choice.settings if found else {}, source=source)
        limit = numbers_of(opened, _LIMIT_QUERY, columns=1) if found else None
        pooler = "" if is_private else cluster.pooler(opened)
        if limit and (pooler or cluster.is_behind_pooler(opened)):
            limit = None  # how many sessions a pooler lets in is its own matter
        version = opened.server_version
        own_role = None if is_private else cluster.role_of(opened)
    if found is None and is_private:
        raise SystemRefused(f"{choice.label} does not report its settings: {settings.UNKNOWN}")
    effective = settings.effective(found or {}, choice.settings)
    return Deployment(
        system=Postgresql.name,
        label=choice.label,
        nodes=(node,),
        endpoints=(address,),
        version=version,
        options=options,
        settings_asked=dict(choice.settings),
        settings=effective,
        settings_confirmed=tuple(choice.settings) if found else (),
        settings_unknown="" if found else settings.UNKNOWN,
        connection_limit=limit[0] if limit else None,
        is_private=is_private,
        role=own_role,
        pooler=pooler,
        durability_lowered_by=settings.durability_lowered_by(effective),
        safeguards=tuple(settings.safeguards_of_settings(settings.values(found))),
    )


POSTGRESQL = Postgresql()
