"""Takes ``msql://user@host:port/database``; returns the server's address."""

from __future__ import annotations

from urllib.parse import unquote

from assay.contracts import server_url
from assay.contracts.deployment import Address
from assay.errors import ArgumentError
from assay.systems import urls
from assay.systems.sourced import LOGIN_NAME, URL, Sourced

SCHEMES = ("msql",)
DEFAULT_PORT = 1114
"""Of version 4; earlier servers listen at 1112 where root has started them, else at 4333."""

_FORM = f"{SCHEMES[0]}://USER@HOST:PORT/DATABASE, or ?socket=FILE in place of host and port"


def address_of(url: str, *, session_statements: tuple[str, ...] = ()) -> Address:
    """Raises `ArgumentError`, whose message holds no password: mSQL has none."""
    parts = server_url.parts(url)
    server_url.insist_on_one_host(parts)
    parameters = dict(parts.parameters)
    socket = parameters.pop("socket", None)
    if parts.password is not None:
        raise ArgumentError("the URL has a password, and mSQL has none", hint=_FORM)
    if parameters:
        raise ArgumentError(
            "the URL has parameters that mSQL does not have; it has: socket", hint=_FORM
        )
    if socket is not None and (parts.host or parts.port):
        raise ArgumentError("the URL names both a socket and a host", hint=_FORM)
    urls.check_ports(url, parts, SCHEMES[0])
    given = Sourced()
    given.add(URL, {"port": parts.port})
    port = urls.port(given, DEFAULT_PORT)
    database = unquote(parts.path.removeprefix("/"))
    if not database:
        raise ArgumentError("the URL names no database", hint=_FORM)
    user = unquote(parts.user)
    return Address(
        driver="msql",
        unix=socket,
        host=None if socket else unquote(parts.host) or "localhost",
        port=None if socket else port,
        user=user or urls.own_name(SCHEMES[0]),
        database=database,
        session_statements=session_statements,
        origins={
            "host": "URL" if parts.host else "default",
            "port": "URL" if parts.port else "default",
            "user": "URL" if user else LOGIN_NAME,
        },
    )
