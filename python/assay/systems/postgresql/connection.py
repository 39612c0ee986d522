"""What libpq reads beside the URL of a server (service files, a password file, options of a
session), what of it is not supported, and what a refused login means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay import env_vars
from assay.contracts.deployment import Address
from assay.dialects.postgresql import POSTGRESQL as DIALECT
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemRefused
from assay.systems import urls
from assay.systems.urls import Sourced
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
