"""Takes the URL of a server and its address; gives the first session with it. A refusal names the
URL, what was expected there, the cause and the fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from assay import _engine, server_url
from assay.errors import SystemDied, SystemRefused
from assay.provision.deployment import Address
from assay.provision.session import session

FIRST_ANSWER_S = 30.0
"""How long the answer to one of our first queries may take: a server may complete the login and
never answer."""

_NO_TLS = "no TLS"
"""The engine's code where TLS is required and the server has none."""


@dataclass(frozen=True)
class Server:
    """What a URL is expected to lead to, in the words of its system."""

    name: str
    password: str
    """The environment variable of the password."""
    user_parameter: str
    """The URL's parameter that may name the user; empty: none may."""
    tls_parameter: str
    no_database: tuple[str, ...]
    """The system's codes for one that is not there, or not for this user."""
    timeout_fix: str


@contextmanager
def first_session(url: str | None, address: Address, server: Server) -> Iterator[_engine.Session]:
    """An open session, which waits for each answer for a limited time; without a URL (a server of
    ours) a refusal is as `session` has it."""
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(session(replace(address, answer_timeout_s=FIRST_ANSWER_S)))
        except (SystemRefused, SystemDied) as error:
            if url is not None:
                raise _explained(error, url, address, server) from error
            raise
        yield opened


def _explained(
    error: SystemRefused | SystemDied, url: str, address: Address, server: Server
) -> SystemRefused | SystemDied:
    shown = server_url.without_password(url)
    place = address.unix or f"{address.host}:{address.port}"
    expected = f"{shown}: expected a {server.name} server at {place}"
    if isinstance(error, SystemDied):
        return SystemDied(
            f"{expected}; {error.message}",
            hint=f"does a {server.name} server listen there? correct host and port in the URL; "
            "if it does, its log says why it closed the connection",
        )
    said = server_url.parts(url).parameters
    fixes: Mapping[str, str | None] = {
        "connection refused": "start the server, or correct the socket's folder in the URL"
        if address.unix
        else "start the server, or correct host and port in the URL",
        "timeout": server.timeout_fix,
        "protocol": "correct scheme, host and port in the URL",
        "too many connections": "close other sessions, or raise the server's limit",
        "authentication": f"correct user and password: USER:PASSWORD@ in the URL, or the password "
        f"in {server.password}",
    }
    cause, hint = error.message, error.hint or fixes.get(error.error_class)
    if error.code == _NO_TLS:
        asked = f"{server.tls_parameter}={said.get(server.tls_parameter, '')}"
        cause += f"; {asked} in the URL asks for it"
        hint = f"turn TLS on in the server, or take {asked} out of the URL"
    elif error.code in server.no_database:
        expected += f" with a database {address.database!r} for user {address.user!r}"
        hint = "create the database, let the user into it, or name another: HOST:PORT/DATABASE"
    elif error.error_class == "authentication":
        expected += f" that lets user {address.user!r} into database {address.database!r}"
        if not server_url.parts(url).user and not said.get(server.user_parameter):
            cause += (
                f"; the URL names no user, so the name of this account, {address.user}, is used"
            )
            hint = (
                f"name the user in the URL: USER:PASSWORD@ (or the password in {server.password})"
            )
    return SystemRefused(
        f"{expected}; {cause}", error_class=error.error_class, code=error.code, hint=hint
    )
