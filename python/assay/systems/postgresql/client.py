"""Takes an address; returns the command of PostgreSQL's own client for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.provision.deployment import Address
from assay.systems.postgresql.installation import find_client

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
    if address.unix is not None:
        socket = Path(address.unix)
        host, port = str(socket.parent), socket.name.rpartition(".")[2]
    else:
        host, port = address.host or "", str(address.port or "")
    arguments = [
        str(find_client()),
        "--no-psqlrc",
        "--no-password",
        "--set=ON_ERROR_STOP=1",
        *_given(host=host, port=port, username=address.user),
        f"--dbname={address.database}",
    ]
    environment = {"PGSSLMODE": _SSLMODE_OF_TLS[address.tls], "PGCLIENTENCODING": "UTF8"}
    if address.password is not None:
        environment["PGPASSWORD"] = address.password
    if address.host_address is not None:
        environment["PGHOSTADDR"] = address.host_address
    if address.ca_file is not None:
        environment["PGSSLROOTCERT"] = address.ca_file
    if address.cert_file is not None and address.key_file is not None:
        environment |= {"PGSSLCERT": address.cert_file, "PGSSLKEY": address.key_file}
    return arguments, environment


def _given(**options: str) -> list[str]:
    """The options that say something; for the others the client has its own defaults."""
    return [f"--{name}={value}" for name, value in options.items() if value]
