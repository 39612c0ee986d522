"""FerretDB as a system under test: a private one, or one by URL.

What is measured is DocumentDB on PostgreSQL through the MongoDB protocol: storage, log and settings
are PostgreSQL's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.abilities import IN_THE_TESTS, FoundPrograms, ProgramBuild, Spelled
from assay.contracts.systems.protocol import OptionSpec, Prefix, ReportInstalling, ServerDirectory
from assay.errors import ArgumentError, SystemRefused
from assay.provision.engine.engine_calls import brief_session, session
from assay.systems.ferretdb import installation, server
from assay.systems.mongodb import url
from assay.systems.mongodb.url import size_bytes
from assay.systems.options import (
    BUFFER,
    CHOSEN_VERSION,
    TRANSPORT,
    connection_limit,
    refuse_buffer,
    said_version,
    values,
    version_of,
)
from assay.systems.postgresql import installation as postgresql_programs
from assay.systems.postgresql import server as confined
from assay.systems.postgresql import server as postgresql
from assay.systems.postgresql import settings
from assay.systems.postgresql.system import POSTGRESQL
from assay.systems.sessions import number_of, rows_of

_DEFAULT_POOL = 50
"""FerretDB's own greatest number of sessions with PostgreSQL."""
_DEFAULT_CONNECTIONS = 100

_VERSION_QUERY = """
SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'documentdb'
"""

_DATA_SIZE_QUERY = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname = 'documentdb_data'
"""


class Ferretdb(url.DocumentSystem):
    name = "ferretdb"
    option_specs: tuple[OptionSpec, ...] = (BUFFER, TRANSPORT, CHOSEN_VERSION)
    url_schemes: tuple[str, ...] = ("ferretdb",)
    chosen_by = installation.BASE_FOLDER
    verified = IN_THE_TESTS
    installable_version = "2.7.0"
    installable_releases = ("2",)
    install_source = (
        "FerretDB from its Go module, compiled here in some minutes, and PostgreSQL with "
        "DocumentDB from packages of Debian sid: 130 MB are downloaded, 370 MB kept"
    )
    install_bytes = 2 << 30

    def __init__(self) -> None:
        self._behind: dict[int, Address] = {}
        """Of each private deployment, by its first process: where its PostgreSQL is reached."""

    def find(self) -> FoundPrograms:
        program = installation.find_programs().ferretdb
        return FoundPrograms(version_of(program), str(program))

    def find_in(self, folder: Path) -> FoundPrograms:
        return FoundPrograms(version_of(installation.programs_in(folder).ferretdb), str(folder))

    def places(self) -> Sequence[str]:
        """None: on a machine FerretDB and PostgreSQL are not in one folder."""
        return ()

    def find_at(self, place: str) -> FoundPrograms:
        return FoundPrograms(version_of(installation.find_programs(place).ferretdb), place)

    def build_at(self, place: str) -> ProgramBuild:
        found = installation.find_programs(place)
        behind = postgresql_programs.build_of(found.postgresql)
        said = said_version(found.ferretdb)
        return ProgramBuild((found.ferretdb, *behind.parts), f"{said}\n{behind.said}")

    def install(self, version: str, prefix: Prefix, report: ReportInstalling) -> None:
        installation.install(version, prefix, report)

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        """Those of PostgreSQL."""
        behind = installation.find_programs(choice.programs).postgresql
        return list(settings.spelled(behind, choice.settings))

    def refuse_reaching_settings(self, choice: SystemChoice) -> None:
        """Those of PostgreSQL. Commands of the protocol run no programs and know no files."""
        behind = installation.find_programs(choice.programs).postgresql
        confined.refuse_reaching_settings(behind, choice.settings)

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        """A cluster of PostgreSQL in ``directory.data``, new or as it is there, and FerretDB in
        front of it; see `System.provision`. FerretDB may open a session with PostgreSQL for each
        client."""
        self.check(choice)
        options = values(self.option_specs, choice)
        found = installation.find_programs(choice.programs)
        pool = max(_DEFAULT_POOL, connections or 0)
        password = postgresql.new_password()
        if not directory.data.exists():
            postgresql.initialise(found.postgresql, directory, "default", password)
        own = settings.buffer_settings(options, choice.settings)
        with server.running(
            found,
            directory,
            {**_room_for(pool, choice.settings), **own, **choice.settings},
            password,
            over_tcp=options[TRANSPORT.name] == "tcp",
            connections=pool,
        ) as running:
            pid = running.behind.process.pid
            self._behind[pid] = running.address_behind
            try:
                yield _deployment(choice, running, directory, options, pool)
            finally:
                del self._behind[pid]

    def check(self, choice: SystemChoice) -> None:
        if choice.url is None:
            server.check_settings(choice.settings)
            settings.check_buffer(choice)
            return
        refuse_buffer(choice)
        if choice.settings:
            raise ArgumentError(
                f"{choice.label}: a FerretDB by URL takes no settings",
                hint="leave them out, or set them in its PostgreSQL",
            )

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """Of a private one PostgreSQL's whole data directory, as allocated by the file system: the
        catalogues of its extensions (about 60 MB) and its write-ahead log included. Of one by URL
        what it says of the collections of its one database."""
        if deployment.data_directory is not None:
            return POSTGRESQL.size_on_disk_bytes(deployment)
        with brief_session(deployment.address) as opened:
            return size_bytes(opened)

    def data_bytes(self, deployment: Deployment) -> int:
        """Collections with their indexes, in PostgreSQL's files of whole pages."""
        if (behind := self._postgresql_of(deployment)) is not None:
            return number_of(behind, _DATA_SIZE_QUERY)
        with brief_session(deployment.address) as opened:
            return size_bytes(opened)

    def table_files_bytes(self, deployment: Deployment) -> int:
        """As `data_bytes`: pages without documents are among them until a file is shortened."""
        return self.data_bytes(deployment)

    def buffer_bytes(self, deployment: Deployment) -> int | None:
        """PostgreSQL's ``shared_buffers``; not of a server by URL."""
        behind = self._postgresql_of(deployment)
        return None if behind is None else POSTGRESQL.buffer_bytes(behind)

    def counters(self, deployment: Deployment) -> Mapping[str, int]:
        """PostgreSQL's; not of a server by URL."""
        behind = self._postgresql_of(deployment)
        return {} if behind is None else POSTGRESQL.counters(behind)

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        return POSTGRESQL.settings_of_the_data(deployment)

    def _postgresql_of(self, deployment: Deployment) -> Deployment | None:
        """The deployment as PostgreSQL's own; None of one by URL."""
        if deployment.server_pid is None:
            return None
        return replace(deployment, endpoints=(self._behind[deployment.server_pid],))


