"""Takes the URL of a server and its address; returns the first session with it. A refusal names the
URL, what was expected there, the cause and the fix."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from ipaddress import ip_address

from msgspec import Struct

from assay import _engine
from assay.contracts import server_url
from assay.contracts.deployment import Address
from assay.errors import PasswordNeeded, SystemDied, SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.provision.engine.session import as_ours, session
from assay.systems.sourced import LOGIN_NAME, URL

FIRST_ANSWER_S = 30.0
"""The timeout of the first queries: a server may complete the login and never answer."""
SOON_S = 3.0
"""A server that has not opened the session by then is asked whether it is an HTTP server, and only
then waited for."""
FIRST_SESSION_S = 6.0
"""For so long, where the URL does not say how long a session may take to open."""
_HTTP_REQUEST, _HTTP_ANSWER = b"HEAD / HTTP/1.0\r\n\r\n", b"HTTP/"
_HTTP_ANSWER_S = 1.0

# The engine's own codes: TLS is required and the server has none; its certificate is signed by an
# authority that is not trusted, is for another host, names none, is of X.509 version 1, or cannot
# be used; it refuses the client's.
_NO_TLS = "no TLS"
_UNKNOWN_AUTHORITY = "unknown authority"
_OTHER_HOST = "other host"
_NO_HOST_NAME = "no host name"
_CERTIFICATE_VERSION = "certificate version"
_BAD_CERTIFICATE = "certificate"
_CLIENT_CERTIFICATE = "client certificate"
# The server sent nothing; the connection was not accepted; it speaks TLS from the first byte.
_SILENT = "silent"
_NO_CONNECTION = "no connection"
_BEGINS_WITH_TLS = "begins with TLS"
_ANOTHER_SERVER = "another server"
# The engine's error classes.
_TIMEOUT, _PROTOCOL = "timeout", "protocol"
_AUTHENTICATION, _PERMISSION = "authentication", "permission"
# The driver's own: the password would be sent in clear text over a session that may be unencrypted.
_IN_CLEAR_TEXT = "clear text"


_NEW_CERTIFICATE = (
    "give the server a certificate made with `openssl req -x509 … -addext subjectAltName={}`"
)


class ExpectedServer(Struct, frozen=True):
    """The server that is expected at a URL, with its system's names for parameters and error
    codes."""

    name: str
    password: str
    """The environment variable of the password."""
    tls_parameter: str
    """The URL's parameter for TLS, the one for the authorities, and those for the client's own
    certificate."""
    authorities_parameter: str
    client_certificate: str
    signed_only: str
    """The URL parameter that accepts a signed certificate for any host."""
    no_tls: str
    """The URL parameter that turns TLS off."""
    no_database: tuple[str, ...]
    """The system's error codes for a database that does not exist or is not accessible to this
    user."""
    password_needed: tuple[str, ...]
    """Error codes for a missing password."""
    silent_fix: str
    """The fix for a server that accepts the connection and sends nothing."""
    socket: str
    """What names the Unix socket in the URL."""
    tls_required: str
    """The URL parameter that requires TLS."""
    more_time: str
    """The URL parameter, with a value, that gives a session more time to open."""
    fix_of: Callable[[SystemRefused, Address], str | None]
    """The fix where the server's own message says what it misses; None: it does not."""
    other_cause: Callable[[SystemRefused, Address], str | None]
    """Another possible cause and its fix, where the server's message leaves several open."""
    begins_with_tls: bool = False
    """Whether its encrypted sessions begin with TLS: one that allows no others closes them without
    a word."""


@contextmanager
def first_session(url: str | None, address: Address, server: ExpectedServer) -> Iterator[Session]:
    """An open session with an answer timeout; without a URL (a private server) refusals are raised
    as by `session`."""
    asked = replace(address, answer_timeout_s=FIRST_ANSWER_S)
    with ExitStack() as stack:
        try:
            opened = None if url is None else _opened_soon(asked, stack)
            if opened is None:
                limit_s = address.connect_timeout_s
                if url is not None and not _says_how_long(address, server):
                    limit_s = min(FIRST_SESSION_S, limit_s)
                patient = replace(asked, connect_timeout_s=limit_s)
                opened = stack.enter_context(session(patient))
        except (SystemRefused, SystemDied) as error:
            if url is not None:
                raise _explained(error, url, address, server) from error
            raise
        try:
            yield opened
        except _engine.EngineError as error:
            # Some servers open a session for anybody, and demand the login of its first statement.
            refused = as_ours(error)
            if isinstance(refused, SystemRefused) and url and _demands_a_login(refused, server):
                raise _explained(refused, url, address, server) from error
            raise


