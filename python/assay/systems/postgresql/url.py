"""Takes a server's URL in libpq's form; gives its address."""

from __future__ import annotations

from assay.env_vars import EnvVar
from assay.errors import ArgumentError
from assay.provision.deployment import Address
from assay.systems import urls
from assay.systems.first_session import Server

SCHEMES = ("postgresql", "postgres")

PASSWORD = EnvVar(
    "PGPASSWORD", "The password for a PostgreSQL URL that holds none, as libpq takes it."
)

EXPECTED = Server(
    name="PostgreSQL",
    password=PASSWORD.name,
    user_parameter="user",
    tls_parameter="sslmode",
    no_database=("3D000",),
    timeout_fix="does a PostgreSQL server listen there? a firewall, or another kind of server, may "
    "stay silent: correct scheme, host and port in the URL",
)

DEFAULT_PORT = 5432
DEFAULT_SOCKET_FOLDER = "/var/run/postgresql"

_TLS_OF_SSLMODE = {
    "disable": "off",
    "allow": "prefer",
    "prefer": "prefer",
    "require": "require",
    "verify-ca": "verify",
    "verify-full": "verify",
}
_PARAMETERS = ("host", "port", "user", "dbname", "sslmode", "sslrootcert")
"""Of libpq's, without ``password``: see `urls.read`."""


def address_of(url: str, *, session_statements: tuple[str, ...] = ()) -> Address:
    """``postgresql://user:password@host:port/database?sslmode=…&sslrootcert=…``.

    A host that begins with a slash (``?host=/run/postgresql``) is the folder of a Unix socket,
    which is also the default. TLS is ``prefer`` over TCP unless ``sslmode`` says otherwise.

    Raises `ArgumentError` that names the part which cannot be used, and never the password.
    """
    said = urls.read(url, scheme=SCHEMES[0], parameters=_PARAMETERS, password=PASSWORD)
    parameters = said.parameters
    tls = urls.meaning("sslmode", parameters.get("sslmode", "prefer"), _TLS_OF_SSLMODE)
    host = parameters.get("host") or said.host or DEFAULT_SOCKET_FOLDER
    port = _port(parameters.get("port", DEFAULT_PORT if said.port is None else said.port))
    user = parameters.get("user") or said.user or urls.own_name(SCHEMES[0])
    is_socket = host.startswith("/")
    return Address(
        driver="postgresql",
        unix=f"{host.rstrip('/')}/.s.PGSQL.{port}" if is_socket else None,
        host=None if is_socket else host,
        port=None if is_socket else port,
        user=user,
        password=said.password,
        database=parameters.get("dbname") or said.database or user,
        tls="off" if is_socket else tls,
        ca_file=parameters.get("sslrootcert"),
        session_statements=session_statements,
    )


def _port(said: str | int) -> int:
    text = str(said)
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise ArgumentError(f"port={text} in the URL is not a number from 1 to 65535")
    return int(text)
