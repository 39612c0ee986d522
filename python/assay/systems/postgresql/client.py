"""Takes an address; returns the commands of PostgreSQL's own programs for it: psql, pg_dump."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.contracts.deployment import Address
from assay.systems.postgresql.installation import PG_DUMP, find_client

_SSLMODE_OF_TLS = {
    "off": "disable",
    "prefer": "prefer",
    "require": "require",
    "verify-ca": "verify-ca",
    "verify": "verify-full",
}


def command(address: Address) -> tuple[list[str], Mapping[str, str]]:
    """psql, which reads SQL on standard input: its arguments, and what it needs in its environment.

    It reads no ``~/.psqlrc`` (which could change its output) and never asks for a password, which
    goes by the environment: arguments are there for everybody to see. It stops at the first error,
    which it would else end with status 0. Raises `SystemMissing`.
    """
    own = [str(find_client(programs=address.programs)), "--no-psqlrc", "--set=ON_ERROR_STOP=1"]
    return [*own, *_connection(address)], _environment(address)


def dump_command(address: Address) -> tuple[list[str], Mapping[str, str]]:
    """pg_dump, which writes SQL for `command` to standard output. Raises `SystemMissing`."""
    return [str(find_client(PG_DUMP, address.programs)), *_connection(address)], _environment(
        address
    )


def _connection(address: Address) -> list[str]:
    if address.unix is not None:
        socket = Path(address.unix)
        host, port = str(socket.parent), socket.name.rpartition(".")[2]
    else:
        host, port = address.host or "", str(address.port or "")
    given = _given(host=host, port=port, username=address.user)
    return ["--no-password", *given, f"--dbname={address.database}"]


def _environment(address: Address) -> Mapping[str, str]:
    environment = {"PGSSLMODE": _SSLMODE_OF_TLS[address.tls], "PGCLIENTENCODING": "UTF8"}
    if address.password is not None:
        environment["PGPASSWORD"] = address.password
    if address.host_address is not None:
        environment["PGHOSTADDR"] = address.host_address
    if address.ca_file is not None:
        environment["PGSSLROOTCERT"] = address.ca_file
    if address.cert_file is not None and address.key_file is not None:
        environment |= {"PGSSLCERT": address.cert_file, "PGSSLKEY": address.key_file}
    return environment


def _given(**options: str) -> list[str]:
    """The options that say something; for the others the client has its own defaults."""
    return [f"--{name}={value}" for name, value in options.items() if value]
