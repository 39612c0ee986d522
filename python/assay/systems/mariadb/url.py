"""Takes a server's URL; gives its address."""

from __future__ import annotations

from assay.env_vars import EnvVar
from assay.errors import ArgumentError
from assay.provision.deployment import Address
from assay.systems import urls
from assay.systems.first_session import Server

SCHEMES = ("mariadb", "mysql")

PASSWORD = EnvVar(
    "MYSQL_PWD",
    "The password for a MariaDB or MySQL URL that holds none, as their clients take it.",
)

EXPECTED = Server(
    name="MariaDB or MySQL",
    password=PASSWORD.name,
    user_parameter="",
    tls_parameter="ssl-mode",
    no_database=("1044", "1049"),
    timeout_fix="a MariaDB or MySQL server speaks first, and this one was silent: is it one? "
    "correct scheme, host and port in the URL",
)

DEFAULT_PORT = 3306

_TLS_OF_MODE = {
    "disabled": "off",
    "preferred": "prefer",
    "required": "require",
    "verify_ca": "verify",
    "verify_identity": "verify",
}
_PARAMETERS = ("socket", "ssl-mode", "ssl-ca")
"""Names of the clients' own options."""


def address_of(url: str, *, session_statements: tuple[str, ...] = ()) -> Address:
    """``mariadb://user:password@host:port/database?socket=…&ssl-mode=…&ssl-ca=…``.

    With ``socket`` the path of a Unix socket, host and port mean nothing. TLS is ``preferred`` over
    TCP unless ``ssl-mode`` says otherwise.

    Raises `ArgumentError` that names the part which cannot be used, and never the password.
    """
    said = urls.read(url, scheme=SCHEMES[0], parameters=_PARAMETERS, password=PASSWORD)
    mode = said.parameters.get("ssl-mode", "preferred").lower()
    tls = urls.meaning("ssl-mode", mode, _TLS_OF_MODE)
    if not said.database:
        raise ArgumentError(
            "the URL names no database",
            hint=f"{urls.form(SCHEMES[0])}; statements run in that database",
        )
    socket = said.parameters.get("socket")
    return Address(
        driver="mysql",
        unix=socket,
        host=None if socket else said.host.lower() or "127.0.0.1",
        port=None if socket else said.port or DEFAULT_PORT,
        user=said.user or urls.own_name(SCHEMES[0]),
        password=said.password,
        database=said.database,
        tls="off" if socket else tls,
        ca_file=said.parameters.get("ssl-ca"),
        session_statements=session_statements,
    )
