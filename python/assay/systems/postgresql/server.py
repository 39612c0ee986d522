"""Makes a data directory and runs a private server on it until the end of the block."""

from __future__ import annotations

import contextlib
import functools
import pwd
import re
import secrets
import signal
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from assay.contracts.systems.protocol import ServerDirectory
from assay.dialects.postgresql import POSTGRESQL as DIALECT
from assay.errors import ArgumentError, SystemDied, SystemRefused
from assay.provision import copying, processes
from assay.provision.directory import identity_of
from assay.provision.engine.engine_calls import Session
from assay.provision.machine.ports import free_port
from assay.provision.machine.signals import is_ending
from assay.provision.processes import ListeningServer
from assay.provision.undo import ledger
from assay.provision.undo.resources import CannotUndo, PosixSharedMemory
from assay.systems.options import answer_of
from assay.systems.postgresql.installation import Installation
from assay.systems.sessions import rows_of
from assay.text.phrases import phrase

USER = "postgres"
DATABASE = "postgres"

STOP = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0))
"""Fast: sessions are ended, a checkpoint is written. Then immediate: as after a crash."""

SET_BY_ASSAY = frozenset({"port", "listen_addresses", "unix_socket_directories", "data_directory"})
"""Settings by which we reach the server: not to be asked for."""

_NO_DIRECTORY = "/nonexistent"
_RECOVERY_S = 30.0
"""The longest wait for the end of a crash recovery, before the server is stopped all the same."""
_PORT_TRIES = 3
_REINITIALISING = "all server processes terminated; reinitializing"
_PORT_IS_TAKEN = "could not create any TCP/IP sockets"


