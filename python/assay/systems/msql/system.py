"""mSQL behind the protocol of every system under test: a server by URL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from urllib.parse import unquote

from assay.contracts import server_url
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import NOT_VERIFIED, FoundPrograms
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory
from assay.dialects.msql import MSQL as DIALECT
from assay.errors import ArgumentError, Bug, SystemDied, SystemMissing, SystemRefused
from assay.provision.engine.engine_calls import session
from assay.systems import urls
from assay.systems.urls import LOGIN_NAME, URL, Sourced
from assay.text.phrases import phrase

SCHEMES = ("msql",)
DEFAULT_PORT = 1114
"""Of version 4; earlier servers listen at 1112 where root has started them, else at 4333."""

_FORM = f"{SCHEMES[0]}://USER@HOST:PORT/DATABASE, or ?socket=FILE in place of host and port"


def address_of(url: str, *, session_statements: tuple[str, ...] = ()) -> Address:
    """Raises `ArgumentError`, whose message holds no password: mSQL has none."""
    parts = server_url.parts(url)
    server_url.insist_on_one_host(parts)
    parameters = dict(parts.parameters)
    socket = parameters.pop("socket", None)
    if parts.password is not None:
        raise ArgumentError("the URL has a password, and mSQL has none", hint=_FORM)
    if parameters:
        raise ArgumentError(
            "the URL has parameters that mSQL does not have; it has: socket", hint=_FORM
        )
    if socket is not None and (parts.host or parts.port):
        raise ArgumentError("the URL names both a socket and a host", hint=_FORM)
    urls.check_ports(url, parts, SCHEMES[0])
    given = Sourced()
    given.add(URL, {"port": parts.port})
    port = urls.port(given, DEFAULT_PORT)
    database = unquote(parts.path.removeprefix("/"))
    if not database:
        raise ArgumentError("the URL names no database", hint=_FORM)
    user = unquote(parts.user)
    return Address(
        driver="msql",
        unix=socket,
        host=None if socket else unquote(parts.host) or "localhost",
        port=None if socket else port,
        user=user or urls.own_name(SCHEMES[0]),
        database=database,
        session_statements=session_statements,
        origins={
            "host": "URL" if parts.host else "default",
            "port": "URL" if parts.port else "default",
            "user": "URL" if user else LOGIN_NAME,
        },
    )


CONNECTION_LIMIT = 24
"""Sessions that a server has at most; it cannot be asked."""

_HOW = phrase("reach a server of your own by its URL: {--on msql://USER@HOST:PORT/DATABASE}")
_FIXES = {
    "connection refused": "start the server, or correct host and port in the URL: mSQL listens at "
    "1114, earlier versions at 1112 or 4333",
    "silent": "an mSQL server speaks first, and this one was silent: correct host and port in the "
    "URL",
    "timeout": "correct host and port in the URL, or see the server's log",
    "protocol": "correct scheme, host and port in the URL",
    "too many connections": f"close other sessions: mSQL has room for {CONNECTION_LIMIT} in all",
    "authentication": "correct user and database in the URL, or let them in by the server's "
    "msql.acl",
}


class Msql:
    name = "msql"
    dialect: Dialect = DIALECT
    driver = "msql"
    capabilities = frozenset({"sql", "tables", "stored rows", "unique keys", "own processes"})
    option_specs: tuple[OptionSpec, ...] = ()
    url_schemes: tuple[str, ...] = SCHEMES
    default_port = DEFAULT_PORT
    verified = NOT_VERIFIED

    def find(self) -> FoundPrograms:
        """Raises `SystemMissing`: its licence does not allow others to distribute it."""
        raise SystemMissing("Assay does not start mSQL servers", hint=_HOW)

    def check(self, choice: SystemChoice) -> None:
        if choice.settings:
            raise ArgumentError(
                f"{choice.label}: mSQL has no settings, found {', '.join(choice.settings)}"
            )

    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> contextlib.AbstractContextManager[Deployment]:
        """Raises `SystemMissing`."""
        del choice, directory, connections
        self.find()
        raise Bug("find() has no programs to start")

    def check_url(self, text: str) -> None:
        address_of(text)

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        """The server of a URL. It reports no settings."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a server")
        self.check(choice)
        address = address_of(choice.url)
        yield Deployment(
            system=self.name,
            label=choice.label,
            nodes=(Node(self.name, StorageFacts.of_url()),),
            endpoints=(address,),
            version=_version(choice, address),
            options=dict(choice.options),
            settings_asked={},
            settings={},
            settings_unknown="mSQL does not report settings",
            connection_limit=CONNECTION_LIMIT,
            is_private=False,
        )


def _version(choice: SystemChoice, address: Address) -> str:
    try:
        with session(address) as opened:
            return opened.server_version
    except SystemDied as error:
        raise SystemDied(
            _expected(choice, address, error.message), hint=_FIXES["protocol"]
        ) from error
    except SystemRefused as error:
        raise SystemRefused(
            _expected(choice, address, error.message),
            error_class=error.error_class,
            code=error.code,
            hint=_FIXES.get(error.code) or _FIXES.get(error.error_class) or error.hint,
        ) from error


def _expected(choice: SystemChoice, address: Address, cause: str) -> str:
    place = address.unix or f"{address.host}:{address.port}"
    return (
        f"{choice.url_without_password}: expected an mSQL server at {place} with a database "
        f"{address.database!r} for user {address.user!r}; {cause}"
    )


MSQL = Msql()
