"""Takes a server's URL in libpq's form; returns its address, completed as libpq does: by a service
file, the environment, a password file and the certificates in ``~/.postgresql``; says what of it is
not supported, and what a refused login means."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from assay import env_vars
from assay.contracts import server_url
from assay.contracts.deployment import Address
from assay.contracts.server_url import Resolved
from assay.dialects.postgresql import POSTGRESQL as DIALECT
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemRefused
from assay.systems import urls
from assay.systems.sessions import ExpectedServer
from assay.systems.urls import LOGIN_NAME, URL, Sourced
from assay.text import paths

SERVICE_FILE = EnvVar("PGSERVICEFILE", "The file of services (default: ~/.pg_service.conf).")
SERVICE_FOLDER = EnvVar(
    "PGSYSCONFDIR", "The folder of the service file for all users, pg_service.conf."
)
_FOLDERS = ("/etc/postgresql-common", "/etc")


def read_service(service: str) -> tuple[str, Mapping[str, str]]:
    """The origin of the values, and the values by libpq's names.

    Raises `ArgumentError` where no file has the service, or a line cannot be read.
    """
    files = list(_files())
    for file in files:
        if (values := _section(file, service)) is not None:
            return f"service {service} in {urls.shown(file)}", values
    looked = ", ".join(urls.shown(file) for file in files) or "~/.pg_service.conf"
    raise ArgumentError(
        f"there is no service {service!r} in {looked}",
        hint=f"a section [{service}] with lines host=…, port=…, dbname=…, or another file in "
        f"{SERVICE_FILE.name}",
    )


def _files() -> Iterator[Path]:
    """Those that exist, the user's own first."""
    home = env_vars.home()
    named = SERVICE_FILE.get()
    if named is not None:
        if not paths.is_file(Path(named)):
            raise ArgumentError(f"{SERVICE_FILE.name}={named}: there is no such file")
        yield Path(named)
    elif home is not None and paths.is_file(home / ".pg_service.conf"):
        yield home / ".pg_service.conf"
    folder = SERVICE_FOLDER.get()
    for place in [folder] if folder else _FOLDERS:
        if paths.is_file(Path(place) / "pg_service.conf"):
            yield Path(place) / "pg_service.conf"


def _section(file: Path, service: str) -> Mapping[str, str] | None:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{file}: the file of services cannot be read: {error}") from error
    values: dict[str, str] | None = None
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            if values is not None:
                break
            if line == f"[{service}]":
                values = {}
        elif values is not None:
            name, equals, value = line.partition("=")
            if not equals:
                raise ArgumentError(f"{file}:{number}: expected name=value in [{service}]")
            values.setdefault(name.strip(), value.strip())
    return values


PASSWORD_FILE = EnvVar("PGPASSFILE", "The password file (default: ~/.pgpass).")

_FIELD = re.compile(r"((?:\\.|[^:\\])*)(?::|$)")
_ESCAPED = re.compile(r"\\(.)")


def find_password(
    named: str | None, *, host: str, port: int, database: str, user: str
) -> tuple[str | None, str]:
    """The password, or None, and its origin or why there is none. ``host`` is ``localhost`` for the
    socket in its usual folder, else the folder."""
    home = env_vars.home()
    file = Path(named) if named else None if home is None else home / ".pgpass"
    if file is None or not paths.is_file(file):
        return None, "none found"
    if urls.is_open_to_others(file):
        # As libpq does it. The reason stands with the origins of the other values.
        shown = urls.shown(file)
        return None, f"{shown} is not used because others can read it: chmod 600 {shown}"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        return None, f"{urls.shown(file)} cannot be read: {error}"
    expected = (host, str(port), database, user)
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        fields, password = _split(line)
        if len(fields) == 4 and all(
            field in ("*", want) for field, want in zip(fields, expected, strict=True)
        ):
            return password, f"{urls.shown(file)}, line {number}"
    return None, f"no line of {urls.shown(file)} fits"


def _split(line: str) -> tuple[list[str], str]:
    """Four fields, and the rest of the line: the password."""
    fields: list[str] = []
    at = 0
    while len(fields) < 4 and (found := _FIELD.match(line, at)) and found.end() < len(line):
        fields.append(_ESCAPED.sub(r"\1", found[1]))
        at = found.end()
    return fields, _ESCAPED.sub(r"\1", line[at:])


