"""Makes a data directory and runs a private server on it until the end of the block."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError, SystemDied, SystemRefused
from assay.provision.disk import new_data
from assay.provision.machine.ports import free_port
from assay.provision.processes import process, programs
from assay.provision.processes.process import ServerProcess
from assay.systems.mysql_protocol.meaning import argument
from assay.systems.mysql_protocol.names import plain_name
from assay.systems.mysql_protocol.product import Product, Programs
from assay.text.mentions import Mention, phrase

USER = "assay"
DATABASE = "assay"

_SET_BY_ASSAY = """
    basedir bind_address datadir defaults_file init_file log_error no_defaults pid_file port
    skip_grant_tables skip_networking socket user
"""
SET_BY_ASSAY = frozenset(_SET_BY_ASSAY.split())
"""Settings by which we make and reach the server: not to be asked for."""

CHOSEN_BY_ASSAY = {
    "character_set_server": "utf8mb4",
    # Texts compare byte by byte, as on the other systems.
    "collation_server": "utf8mb4_bin",
    # What does not fit is an error in every storage engine: the default lets some cut it short.
    "sql_mode": "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    # Bulk loads send their rows as a local file.
    "local_infile": "ON",
    # No session waits for a name server.
    "skip_name_resolve": "ON",
    # A server that is started again on its rows would read back what it had in its buffer, beside
    # the clients that are measured.
    "innodb_buffer_pool_load_at_startup": "OFF",
}
"""Where we do not leave a setting at the server's default; what is asked for comes before."""

_PORT_TRIES = 3
_PORT_IS_TAKEN = "Can't start server: Bind on TCP/IP port"
_IS_READY = "ready for connections"
_ERROR = r"\[ERROR\] (?:\[[^\]]*\] )*(.*)"
"""A line of the log; the number and the part of the server that speaks are left out."""
_OF_A_SETTING = re.compile(
    r"unknown (?:variable|option)|ambiguous option|Unknown suffix|Error while setting value"
)
_WAITS = r"(Disk (?:is )?full.*?)\.? ?Waiting for someone to free"
_ADVICE = "Installation of system tables failed!"
_SAYS_NOTHING = (
    "Aborting",
    "The designated data directory is unusable. You can remove all files that the server added "
    "to it.",
)


class RunningServer(Struct, frozen=True):
    process: ServerProcess
    socket: Path
    host: str
    port: int | None
    """None: it listens at its socket alone."""
    password: str | None
    """For TCP. The socket asks for none: only we can enter its directory."""


def initialise(
    product: Product, installed: Programs, directory: ServerDirectory, settings: Mapping[str, str]
) -> None:
    """Makes the data directory. Raises `SystemRefused`."""
    given = {
        name: value
        for name, value in settings.items()
        if plain_name(name) in product.settings_of_the_directory
    }
    log = directory.run / "install.log"
    command = product.make_data_directory(
        installed,
        directory,
        _temporary_folder(directory),
        log,
        [argument(name, value) for name, value in given.items()],
    )
    try:
        # Settings may name other folders for a part of the data.
        if given:
            programs.run(command, directory)
        else:
            new_data.fill(directory, installed.server, [], lambda: programs.run(command, directory))
    except SystemRefused as refusal:
        raise SystemRefused(
            f"the data directory cannot be made: {_last_words(log)}", hint=_as_given(given)
        ) from refusal


def _temporary_folder(directory: ServerDirectory) -> Path:
    """Where sorts and temporary tables go: on the storage under test, and in a folder of its own.

    A server that starts removes what looks like temporary tables from its folder for them; in the
    usual one (/tmp) those are other servers', which then fail or crash.
    """
    folder = directory.root / "tmp"
    if not folder.exists():
        folder.mkdir(mode=0o700)
        owner = directory.root.stat()
        os.chown(folder, owner.st_uid, owner.st_gid)
    return directory.plain_root / "tmp"  # the setting is a list, divided at colons


