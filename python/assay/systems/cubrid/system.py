"""CUBRID behind the protocol of every system under test: a private server, or one by URL."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import structs

from assay.contracts import durability
from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.durability import Safeguard, safeguard
from assay.contracts.engine import DeploymentDocument
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import IN_THE_TESTS, FoundPrograms, Profile, Spelled
from assay.contracts.systems.protocol import OptionSpec, ProcessSample, ServerDirectory
from assay.dialects.cubrid import CUBRID as DIALECT
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, Bug, SystemRefused
from assay.provision import processes
from assay.provision.copying import allocated_bytes
from assay.provision.engine.engine_calls import Session, session
from assay.provision.machine import ports, sampling
from assay.systems import urls
from assay.systems.cubrid import server
from assay.systems.cubrid.server import MODULE
from assay.systems.dbapi.system import CLIENT_PROCESSES
from assay.systems.options import (
    BUFFER,
    buffer_bytes,
    connection_limit,
    profiles_of,
    refuse_beyond_memory,
    refuse_buffer,
    rounded_up,
    values,
    version_of,
)
from assay.text.units import in_largest_unit

SCHEMES = ("cubrid",)
DEFAULT_PORT = 33000
"""Of the broker that a new installation has beside the one for editors."""

PASSWORD = EnvVar("ASSAY_CUBRID_PASSWORD", "The password for a cubrid:// URL that holds none.")


class CubridAddress(Address, frozen=True):
    """The driver is given the parts of the address as keywords of ``connect()``."""

    def for_engine(self) -> DeploymentDocument:
        document = super().for_engine()
        keywords = {name: getattr(self, name) for name in ("host", "port", "database", "user")}
        options = {**document.options, "keywords": json.dumps(keywords)}
        return structs.replace(document, options=options)


def driver_address(
    *, host: str, port: int, database: str, user: str, password: str | None
) -> Address:
    """Through the Python driver."""
    return CubridAddress(
        driver="dbapi",
        host=host,
        port=port,
        user=user,
        password=password,
        database=database,
        options={
            "module": MODULE,
            "password_keyword": "password",
            "code_attribute": "errno",
            "version_query": "SELECT 'CUBRID ' || version()",
            "error_classes": json.dumps(dict(DIALECT.error_classes)),
            "error_phrases": json.dumps(dict(DIALECT.error_phrases)),
        },
    )


def address_of(url: str) -> Address:
    """Raises `ArgumentError` that names the part which cannot be used, and never the password."""
    parts = urls.read(url, scheme=SCHEMES[0], parameters=(), password=PASSWORD)
    if not parts.database:
        raise ArgumentError("the URL names no database", hint=urls.form(SCHEMES[0]))
    return driver_address(
        host=parts.host or "localhost",
        port=parts.port or DEFAULT_PORT,
        database=parts.database,
        user=parts.user or "public",
        password=parts.password or PASSWORD.get(),
    )


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


class Cubrid(processes.OfProcesses):
    name = "cubrid"
    dialect: Dialect = DIALECT
    driver = "dbapi"
    capabilities = frozenset(CAPABILITIES) - _LACKING
    option_specs: tuple[OptionSpec, ...] = (BUFFER, CLIENT_PROCESSES)
    url_schemes: tuple[str, ...] = SCHEMES
    default_port = DEFAULT_PORT
    chosen_by = server.HOME
    verified = IN_THE_TESTS

    def __init__(self) -> None:
        self._broker_sessions: dict[int, int] = {}
        """Of each private server, by its process number."""

    def profiles(self) -> Mapping[str, Profile]:
        return profiles_of(Path(__file__).parent)

    def find(self) -> FoundPrograms:
        programs = server.find_server()
        server.insist_on_the_driver()
        return FoundPrograms(version_of(programs.program("cubrid_rel")), str(programs.folder))

    def places(self) -> Sequence[str]:
        """None but the one that the environment names."""
        return ()

    def find_at(self, place: str) -> FoundPrograms:
        programs = server.find_server(place)
        return FoundPrograms(version_of(programs.program("cubrid_rel")), place)

    def insist_on_library(self) -> None:
        server.insist_on_the_driver()

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
        return list(spelled_settings(choice.settings))

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        options = values(self.option_specs, choice)
        self.check(choice)
        found = server.find_server(choice.programs)
        server.insist_on_the_driver()
        given = {**_buffer(options, choice.settings), **choice.settings}
        limit = connection_limit(connections or 0, _DEFAULT_CONNECTIONS)
        with server.running(found, directory, given, limit) as running:
            address = driver_address(
                host="127.0.0.1",
                port=running.home.broker_port,
                database=server.DATABASE,
                user=server.USER,
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
                    settings_confirmed=confirmed_settings(choice.settings, effective),
                    connection_limit=limit,
                    client_processes=int(options[CLIENT_PROCESSES.name]),
                    durability_lowered_by=_durability_lowered_by(effective),
                    safeguards=tuple(safeguards_of_settings(effective)),
                )
            finally:
                del self._broker_sessions[running.process.pid]

    def refuse_address(self, choice: SystemChoice, address: str) -> None:
        ports.refuse_beyond_loopback(choice.label, address)

    def check_url(self, text: str) -> None:
        address_of(text)

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        """The server of a URL."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a server")
        self.check(choice)
        server.insist_on_the_driver()
        options = values(self.option_specs, choice)
        address = address_of(choice.url)
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
                f"{PASSWORD.name}",
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
                return data_bytes(opened)
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


