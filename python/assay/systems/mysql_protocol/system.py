"""A product behind the protocol of every system under test: a private server, or one by URL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.server_url import Resolved
from assay.contracts.storage_facts import RAW, StorageFacts
from assay.contracts.systems.abilities import (
    IN_THE_TESTS,
    FoundPrograms,
    Profile,
    ProgramBuild,
    Spelled,
)
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory
from assay.dialects.mysql import MYSQL as DIALECT
from assay.env_vars import EnvVar
from assay.errors import Bug, SystemRefused
from assay.provision import processes
from assay.provision.copying import allocated_bytes
from assay.provision.engine.engine_calls import brief_session, session
from assay.provision.install import builds
from assay.systems import sessions, urls
from assay.systems.mysql_protocol import product, role, server, settings, url
from assay.systems.mysql_protocol.product import Buffer, Product, plain_name
from assay.systems.mysql_protocol.server import databases_bytes, table_files_bytes
from assay.systems.options import (
    BUFFER,
    CHOSEN_VERSION,
    TRANSPORT,
    connection_limit,
    profiles_of,
    refuse_buffer,
    said_version,
    values,
    version_of,
)
from assay.systems.sessions import first_session, number_of, numbers_of

BULK_FORM = OptionSpec(
    name="bulk_form",
    default="native",
    levels=("native", "multi-row"),
    help="How rows are loaded: LOAD DATA LOCAL, or INSERT statements of many rows, which a server "
    "takes whose local_infile is off.",
)

_OF_INNODB = frozenset({"transactions", "isolation levels", "foreign keys"})

_DEFAULT_CONNECTIONS = 151
_OPEN_TABLES_PER_CONNECTION = 4
"""A session opens each table of a statement for itself; MyISAM a file with it."""

_LOCAL_SESSION = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
"""On a server that we do not configure: what does not fit is an error, a backslash is an escape."""

_SIZE_QUERY = """
SELECT COALESCE(SUM(data_length + index_length + data_free), 0)
FROM information_schema.tables WHERE table_schema = DATABASE()
"""

_DATA_SIZE_QUERY = """
SELECT COALESCE(SUM(data_length + index_length), 0)
FROM information_schema.tables WHERE table_schema = DATABASE()
"""


_LEAVES_PARTS_QUERY = """
SELECT COUNT(*) FROM information_schema.tables AS t
JOIN information_schema.engines AS e ON e.engine = t.engine
WHERE t.table_schema = DATABASE() AND COALESCE(e.transactions, 'NO') <> 'YES'
"""


class ProductSystem(processes.OfProcesses):
    dialect: Dialect = DIALECT
    driver = "mysql"
    capabilities = frozenset(CAPABILITIES)
    url_variables: tuple[EnvVar, ...] = url.VARIABLES
    verified = IN_THE_TESTS
    least_memory_bytes = 24 << 20

    def __init__(self, product: Product) -> None:
        self.product = product
        self.name = product.name
        self.option_specs: tuple[OptionSpec, ...] = (
            product.engine,
            BUFFER,
            TRANSPORT,
            BULK_FORM,
            CHOSEN_VERSION,
        )
        self.url_schemes: tuple[str, ...] = (product.name,)
        self.default_port = url.DEFAULT_PORT

        self.chosen_by = product.base_folder

    def profiles(self) -> Mapping[str, Profile]:
        return profiles_of(self.product.folder)

    def find(self) -> FoundPrograms:
        program = self.product.find_programs().server
        return FoundPrograms(version_of(program), str(program))

    def places(self) -> Sequence[str]:
        return self.product.places()

    def find_at(self, place: str) -> FoundPrograms:
        return FoundPrograms(version_of(self.product.find_programs(place).server), place)

    def build_at(self, place: str) -> ProgramBuild:
        server = self.product.find_programs(place).server
        own = [f"{shared}/{name}" for shared in ("lib", "lib64") for name in (self.name, "mysql")]
        return ProgramBuild((server, *builds.libraries_of(Path(place), own)), said_version(server))

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        """A server in ``directory.data``, new or as it is there; see `System.provision`.

        ``max_connections`` becomes what the run needs and some more, unless it is among the
        settings asked for: then the run meets the limit it wanted to meet.
        """
        self.check(choice)
        options = values(self.option_specs, choice)
        found = self.product.find_programs(choice.programs)
        own = product.buffer_settings(self._buffer_of(options), options, choice.settings)
        logs = server.separate_log_settings(
            directory, choice.settings, writes_binary_log=self.product.writes_binary_log
        )
        if not directory.data.exists():
            new = {**server.raw_device_settings(directory, is_new=True), **logs}
            server.initialise(self.product, found, directory, {**choice.settings, **new})
        own = {**own, **server.raw_device_settings(directory, is_new=False)}
        room = _room_for(self.product, connections, choice.settings)
        most = int(room.get("max_connections", _DEFAULT_CONNECTIONS))
        with server.running(
            self.product,
            found,
            directory,
            {**room, **own, **choice.settings, **logs},
            over_tcp=options[TRANSPORT.name] == "tcp",
            open_files=10_000 + 10 * most,
        ) as running:
            deployment = self._deployment(
                choice,
                structs.replace(_address(running), programs=choice.programs),
                options=options,
                node=Node(self.name, directory.storage, running.process.pid, directory.data),
            )
            _insist_on_room(deployment, room)
            yield deployment

    def capabilities_with(self, choice: SystemChoice) -> frozenset[str]:
        """The engines beside the default one know no transactions; of a server by URL the default
        is not known, and taken to be the usual one."""
        own = self.product.engine
        engine = choice.options.get(own.name, own.default)
        return self.capabilities if engine == own.default else self.capabilities - _OF_INNODB

    def check_raw_device(self, choice: SystemChoice) -> None:
        server.check_raw_device(choice, values(self.option_specs, choice)[self.product.engine.name])

    def check_separate_log(self, choice: SystemChoice) -> None:
        server.check_separate_log(
            choice, values(self.option_specs, choice)[self.product.engine.name]
        )

    def check_url(self, text: str) -> None:
        url.addresses_of(self.product, text)

    def complete_url(self, text: str) -> Resolved:
        return url.complete(self.product, text)

    def check(self, choice: SystemChoice) -> None:
        if choice.url is not None:
            refuse_buffer(choice)
            return
        server.check_settings(self.product, choice.settings)
        options = values(self.option_specs, choice)
        product.check_buffer(self._buffer_of(options), options, choice)

    def refuse_settings(self, choice: SystemChoice) -> None:
        found = self.product.find_programs(choice.programs)
        settings.refuse_altered(self.product, found, choice.settings)
        server.refuse_settings(self.product, found, choice.settings)

    def refuse_reaching_settings(self, choice: SystemChoice) -> None:
        settings.refuse_reaching_settings(self.product.title, choice.settings)

    def powers(self, deployment: Deployment) -> tuple[str, ...]:
        with brief_session(deployment.address) as opened:
            return settings.powers_of_session(opened)

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        found = self.product.find_programs(choice.programs)
        return list(settings.spelled(self.product, found, choice.settings))

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        """The server of a URL. Settings are set in each session, as far as the server lets one;
        tables live in the server's default engine unless ``engine`` was asked for."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a server")
        self.check(choice)
        asked = {plain_name(name) for name in choice.settings}
        statements = [] if "sql_mode" in asked else [_LOCAL_SESSION]
        statements += [
            f"SET SESSION {DIALECT.identifier(plain_name(name))} = {_value(value)}"
            for name, value in choice.settings.items()
        ]
        addresses = url.addresses_of(self.product, choice.url, session_statements=tuple(statements))

        def attach(address: Address) -> Deployment:
            own = urls.with_origins(address, choice.url_origins)
            return self._deployment(
                choice,
                structs.replace(own, server_query=role.SERVER_QUERY),
                options=dict(choice.options),
                node=Node(self.name, StorageFacts.of_url()),
                is_private=False,
            )

        if len(addresses) == 1:
            yield attach(addresses[0])
        else:
            shown = choice.url_without_password or ""
            yield sessions.attached_cluster(addresses, shown, attach, role.cluster_of)

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """Of a private server the folders of all databases but its own, and the files that tables
        of the engine share (tablespaces, undo and redo logs); binary logs. As allocated by the file
        system; on a raw device the tables as their statistics have them, and the data directory.
        Of one by URL what it says of the tables of its one database, without any log."""
        if deployment.data_directory is not None:
            if deployment.storage.file_system == RAW:
                return self.data_bytes(deployment) + allocated_bytes(deployment.data_directory)
            shared = self.product.shared_files.get(self._engine(deployment))
            return databases_bytes(deployment.data_directory, shared)
        return number_of(self._with_statistics(deployment), _SIZE_QUERY)

    def least_storage_bytes(self, choice: SystemChoice) -> int:
        """Settings of InnoDB decide the size of its files."""
        is_default = not any(name.startswith("innodb") for name in choice.settings)
        return self.product.least_directory_bytes if is_default else 0

    def least_bytes(self, rows: int, text_bytes: int) -> int:
        """Of MyISAM, which needs less than the other engines."""
        return rows + text_bytes // 3

    def data_bytes(self, deployment: Deployment) -> int:
        """Rows and indexes of the tables, as their statistics have them."""
        return number_of(self._with_statistics(deployment), _DATA_SIZE_QUERY)

    def table_files_bytes(self, deployment: Deployment) -> int:
        """The folders of the databases, as the file system allocates them; where the tables share
        their files, what their statistics say, with the free space."""
        own = deployment.settings.get("innodb_file_per_table", "ON") not in ("OFF", "0")
        if own and deployment.data_directory and deployment.storage.file_system != RAW:
            return table_files_bytes(deployment.data_directory)
        return number_of(self._with_statistics(deployment), _SIZE_QUERY)

    def buffer_bytes(self, deployment: Deployment) -> int | None:
        """Of the storage engine that the tables live in."""
        own = self.product.buffers.get(self._engine(deployment))
        return product.effective_buffer_bytes(own, deployment.settings)

    def counters(self, deployment: Deployment) -> Mapping[str, int]:
        """Of the storage engine that the tables live in, over all its tables."""
        with brief_session(deployment.address) as opened:
            own = self.product.buffers.get(self._engine(deployment))
            return product.buffer_counters(own, opened)

    def leaves_parts(self, deployment: Deployment) -> bool:
        """Of tables of an engine without transactions."""
        with brief_session(deployment.address) as opened:
            found = numbers_of(opened, _LEAVES_PARTS_QUERY, columns=1)
        return bool(found) and found != (0,)

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        known = self.product.settings_of_the_directory
        return {name: value for name, value in deployment.settings.items() if name in known}

    def durability_lowered_after(
        self, deployment: Deployment, statements: Sequence[str]
    ) -> tuple[str, ...]:
        """Not the engine of new tables: that of each table is asked for by itself."""
        with session(deployment.address) as opened:
            for statement in statements:
                opened.execute(statement)
            return settings.durability_lowered_by(settings.read(opened) or {}, engine="")

    def refuse_too_many(self, deployment: Deployment, clients: int) -> None:
        sessions.refuse_too_many(
            deployment, clients, in_use_query=self.product.sessions_query, setting="max_connections"
        )

    def why_waiting(self, directory: ServerDirectory) -> str | None:
        """Tables of MyISAM and Aria wait for free space, and try again every minute."""
        return server.why_waiting(directory)

    def client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        return client_command(self.product, address)

    def native_client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        (program, first, *others), environment = self.client_command(address)
        own = ["--batch", "--skip-column-names"]
        if address.session_statements:
            own.append(f"--init-command={'; '.join(address.session_statements)}")
        return [program, first, *own, *others], environment

    def dump_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        return dump_command(self.product, address)

    @contextlib.contextmanager
    def quiesced(self, deployment: Deployment) -> Iterator[None]:
        """Every table is flushed and locked against changes; the redo log has what was committed
        before."""
        with session(deployment.address) as opened:
            opened.execute("FLUSH TABLES WITH READ LOCK")
            yield
            opened.execute("UNLOCK TABLES")

    def _engine(self, deployment: Deployment) -> str:
        """That the tables live in, in lower case; empty where it is not known."""
        asked = deployment.options.get(self.product.engine.name)
        return (asked or deployment.settings.get("default_storage_engine", "")).lower()

    def _buffer_of(self, options: Mapping[str, str]) -> Buffer:
        return self.product.buffers[options[self.product.engine.name].lower()]

    def _with_statistics(self, deployment: Deployment) -> Deployment:
        """The same, whose sessions see the sizes of tables as they are now."""
        own = (*deployment.address.session_statements, *self.product.statistics_statements)
        address = structs.replace(deployment.address, session_statements=own)
        return replace(deployment, endpoints=(address,), members=())

    def _deployment(
        self,
        choice: SystemChoice,
        address: Address,
        *,
        options: Mapping[str, str],
        node: Node,
        is_private: bool = True,
    ) -> Deployment:
        """Asks the server what it is and what it was really given."""
        with first_session(choice.url, address, url.expected(self.product)) as opened:
            found = settings.read(opened)
            changed = settings.changed(opened, self.product) if found else set()
            described = self.product.descriptions(opened) if found and choice.settings else {}
            version = opened.server_version
            own_role = None if is_private or not found else role.role_of(opened, found)
            refuse_another_product(choice, self.product, version)
        if found is None and is_private:
            raise SystemRefused(f"{choice.label} does not report its settings: {settings.UNKNOWN}")
        if found:
            settings.insist(self.product, found, choice.settings, described)
        effective = settings.effective(found or {}, choice.settings, changed)
        engine = options.get("engine") or effective.get("default_storage_engine", "")
        limit = (found or {}).get("max_connections", "")
        lowered = settings.durability_lowered_by(effective, engine)
        return Deployment(
            system=self.name,
            label=choice.label,
            nodes=(node,),
            endpoints=(address,),
            version=version,
            options=options,
            settings_asked=dict(choice.settings),
            settings=effective,
            settings_confirmed=tuple(choice.settings) if found else (),
            settings_unknown="" if found else settings.UNKNOWN,
            connection_limit=int(limit) if limit.isdecimal() else None,
            is_private=is_private,
            role=own_role,
            durability_lowered_by=lowered,
            durable_instead=settings.durable_instead(lowered),
            safeguards=tuple(settings.safeguards_of_settings(found or {}, engine)),
        )