_WORD = re.compile(r"(?:\\.|[^\\\s])+", re.DOTALL)
_SETTING = re.compile(r"(?:-c\s*|--)([A-Za-z_][\w.-]*)=(.*)", re.DOTALL)


def statements_of_options(options: str | None, origin: str) -> tuple[str, ...]:
    """One for each setting; raises `ArgumentError` for anything else that stands there."""
    words = [re.sub(r"\\(.)", r"\1", escaped) for escaped in _WORD.findall(options or "")]
    found = []
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word += f" {words.pop(0)}"
        setting = _SETTING.fullmatch(word)
        if setting is None:
            raise ArgumentError(
                f"options {origin}: expected -c NAME=VALUE, found {word}",
                hint="a blank in a value is written with a backslash before it",
            )
        found.append(setting_statement(setting[1].replace("-", "_"), setting[2]))
    return tuple(found)


def setting_statement(name: str, value: str) -> str:
    """What sets it for the session."""
    return f"SELECT set_config({DIALECT.literal(name)}, {DIALECT.literal(value)}, false)"


_ASK_FOR_NOTHING: Mapping[str, tuple[str, ...]] = {
    "channel_binding": ("disable", "prefer"),
    "gssencmode": ("disable", "prefer"),
    "load_balance_hosts": ("disable",),
    "replication": ("false", "off", "no", "0"),
    "require_auth": (),
    "requirepeer": (),
    "ssl_max_protocol_version": (),
    "ssl_min_protocol_version": ("tlsv1", "tlsv1.1", "tlsv1.2"),
    "sslcertmode": ("allow", "disable"),
    "sslcrl": (),
    "sslcrldir": (),
    "sslnegotiation": ("postgres",),
    "sslpassword": (),
}
"""Parameter → the values that need no support."""

UNSUPPORTED_VARIABLES: Mapping[str, EnvVar] = {
    "channel_binding": EnvVar("PGCHANNELBINDING", "Refused if it is `require`."),
    "gssencmode": EnvVar("PGGSSENCMODE", "Refused if it is `require`."),
    "load_balance_hosts": EnvVar("PGLOADBALANCEHOSTS", "Refused if it is `random`."),
    "require_auth": EnvVar("PGREQUIREAUTH", "Refused."),
    "requirepeer": EnvVar("PGREQUIREPEER", "Refused."),
    "ssl_max_protocol_version": EnvVar("PGSSLMAXPROTOCOLVERSION", "Refused."),
    "ssl_min_protocol_version": EnvVar(
        "PGSSLMINPROTOCOLVERSION", "Refused if it is above TLSv1.2, which is the least here."
    ),
    "sslcertmode": EnvVar("PGSSLCERTMODE", "Refused if it is `require`."),
    "sslcrl": EnvVar("PGSSLCRL", "Refused."),
    "sslcrldir": EnvVar("PGSSLCRLDIR", "Refused."),
    "sslnegotiation": EnvVar("PGSSLNEGOTIATION", "Refused if it is `direct`."),
}


def refuse_unsupported(given: Sourced) -> None:
    """Raises `ArgumentError` for the first unsupported parameter."""
    for name, harmless in _ASK_FOR_NOTHING.items():
        value = given.get(name)
        if value is not None and value.lower() not in harmless:
            expected = f"only {' or '.join(harmless)} is supported" if harmless else "not supported"
            raise ArgumentError(
                f"{given.spelled(name)}: {expected}",
                hint="leave it out for this run, or require it in the server's configuration",
            )


def fix_of_refused_login(error: SystemRefused, address: Address) -> str | None:
    """None: the message leaves the cause open."""
    if error.error_class != "authentication":
        return None
    if "client certificate" in error.message:
        return "name the client's certificate: sslcert=FILE&sslkey=FILE in the URL"
    # The server translates its messages, but not this name.
    if "pg_hba.conf" not in error.message:
        return None
    line = "add a line for this user, database and address to the server's pg_hba.conf"
    if address.unix is None and address.tls == "off":
        return f"require TLS with sslmode=require in the URL, or {line}"
    return line


