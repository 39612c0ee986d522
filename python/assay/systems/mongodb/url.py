"""Takes a server's URL, as MongoDB's own clients write it; returns its address, and the deployment
there, whichever product it is. Every system that speaks this protocol is a `DocumentSystem`."""

from __future__ import annotations

import contextlib
import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.server_url import Resolved
from assay.contracts.storage_facts import StorageFacts
from assay.dialects.mongodb import MONGODB
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, Bug, PasswordNeeded, SystemRefused
from assay.provision import processes
from assay.provision.engine.engine_calls import Session
from assay.systems import urls
from assay.systems.sessions import ExpectedServer, first_session
from assay.systems.urls import URL, Sourced

PASSWORD = EnvVar("ASSAY_MONGODB_PASSWORD", "The password for a mongodb:// URL that holds none.")

VARIABLES = (PASSWORD,)
"""All that a URL is completed with."""

DEFAULT_PORT = 27017

DRIVER = "mongodb"

_UNAUTHORIZED = "13"
"""The code of a server that demands a login."""

_TLS = {"true": "verify", "false": "off"}
_TRUTH = {"true": "true", "false": "false"}
_DRIVER_OPTIONS = {
    "authSource": "auth_source",
    "authMechanism": "auth_mechanism",
    "w": "write_concern",
    "journal": "journal",
    "readConcernLevel": "read_concern",
}
"""Parameter of the URL → option of the driver."""
_TLS_FILES = ("tlsCAFile", "tlsCertificateKeyFile")
_TLS_ALLOWED = ("tlsAllowInvalidCertificates", "tlsAllowInvalidHostnames")
_REPLICA_SET = "replicaSet"
_PARAMETERS = (
    "authSource",
    "authMechanism",
    "tls",
    *_TLS_FILES,
    *_TLS_ALLOWED,
    "connectTimeoutMS",
    "w",
    "journal",
    "readConcernLevel",
    "directConnection",
    _REPLICA_SET,
)
"""Of the connection strings of MongoDB's clients."""


def expected(title: str) -> ExpectedServer:
    """What a URL leads to."""
    return ExpectedServer(
        name=title,
        password=PASSWORD.name,
        tls_parameter="tls",
        authorities_parameter="tlsCAFile",
        client_certificate="tlsCertificateKeyFile",
        signed_only="tlsAllowInvalidHostnames=true",
        no_tls="tls=false",
        no_database=(),
        password_needed=(_UNAUTHORIZED,),
        silent_fix=f"does a {title} server listen there? correct scheme, host and port in the URL; "
        "one that takes only encrypted sessions may stay silent: tls=true",
        socket="the path of the socket",
        tls_required="tls=true",
        more_time="connectTimeoutMS=60000",
        fix_of=_fix_of,
        other_cause=_no_other_cause,
        begins_with_tls=True,
    )


def address_of(url: str, scheme: str) -> Address:
    """``SCHEME://user:password@host:port/database?authSource=…&tls=…``.

    The path of a Unix socket stands in the place of the host, with ``%2F`` for ``/``. The user is
    known to the database ``authSource``: `admin` unless the URL says otherwise. Without a user no
    login is tried.

    Raises `ArgumentError` that names the part which cannot be used, and never the password.
    """
    said = urls.read(url, scheme=scheme, parameters=_PARAMETERS, password=PASSWORD)
    found = Sourced()
    found.add(URL, said.parameters)
    port = None if said.port is None else str(said.port)
    found.add(URL, {"host": said.host, "port": port, "user": said.user})
    found.add(URL, {"password": said.password, "database": said.database})
    if said.user:
        found.add_environment({"password": PASSWORD})
    if not (database := found.get("database")):
        raise ArgumentError(
            "the URL names no database",
            hint=f"{urls.form(scheme)}; documents are kept in that database",
        )
    host = found.get("host") or "127.0.0.1"
    unix = host if host.startswith("/") else None
    tls = "off" if unix else _tls(found)
    files = {name: urls.readable_file(found, name) for name in _TLS_FILES if tls != "off"}
    return Address(
        driver=DRIVER,
        unix=unix,
        host=None if unix else host.lower(),
        port=None if unix else urls.port(found, DEFAULT_PORT),
        user=found.get("user") or "",
        password=found.get("password") if said.user else None,
        database=database,
        tls=tls,
        ca_file=files.get("tlsCAFile") if tls.startswith("verify") else None,
        cert_file=files.get("tlsCertificateKeyFile"),
        key_file=files.get("tlsCertificateKeyFile"),
        connect_timeout_s=_connect_timeout_s(found),
        options=_driver_options(found),
        origins=_origins(found, unix),
    )


