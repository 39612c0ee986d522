"""Takes a server's URL; returns its address, completed as the product's own client does: by option
files and the environment."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from assay import env_vars
from assay.contracts import server_url
from assay.contracts.deployment import Address
from assay.contracts.server_url import Resolved
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemRefused
from assay.systems import urls
from assay.systems.mysql_protocol.product import Product
from assay.systems.sessions import ExpectedServer
from assay.systems.urls import LOGIN_NAME, URL, Sourced
from assay.text import paths

PASSWORD = EnvVar("MYSQL_PWD", "The password for a URL that holds none.")
GROUP_SUFFIX = EnvVar("MYSQL_GROUP_SUFFIX", "Further groups of option files: `[clientSUFFIX]`.")

ENVIRONMENT: Mapping[str, EnvVar] = {
    "host": EnvVar(
        "MYSQL_HOST", "The host; `localhost` means the Unix socket (in a URL it means TCP)."
    ),
    "port": EnvVar("MYSQL_TCP_PORT", "The port."),
    "socket": EnvVar("MYSQL_UNIX_PORT", "The Unix socket."),
    "password": PASSWORD,
}

VARIABLES = (*ENVIRONMENT.values(), GROUP_SUFFIX)
"""All that a URL is completed with."""

DEFAULT_PORT = 3306
DEFAULT_SOCKETS = ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock")

_TLS_OF_MODE = {
    "disabled": "off",
    "preferred": "prefer",
    "required": "require",
    "verify_ca": "verify-ca",
    "verify_identity": "verify",
}
_OFF = ("0", "off", "false", "disabled")
_VALUES = ("host", "port", "socket", "user", "password", "database", "protocol", "connect-timeout")
_FILES = ("ssl-ca", "ssl-cert", "ssl-key")
_PARAMETERS = (
    "socket",
    "ssl-mode",
    *_FILES,
    "connect-timeout",
    "defaults-file",
    "defaults-extra-file",
    "defaults-group-suffix",
)
"""Names of the clients' own options."""

_UNSUPPORTED = (
    "ssl-capath", "ssl-cipher", "ssl-crl", "ssl-crlpath", "ssl-fp", "ssl-fplist", "ssl-passphrase",
    "tls-fp", "tls-fplist", "tls-version",
)  # fmt: skip
"""What would be less safe if it were passed over."""

_IDENTITY = ("user", "ssl-mode")


def expected(product: Product) -> ExpectedServer:
    """What a URL leads to."""
    return ExpectedServer(
        name=product.title,
        password=PASSWORD.name,
        tls_parameter="ssl-mode",
        authorities_parameter="ssl-ca",
        client_certificate="ssl-cert and ssl-key",
        signed_only="ssl-mode=verify_ca",
        no_tls="ssl-mode=disabled",
        no_database=("1044", "1049"),
        password_needed=("1045",),
        silent_fix=f"a {product.title} server speaks first, and this one was silent: is it one? "
        "correct scheme, host and port in the URL",
        socket="the socket's file (socket=FILE)",
        tls_required="ssl-mode=REQUIRED",
        more_time="connect-timeout=60",
        fix_of=fix_of_refused_login,
        other_cause=other_cause_of_refusal,
    )


def complete(product: Product, url: str) -> Resolved:
    """The URL with what the client would use where it is silent."""
    found, address = _values(product, url), addresses_of(product, url)[0]
    elsewhere = found.from_elsewhere(*_IDENTITY, "database")
    parameters = {"ssl-mode": elsewhere["ssl-mode"]} if "ssl-mode" in elsewhere else {}
    place = found.from_elsewhere("host", "port", "socket")
    is_socket = address.unix is not None
    if is_socket and (found.origin("socket") or URL) != URL:
        parameters["socket"] = str(address.unix)
    if not (elsewhere or parameters or place):
        return Resolved(url, address.origins)
    completed = server_url.completed(
        url,
        user=elsewhere.get("user"),
        host=None if is_socket else place.get("host"),
        port=None if is_socket else place.get("port"),
        database=elsewhere.get("database"),
        parameters=parameters,
    )
    return Resolved(completed, address.origins)


def addresses_of(
    product: Product, url: str, *, session_statements: tuple[str, ...] = ()
) -> tuple[Address, ...]:
    """Of each server that the URL names; see `address_of`."""
    return tuple(
        address_of(product, one, session_statements=session_statements)
        for one in server_url.of_each_host(url)
    )