def other_cause_of_refusal(_error: SystemRefused, _address: Address) -> str | None:
    """None: the server's messages are exact."""
    return None


SCHEMES = ("postgresql", "postgres")

PASSWORD = EnvVar("PGPASSWORD", "The password for a URL that holds none.")
SERVICE = EnvVar("PGSERVICE", "The service, by its name in a service file.")

ENVIRONMENT: Mapping[str, EnvVar] = {
    "host": EnvVar("PGHOST", "The host, or the folder of a Unix socket."),
    "hostaddr": EnvVar("PGHOSTADDR", "The host's IP address, so that it is not looked up."),
    "port": EnvVar("PGPORT", "The port."),
    "user": EnvVar("PGUSER", "The user."),
    "dbname": EnvVar("PGDATABASE", "The database."),
    "password": PASSWORD,
    "passfile": PASSWORD_FILE,
    "sslmode": EnvVar("PGSSLMODE", "Whether TLS is used, and what is verified."),
    "sslrootcert": EnvVar("PGSSLROOTCERT", "PEM file of authorities, or `system`."),
    "sslcert": EnvVar("PGSSLCERT", "PEM file of the client's certificate."),
    "sslkey": EnvVar("PGSSLKEY", "PEM file of its key."),
    "connect_timeout": EnvVar("PGCONNECT_TIMEOUT", "Seconds that opening a session may take."),
    "options": EnvVar("PGOPTIONS", "Settings of each session: `-c geqo=off`."),
    "target_session_attrs": EnvVar(
        "PGTARGETSESSIONATTRS", "Which of several servers is used: `read-write`, `standby` …"
    ),
}

SETTINGS: Mapping[str, EnvVar] = {
    "datestyle": EnvVar("PGDATESTYLE", "The setting `datestyle` of each session."),
    "timezone": EnvVar("PGTZ", "The setting `timezone` of each session."),
    "geqo": EnvVar("PGGEQO", "The setting `geqo` of each session."),
}

VARIABLES = (
    *ENVIRONMENT.values(),
    *SETTINGS.values(),
    SERVICE,
    SERVICE_FILE,
    SERVICE_FOLDER,
    *UNSUPPORTED_VARIABLES.values(),
)
"""All that a URL is completed with."""

EXPECTED = ExpectedServer(
    name="PostgreSQL",
    password=PASSWORD.name,
    tls_parameter="sslmode",
    authorities_parameter="sslrootcert",
    client_certificate="sslcert and sslkey",
    signed_only="sslmode=verify-ca",
    no_tls="sslmode=disable",
    no_database=("3D000",),
    password_needed=("",),
    silent_fix="does a PostgreSQL server listen there? another kind of server may stay silent: "
    "correct scheme, host and port in the URL",
    socket="the socket's folder",
    tls_required="sslmode=require",
    more_time="connect_timeout=60",
    fix_of=fix_of_refused_login,
    other_cause=other_cause_of_refusal,
)

DEFAULT_PORT = 5432
DEFAULT_SOCKET_FOLDER = "/var/run/postgresql"

_TLS_OF_SSLMODE = {
    "disable": "off",
    "allow": "allow",
    "prefer": "prefer",
    "require": "require",
    "verify-ca": "verify-ca",
    "verify-full": "verify",
}
_PARAMETERS = (
    "host",
    "hostaddr",
    "port",
    "user",
    "dbname",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "connect_timeout",
    "options",
    "passfile",
    "service",
    "target_session_attrs",
)
"""Of libpq's, without ``password``: see `urls.read`."""

_IDENTITY = (
    "host",
    "hostaddr",
    "port",
    "user",
    "dbname",
    "sslmode",
    "options",
    "target_session_attrs",
)
"""What identifies a server and its sessions; it is put into the completed URL."""


SESSION_ATTRS = ("any", "read-write", "read-only", "primary", "standby", "prefer-standby")
"""The values of ``target_session_attrs``."""


class ServersAsked(Struct, frozen=True):
    """The servers that a URL names, one at least, and which of them is to be used."""

    addresses: tuple[Address, ...]
    session_attrs: str
    """One of `SESSION_ATTRS`."""
    are_all_used: bool = False
    """Whether they are several, and none of them is asked for."""


