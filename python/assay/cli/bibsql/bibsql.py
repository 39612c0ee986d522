"""The program ``bibsql``: starts a system's own client on the bibliography database.

After Beebe's program of the same name: it supplies user, database and connection, becomes the
client, and so has no effect on its speed. How a server is reached stands in a file of profiles::

    [ssd.SERVER]              # bibsql -s SERVER --profile ssd
    socket = "/run/db.sock"   # or host and port, or file
    user = "reader"           # also password, tls, ca_file
    database = "bibtex"
"""

from __future__ import annotations

import errno
import json
import os
import re
import select
import shutil
import stat
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from assay import env_vars
from assay.cli.bibsql import options
from assay.cli.bibsql.options import Option, Parsed, help_text, parse
from assay.cli.process import OutputLost, outcome_of
from assay.contracts.deployment import Address
from assay.contracts.systems.abilities import OwnClient
from assay.errors import ArgumentError, SystemMissing
from assay.text import toml_file
from assay.text.phrases import did_you_mean
from assay.text.quantities import PORT
from assay.workload import reader

OPTIONS = (
    Option("author", "print who wrote the original program"),
    Option("help", "print this help"),
    Option("server", "the kind of server [default: that of bibtosql]", "NAME"),
    Option("user", "name of the database user, not of your login", "NAME"),
    Option("version", "print the version"),
    Option("database", "name of the database [default: bibtex]", "NAME"),
    Option("profile", "connection profile to use [default: default]", "NAME", False),
)
DEFAULT_PROFILE = "default"
TLS = ("prefer", "off", "require", "verify")


EXAMPLES = """\
  bibsql -s postgresql < sanity-checks.sql
  bibsql -s mysql --profile ssd
"""


def main() -> None:
    sys.exit(outcome_of("bibsql", lambda: run(sys.argv[1:])))


def run(arguments: list[str]) -> int | None:
    """Becomes the client, and so returns only where it has less to do."""
    parsed = parse(arguments, OPTIONS, pass_unknown=True)
    if answer := standard_answer("bibsql", _help(), parsed):
        sys.stdout.write(answer)
        return None
    workload = reader.read("bibsql")
    server = options.server(parsed.last("server") or workload.default_system)
    address = _address(server, parsed)
    command, environment = _client_command(server, address)
    program = shutil.which(command[0])
    if program is None:
        raise SystemMissing(
            f"the client {command[0]} of {server.name} is not on this machine",
            hint=f"install the package with {command[0]}, or choose another --server",
        )
    if address.file and address.file in command and not Path(address.file).exists():
        raise ArgumentError(
            f"there is no database {address.file}",
            hint=f"bibtosql --create files.bib | {command[0]} {address.file}",
        )
    insist_on_sql(parsed.rest)
    insist_on_room()
    sys.stdout.flush()
    os.execve(program, [*command, *parsed.rest], {**os.environ, **environment})


def _client_command(
    server: options.Server, address: Address
) -> tuple[list[str], Mapping[str, str]]:
    """Its own client, or that of a server which speaks the same. Raises `SystemMissing`."""
    missing: SystemMissing | None = None
    for one in options.servers_alike(server):
        if isinstance(one.system, OwnClient):
            try:
                return one.system.client_command(address)
            except SystemMissing as error:
                missing = missing or error
    raise missing or ArgumentError(f"{server.name} has no client of its own")


def standard_answer(program: str, help_: str, parsed: Parsed) -> str | None:
    """What ``--help``, ``--version`` or ``--author`` print; None where none was given."""
    if "help" in parsed.given:
        return help_
    if "version" in parsed.given:
        return f"{program} of Assay {version('assay-db')}\n"
    if "author" in parsed.given:
        return (
            f"The original {program} was written by Nelson H. F. Beebe, University of Utah,\n"
            "in 2009. This is a new implementation by the authors of Assay, based on his\n"
            "article.\n"
        )
    return None


def _help() -> str:
    return help_text(
        "bibsql [OPTIONS] [OPTIONS OF THE CLIENT] < file.sql",
        "Start the server's own client on the bibliography database. Options that are\n"
        "not listed here, and everything after --, are passed to the client unchanged.\n"
        "So are -a, -h, -p and -v (-h HOST), unless -a, -h or -v is the only argument.",
        OPTIONS,
        EXAMPLES,
    )