def address_of(product: Product, url: str, *, session_statements: tuple[str, ...] = ()) -> Address:
    """``SCHEME://user:password@host:port/database?socket=…&ssl-mode=…&ssl-ca=…``.

    With ``socket`` the path of a Unix socket, host and port mean nothing. TLS is ``preferred`` over
    TCP unless ``ssl-mode`` says otherwise, ``verify_ca`` where ``ssl-ca`` is given alone. What the
    URL leaves out comes from option files and then the environment, as with the clients.

    Raises `ArgumentError` that names the part which cannot be used, and never the password.
    """
    found = _values(product, url)
    tls = urls.meaning(found, "ssl-mode", _TLS_OF_MODE, _default_mode(found))
    if not (database := found.get("database")):
        raise ArgumentError(
            "the URL names no database",
            hint=f"{urls.form(product.name)}; statements run in that database",
        )
    socket = _socket(found)
    port = urls.port(found, DEFAULT_PORT)
    host = (found.get("host") or "127.0.0.1").lower()
    if socket is not None:
        tls = "off"
    certificate, key = _own_certificate(found) if tls != "off" else (None, None)
    return Address(
        driver="mysql",
        unix=socket,
        host=None if socket else host,
        port=None if socket else port,
        user=found.get("user") or urls.own_name(product.name),
        password=found.get("password"),
        database=database,
        tls=tls,
        ca_file=urls.readable_file(found, "ssl-ca") if tls.startswith("verify") else None,
        cert_file=certificate,
        key_file=key,
        connect_timeout_s=urls.seconds(found, "connect-timeout", 30.0),
        session_statements=session_statements,
        origins=_origins(found, socket),
    )


def _values(product: Product, url: str) -> Sourced:
    """By the names of the clients' options, the first source first."""
    parts = urls.read(
        url, scheme=product.name, parameters=_PARAMETERS, password=PASSWORD, may_be_several=True
    )
    found = Sourced()
    found.add(URL, parts.parameters)
    port = None if parts.port is None else str(parts.port)
    found.add(URL, {"host": parts.host, "port": port, "user": parts.user})
    found.add(URL, {"password": parts.password, "database": parts.database})
    options = read_option_files(
        product.option_groups,
        only=found.get("defaults-file"),
        extra=found.get("defaults-extra-file"),
        suffix=found.get("defaults-group-suffix") or GROUP_SUFFIX.get(),
    )
    for option in reversed(options):  # of an option given twice the last one counts
        if option.name in (*_VALUES, *_FILES):
            found.add(option.origin, {option.name: option.value})
        elif option.name in _UNSUPPORTED:
            raise ArgumentError(
                f"{option.name} ({option.origin}): not supported",
                hint="leave it out for this run: another file with ?defaults-file=FILE in the URL",
            )
        elif (mode := _mode(option.name, option.value)) is not None:
            found.add(option.origin, {"ssl-mode": mode})
    found.add_environment(ENVIRONMENT)
    return found


def _mode(name: str, value: str | None) -> str | None:
    """What an option of a file says of TLS, as a word of ``ssl-mode``; None: nothing."""
    is_off = value is not None and value.lower() in _OFF
    if name == "ssl-mode":
        return (value or "").lower()
    if name == "ssl":
        return "disabled" if is_off else "required"
    if name in ("skip-ssl", "disable-ssl"):
        return "disabled"
    if name == "ssl-verify-server-cert" and not is_off:
        return "verify_identity"
    return None


def _default_mode(given: Sourced) -> str:
    """As with the clients: authorities that are named are used."""
    return "verify_ca" if given.get("ssl-ca") else "preferred"


def _socket(given: Sourced) -> str | None:
    """The path of the Unix socket; None where the server is reached over TCP. A host in the URL is
    one to reach over TCP, also ``localhost``; elsewhere that name means the socket."""
    if given.origin("socket") == URL:
        return given.get("socket")
    is_tcp = URL in (given.origin("host"), given.origin("port"))
    is_tcp = is_tcp or (given.get("protocol") or "").lower() == "tcp"
    if is_tcp or (given.get("host") or "localhost").lower() != "localhost":
        return None
    usual = next((path for path in DEFAULT_SOCKETS if paths.exists(Path(path))), None)
    return given.get("socket") or usual


def _own_certificate(given: Sourced) -> tuple[str | None, str | None]:
    certificate, key = urls.readable_file(given, "ssl-cert"), urls.readable_file(given, "ssl-key")
    if certificate is not None and key is None:
        raise ArgumentError(
            f"{given.spelled('ssl-cert')}: expected its key as well", hint="ssl-key=FILE"
        )
    return certificate, key


def _no_password() -> str:
    """Says where the password was looked for; a login path is never read."""
    home = env_vars.home()
    if home is not None and paths.is_file(path := home / ".mylogin.cnf"):
        return f"none found; {urls.shown(path)} is encrypted and not read"
    return "none found"


def _origins(given: Sourced, socket: str | None) -> dict[str, str]:
    names = ["user", "database", "connect-timeout"]
    names += ["socket"] if socket else ["host", "port", "ssl-mode", *_FILES]
    defaults = dict.fromkeys(("host", "port", "socket", "ssl-mode"), "default")
    defaults["user"] = LOGIN_NAME
    if given.get("ssl-ca"):
        defaults["ssl-mode"] = "because of ssl-ca"
    origins = {name: given.origin(name) or defaults.get(name, "") for name in names}
    password = given.origin("password") or _no_password()
    return {name: origin for name, origin in origins.items() if origin} | {
        "password_from": password
    }


_DEFAULT_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf")
_MOST_INCLUDES = 10
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}
_ESCAPED = re.compile(r"\\([btnrs\\\"'])")


