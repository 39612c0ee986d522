"""CUBRID behind the protocol of every system under test: a private server, or one by URL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects.protocol import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import IN_THE_TESTS, FoundPrograms, Profile, Spelled
from assay.contracts.systems.protocol import OptionSpec, ProcessSample, ServerDirectory
from assay.dialects.cubrid import CUBRID as DIALECT
from assay.errors import ArgumentError, Bug, SystemRefused
from assay.provision.disk.size import allocated_bytes
from assay.provision.engine.session import session
from assay.provision.machine import ports, sampling
from assay.provision.processes import process
from assay.systems.cubrid import home, installation, safeguards, server, settings, size, url
from assay.systems.dbapi.system import CLIENT_PROCESSES
from assay.systems.options import (
    BUFFER,
    buffer_bytes,
    connection_limit,
    refuse_beyond_memory,
    refuse_buffer,
    rounded_up,
    values,
)
from assay.systems.profiles import profiles_of
from assay.systems.program_version import version_of

_DEFAULT_CONNECTIONS = 40
_PAGE_BYTES = 16 << 10
_LEAST_BUFFER_BYTES = 16 << 20
_LACKING = frozenset(
    {
        "gregorian dates",
        "microseconds",
        "read only sessions",
        "bulk load",
        "cancel",
        "prepared statements",
    }
)
_SIZE_SETTING = "data_buffer_size"
_PLACE = "path of the data"


class Cubrid:
    name = "cubrid"
    dialect: Dialect = DIALECT
    driver = "dbapi"
    capabilities = frozenset(CAPABILITIES) - _LACKING
    option_specs: tuple[OptionSpec, ...] = (BUFFER, CLIENT_PROCESSES)
    url_schemes: tuple[str, ...] = url.SCHEMES
    default_port = url.DEFAULT_PORT
    chosen_by = installation.HOME
    verified = IN_THE_TESTS

    def __init__(self) -> None:
        self._broker_sessions: dict[int, int] = {}
        """Of each private server, by its process number."""

    def profiles(self) -> Mapping[str, Profile]:
        return profiles_of(Path(__file__).parent)

    def find(self) -> FoundPrograms:
        programs = installation.find_server()
        installation.insist_on_the_driver()
        return FoundPrograms(version_of(programs.program("cubrid_rel")), str(programs.folder))

    def places(self) -> Sequence[str]:
        """None but the one that the environment names."""
        return ()

    def find_at(self, place: str) -> FoundPrograms:
        programs = installation.find_server(place)
        return FoundPrograms(version_of(programs.program("cubrid_rel")), place)

    def insist_on_library(self) -> None:
        installation.insist_on_the_driver()

    def check(self, choice: SystemChoice) -> None:
        if choice.url is not None:
            refuse_buffer(choice)
            if choice.settings:
                raise ArgumentError(
                    f"{choice.label}: settings of a server by URL cannot be changed, found "
                    f"{', '.join(choice.settings)}"
                )
            return
        server.check_settings(choice.settings)
        _buffer(choice.options, choice.settings)
        refuse_beyond_memory(choice, buffer_bytes(choice.options, (), _SIZE_SETTING))

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        return list(settings.spelled(choice.settings))

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        options = values(self.option_specs, choice)
        self.check(choice)
        found = installation.find_server(choice.programs)
        installation.insist_on_the_driver()
        given = {**_buffer(options, choice.settings), **choice.settings}
        limit = connection_limit(connections or 0, _DEFAULT_CONNECTIONS)
        with server.running(found, directory, given, limit) as running:
            address = url.address(
                host="127.0.0.1",
                port=running.home.broker_port,
                database=home.DATABASE,
                user=home.USER,
                password=None,
            )
            effective = server.parameters(running.home, directory)
            self._broker_sessions[running.process.pid] = running.broker_session
            try:
                yield Deployment(
                    system=self.name,
                    label=choice.label,
                    nodes=(
                        Node(self.name, directory.storage, running.process.pid, directory.data),
                    ),
                    endpoints=(address,),
                    version=_version(address),
                    options=options,
                    settings_asked=dict(choice.settings),
                    settings=effective,
                    settings_confirmed=settings.confirmed(choice.settings, effective),
                    connection_limit=limit,
                    client_processes=int(options[CLIENT_PROCESSES.name]),
                    durability_lowered_by=_durability_lowered_by(effective),
                    safeguards=tuple(safeguards.of_settings(effective)),
                )
            finally:
                del self._broker_sessions[running.process.pid]

    def refuse_address(self, choice: SystemChoice, address: str) -> None:
        ports.refuse_beyond_loopback(choice.label, address)

    def check_url(self, text: str) -> None:
        url.address_of(text)

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        """The server of a URL."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a server")
        self.check(choice)
        installation.insist_on_the_driver()
        options = values(self.option_specs, choice)
        address = url.address_of(choice.url)
        try:
            version = _version(address)
        except SystemRefused as error:
            raise SystemRefused(
                f"{choice.url_without_password}: expected a CUBRID broker at "
                f"{address.host}:{address.port}; {error.message}",
                error_class=error.error_class,
                code=error.code,
                hint=error.hint
                or f"correct host, port and database in the URL, or the password in "
                f"{url.PASSWORD.name}",
            ) from error
        yield Deployment(
            system=self.name,
            label=choice.label,
            nodes=(Node(self.name, StorageFacts.of_url()),),
            endpoints=(address,),
            version=version,
            options=options,
            settings_asked={},
            settings={},
            client_processes=int(options[CLIENT_PROCESSES.name]),
            settings_unknown="a CUBRID server reports them to its own programs alone",
            is_private=False,
        )

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        """Volumes hold their own paths, so a copy can be used only in the place that it was made
        in."""
        return {_PLACE: str(deployment.data_directory)}

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """Volumes and logs, as allocated by the file system. Of a server by URL the space that the
        files of its database have, without logs."""
        if deployment.data_directory is not None:
            return allocated_bytes(deployment.data_directory)
        return self.data_bytes(deployment)

    def data_bytes(self, deployment: Deployment) -> int:
        """Pages of tables and indexes, as a DBA may ask for them; 0 for any other user."""
        try:
            with session(deployment.address) as opened:
                return size.data_bytes(opened)
        except SystemRefused:
            if deployment.is_private:
                raise
            return 0

    def table_files_bytes(self, deployment: Deployment) -> int:
        """As `data_bytes`: pages without rows are among them."""
        return self.data_bytes(deployment)

    def sample(self, deployment: Deployment) -> ProcessSample | None:
        """The server, and the broker with its processes, which parse and plan statements."""
        server_pid = deployment.server_pid
        if server_pid is None or server_pid not in self._broker_sessions:
            return None
        broker = sampling.sample_session(
            self._broker_sessions[server_pid], deployment.data_directory
        )
        return sampling.total([sampling.sample_nodes(deployment), broker])

    def why_it_died(self, deployment: Deployment) -> str | None:
        return process.why_a_node_died(deployment)


def _version(address: Address) -> str:
    with session(address) as opened:
        return opened.server_version


def _buffer(options: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    size = buffer_bytes(options, [name.lower() for name in asked], _SIZE_SETTING)
    if size is None:
        return {}
    return {_SIZE_SETTING: str(rounded_up(size, _PAGE_BYTES, _LEAST_BUFFER_BYTES))}


def _durability_lowered_by(effective: Mapping[str, str]) -> tuple[str, ...]:
    names = ("async_commit", "no_logging")
    return tuple(
        f"{name} = {effective[name]}"
        for name in names
        if effective.get(name, "").lower() in ("y", "yes", "1")
    )


CUBRID = Cubrid()