def replica_set(url: str, scheme: str) -> str | None:
    """The replica set of which the URL says that the server is a member; None: it names none."""
    return urls.read(url, scheme=scheme, parameters=_PARAMETERS, password=PASSWORD).parameters.get(
        _REPLICA_SET
    )


def complete(url: str, scheme: str) -> Resolved:
    """The URL as it is: of an address only the password is looked for elsewhere."""
    return Resolved(url, address_of(url, scheme).origins)


def _tls(given: Sourced) -> str:
    """`off` unless something asks for it, as with the clients; verified unless less is asked."""
    asks = any(given.get(name) for name in (*_TLS_FILES, *_TLS_ALLOWED))
    tls = urls.meaning(given, "tls", _TLS, "true" if asks else "false")
    allowed = [
        name for name in _TLS_ALLOWED if urls.meaning(given, name, _TRUTH, "false") == "true"
    ]
    if tls == "off" or not allowed:
        return tls
    return "require" if _TLS_ALLOWED[0] in allowed else "verify-ca"


def _driver_options(given: Sourced) -> dict[str, str]:
    """What sessions are opened with; for the driver by its own names."""
    # In any case: the one server of the URL is measured.
    urls.meaning(given, "directConnection", {"true": "true"}, "true")
    options = {
        option: urls.driver_option(given, parameter, DRIVER, option=option)
        for parameter, option in _DRIVER_OPTIONS.items()
    }
    return {name: value for name, value in options.items() if value}


def _connect_timeout_s(given: Sourced) -> float:
    text = given.get("connectTimeoutMS")
    if text is None:
        return 30.0
    if not (text.isdecimal() and text.isascii()):
        raise ArgumentError(
            f"{given.spelled('connectTimeoutMS')}: expected a whole number of milliseconds"
        )
    return int(text) / 1000 or 86_400.0


def _origins(given: Sourced, unix: str | None) -> dict[str, str]:
    names = ["user", "database", "authSource", "authMechanism", "w", "journal", "readConcernLevel"]
    names += ["connectTimeoutMS"]
    names += ["host"] if unix else ["host", "port", "tls", *_TLS_FILES]
    defaults: Mapping[str, str] = {"host": "default", "port": "default", "tls": "default"}
    origins = {name: given.origin(name) or defaults.get(name, "") for name in names}
    password = given.origin("password") or "none found"
    return {name: one for name, one in origins.items() if one} | {"password_from": password}


def _fix_of(error: SystemRefused, address: Address) -> str | None:
    if error.error_class != "authentication" and error.code != _UNAUTHORIZED:
        return None
    if not address.user:
        form = "USER:PASSWORD@HOST:PORT/DATABASE"
        return (
            f"name the user in the URL, {form}; the password may stand in {PASSWORD.name} instead"
        )
    source = address.options.get("auth_source", "admin")
    return (
        f"correct user and password, or name the database where the user {address.user!r} is "
        f"declared: authSource={source} is used"
    )


def _no_other_cause(_error: SystemRefused, _address: Address) -> str | None:
    return None


