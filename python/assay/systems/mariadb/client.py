"""Takes an address; returns the command of MariaDB's own client for it."""

from __future__ import annotations

from collections.abc import Mapping

from assay.provision.deployment import Address
from assay.systems.mariadb.installation import find_client

_TLS = {
    "off": ["--skip-ssl"],
    "prefer": ["--skip-ssl-verify-server-cert"],
    "require": ["--ssl", "--skip-ssl-verify-server-cert"],
    "verify-ca": ["--ssl", "--skip-ssl-verify-server-cert"],
    "verify": ["--ssl", "--ssl-verify-server-cert"],
}


_LOCAL = "127.0.0.1"


def command(address: Address) -> tuple[list[str], Mapping[str, str]]:
    r"""The client, which reads SQL on standard input: its arguments, and its environment.

    It reads no option files (which could change its output), and takes its input as it is: without
    binary mode it makes ``\n`` of ``\r\n`` also within texts. The password goes by the environment:
    arguments are there for everybody to see. Raises `SystemMissing`.
    """
    arguments = [
        str(find_client()),
        "--no-defaults",
        "--binary-mode",
        "--default-character-set=utf8mb4",
        *_place(address),
        *([f"--user={address.user}"] if address.user else []),
        *_TLS[address.tls],
    ]
    if address.ca_file is not None:
        arguments.append(f"--ssl-ca={address.ca_file}")
    if address.cert_file is not None:
        arguments += [f"--ssl-cert={address.cert_file}", f"--ssl-key={address.key_file}"]
    if address.database:
        arguments.append(address.database)
    environment = {"MYSQL_PWD": address.password} if address.password is not None else {}
    return arguments, environment


def _place(address: Address) -> list[str]:
    if address.unix is not None:
        return [f"--socket={address.unix}"]
    if address.host is None and address.port is None:
        return []  # the socket that the client was built for
    host = [f"--host={address.host or _LOCAL}"]
    port = [f"--port={address.port}"] if address.port is not None else []
    return ["--protocol=tcp", *host, *port]