def _room_for(
    product: Product, connections: int | None, asked: Mapping[str, str]
) -> dict[str, str]:
    """Settings that let so many sessions in, each with its tables open."""
    if connections is None:
        return {}
    most = connection_limit(connections, _DEFAULT_CONNECTIONS)
    tables = max(product.default_table_open_cache, most * _OPEN_TABLES_PER_CONNECTION)
    room = {"max_connections": str(most), "table_open_cache": str(tables)}
    names = {plain_name(name) for name in asked}
    return {name: value for name, value in room.items() if name not in names}


def _insist_on_room(deployment: Deployment, room: Mapping[str, str]) -> None:
    """A server that may open too few files silently lowers its connection limit."""
    given = int(room.get("max_connections", 0))
    if deployment.connection_limit is not None and deployment.connection_limit < given:
        raise SystemRefused(
            f"the server was given max_connections = {given} and took "
            f"{deployment.connection_limit}, because it may open only "
            f"{deployment.settings.get('open_files_limit')} files",
            hint="raise the limit of open files of this shell: ulimit -n",
        )


def _value(text: str) -> str:
    """A value in a SET statement: numbers stand bare, everything else as a literal."""
    return text if text.lstrip("-").isdecimal() else DIALECT.literal(text)


def _address(running: processes.ListeningServer) -> Address:
    return Address(
        driver="mysql",
        unix=str(running.socket) if running.port is None else None,
        host=None if running.port is None else running.host,
        port=running.port,
        user=server.USER,
        password=running.password,
        database=server.DATABASE,
    )