def complete(url: str) -> Resolved:
    """The URL with what libpq would use where it is silent."""
    found = _values(url)
    elsewhere = found.from_elsewhere(*_IDENTITY)
    if not elsewhere:
        return Resolved(url, address_of(url).origins)
    parameters = found.from_elsewhere("hostaddr", "sslmode", "options", "target_session_attrs")
    host, port = elsewhere.get("host"), elsewhere.get("port")
    if host is not None and (host.startswith("/") or "," in host):
        parameters["host"], host = host, None
    if port is not None and "," in port:
        parameters["port"], port = port, None
    completed = server_url.completed(
        url,
        user=elsewhere.get("user"),
        host=host,
        port=port,
        database=elsewhere.get("dbname"),
        parameters=parameters,
    )
    return Resolved(completed, address_of(url).origins)


def address_of(url: str) -> Address:
    """Of the first server; see `servers_of`."""
    return servers_of(url).addresses[0]


def servers_of(url: str, *, session_statements: tuple[str, ...] = ()) -> ServersAsked:
    """``postgresql://user:password@host:port,host:port/database?sslmode=…&target_session_attrs=…``.

    A host that begins with a slash (``?host=/run/postgresql``) is the folder of a Unix socket,
    which is also the default. TLS is ``prefer`` over TCP unless ``sslmode`` says otherwise. What
    the URL leaves out comes from the service, the environment and libpq's files, in this order.

    Raises `ArgumentError` that names the part which cannot be used, and never the password.
    """
    found = _values(url)
    attrs = urls.meaning(
        found, "target_session_attrs", {word: word for word in SESSION_ATTRS}, SESSION_ATTRS[0]
    )
    each = tuple(_address(one, session_statements) for one in _of_each_server(found))
    is_one_asked_for = found.get("target_session_attrs") is not None
    return ServersAsked(each, attrs, are_all_used=len(each) > 1 and not is_one_asked_for)


def _address(given: Sourced, session_statements: tuple[str, ...]) -> Address:
    """``found``: of one server."""
    host, port = _host(given), urls.port(given, DEFAULT_PORT)
    user = given.get("user") or urls.own_name(SCHEMES[0])
    database = given.get("dbname") or user
    is_socket = host.startswith("/")
    address = None if is_socket else _host_address(given)
    if given.get("password") is None:
        password, origin = find_password(
            given.get("passfile"),
            host="localhost" if host.rstrip("/") == DEFAULT_SOCKET_FOLDER else host,
            port=port,
            database=database,
            user=user,
        )
        given.add(origin, {"password": password})
    else:
        origin = str(given.origin("password"))
    tls, ca_file = ("off", None) if is_socket else _tls(given)
    cert_file, key_file = (None, None) if tls == "off" else _own_certificate(given)
    named = {name: variable.get() for name, variable in SETTINGS.items()}
    set_first = (
        *(setting_statement(name, value) for name, value in named.items() if value),
        *statements_of_options(given.get("options"), f"({given.origin('options')})"),
    )
    return Address(
        driver="postgresql",
        unix=f"{host.rstrip('/')}/.s.PGSQL.{port}" if is_socket else None,
        host=None if is_socket else host,
        port=None if is_socket else port,
        host_address=address,
        user=user,
        password=given.get("password"),
        database=database,
        tls=tls,
        ca_file=ca_file,
        cert_file=cert_file,
        key_file=key_file,
        connect_timeout_s=urls.seconds(given, "connect_timeout", 30.0),
        session_statements=(*set_first, *session_statements),
        origins=_origins(given, origin, is_socket),
    )


def _values(url: str) -> Sourced:
    """By libpq's names, the first source first."""
    parts = urls.read(
        url, scheme=SCHEMES[0], parameters=_PARAMETERS, password=PASSWORD, may_be_several=True
    )
    found = Sourced()
    found.add(URL, parts.parameters)
    # Where one of several has a port, those without have the default.
    port = ",".join("" if one is None else str(one) for one in parts.ports)
    found.add(URL, {"host": parts.host, "port": port if port.strip(",") else None})
    found.add(URL, {"user": parts.user, "dbname": parts.database})
    found.add(URL, {"password": parts.password})
    if service := found.get("service") or SERVICE.get():
        found.add(*read_service(service))
    found.add_environment({**ENVIRONMENT, **UNSUPPORTED_VARIABLES})
    refuse_unsupported(found)
    return found


