"""Takes an address; gives the command of MariaDB's own client for it."""

from __future__ import annotations

from collections.abc import Mapping

from assay.provision.site import Address
from assay.systems.mariadb.installation import find_client

_TLS = {
    "off": ["--skip-ssl"],
    "prefer": ["--skip-ssl-verify-server-cert"],
    "require": ["--ssl", "--skip-ssl-verify-server-cert"],
    "verify": ["--ssl", "--ssl-verify-server-cert"],
}


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
        f"--user={address.user}",
        *_TLS[address.tls],
    ]
    if address.ca_file is not None:
        arguments.append(f"--ssl-ca={address.ca_file}")
    if address.database:
        arguments.append(address.database)
    environment = {"MYSQL_PWD": address.password} if address.password is not None else {}
    return arguments, environment


def _place(address: Address) -> list[str]:
    if address.unix is not None:
        return [f"--socket={address.unix}"]
    return ["--protocol=tcp", f"--host={address.host}", f"--port={address.port}"]