_PRODUCTS = {"MariaDB": "mariadb", "MySQL": "mysql"}
"""First word of the driver's version → scheme of URLs."""

_OF_NEITHER = "Assay-null"
"""In the version of our null server, which either scheme may lead to."""


def refuse_another_product(choice: SystemChoice, product: Product, version: str) -> None:
    """Raises `SystemRefused`: results must not be those of another product than they say."""
    found = version.partition(" ")[0]
    scheme = _PRODUCTS.get(found, product.name)
    if scheme != product.name and _OF_NEITHER not in version:
        raise SystemRefused(
            f"{choice.label}: expected {product.title}, found {version}",
            hint=f"the same URL with {scheme}://",
        )


_LOCAL = "127.0.0.1"


def client_command(product: Product, address: Address) -> tuple[list[str], Mapping[str, str]]:
    r"""The client, which reads SQL on standard input: its arguments, and its environment.

    It reads no option files (which could change its output), and takes its input as it is: without
    binary mode it makes ``\n`` of ``\r\n`` also within texts. The password goes by the environment:
    arguments are there for everybody to see. Raises `SystemMissing`.
    """
    own = [str(product.find_client(address.programs)), "--no-defaults", "--binary-mode"]
    database = [address.database] if address.database else []
    return [*own, *_connection(product, address), *database], _environment(address)


