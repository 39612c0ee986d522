"""Takes the URL of one server or of several, and an address; returns the first session with it and
the deployment of all, reads the answers of what may only speak the protocol, and refuses more
clients than sessions are free."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from ipaddress import ip_address

from msgspec import Struct, structs

from assay import _engine
from assay.contracts import server_url
from assay.contracts.deployment import Address, ClusterMember, Deployment, Node, Role
from assay.contracts.stop import look
from assay.contracts.storage_facts import StorageFacts
from assay.errors import PasswordNeeded, SystemDied, SystemRefused
from assay.provision.engine.engine_calls import LOST, Session, as_ours, brief_session, session
from assay.systems.urls import LOGIN_NAME, URL
from assay.text.phrases import phrase

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
    asked = structs.replace(address, answer_timeout_s=FIRST_ANSWER_S)
    with ExitStack() as stack:
        try:
            opened = None if url is None else _opened_soon(asked, stack)
            if opened is None:
                limit_s = address.connect_timeout_s
                if url is not None and not _says_how_long(address, server):
                    limit_s = min(FIRST_SESSION_S, limit_s)
                patient = structs.replace(asked, connect_timeout_s=limit_s)
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
    soon = structs.replace(address, connect_timeout_s=min(SOON_S, address.connect_timeout_s))
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
    if isinstance(error, SystemRefused) and any(
        statement in error.message for statement in address.session_statements
    ):
        return SystemRefused(
            f"{server_url.without_password(url)}: the server refuses a setting; {error.message}",
            error_class=error.error_class,
            code=error.code,
            hint="leave it out, or choose another value; "
            "what only a restart changes, change in the server's own configuration",
        )
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


_NOT_REACHED = ("connection refused", "timeout")
"""The engine's error classes of a server that is not there, or does not answer."""


def attached_cluster(
    addresses: Sequence[Address],
    shown: str,
    attach: Callable[[Address], Deployment],
    cluster_of: Callable[[Address], str | None],
) -> Deployment:
    """``shown``: the URL without its password; ``cluster_of``: what all servers of a cluster say
    of it, and no other does, None where one does not say it.

    Raises as ``attach`` for a login that is refused, else `SystemRefused` with what was found of
    each server.
    """
    places = [address.place for address in addresses]
    if twice := next((place for place in places if places.count(place) > 1), None):
        raise SystemRefused(
            f"{shown}: expected each server once, found {twice} twice",
            hint="leave one of them out, or name the port of the other",
        )
    found: list[Deployment] = []
    missing: dict[str, str] = {}
    for address in addresses:
        try:
            found.append(attach(address))
        except (SystemDied, SystemRefused) as error:
            if not is_not_reached(error):
                raise
            missing[address.place] = cause_of_refusal(error)
    if missing:
        reached = {one.address.place: described_role(one.role) for one in found}
        raise SystemRefused(
            f"{shown}: expected every server that it names; {_listed(missing | reached)}",
            error_class="connection refused",
            hint="start them, or leave their hosts out of the URL",
        )
    members = [_member(one, shown) for one in found]
    _insist_on_one_primary(members, shown)
    _insist_on_one_cluster(addresses, shown, cluster_of)
    order = sorted(range(len(found)), key=lambda place: members[place].role.is_replica)
    primary = found[order[0]]
    limits = [limit for one in found if (limit := one.connection_limit) is not None]
    return replace(
        primary,
        nodes=tuple(Node(members[place].name, StorageFacts.of_url()) for place in order),
        endpoints=tuple(found[place].address for place in order),
        members=tuple(members[place] for place in order),
        connection_limit=min(limits, default=None),
    )


def is_not_reached(error: SystemDied | SystemRefused) -> bool:
    """Whether the server is not there, or does not answer, as far as its error says."""
    return isinstance(error, SystemDied) or error.error_class in _NOT_REACHED


def cause_of_refusal(error: SystemRefused | SystemDied) -> str:
    """Without the URL and the place, which stand before it."""
    said = error.__cause__ if isinstance(error.__cause__, (SystemRefused, SystemDied)) else error
    return said.message


def described_role(role: Role | None) -> str:
    return "it does not say what it is" if role is None else role.described