_NAMES = {"FerretDB": "ferretdb", "MongoDB": "mongodb"}
"""First word of the driver's version → name of the system, and scheme of its URLs."""
_TITLES = {name: title for title, name in _NAMES.items()}

ASKS_FOR_A_LOGIN = '{"listCollections": 1, "nameOnly": true, "authorizedCollections": true}'

UNKNOWN = "a server by URL does not report them to every user"


def _insist_on_replica_set(opened: Session, choice: SystemChoice, asked: str | None) -> None:
    """Raises `SystemRefused` where the server is no member of the replica set that is asked for."""
    found = answer_of_command(opened, {"hello": 1}).get("setName") if asked else None
    if found != asked:
        of_server = f"one of {found}" if found else "a server without a replica set"
        raise SystemRefused(
            f"{choice.label}: expected a member of the replica set {asked}, found {of_server}",
            hint="correct replicaSet=… in the URL, or leave it out",
        )


def deployment_by_url(choice: SystemChoice, name: str) -> Deployment:
    """Raises `SystemRefused` where the server is another product than ``name`` says, or cannot be
    reached."""
    if choice.url is None:
        raise Bug("attach() needs the URL of a server")
    address = urls.with_origins(address_of(choice.url, name), choice.url_origins)
    if address.user and address.password is None:
        raise PasswordNeeded(
            f"{choice.label}: expected a password for the user {address.user!r}, found none",
            hint=f"write it into the URL, USER:PASSWORD@, or into {PASSWORD.name}",
        )
    with first_session(choice.url, address, expected(_TITLES[name])) as opened:
        version = opened.server_version
        # Which every server answers, also to those who may do nothing else.
        opened.execute(ASKS_FOR_A_LOGIN)
        _insist_on_replica_set(opened, choice, replica_set(choice.url, name))
    found = _NAMES.get(version.partition(" ")[0], name)
    if found != name:
        raise SystemRefused(
            f"{choice.label}: expected {_TITLES[name]}, found {version}",
            hint=f"the same URL with {found}://",
        )
    return Deployment(
        system=name,
        label=choice.label,
        nodes=(Node(name, StorageFacts.of_url()),),
        endpoints=(address,),
        version=version,
        options=dict(choice.options),
        settings_asked=dict(choice.settings),
        settings={},
        settings_unknown=UNKNOWN,
        is_private=False,
    )


def answer_of_command(opened: Session, document: Mapping[str, str | int]) -> dict[str, str | None]:
    """The fields of the one document that a command answers; raises `SystemRefused` where there is
    none."""
    text = json.dumps(document)
    answer = opened.execute(text)
    if len(answer.rows) != 1:
        raise SystemRefused(f"expected one document as the answer to {text}")
    return dict(zip(answer.columns, answer.rows[0], strict=True))


def size_bytes(opened: Session) -> int:
    """Documents and indexes of the session's database, as the server allocates them."""
    said = answer_of_command(opened, {"dbStats": 1})
    total = said.get("totalSize")
    if total is None:  # before version 4.4
        total = str(float(said.get("storageSize") or 0) + float(said.get("indexSize") or 0))
    return int(float(total))


class DocumentSystem(processes.OfProcesses):
    """What the systems of this protocol share."""

    name: str
    dialect: Dialect = MONGODB
    driver = DRIVER
    capabilities = frozenset({
        "tables", "stored rows", "unique keys", "exact decimals", "documents", "gregorian dates",
        "prepared statements", "bulk load", "restart", "own processes",
    })  # fmt: skip
    default_port = DEFAULT_PORT
    url_variables: tuple[EnvVar, ...] = VARIABLES

    @abstractmethod
    def check(self, choice: SystemChoice) -> None:
        """Raises `ArgumentError`."""

    def check_url(self, text: str) -> None:
        address_of(text, self.name)

    def complete_url(self, text: str) -> Resolved:
        return complete(text, self.name)

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        self.check(choice)
        yield deployment_by_url(choice, self.name)
