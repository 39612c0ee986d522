"""Takes an address at which a server says nothing; returns whether it is an HTTP server: those wait
for the end of a request, which no database sends."""

from __future__ import annotations

import contextlib
import socket

from assay.provision.deployment import Address

_REQUEST = b"HEAD / HTTP/1.0\r\n\r\n"
_ANSWER = b"HTTP/"
_ANSWER_S = 2.0


def answers_at(address: Address) -> bool:
    """Within a few seconds."""
    if address.host is None or address.port is None:
        return False
    with contextlib.suppress(OSError):
        place = (address.host, address.port)
        with socket.create_connection(place, timeout=_ANSWER_S) as connection:
            connection.sendall(_REQUEST)
            return connection.recv(len(_ANSWER)) == _ANSWER
    return False