def _opened_soon(address: Address, stack: ExitStack) -> Session | None:
    """The session, if it opens soon; None: a slow server has to be waited for. Raises
    `SystemRefused` where another server answers there."""
    soon = replace(address, connect_timeout_s=min(SOON_S, address.connect_timeout_s))
    try:
        return stack.enter_context(session(soon))
    except SystemRefused as error:
        if error.error_class != _TIMEOUT or soon.connect_timeout_s < SOON_S:
            raise
        if error.code == _SILENT and _is_http_server(address):
            raise SystemRefused(
                "opening a session: an HTTP server answers there",
                error_class=_PROTOCOL,
                code=_ANOTHER_SERVER,
            ) from error
        return None


def _says_how_long(address: Address, server: ExpectedServer) -> bool:
    name, _, _ = server.more_time.partition("=")
    return name in address.origins


def _is_http_server(address: Address) -> bool:
    """HTTP servers wait for the end of a request, which no client of a database sends: so they say
    nothing until they get one."""
    if address.host is None or address.port is None:
        return False
    with suppress(OSError):
        place = (address.host, address.port)
        with socket.create_connection(place, timeout=_HTTP_ANSWER_S) as connection:
            connection.sendall(_HTTP_REQUEST)
            return connection.recv(len(_HTTP_ANSWER)) == _HTTP_ANSWER
    return False


def _explained(
    error: SystemRefused | SystemDied, url: str, address: Address, server: ExpectedServer
) -> SystemRefused | SystemDied:
    place = address.unix or f"{address.host}:{address.port}"
    expected = f"{server_url.without_password(url)}: expected a {server.name} server"
    if isinstance(error, SystemDied):
        return SystemDied(
            f"{expected} at {place}; {error.message}", hint=_fix_of_closed(address, server)
        )
    refusal = _refusal(error, address, server)
    hint = refusal.fix
    if other := server.other_cause(error, address):
        hint = f"{hint}; {other}" if hint else other
    kind = PasswordNeeded if refusal.needs_password else SystemRefused
    return kind(
        f"{expected}{_address_origin(address)} at {place}{refusal.more_expected}; {refusal.cause}",
        error_class=error.error_class,
        code=error.code,
        hint=hint,
    )


def _fix_of_closed(address: Address, server: ExpectedServer) -> str:
    """The fix where the server closed the connection without an answer."""
    fix = f"does a {server.name} server listen there? correct host and port in the URL; "
    if server.begins_with_tls and address.tls == "off":
        fix += f"if it takes only encrypted sessions: {server.tls_required} in the URL; "
    return f"{fix}its log says why it closed the connection"


def _address_origin(address: Address) -> str:
    """`` (address from PGHOST)``; empty where the URL has host and port, or the default holds."""
    places = {origin for name, origin in address.origins.items() if name in ("host", "port")}
    elsewhere = sorted(places - {URL, "default"})
    return f" (address from {', '.join(elsewhere)})" if elsewhere else ""


class _Refusal(Struct, frozen=True):
    """What the message says of a refusal."""

    cause: str
    fix: str | None
    more_expected: str = ""
    """Of the server, beside its kind and address."""
    needs_password: bool = False


def _refusal(error: SystemRefused, address: Address, server: ExpectedServer) -> _Refusal:
    said = server.fix_of(error, address)
    fixes = _fixes(address, server)
    fix = error.hint or said or fixes.get(error.code) or fixes.get(error.error_class)
    if error.code == _NO_TLS:
        return _Refusal(f"{error.message}; {_tls_option(address, server)} asks for it", fix)
    if error.code in server.no_database:
        return _Refusal(
            error.message,
            "create the database, allow the user to connect, or name another: HOST:PORT/DATABASE",
            f" with a database {address.database!r} for user {address.user!r}",
        )
    if _demands_a_login(error, server) and error.code not in fixes:
        return _refused_user(error, address, server, fix, is_explained=bool(said))
    return _Refusal(error.message, fix)


