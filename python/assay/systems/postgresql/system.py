"""PostgreSQL behind the protocol of every system under test: a server of ours, or one by URL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.dialects.postgresql import POSTGRESQL as DIALECT
from assay.errors import Bug
from assay.experiment.values import SystemChoice
from assay.provision import process, sampling
from assay.provision.session import session
from assay.provision.site import Address, Site, StorageFacts
from assay.provision.size import allocated_bytes
from assay.systems.options import TRANSPORT, connection_limit, values
from assay.systems.postgresql import client, installation, server, settings, url
from assay.systems.protocol import OptionSpec, ProcessSample, ServerDirectory, System

CHECKSUMS = OptionSpec(
    name="checksums",
    default="default",
    levels=("default", "on", "off"),
    help="Whether pages carry checksums; the server's default is on from version 18, off before.",
)

_DEFAULT_CONNECTIONS = 100

_LIMIT_QUERY = """
SELECT current_setting('max_connections')::int - CASE WHEN rolsuper THEN 0
       ELSE current_setting('superuser_reserved_connections')::int
          + coalesce(current_setting('reserved_connections', true), '0')::int END
FROM pg_roles WHERE rolname = current_user
"""


class Postgresql:
    name = "postgresql"
    dialect = DIALECT
    driver = "postgresql"
    option_specs: tuple[OptionSpec, ...] = (CHECKSUMS, TRANSPORT)
    url_schemes: tuple[str, ...] = url.SCHEMES
    has_connection_limit = True

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Site]:
        """A new cluster in ``directory.data``; see `System.provision`.

        ``max_connections`` becomes what the run needs and some more, unless it is among the
        settings asked for: then the run meets the limit it wanted to meet.
        """
        options = values(self.option_specs, choice)
        server.check_settings(choice.settings)
        found = installation.find_server()
        password = server.initialise(found, directory, options["checksums"])
        given = {**_room_for(connections, choice.settings), **choice.settings}
        with server.running(found, directory, given, password) as running:
            address = _address(running, options[TRANSPORT.name])
            yield _site(
                choice,
                address,
                options=options,
                source="command line",
                storage=directory.storage,
                server_pid=running.process.pid,
                data_directory=directory.data,
            )

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Site]:
        """The server of a URL. Settings are set in each session, as far as the server lets one."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a server")
        statements = tuple(
            f"SET {DIALECT.identifier(name)} = {DIALECT.literal(value)}"
            for name, value in choice.settings.items()
        )
        yield _site(
            choice,
            url.address_of(choice.url, session_statements=statements),
            options={},
            source="session",
            storage=StorageFacts(name="unknown", kind="url", directory=""),
            is_private=False,
        )

    def size_on_disk_bytes(self, site: Site) -> int:
        """Of a private server the whole data directory, as allocated by the file system: tables,
        indexes and their maps, the write-ahead log (which keeps up to ``max_wal_size`` of old
        segments, and 16 MiB at least), the catalogues of three databases (about 23 MB), dead rows.
        Of one by URL the files of its one database, without any log."""
        if site.data_directory is not None:
            return allocated_bytes(site.data_directory)
        with session(site.address) as opened:
            rows = opened.execute("SELECT pg_database_size(current_database())").rows
        return int(rows[0][0] or 0)

    def sample(self, site: Site) -> ProcessSample | None:
        """The first process and all its children: one for each session, and the writers."""
        if site.server_pid is None:
            return None
        return sampling.sample(site.server_pid, site.data_directory)

    def why_it_died(self, site: Site) -> str | None:
        ours = process.find(site.server_pid)
        return None if ours is None else ours.died()

    def client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        return client.command(address)


def _room_for(connections: int | None, asked: Mapping[str, str]) -> dict[str, str]:
    if connections is None or any(name.lower() == "max_connections" for name in asked):
        return {}
    return {"max_connections": str(connection_limit(connections, _DEFAULT_CONNECTIONS))}


def _address(running: server.RunningServer, transport: str) -> Address:
    if transport == "socket":
        return Address(
            driver="postgresql",
            unix=str(running.socket),
            user=server.USER,
            database=server.DATABASE,
        )
    return Address(
        driver="postgresql",
        host="127.0.0.1",
        port=running.port,
        user=server.USER,
        password=running.password,
        database=server.DATABASE,
    )


def _site(
    choice: SystemChoice,
    address: Address,
    *,
    options: Mapping[str, str],
    source: str,
    storage: StorageFacts,
    server_pid: int | None = None,
    data_directory: Path | None = None,
    is_private: bool = True,
) -> Site:
    """Asks the server what it is and what it was really given; `source` is where it must say that
    the settings asked for come from."""
    with session(address) as opened:
        found = settings.read(opened)
        settings.insist(found, choice.settings, source=source)
        effective = settings.effective(found, choice.settings)
        limit = opened.execute(_LIMIT_QUERY).rows
        version = opened.server_version
    return Site(
        system=Postgresql.name,
        label=choice.label,
        address=address,
        version=version,
        storage=storage,
        options=options,
        settings_asked=dict(choice.settings),
        settings=effective,
        connection_limit=int(limit[0][0] or 0) if limit else None,
        server_pid=server_pid,
        data_directory=data_directory,
        is_private=is_private,
        durability_lowered_by=settings.durability_lowered_by(effective),
    )


POSTGRESQL: System = Postgresql()