def check_settings(product: Product, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that Assay chooses."""
    if set_here := [name for name in settings if plain_name(name) in SET_BY_ASSAY]:
        raise ArgumentError(
            f"the setting {set_here[0]} of a private server is set by Assay",
            hint=phrase(
                "reach a server of your own by its URL: {}",
                Mention("on", f"{product.name}://USER@HOST:PORT/DATABASE"),
            ),
        )


@contextlib.contextmanager
def running(
    product: Product,
    programs: Programs,
    directory: ServerDirectory,
    settings: Mapping[str, str],
    *,
    over_tcp: bool,
    open_files: int,
) -> Iterator[RunningServer]:
    """Starts the server on its data directory with these settings, and stops it at the end.

    It listens at a socket in ``directory.run``; with `over_tcp` also at a free port of its address,
    where it asks for a password. Its ordinary user is made anew before it listens, and its database
    where there is none.

    Raises `SystemRefused` in the server's own words where it does not start, `SystemDied` where it
    hangs.
    """
    password = secrets.token_urlsafe(24) if over_tcp else None
    first_words = directory.run / "first-words.sql"
    with contextlib.ExitStack() as stack:
        stack.callback(first_words.unlink, missing_ok=True)
        _write_first_words(product, first_words, password, directory)
        for tries_left in reversed(range(_PORT_TRIES)):
            port = free_port(directory.address) if over_tcp else None
            server = stack.enter_context(
                process.start(
                    _arguments(product, programs, directory, settings, port, first_words),
                    directory,
                    log_name=_log_name(directory, port),
                    open_files=open_files,
                )
            )
            try:
                server.wait_ready(functools.partial(_why_not_ready, server.log))
                break
            except SystemDied as error:
                if server.died() is None:
                    raise
                words = _last_words(server.log)
                if _PORT_IS_TAKEN not in words or tries_left == 0:
                    raise _refused(words, product, programs, settings) from error
        first_words.unlink()
        yield RunningServer(server, directory.run / "socket", directory.address, port, password)


def _arguments(
    product: Product,
    programs: Programs,
    directory: ServerDirectory,
    settings: Mapping[str, str],
    port: int | None,
    first_words: Path,
) -> list[str | Path]:
    asked = {plain_name(name) for name in settings}
    in_a_group = product.settings_in_a_group if directory.control_groups else {}
    temporary = {"tmpdir": str(_temporary_folder(directory))}
    ours = {**CHOSEN_BY_ASSAY, **product.settings_of_assay, **in_a_group, **temporary}
    chosen = {name: value for name, value in ours.items() if name not in asked}
    given = [argument(name, value) for name, value in {**chosen, **settings}.items()]
    listens = ["--skip-networking"] if port is None else [f"--port={port}"]
    return [
        programs.server,
        "--no-defaults",
        *programs.base_arguments,
        f"--datadir={directory.data}",
        f"--socket={directory.run / 'socket'}",
        f"--pid-file={directory.run / 'pid'}",
        f"--init-file={first_words}",
        f"--bind-address={directory.address}",
        *product.server_arguments(),
        *listens,
        *given,
    ]


def _write_first_words(
    product: Product, path: Path, password: str | None, directory: ServerDirectory
) -> None:
    """What the server runs before it listens, each statement on a line."""
    clients = directory.address if directory.is_on_loopback else "%"
    lines = [
        f"CREATE DATABASE IF NOT EXISTS {DATABASE};",
        *product.users(USER, password, clients, is_confined=directory.is_confined),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    path.chmod(0o644)  # its directory is closed to all but the server's user and us


def _log_name(directory: ServerDirectory, port: int | None) -> str:
    """A new one for each start: that the server is ready is read from its log."""
    starts = len(list(directory.run.glob("server-*.log")))
    return f"server-{port or 'socket'}-{starts + 1}.log"


def _why_not_ready(log: Path) -> str | None:
    words = programs.last_lines(log, lines=200)
    return None if _IS_READY in words else "it has not reported that it is ready"


def _last_words(log: Path) -> str:
    """What the server says of its end: its lines of rank ERROR. Of the script that makes data
    directories, what stands before its advice."""
    text, advice, _ = programs.last_lines(log, lines=200).partition(_ADVICE)
    errors = [words for words in re.findall(_ERROR, text) if words not in _SAYS_NOTHING]
    said = "; ".join(dict.fromkeys(errors))
    return said or (text.strip() if advice else programs.last_lines(log))


def why_waiting(directory: ServerDirectory) -> str | None:
    """What the server, or the program that makes its data directory, logged of a file that waits
    for free space."""
    for log in directory.run.glob("*.log"):
        if said := re.findall(_WAITS, programs.last_lines(log, lines=50)):
            return str(said[-1])
    return None


def refuse_settings(product: Product, programs: Programs, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that the server's program does not take. Those of a
    plugin are known only to a server that has loaded it."""
    if any("plugin" in plain_name(name) for name in settings):
        return
    tried = subprocess.run(
        [
            programs.server,
            "--no-defaults",
            *programs.base_arguments,
            *product.server_arguments(),
            *(argument(name, value) for name, value in settings.items()),
            *product.checking_arguments,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd="/",
    )
    errors = [one for one in re.findall(_ERROR, tried.stderr) if _OF_A_SETTING.search(one)]
    if errors:
        why, hint = _explained("; ".join(dict.fromkeys(errors)), product, programs, settings)
        raise ArgumentError(f"{product.title} refuses a setting: {why}", hint=hint)


def _refused(
    words: str, product: Product, programs: Programs, settings: Mapping[str, str]
) -> SystemRefused:
    why, hint = _explained(words, product, programs, settings)
    return SystemRefused(f"the server does not start: {why}", hint=hint)


def _explained(
    words: str, product: Product, programs: Programs, settings: Mapping[str, str]
) -> tuple[str, str | None]:
    """What the server says of its settings, and the fix."""
    unknown = re.search(r"unknown (?:variable|option) '-*([^'=]+)", words)
    if unknown and (gone := product.why_it_is_gone(unknown.group(1))):
        return gone, None
    near = get_close_matches(plain_name(unknown.group(1)), _names(programs)) if unknown else []
    named = {name: settings[name] for name in settings if plain_name(name) in plain_name(words)}
    hint = f"did you mean {' or '.join(near)}?" if near else _as_given(named)
    return words, hint


def _as_given(settings: Mapping[str, str]) -> str | None:
    words = ", ".join(f"{name}={value}" for name, value in settings.items())
    return f"it was given {words}" if words else None


def _names(programs: Programs) -> list[str]:
    """Every setting this server knows: the table at the end of its help."""
    listed = subprocess.run(
        [programs.server, "--no-defaults", *programs.base_arguments, "--verbose", "--help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd="/",
    )
    _, _, table = listed.stdout.partition("\n----")
    lines = table.splitlines()[1:]
    return [plain_name(line.partition(" ")[0]) for line in lines if line[:1].isalpha()]