def _demands_a_login(error: SystemRefused, server: ExpectedServer) -> bool:
    """Some servers say of a client without a login that it lacks a right."""
    lacks_a_right = error.error_class == _PERMISSION and error.code in server.password_needed
    return lacks_a_right or error.error_class == _AUTHENTICATION


def _refused_user(
    error: SystemRefused,
    address: Address,
    server: ExpectedServer,
    fix: str | None,
    *,
    is_explained: bool,
) -> _Refusal:
    """``is_explained``: whether the server's message says what it misses."""
    cause = error.message
    if address.origins.get("user") == LOGIN_NAME and not is_explained:
        cause += f"; the URL names no user, so the name of this account, {address.user}, is used"
        fix = f"name the user in the URL: USER:PASSWORD@ (or the password in {server.password})"
    into = f"into database {address.database!r}"
    if not address.user:
        return _Refusal(cause, fix, f" that lets anybody {into}")
    return _Refusal(
        f"{cause} (password: {address.origins.get('password_from') or 'none'})",
        fix,
        f" that lets user {address.user!r} {into}",
        needs_password=address.password is None and error.code in server.password_needed,
    )


def _tls_option(address: Address, server: ExpectedServer) -> str:
    return f"{server.tls_parameter} ({address.origins.get(server.tls_parameter) or 'default'})"


def _alternative_name(host: str | None) -> str:
    """``DNS:db.example`` or ``IP:10.0.0.7``: a client that connects to an IP address reads only the
    latter."""
    try:
        return f"IP:{ip_address(host or '')}"
    except ValueError:
        return f"DNS:{host}"


def _fixes(address: Address, server: ExpectedServer) -> dict[str, str]:
    """Error code or class → the fix."""
    place = server.socket if address.unix else "host and port"
    less_tls = f"ask for less with {_tls_option(address, server)}"
    new_certificate = _NEW_CERTIFICATE.format(_alternative_name(address.host))
    more_time = f"{server.more_time} in the URL gives it more time"
    other_server = "correct scheme, host and port in the URL"
    return {
        "connection refused": f"start the server, or correct {place} in the URL",
        _SILENT: f"{server.silent_fix}; {more_time}",
        _NO_CONNECTION: "correct host and port in the URL; a firewall may stand between",
        _TIMEOUT: f"the server's log may say what it waits for; {more_time}",
        _PROTOCOL: other_server,
        "too many connections": "close other sessions, or raise the server's limit",
        _AUTHENTICATION: f"correct user and password: USER:PASSWORD@ in the URL, or the password "
        f"in {server.password}",
        _BEGINS_WITH_TLS: f"if it is a {server.name} server: {server.tls_required} in the URL"
        if server.begins_with_tls
        else other_server,
        _NO_TLS: f"turn TLS on in the server, or {less_tls}",
        _UNKNOWN_AUTHORITY: f"name the PEM file of its authority: {server.authorities_parameter}"
        "=FILE in the URL",
        _OTHER_HOST: f"write the host as the certificate has it, or {server.signed_only} to accept "
        "every host of this authority",
        _NO_HOST_NAME: f"{new_certificate}, or accept every host of this authority: "
        f"{server.signed_only}",
        _CERTIFICATE_VERSION: f"{new_certificate}, or do without TLS: {server.no_tls}",
        _BAD_CERTIFICATE: "give the server a certificate that is valid today, of X.509 version 3 "
        f"(`openssl req -x509` makes one), or {less_tls}",
        _IN_CLEAR_TEXT: f"require TLS with {server.tls_required} in the URL, or choose a method in "
        "the server that encrypts the password",
        _CLIENT_CERTIFICATE: f"name one that it accepts: {server.client_certificate} in the URL",
    }