_QUANTITY = re.compile(r"(-?\d+)(?:\.(\d+))?\s*([a-z]*)")
_BOOLEANS = {"yes": "y", "no": "n", "on": "y", "off": "n"}
_BYTES = {letter: 1024.0**power for power, letter in enumerate("kmgtp", 1)}
_MS = {"ms": 1.0, "msec": 1.0, "s": 1e3, "sec": 1e3, "min": 60e3, "h": 3600e3}
_SCALES = {"": 1.0, **_BYTES, **_MS}
_SIZES = (("K", 1), ("M", 1 << 10), ("G", 1 << 20), ("T", 1 << 30), ("P", 1 << 40))
_TIMES = (("ms", 1), ("s", 1000), ("min", 60_000), ("h", 3_600_000))
_ALSO = {"msec": "ms", "sec": "s"}


def confirmed_settings(asked: Mapping[str, str], effective: Mapping[str, str]) -> tuple[str, ...]:
    """The server reports them in its own units, rounded: `1526G` as 1.5T, `720min` as 43200.000
    sec, `yes` as y."""
    return tuple(
        name for name, value in asked.items() if _is_reported_as(value, effective.get(name, ""))
    )


def spelled_settings(asked: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting in one spelling; the server's own defaults are known to a running one alone."""
    for name, value in asked.items():
        yield Spelled(name.strip().lower(), _in_one_spelling(value.strip()), is_default=False)


def _in_one_spelling(value: str) -> str:
    quantity = _QUANTITY.fullmatch(word := _word(value))
    if quantity is None:
        return {"y": "yes", "n": "no"}.get(word, value)
    if quantity[2] or not quantity[1].isdecimal() or not quantity[3]:
        return word
    unit = _ALSO.get(quantity[3], quantity[3])
    for units in (_SIZES, _TIMES):
        size = next((size for name, size in units if name.lower() == unit), None)
        if size is not None:
            return in_largest_unit(int(quantity[1]) * size, units)
    return word


def _is_reported_as(asked: str, text: str) -> bool:
    wanted, in_effect = _word(asked), _word(text)
    if wanted == in_effect:
        return True
    given, shown = _QUANTITY.fullmatch(wanted), _QUANTITY.fullmatch(in_effect)
    if given is None or shown is None or not {given[3], shown[3]} <= _SCALES.keys():
        return False
    if given[3] and shown[3] and (given[3] in _MS) != (shown[3] in _MS):
        return False
    decimals = len(shown[2] or "")
    value = float(f"{given[1]}.{given[2] or 0}") * _SCALES[given[3]] / _SCALES[shown[3]]
    return round(value, decimals) == float(f"{shown[1]}.{shown[2] or 0}")


def _word(value: str) -> str:
    word = value.strip().lower()
    return _BOOLEANS.get(word, word.removesuffix("b"))


_DOUBLEWRITE = "double_write_buffer_size"
_SUPPLEMENT = "supplemental_log"


def safeguards_of_settings(settings: Mapping[str, str]) -> Iterator[Safeguard]:
    """Of a version that does not have a setting, nothing is said of it; nor of a server by URL,
    which reports none."""
    if not settings:
        return
    yield Safeguard(durability.BINARY_LOG, durability.NO_BINARY_LOG)
    if supplement := settings.get(_SUPPLEMENT):
        is_more = supplement != "0"
        yield Safeguard(
            durability.LOG_FOR_REPLICAS,
            durability.LOGS_FOR_LOGICAL_REPLICAS if is_more else durability.NOTHING_FOR_REPLICAS,
            safeguard(settings, _SUPPLEMENT),
        )
    if size := settings.get(_DOUBLEWRITE):
        is_once = not any(digit in size for digit in "123456789")
        yield Safeguard(
            durability.TORN_PAGES,
            durability.WRITES_ONCE if is_once else durability.WRITES_TWICE,
            safeguard(settings, _DOUBLEWRITE),
        )


_TABLES = "SELECT class_name FROM db_class WHERE is_system_class = 'NO' AND class_type = 'CLASS'"
_DATA_PAGE_BYTES = 16 << 10
"""Of a database that was made without the option --db-page-size."""


def data_bytes(opened: Session) -> int:
    """Pages of the rows and of the indexes, free space within them included."""
    pages = 0
    for (name,) in opened.execute(_TABLES).rows:
        table = DIALECT.identifier(name or "")
        pages += _sum(opened, f"SHOW ALL HEAP CAPACITY OF {table}", "num_pages")
        pages += _sum(opened, f"SHOW ALL INDEXES CAPACITY OF {table}", "num_total_page")
    return pages * _DATA_PAGE_BYTES


def _sum(opened: Session, question: str, column: str) -> int:
    found = opened.execute(question)
    place = [name.lower() for name in found.columns].index(column)
    return sum(int(row[place] or 0) for row in found.rows)