def dump_command(product: Product, address: Address) -> tuple[list[str], Mapping[str, str]]:
    """The dump program, which writes SQL for `command` to standard output: the tables as of one
    instant, where their engine has transactions; others one after the other, without a lock on all
    of them. Raises `SystemMissing`."""
    own = [
        str(product.find_dump(address.programs)),
        "--no-defaults",
        "--single-transaction",
        "--no-tablespaces",
    ]
    arguments = [*own, *product.dump_arguments, *_connection(product, address)]
    return [*arguments, address.database], _environment(address)


def _connection(product: Product, address: Address) -> list[str]:
    arguments = [
        "--default-character-set=utf8mb4",
        *_place(address),
        *([f"--user={address.user}"] if address.user else []),
        *product.tls_arguments(address),
    ]
    if address.ca_file is not None:
        arguments.append(f"--ssl-ca={address.ca_file}")
    if address.cert_file is not None:
        arguments += [f"--ssl-cert={address.cert_file}", f"--ssl-key={address.key_file}"]
    return arguments


def _environment(address: Address) -> Mapping[str, str]:
    return {"MYSQL_PWD": address.password} if address.password is not None else {}


def _place(address: Address) -> list[str]:
    if address.unix is not None:
        return [f"--socket={address.unix}"]
    if address.host is None and address.port is None:
        return []  # the socket that the client was built for
    host = [f"--host={address.host or _LOCAL}"]
    port = [f"--port={address.port}"] if address.port is not None else []
    return ["--protocol=tcp", *host, *port]