class FileOption(Struct, frozen=True):
    """One line: its name with ``-`` between words, its value (None: none is given), its origin."""

    name: str
    value: str | None
    origin: str


def read_option_files(
    names: Sequence[str],
    *,
    only: str | None = None,
    extra: str | None = None,
    suffix: str | None = None,
) -> list[FileOption]:
    """Every option of the groups of these ``names``, in the order of the files.

    ``only`` is read in place of all other files, ``extra`` besides them, ``suffix`` names further
    groups (``[client_suffix]``). Raises `ArgumentError` where a file that was named is missing, or
    a line cannot be read.
    """
    groups = [*names, *(f"{item}{suffix}" for item in names if suffix)]
    return [item for file in _files(only, extra) for item in _options(file, groups, 0)]


def _files(only: str | None, extra: str | None) -> Iterator[Path]:
    if only is not None:
        yield _named("defaults-file", only)
        return
    yield from (Path(file) for file in _DEFAULT_FILES if paths.is_file(Path(file)))
    if extra is not None:
        yield _named("defaults-extra-file", extra)
    home = env_vars.home()
    if home is not None and paths.is_file(home / ".my.cnf"):
        yield home / ".my.cnf"


def _named(parameter: str, path: str) -> Path:
    home = env_vars.home()
    file = home / path[2:] if home is not None and path.startswith("~/") else Path(path)
    if not paths.is_file(file):
        raise ArgumentError(f"{parameter}={path} in the URL: there is no such file")
    return file


def _options(file: Path, groups: Sequence[str], depth: int) -> Iterator[FileOption]:
    if depth > _MOST_INCLUDES:
        raise ArgumentError(f"{file}: option files include each other too deeply")
    group = ""
    for number, line in enumerate(_lines(file), 1):
        if line.startswith("!"):
            for included in _included(file, number, line):
                yield from _options(included, groups, depth + 1)
        elif line.startswith("["):
            group, bracket, _ = line[1:].partition("]")
            if not bracket:
                raise ArgumentError(f"{file}:{number}: the bracket is not closed: {line}")
        elif group in groups:
            name, equals, value = line.partition("=")
            yield FileOption(
                name.strip().replace("_", "-").lower().removeprefix("loose-"),
                _unquoted(value.strip()) if equals else None,
                f"[{group}] in {urls.shown(file)}",
            )


def _lines(file: Path) -> Iterator[str]:
    """Each line without its comment; an empty one where nothing is left, so that they can be
    counted. A file that every user can write is not used, as the clients have it."""
    try:
        if file.stat().st_mode & stat.S_IWOTH:
            return
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        if not os.access(file, os.R_OK):
            return  # the clients pass over it too
        raise ArgumentError(f"{file}: the option file cannot be read: {error}") from error
    for line in text.splitlines():
        stripped = line.strip()
        yield "" if stripped.startswith(("#", ";")) else _without_comment(stripped)


def _without_comment(line: str) -> str:
    quote, is_escaped = "", False
    for at, letter in enumerate(line):
        if letter in "'\"" and not is_escaped:
            quote = "" if quote == letter else quote or letter
        if letter == "#" and not quote:
            return line[:at].rstrip()
        is_escaped = bool(quote) and letter == "\\" and not is_escaped
    return line


def _included(file: Path, number: int, line: str) -> list[Path]:
    word, _, place = line.partition(" ")
    path = file.parent / place.strip()
    if word == "!includedir":
        return (
            sorted(file_path for file_path in path.glob("*.cnf")) if paths.is_folder(path) else []
        )
    if word == "!include":
        return [path] if paths.is_file(path) else []
    raise ArgumentError(f"{file}:{number}: expected !include or !includedir, found {word}")


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]:
        value = value[1:-1]
    return _ESCAPED.sub(lambda match: _ESCAPES[match[1]], value)


_TLS_IS_REQUIRED = "3159"
_ACCESS_DENIED = "1045"


def fix_of_refused_login(error: SystemRefused, _address: Address) -> str | None:
    """None: the message leaves the cause open."""
    if error.code == _TLS_IS_REQUIRED or "require_secure_transport" in error.message:
        return "require TLS with ssl-mode=REQUIRED in the URL"
    return None


def other_cause_of_refusal(error: SystemRefused, address: Address) -> str | None:
    """A server that requires TLS or a certificate of a user refuses as for a wrong password."""
    if address.unix is not None:
        return None
    found = []
    if error.code == _ACCESS_DENIED:
        if address.tls == "off":
            found.append("if the server requires TLS: ssl-mode=REQUIRED in the URL")
        elif address.cert_file is None:
            found.append("if this user needs a certificate: ssl-cert=FILE&ssl-key=FILE in the URL")
    origins = address.origins
    is_local = address.host == "localhost" and origins.get("host") == URL != origins.get("port")
    if is_local and error.error_class in ("authentication", "connection refused"):
        found.append("localhost in a URL means TCP; the Unix socket is ?socket=FILE")
    return "; ".join(found) or None