def _room_for(pool: int, asked: Mapping[str, str]) -> dict[str, str]:
    """Sessions of FerretDB, and of DocumentDB's own jobs."""
    if any(name.lower() == "max_connections" for name in asked):
        return {}
    return {"max_connections": str(connection_limit(pool, _DEFAULT_CONNECTIONS))}


def _deployment(
    choice: SystemChoice,
    running: server.RunningServer,
    directory: ServerDirectory,
    options: Mapping[str, str],
    pool: int,
) -> Deployment:
    """Reads version and settings from PostgreSQL, and opens the first session with FerretDB."""
    with session(running.address_behind) as opened:
        found = settings.read(opened)
        versions = rows_of(opened, _VERSION_QUERY, columns=2)
    if found is None or not versions:
        raise SystemRefused(f"{choice.label} does not report its settings: {settings.UNKNOWN}")
    settings.insist(found, choice.settings, source="command line")
    of_this_run_only = server.CONNECTIONS_OF_ITS_OWN
    effective = {
        name: value
        for name, value in settings.effective(found, choice.settings).items()
        if name not in of_this_run_only
    }
    address = _address(running)
    with session(address) as opened:
        version = opened.server_version
    of_postgresql, of_documentdb = versions[0]
    return Deployment(
        system=FERRETDB.name,
        label=choice.label,
        nodes=(
            Node("postgresql", directory.storage, running.behind.process.pid, directory.data),
            Node("ferretdb", directory.storage, running.process.pid),
        ),
        endpoints=(address,),
        version=f"{version} (DocumentDB {of_documentdb} on PostgreSQL {of_postgresql})",
        options=options,
        settings_asked=dict(choice.settings),
        settings={
            **effective,
            "ferretdb.log_level": server.LOG_LEVEL,
            "ferretdb.pool_max_conns": str(pool),
        },
        settings_confirmed=tuple(choice.settings),
        durability_lowered_by=settings.durability_lowered_by(effective),
        safeguards=tuple(settings.safeguards_of_settings(settings.values(found))),
    )


def _address(running: server.RunningServer) -> Address:
    is_socket = running.port is None
    return Address(
        driver="mongodb",
        unix=None if running.socket is None else str(running.socket),
        host=None if is_socket else running.host,
        port=running.port,
        user="" if is_socket else server.USER,
        password=None if is_socket else running.behind.password,
        database=server.DATABASE,
    )


FERRETDB = Ferretdb()