def check_settings(settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that Assay chooses."""
    if set_here := [name for name in settings if name.lower() in SET_BY_ASSAY]:
        raise ArgumentError(
            f"the setting {set_here[0]} of a private server is set by Assay",
            hint=phrase(
                "reach a server of your own by its URL: {--on postgresql://USER@HOST:PORT/DATABASE}"
            ),
        )


def new_password() -> str:
    """A random one."""
    return secrets.token_urlsafe(24)


def initialise(
    installation: Installation, directory: ServerDirectory, checksums: str, password: str
) -> bool:
    """Makes the data directory, with this password for the superuser; returns whether it is a copy
    of one that was made before, and has the password of that one.

    UTF-8 and the locale C: texts compare byte by byte, as on every other system we ask. `checksums`
    is ``on``, ``off`` or ``default`` (which differs between versions). Raises `SystemRefused`.
    """
    _insist_on_a_name(directory)
    password_file = directory.run / "password"
    password_file.write_text(password, encoding="ascii")
    password_file.chmod(0o644)  # its directory is closed to all but the server's user and us
    arguments: list[str | Path] = [
        installation.program("initdb"),
        f"--pgdata={directory.data}",
        f"--username={USER}",
        f"--pwfile={password_file}",
        "--auth-local=trust",
        "--auth-host=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
    ]
    if directory.log is not None:
        arguments.append(f"--waldir={directory.log}")
    if checksums == "on":
        arguments.append("--data-checksums")
    elif checksums == "off" and installation.major_version >= 18:
        arguments.append("--no-data-checksums")
    try:
        return copying.fill_new_data(
            directory,
            installation.program("initdb"),
            [checksums],
            lambda: processes.run_program(arguments, directory),
        )
    finally:
        password_file.unlink()


def _insist_on_a_name(directory: ServerDirectory) -> None:
    """The programs look their user up in the password file, and end where there is none."""
    user = directory.run.stat().st_uid
    try:
        pwd.getpwuid(user)
    except KeyError as error:
        raise SystemRefused(
            f"PostgreSQL needs a user with a name, and user {user} of this machine has none: run "
            "assay as another user, or give this one a name in the password file"
        ) from error


_ADMITTED = """\
local all all trust
host all all all scram-sha-256
"""
"""By the socket, whose directory is closed to others, and from any machine with a password."""


@contextlib.contextmanager
def running(
    installation: Installation,
    directory: ServerDirectory,
    settings: Mapping[str, str],
    password: str,
) -> Iterator[ListeningServer]:
    """Starts the server on its data directory with these settings, and stops it at the end.

    It listens on a socket in ``directory.run`` and on a free port of its address, where it asks for
    a password. Killed outright it leaves its shared memory in /dev/shm, which is removed then.
    Raises `SystemRefused` in the server's own words where it does not start, `SystemDied` where it
    hangs.
    """
    with contextlib.ExitStack() as stack:
        noted = stack.enter_context(_noted_shared_memory(directory))
        for tries_left in reversed(range(_PORT_TRIES)):
            port = free_port(directory.address)
            server = stack.enter_context(
                processes.start_server(
                    _arguments(installation, directory, settings, port),
                    directory,
                    stop=STOP,
                    log_name=f"server-{port}.log",
                    # Killed outright it would leave shared memory behind; this end it cleans up.
                    if_we_die=signal.SIGQUIT,
                )
            )
            try:
                server.wait_ready(functools.partial(_why_not_ready, directory.data, server.pid))
                break
            except SystemDied as error:
                if server.died() is None:
                    raise
                words = _last_words(server.log)
                if not words:
                    raise
                if _PORT_IS_TAKEN not in words or tries_left == 0:
                    raise _refused(words, installation, settings) from error
                stack.close()
                noted = stack.enter_context(_noted_shared_memory(directory))
        noted(server.pid)
        try:
            yield ListeningServer(
                server, directory.run / f".s.PGSQL.{port}", directory.address, port, password
            )
        finally:
            with contextlib.suppress(SystemDied):
                server.wait_ready(functools.partial(_why_recovering, server.log), _RECOVERY_S)
            noted(server.pid)  # after a crash of one of its processes it has made it anew


@contextlib.contextmanager
def _noted_shared_memory(directory: ServerDirectory) -> Iterator[Callable[[int], None]]:
    """Yields what notes the shared memory of a server by its process number; removes what of it is
    left when the server has ended, which is what it did not remove itself."""
    identity = identity_of(directory)
    held = ledger.held_entries(identity)
    noted: list[PosixSharedMemory] = []

    def note(pid: int) -> None:
        for segment in PosixSharedMemory.mapped_by(pid):
            if held is not None and segment not in noted:
                held.add(segment)
                noted.append(segment)

    try:
        yield note
    finally:
        for segment in noted:
            with contextlib.suppress(CannotUndo):  # it stays noted, and is tried again
                segment.undo(identity)
                if held is not None:
                    held.drop(segment)


def _arguments(
    installation: Installation, directory: ServerDirectory, settings: Mapping[str, str], port: int
) -> list[str | Path]:
    ours = {
        "port": str(port),
        "listen_addresses": directory.address,
        "unix_socket_directories": str(directory.run),
    }
    if not directory.is_on_loopback:
        # That of the data directory admits no other machine.
        admitted = directory.run / "pg_hba.conf"
        admitted.write_text(_ADMITTED, encoding="ascii")
        admitted.chmod(0o644)  # its directory is closed to all but the server's user and us
        ours["hba_file"] = str(admitted)
    given = [f"{name}={value}" for name, value in {**settings, **ours}.items()]
    words = [word for setting in given for word in ("-c", setting)]
    return [installation.program("postgres"), "-D", directory.data, *words]


def _why_not_ready(data: Path, pid: int) -> str | None:
    """None when the server's own pid file says ``ready``, as pg_ctl asks it: line 1 is the process,
    line 8 its state."""
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return "it has not begun to start"
    if len(lines) < 8 or lines[0].strip() != str(pid):
        return "it is still starting"
    state = lines[7].strip()
    return None if state == "ready" else f"its state is: {state}"


def _why_recovering(log: Path) -> str | None:
    """None, unless the server is in crash recovery because one of its processes was killed: a fast
    shutdown during it never ends (seen with PostgreSQL 15). The log shows the latest state last."""
    written = processes.last_lines(log, lines=50)
    is_ready = written.rfind("ready to accept connections") >= written.rfind(_REINITIALISING)
    return None if is_ready or is_ending() else "it is in crash recovery"


def _last_words(log: Path) -> str:
    """What the server says of its end: lines of rank FATAL or PANIC, and what belongs to them."""
    found = re.findall(
        r"(?:FATAL|PANIC|HINT|DETAIL|WARNING):\s+(.*)", processes.last_lines(log, lines=50)
    )
    return "; ".join(found) or processes.last_lines(log)


_OF_A_SETTING = re.compile(
    r'configuration parameter|for parameter|parameter "[^"]*" cannot be changed'
)


def refuse_settings(installation: Installation, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that the server's program does not take. It reads its
    arguments before it looks for its data directory, of which there is none."""
    asked = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    tried = answer_of(
        # As the first argument, -C is allowed to root as well.
        [installation.program("postgres"), "-C", "server_version", *asked, "-D", _NO_DIRECTORY]
    )
    words = "; ".join(re.findall(r"(?:FATAL|HINT):\s+(.*)", tried.stderr))
    if _OF_A_SETTING.search(words):
        why, hint = _explained(words, installation, settings)
        raise ArgumentError(f"PostgreSQL refuses a setting: {why}", hint=hint)


def _refused(words: str, installation: Installation, settings: Mapping[str, str]) -> SystemRefused:
    why, hint = _explained(words, installation, settings)
    return SystemRefused(f"the server does not start: {why}", hint=hint)


def _explained(
    words: str, installation: Installation, settings: Mapping[str, str]
) -> tuple[str, str | None]:
    """What the server says of its settings, and the fix."""
    unknown = re.search(r'unrecognized configuration parameter "([^"]+)"', words)
    gone = unknown and why_it_is_gone(unknown.group(1), installation.major_version)
    if gone:
        return gone, None
    near = get_close_matches(unknown.group(1), installation.kinds_of_settings()) if unknown else []
    named = [name for name in settings if f'"{name.lower()}"' in words.lower()]
    hint = None
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    elif named:
        hint = f"it was given as {', '.join(f'{name}={settings[name]}' for name in named)}"
    return words, hint


_REMOVED = {
    "checkpoint_segments": ("9.5", "max_wal_size"),
    "default_with_oids": ("12", None),
    "wal_keep_segments": ("13", "wal_keep_size"),
    "vacuum_cleanup_index_scale_factor": ("14", None),
    "operator_precedence_warning": ("14", None),
    "stats_temp_directory": ("15", None),
    "force_parallel_mode": ("16", "debug_parallel_query"),
    "vacuum_defer_cleanup_age": ("16", None),
    "promote_trigger_file": ("16", None),
    "old_snapshot_threshold": ("17", None),
    "trace_recovery_messages": ("17", None),
    "db_user_namespace": ("17", None),
}


def why_it_is_gone(name: str, major_version: int) -> str | None:
    """A sentence that ends with the fix; None for a setting that such a server has, or that is
    unknown."""
    found = _REMOVED.get(name.lower())
    if found is None or float(found[0]) > major_version:
        return None
    version, instead = found
    fix = f"ask for {instead}" if instead else "leave it out"
    return f"{name} was removed in PostgreSQL {version} (this is {major_version}): {fix}"


ROLE = "assay"

_TEXTS = frozenset(
    {
        "client_encoding",
        "cluster_name",
        "datestyle",
        "default_table_access_method",
        "default_text_search_config",
        "intervalstyle",
        "lc_messages",
        "lc_monetary",
        "lc_numeric",
        "lc_time",
        "log_line_prefix",
        "log_timezone",
        "search_path",
        "synchronous_standby_names",
        "timezone",
        "timezone_abbreviations",
    }
)
"""Settings that are texts, and neither a program, nor a library, nor a path, nor a server. All
others that are texts are refused, those of later versions too."""

_MONITORING = "pg_monitor"
_CHECKPOINT = "pg_checkpoint"
"""Of version 15 on."""
_ROLES_QUERY = f"""
SELECT rolname FROM pg_roles WHERE rolname IN ('{ROLE}', '{_MONITORING}', '{_CHECKPOINT}')
"""


_POWERS_QUERY = """
SELECT p.power FROM pg_roles r, (VALUES ('superuser'), ('pg_execute_server_program'),
    ('pg_write_server_files'), ('pg_read_server_files')) AS p (power)
WHERE r.rolname = current_user AND (
    p.power = 'superuser' AND r.rolsuper
    OR EXISTS (SELECT 1 FROM pg_roles o WHERE o.rolname = p.power
               AND pg_has_role(r.oid, o.oid, 'MEMBER')))
"""


def powers_of_session(opened: Session) -> tuple[str, ...]:
    """The rights of the session's user that reach beyond databases."""
    return tuple(str(power) for (power,) in rows_of(opened, _POWERS_QUERY, columns=1) or ())


def make_role(opened: Session, database: str, password: str) -> None:
    """In a session of the superuser; on data that have the role it gets this password. It owns the
    database, and sees what the server says of itself."""
    roles = {str(row[0]) for row in opened.execute(_ROLES_QUERY).rows}
    own, word = DIALECT.identifier(ROLE), DIALECT.literal(password)
    verb = "ALTER" if ROLE in roles else "CREATE"
    opened.execute(
        f"{verb} ROLE {own} LOGIN CREATEDB NOSUPERUSER NOCREATEROLE NOREPLICATION PASSWORD {word}"
    )
    for role in (_MONITORING, _CHECKPOINT):
        if role in roles:
            opened.execute(f"GRANT {role} TO {own}")
    opened.execute(f"ALTER DATABASE {DIALECT.identifier(database)} OWNER TO {own}")
    opened.execute(f"ALTER SCHEMA public OWNER TO {own}")


def refuse_reaching_settings(installation: Installation, settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that is a text and not among `_TEXTS`, or one of an
    extension, which may be a program as well."""
    kinds = {name.lower(): kind for name, kind in installation.kinds_of_settings().items()}
    for name, value in settings.items():
        plain = name.lower()
        is_text = kinds.get(plain, "STRING") == "STRING"  # config_file, say, is not described
        if "." in plain or (is_text and plain not in _TEXTS):
            raise ArgumentError(
                f"a capsule sets {name} = {value!r} of PostgreSQL, which can be a program, a "
                "library or a path"
            )