def _of_each_server(given: Sourced) -> list[Sourced]:
    """The values of each of the servers that are listed with commas, as libpq takes them apart: as
    many hosts as IP addresses, where both are given, and one port for all or one for each."""
    listed = {name: (given.get(name) or "").split(",") for name in ("host", "hostaddr", "port")}
    leading = "hostaddr" if given.get("hostaddr") else "host"
    number = len(listed[leading])
    for name, values in listed.items():
        is_for_all = not given.get(name) or (name == "port" and len(values) == 1)
        if len(values) != number and not is_for_all:
            raise ArgumentError(
                f"{given.spelled(name)}: expected {number}, one for each server, "
                f"found {len(values)}",
                hint="HOST:PORT,HOST:PORT in the URL",
            )
    if number == 1:
        return [given]

    def of(place: int) -> Mapping[str, str | None]:
        return {
            name: (values if len(values) == number else values * number)[place]
            for name, values in listed.items()
            if given.get(name)
        }

    return [given.with_values(of(place)) for place in range(number)]


def _host(given: Sourced) -> str:
    host, address = given.get("host"), given.get("hostaddr")
    if address is not None and (host is None or host.startswith("/")):
        return address
    return host or DEFAULT_SOCKET_FOLDER


def _host_address(given: Sourced) -> str | None:
    """None where the host is to be looked up."""
    address = given.get("hostaddr")
    if address is not None:
        try:
            ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            raise ArgumentError(
                f"{given.spelled('hostaddr')}: expected an IP address", hint="a name is a host"
            ) from None
    return address


def _tls(given: Sourced) -> tuple[str, str | None]:
    """What is encrypted and verified, and the file of the authorities."""
    if given.get("sslrootcert") == "system":
        if (given.get("sslmode") or "verify-full").lower() != "verify-full":
            raise ArgumentError(
                f"{given.spelled('sslmode')}: sslrootcert=system needs sslmode=verify-full"
            )
        return "verify", None
    tls = urls.meaning(given, "sslmode", _TLS_OF_SSLMODE, "prefer")
    _add_own_file(given, "sslrootcert", "root.crt")
    # As with libpq: where authorities are named, `require` looks at the certificate too.
    if tls == "require" and given.get("sslrootcert"):
        tls = "verify-ca"
    is_verified = tls in ("verify-ca", "verify")
    return tls, urls.readable_file(given, "sslrootcert") if is_verified else None


def _own_certificate(given: Sourced) -> tuple[str | None, str | None]:
    _add_own_file(given, "sslcert", "postgresql.crt")
    if given.get("sslcert") is None:
        return None, None
    _add_own_file(given, "sslkey", "postgresql.key")
    certificate, key = urls.readable_file(given, "sslcert"), urls.readable_file(given, "sslkey")
    if key is None:
        raise ArgumentError(
            f"{given.spelled('sslcert')}: expected its key as well", hint="sslkey=FILE"
        )
    if urls.is_open_to_others(Path(key)):
        raise ArgumentError(
            f"{given.spelled('sslkey')}: others can read the key", hint=f"chmod 600 {key}"
        )
    return certificate, key


def _add_own_file(given: Sourced, name: str, file: str) -> None:
    """The file that libpq looks for in ``~/.postgresql``."""
    home = env_vars.home()
    if home is not None and paths.is_file(path := home / ".postgresql" / file):
        given.add(urls.shown(path), {name: str(path)})


def _origins(given: Sourced, password: str, is_socket: bool) -> dict[str, str]:
    defaults = dict.fromkeys(("host", "port", "sslmode"), "default")
    defaults |= {"user": LOGIN_NAME, "dbname": "the user's name"}
    names = ["host", "hostaddr", "port", "user", "dbname"]
    names += [] if is_socket else ["sslmode", "sslrootcert", "sslcert", "sslkey"]
    names += ["connect_timeout", "options"]
    origins = {name: given.origin(name) or defaults.get(name, "") for name in names}
    return {name: origin for name, origin in origins.items() if origin} | {
        "password_from": password
    }