def _member(deployment: Deployment, shown: str) -> ClusterMember:
    place = deployment.address.place
    if deployment.role is None or deployment.pooler:
        found = deployment.pooler or described_role(None)
        raise SystemRefused(
            f"{shown}: expected servers that say whether they are a primary or a replica; "
            f"{place}: {found}",
            hint="name each server itself, not what stands before it, or one host alone",
        )
    return ClusterMember(place, deployment.role)


def _insist_on_one_primary(members: Sequence[ClusterMember], shown: str) -> None:
    primaries = [one for one in members if not one.role.is_replica]
    if len(primaries) != 1:
        roles = {one.name: one.role.described for one in members}
        raise SystemRefused(
            f"{shown}: expected one primary and its replicas, found "
            f"{len(primaries) or 'no'} {'primaries' if primaries else 'primary'}; {_listed(roles)}",
            hint="name the primary as well; of servers of several clusters name those of one"
            if not primaries
            else "name one of these, and the servers that follow it",
        )


def _insist_on_one_cluster(
    addresses: Sequence[Address], shown: str, cluster_of: Callable[[Address], str | None]
) -> None:
    clusters = {address.place: cluster_of(address) for address in addresses}
    if None in clusters.values():
        silent = next(place for place, cluster in clusters.items() if cluster is None)
        raise SystemRefused(
            f"{shown}: {silent} does not tell this user of which cluster it is",
            hint="name a user in the URL who may ask for it",
        )
    if len(set(clusters.values())) > 1:
        raise SystemRefused(
            f"{shown}: expected the servers of one cluster, found those of "
            f"{len(set(clusters.values()))}; "
            + _listed({place: str(cluster) for place, cluster in clusters.items()}),
            hint="name a primary and the servers that follow it",
        )


def _listed(servers: dict[str, str]) -> str:
    return "; ".join(f"{place}: {said}" for place, said in servers.items())


_TIMEOUT_S = 1.0
"""Sessions that have just been closed are still counted for a moment."""


def refuse_too_many(
    deployment: Deployment, clients: int, *, in_use_query: str, setting: str
) -> None:
    """Raises `SystemRefused` where the server has too few free sessions, `SystemDied` where it does
    not answer.

    ``in_use_query`` counts the sessions of the server, including its own; a server that does not
    answer it counts as having none. ``setting`` is the server's name of the limit.
    """
    limit = deployment.connection_limit
    if limit is None:
        return
    deadline_s = time.monotonic() + _TIMEOUT_S
    while clients + (in_use := _in_use(deployment, in_use_query)) > limit:
        if clients > limit or time.monotonic() > deadline_s:
            raise SystemRefused(
                f"{clients} clients, but the server takes {limit} sessions ({in_use} in use)",
                hint=phrase("fewer {--clients}, or a higher {}", setting),
            )
        look()
        time.sleep(0.05)


def _in_use(deployment: Deployment, query: str) -> int:
    with brief_session(deployment.address) as opened:
        found = numbers_of(opened, query, columns=1)
    return max(0, found[0] - 1) if found else 0


Row = tuple[str | None, ...]


def rows_of(opened: Session, question: str, columns: int) -> list[Row] | None:
    """The rows; None where the server refuses, or returns a different number of columns. Raises for
    a lost connection."""
    try:
        rows = opened.execute(question).rows
    except _engine.EngineError as error:
        if error.kind != "system" or error.error_class == LOST:
            raise
        return None
    return rows if all(len(row) == columns for row in rows) else None


def numbers_of(opened: Session, question: str, columns: int) -> tuple[int, ...] | None:
    """The first row as whole numbers, NULL as 0; None where there is no row or it holds other
    values."""
    rows = rows_of(opened, question, columns)
    if not rows:
        return None
    try:
        return tuple(int(value or 0) for value in rows[0])
    except ValueError:
        return None


def number_of(deployment: Deployment, question: str) -> int:
    """The number that the query returns; raises `SystemRefused` where it returns anything else."""
    with session(deployment.address) as opened:
        found = numbers_of(opened, question, columns=1)
    if found is None:
        raise SystemRefused(
            f"{deployment.label}: expected a number as the answer to: {question.strip()}",
            hint="a server that only speaks the protocol can be driven with a script of your own: "
            "assay run SCRIPT.sql --on URL",
        )
    return found[0]