def profiles_file() -> Path:
    """Where profiles stand."""
    if given := env_vars.BIBSQL_PROFILES.get():
        return Path(given)
    configuration = env_vars.XDG_CONFIG_HOME.get()
    home = env_vars.home() or Path("/nonexistent")
    folder = Path(configuration) if configuration else home / ".config"
    return folder / "assay" / "bibsql.toml"


def _address(server: options.Server, parsed: Parsed) -> Address:
    section = _profile(server, parsed.last("profile"))
    # Every key is read, also one that an option outdoes: what is not read is an unknown key.
    name, own = parsed.last("database"), section.text("database", options.DEFAULT_DATABASE)
    name = own if name is None else options.database_name(name)
    user = section.text("user", "")
    address = Address(
        driver=server.system.driver,
        unix=section.text("socket", "") or None,
        host=section.text("host", "") or None,
        port=section.whole("port", PORT) if "port" in section else None,
        file=section.text("file", f"{name}.db"),
        user=parsed.last("user") or user,
        password=section.text("password", "") or None,
        database=name,
        tls=section.choice("tls", TLS, TLS[0]),
        ca_file=section.text("ca_file", "") or None,
    )
    section.done()
    return address


def _profile(server: options.Server, name: str | None) -> toml_file.TomlTable:
    """The profile's table for this server; empty where nothing is said and none was asked for."""
    file = profiles_file()
    if not file.exists():
        if name is not None:
            raise ArgumentError(
                f"no profile {name!r}: there is no file {file}", hint=_profile_hint(server, name)
            )
        return toml_file.TomlTable(file, "", (), {})
    top = toml_file.read(file)
    name = DEFAULT_PROFILE if name is None else name
    if name not in top:
        if name != DEFAULT_PROFILE:
            raise top.error(f"no profile {name!r}", hint=did_you_mean(name, top.names()))
        return toml_file.TomlTable(file, "", (), {})
    profile = top.section(name)
    for key in profile.names():
        if options.server(key).system.dialect.name == server.system.dialect.name:
            return profile.section(key)
    raise profile.error(
        f"profile {name!r} has no section for {server.name}", hint=_profile_hint(server, name)
    )


def _profile_hint(server: options.Server, name: str) -> str:
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
    return (
        "a profile says how to reach a server, for example:\n"
        f'[{key}.{server.system.name}]\ndatabase = "{options.DEFAULT_DATABASE}"'
    )


# Takes the standard streams that a client will get; refuses those with which it would do nothing,
# or lose everything, and end with status 0.

_INPUT, _OUTPUT = 0, 1
_LONGEST_PATH = 4096
_FULL = Path("/dev/full")


def insist_on_sql(arguments: Sequence[str]) -> None:
    """Raises `ArgumentError` where the client would get no SQL: nothing on standard input and
    nothing among its arguments, or there a file that it does not read."""
    if arguments:
        word = arguments[0]
        if not word.startswith("-") and len(word) < _LONGEST_PATH and Path(word).is_file():
            raise ArgumentError(
                f"{word}: expected SQL on standard input, found a file among the arguments",
                hint=f"bibsql … < {word}",
            )
    elif _is_empty():
        raise ArgumentError(
            "expected SQL on standard input, found none", hint="bibsql … < file.sql"
        )


def insist_on_room() -> None:
    """Raises `OutputLost` where standard output is a file and its file system is full: some clients
    do not notice."""
    status = os.fstat(_OUTPUT)
    is_full = _is_device(status, _FULL)
    if stat.S_ISREG(status.st_mode):
        is_full = os.fstatvfs(_OUTPUT).f_bavail == 0
    if is_full:
        raise OutputLost(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def _is_empty() -> bool:
    try:
        status = os.fstat(_INPUT)
    except OSError:  # closed
        return True
    if stat.S_ISREG(status.st_mode):
        return os.lseek(_INPUT, 0, os.SEEK_CUR) >= status.st_size
    if stat.S_ISFIFO(status.st_mode):
        # As long as the client itself would wait: for the first byte, or for the end.
        waiting = select.poll()
        waiting.register(_INPUT, select.POLLIN)
        return not any(event & select.POLLIN for _, event in waiting.poll())
    return _is_device(status, Path(os.devnull))


def _is_device(status: os.stat_result, device: Path) -> bool:
    return (
        stat.S_ISCHR(status.st_mode) and device.exists() and status.st_rdev == device.stat().st_rdev
    )
