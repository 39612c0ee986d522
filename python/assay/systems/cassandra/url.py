"""Takes the URL of a server, ``cassandra://user:password@host:port/keyspace?tls=verify``; returns
its address."""

from __future__ import annotations

from assay.contracts.deployment import Address
from assay.contracts.server_url import Resolved
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemRefused
from assay.systems import urls
from assay.systems.first_session import ExpectedServer
from assay.systems.sourced import URL, Sourced

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
