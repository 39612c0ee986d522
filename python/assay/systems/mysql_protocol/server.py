"""Makes a data directory and runs a private server on it until the end of the block: its log or
its tables on devices of their own, where it is asked for."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError, SystemDied, SystemRefused
from assay.provision import copying, processes
from assay.provision.copying import allocated_bytes
from assay.provision.machine.ports import free_port
from assay.provision.processes import ListeningServer
from assay.systems.mysql_protocol.product import Product, Programs, argument, plain_name
from assay.systems.options import answer_of
from assay.text.phrases import Mention, phrase

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
    called = (installed.installer or installed.server).name
    make = functools.partial(processes.run_program, command, directory, called=called)
    try:
        # Settings may name other folders for a part of the data.
        if given:
            make()
        else:
            copying.fill_new_data(directory, installed.server, [], make)
    except SystemRefused as refusal:
        logged = "" if isinstance(refusal, processes.StillRunning) else _last_words(log)
        raise SystemRefused(
            f"the data directory cannot be made: {logged or refusal.message}", hint=_as_given(given)
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
) -> Iterator[ListeningServer]:
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
                processes.start_server(
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
                if not words:
                    raise
                if _PORT_IS_TAKEN not in words or tries_left == 0:
                    raise _refused(words, product, programs, settings) from error
        first_words.unlink()
        yield ListeningServer(server, directory.run / "socket", directory.address, port, password)


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
    words = processes.last_lines(log, lines=200)
    return None if _IS_READY in words else "it has not reported that it is ready"


def _last_words(log: Path) -> str:
    """What the server says of its end: its lines of rank ERROR. Of the script that makes data
    directories, what stands before its advice."""
    text, advice, _ = processes.last_lines(log, lines=200).partition(_ADVICE)
    errors = [words for words in re.findall(_ERROR, text) if words not in _SAYS_NOTHING]
    said = "; ".join(dict.fromkeys(errors))
    return said or (text.strip() if advice else processes.last_lines(log))


def why_waiting(directory: ServerDirectory) -> str | None:
    """What the server, or the program that makes its data directory, logged of a file that waits
    for free space."""
    for log in directory.run.glob("*.log"):
        if said := re.findall(_WAITS, processes.last_lines(log, lines=50)):
            return str(said[-1])
    return None


def refuse_settings(product: Product, programs: Programs, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that the server's program does not take. Those of a
    plugin are known only to a server that has loaded it."""
    if any("plugin" in plain_name(name) for name in settings):
        return
    tried = answer_of(
        [
            programs.server,
            "--no-defaults",
            *programs.base_arguments,
            *product.server_arguments(),
            *(argument(name, value) for name, value in settings.items()),
            *product.checking_arguments,
        ],
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
    listed = answer_of(
        [programs.server, "--no-defaults", *programs.base_arguments, "--verbose", "--help"], cwd="/"
    )
    _, _, table = listed.stdout.partition("\n----")
    lines = table.splitlines()[1:]
    return [plain_name(line.partition(" ")[0]) for line in lines if line[:1].isalpha()]


_RAW_DEVICE_SETTINGS = frozenset(
    {"innodb_data_home_dir", "innodb_data_file_path", "innodb_file_per_table"}
)


def raw_device_settings(directory: ServerDirectory, *, is_new: bool) -> dict[str, str]:
    """None where the server has no raw device. ``is_new``: InnoDB formats it."""
    if directory.raw_device is None:
        return {}
    file = os.open(directory.raw_device, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size_mib = os.lseek(file, 0, os.SEEK_END) >> 20
    finally:
        os.close(file)
    how = "newraw" if is_new else "raw"
    return {
        "innodb_data_home_dir": "",
        "innodb_data_file_path": f"{directory.raw_device}:{size_mib}M{how}",
        "innodb_file_per_table": "OFF",
    }


def check_raw_device(choice: SystemChoice, engine: str) -> None:
    """Raises `ArgumentError` where the choice cannot be on a raw device."""
    if engine.lower() != "innodb":
        raise ArgumentError(
            f"{choice.label}: only InnoDB keeps its tables on a raw device, found engine {engine}",
            hint="leave engine out, or choose a storage with a file system",
        )
    if set_here := [name for name in choice.settings if plain_name(name) in _RAW_DEVICE_SETTINGS]:
        raise ArgumentError(
            f"{choice.label}: on a raw device Assay sets {set_here[0]}",
            hint=f"leave {set_here[0]} out",
        )


_REDO, _BINARY = "innodb_log_group_home_dir", "log_bin"
_SEPARATE_LOG_SETTINGS = frozenset({_REDO, "log_basename", "log_bin_basename", "log_bin_index"})
_OFF = frozenset({"off", "0", "false"})
_ON = frozenset({"", "on", "1", "true"})
_NOT_WRITTEN = frozenset({"skip_log_bin", "disable_log_bin"})


def separate_log_settings(
    directory: ServerDirectory, asked: Mapping[str, str], *, writes_binary_log: bool
) -> dict[str, str]:
    """Nothing where the log has no folder of its own. ``writes_binary_log``: whether the server
    writes one where nothing is asked."""
    if directory.log is None:
        return {}
    given = {plain_name(name): value for name, value in asked.items()}
    name = given.get(_BINARY, "on" if writes_binary_log else "off")
    redo = {_REDO: str(directory.log)}
    if name.lower() in _OFF or _NOT_WRITTEN & given.keys():
        return redo
    own = "binlog" if name.lower() in _ON else Path(name).name
    return {**redo, _BINARY: str(directory.log / own)}


def check_separate_log(choice: SystemChoice, engine: str) -> None:
    """Raises `ArgumentError` where the logs of the choice cannot be in a folder of their own."""
    if engine.lower() != "innodb":
        raise ArgumentError(
            f"only InnoDB has a redo log that can be on another storage, found engine {engine}",
            hint="leave engine out, or the log with the data",
        )
    if set_here := [name for name in choice.settings if plain_name(name) in _SEPARATE_LOG_SETTINGS]:
        raise ArgumentError(
            f"where logs on a storage of their own are is set by Assay, found {set_here[0]}",
            hint=f"leave {set_here[0]} out",
        )


_OF_THE_SERVER = frozenset({"mysql", "performance_schema", "sys", "test"})
"""Databases that every server has; their 10 MB say nothing of what was loaded."""

_BINARY_LOG = r"[^.]+\.\d{6}|[^.]+\.index"
_FOLDER_OF_FILES = "#"
"""A folder that is no database begins with it."""


def databases_bytes(data_directory: Path, shared_files: str | None) -> int:
    """The folders of all databases but the server's own, the files (and folders of files) that the
    tables of this engine share, and binary logs; as the file system allocates them."""
    both = [_BINARY_LOG] if shared_files is None else [shared_files, _BINARY_LOG]
    shared = re.compile("|".join(both))
    return table_files_bytes(data_directory) + sum(
        allocated_bytes(Path(entry.path))
        for entry in os.scandir(data_directory)
        if not _is_database(entry) and shared.fullmatch(entry.name)
    )


def table_files_bytes(data_directory: Path) -> int:
    """The folders of all databases but the server's own."""
    return sum(
        allocated_bytes(Path(entry.path))
        for entry in os.scandir(data_directory)
        if _is_database(entry) and entry.name not in _OF_THE_SERVER
    )


def _is_database(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not entry.name.startswith(_FOLDER_OF_FILES)
