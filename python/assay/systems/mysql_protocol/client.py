"""Takes an address; returns the commands of the product's own client and dump program for it."""

from __future__ import annotations

from collections.abc import Mapping

from assay.contracts.deployment import Address
from assay.systems.mysql_protocol.product import Product

_LOCAL = "127.0.0.1"


def command(product: Product, address: Address) -> tuple[list[str], Mapping[str, str]]:
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
