"""SQLite behind the protocol of every system under test: no server, a file, and this process.

The library is the one compiled into the engine, and only that one may open the file while a run
lasts: two copies of SQLite in a process (Python has its own) undo each other's locks
(https://sqlite.org/howtocorrupt.html, section 2.2.1).
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import Struct

from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.deployment import PRIMARY, Address, Deployment, Node, Role
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import FoundPrograms, Profile, Spelled
from assay.contracts.systems.protocol import OptionSpec
from assay.dialects.sqlite import SQLITE as DIALECT
from assay.env_vars import EnvVar
from assay.errors import SystemMissing, SystemRefused
from assay.provision import confinement
from assay.provision.engine.engine_calls import session
from assay.provision.machine.program import Program
from assay.systems.database_file import FileKind, OfOneFile
from assay.systems.options import BUFFER, buffer_bytes, rounded_up, values
from assay.systems.sqlite import settings
from assay.text import paths
from assay.text.quantities import Real

SCHEMES = ("sqlite", "sqlite3")


_KIND = FileKind(
    SCHEMES[0],
    "SQLite",
    # An empty file is an empty database.
    is_one=lambda head: not head or head == b"SQLite format 3\0",
    making=lambda file: f"touch {shlex.quote(str(file))}",
)


SHELL = Program("sqlite3", "sqlite3")
_LONGEST_WAIT_S = 86_400
BUSY_TIMEOUT = OptionSpec(
    name="busy_timeout_s",
    default="60",
    levels=(),
    help="How long a statement waits for another session's lock before it fails; SQLite's own "
    "default is not to wait.",
    quantity=Real(0, _LONGEST_WAIT_S, "seconds"),
)

WRITE_QUEUE = OptionSpec(
    name="write_queue",
    default="on",
    levels=("on", "off"),
    help="Whether clients write in the order in which they asked. SQLite has no queue: with off "
    "each client tries again until the lock is free, so that some may hardly ever write.",
)

_LEAST_BUFFER_BYTES = 64 << 10
_SESSION_BYTES = 1 << 20

_LOG_VERSION = slice(18, 20)
"""Bytes of the head of a file."""


class Sqlite(OfOneFile):
    name = "sqlite"
    also_called = ("sqlite3",)
    dialect: Dialect = DIALECT
    driver = "sqlite"
    capabilities = frozenset(CAPABILITIES) - {
        "own processes",
        "typed columns",
        "text lengths",
        "exact decimals",
    }
    option_specs: tuple[OptionSpec, ...] = (BUFFER, BUSY_TIMEOUT, WRITE_QUEUE)
    url_schemes: tuple[str, ...] = SCHEMES
    url_variables: tuple[EnvVar, ...] = ()
    verified = "in the tests"
    file_kind = _KIND
    file_name = "assay.db"
    other_endings = ("-wal", "-journal")
    settings_of_the_file = settings.OF_THE_FILE

    def durability_lowered_after(
        self, deployment: Deployment, statements: Sequence[str]
    ) -> tuple[str, ...]:
        with session(deployment.address) as opened:
            for statement in statements:
                opened.execute(statement)
            return settings.durability_lowered_by(settings.read(opened))

    def profiles(self) -> Mapping[str, Profile]:
        from assay.systems.options import profiles_of

        return profiles_of(Path(__file__).parent)

    def find(self) -> FoundPrograms:
        with session(Address(driver=self.driver, file=":memory:")) as opened:
            return FoundPrograms(opened.server_version.rpartition(" ")[2], "in this process")

    @contextlib.contextmanager
    def opened(
        self, choice: SystemChoice, file: Path, storage: StorageFacts, *, is_private: bool
    ) -> Iterator[Deployment]:
        yield _deployment(choice, file, storage, is_private=is_private)

    def check(self, choice: SystemChoice) -> None:
        if choice.url is not None:
            settings.refuse_those_of_the_file(choice.settings)
        settings.statements({**_buffer(choice.options, choice.settings), **choice.settings})

    def refuse_reaching_settings(self, choice: SystemChoice) -> None:
        """None of those that can be asked for names a file."""

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        with session(Address(driver=self.driver, file=":memory:")) as opened:
            return list(settings.spelled(choice.settings, settings.read(opened)))

    def waiting_at_most(self, choice: SystemChoice, wait_s: float) -> SystemChoice:
        option = {BUSY_TIMEOUT.name: f"{min(wait_s, _LONGEST_WAIT_S):.3f}"}
        return replace(choice, options={**choice.options, **option})

    def least_bytes(self, rows: int, text_bytes: int) -> int:
        """Each row has its place in the page, its length, its number and a header."""
        return 4 * rows + text_bytes // 3

    def buffer_bytes(self, deployment: Deployment) -> int | None:
        """``cache_size``: each session has a buffer of its own, of this size."""
        return settings.cache_bytes(deployment.settings)

    def most_memory_bytes(self, choice: SystemChoice, sessions: int) -> int:
        """A session has its buffer, a sorter may have as much again, and its statements and schema
        take some 100 KiB."""
        asked = {**_buffer(choice.options, choice.settings), **choice.settings}
        return sessions * (2 * settings.cache_bytes(asked) + _SESSION_BYTES)

    def client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        """The sqlite3 shell, without ``~/.sqliterc``, which could change its output."""
        mode = ["-readonly"] if address.options.get("mode") == "read-only" else []
        return [*_shell(), *mode, str(address.file)], {}

    def native_client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        # Some pragmas answer with their value.
        first = [".output /dev/null", *(f"{one};" for one in address.session_statements), ".output"]
        words = [word for one in first for word in ("-cmd", one)]
        return [*_shell(), "-list", "-noheader", "-readonly", *words, str(address.file)], {}

    def dump_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        """The same with its command for a dump, which reads in one transaction, and waits for locks
        as long as other sessions do."""
        timeout_s = float(address.options.get(BUSY_TIMEOUT.name, BUSY_TIMEOUT.default))
        waiting = ["-cmd", f".timeout {timeout_s * 1000:.0f}"]
        return [*_shell(), *waiting, "-readonly", str(address.file), ".dump"], {}

    @contextlib.contextmanager
    def quiesced(self, deployment: Deployment) -> Iterator[None]:
        """A transaction that keeps other sessions from writing. The files are read by this
        process, whose sessions do not depend on locks of files to exclude one another."""
        with session(deployment.address) as opened:
            opened.execute("BEGIN IMMEDIATE")
            yield
            opened.execute("ROLLBACK")


class _Found(Struct, frozen=True):
    version: str
    settings: Mapping[str, str]


def _shell() -> list[str]:
    """Raises `SystemMissing`."""
    program = SHELL.find_in_path()
    if program is None:
        raise SystemMissing(f"there is no program {SHELL.name!r} on this machine", hint=SHELL.hint)
    return [program, "-batch", "-init", os.devnull]


def _buffer(options: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    size = buffer_bytes(options, {name.lower() for name in asked}, "cache_size")
    if size is None:
        return {}
    return {"cache_size": str(-(rounded_up(size, 1 << 10, _LEAST_BUFFER_BYTES) >> 10))}


def _deployment(
    choice: SystemChoice, file: Path, storage: StorageFacts, *, is_private: bool
) -> Deployment:
    options = values(Sqlite.option_specs, choice)
    of_driver = {spec.name: options[spec.name] for spec in (BUSY_TIMEOUT, WRITE_QUEUE)}
    BUSY_TIMEOUT.check(of_driver[BUSY_TIMEOUT.name])
    asked = {**_buffer(options, choice.settings), **choice.settings}
    address = Address(
        driver=Sqlite.driver,
        file=str(file),
        session_statements=settings.statements(asked),
        options={**of_driver, **({"other_files": "refused"} if confinement.is_begun() else {})},
    )
    try:
        found = _ask(address)
    except SystemRefused as refused:
        raise (refused if is_private else _explained(refused, file)) from refused
    settings.insist(found.settings, choice.settings)
    return Deployment(
        system=Sqlite.name,
        label=choice.label,
        nodes=(Node(file.name, storage, directory=file.parent),),
        endpoints=(address,),
        version=found.version,
        options=options,
        settings_asked=dict(choice.settings),
        settings=found.settings,
        connection_limit=None,
        is_embedded=True,
        is_private=is_private,
        role=None if is_private else _role(file),
        durability_lowered_by=settings.durability_lowered_by(found.settings),
        safeguards=tuple(settings.safeguards_of_settings(found.settings)),
    )


def _role(file: Path) -> Role:
    """A write needs the file, and its folder for the journal beside it."""
    for place, kind in ((file, "file"), (file.parent, "folder")):
        if not os.access(place, os.W_OK):
            return Role(
                "read-only file",
                why_read_only=f"this user may not write the {kind} {place}",
                fix=f"let this user write {place}, or copy the file",
            )
    return Role(PRIMARY)


def _explained(refused: SystemRefused, file: Path) -> SystemRefused:
    """The refusal, with the fix where a write-ahead log is its cause: SQLite makes files beside
    such a database even to read it."""
    own = _role(file)
    if not (own.why_read_only and _has_log(file)):
        return refused
    return SystemRefused(
        f"{refused.message}; it has a write-ahead log, and {own.why_read_only}",
        error_class=refused.error_class,
        code=refused.code,
        hint=f"even to read such a file SQLite makes others beside it: let this user write "
        f"{file.parent}, copy the file, or have its owner run PRAGMA journal_mode = DELETE",
    )


def _has_log(file: Path) -> bool:
    """By the version numbers in its head (https://sqlite.org/fileformat.html, section 1.3)."""
    try:
        _, head = paths.read_beginning(file, _LOG_VERSION.stop)
    except OSError:
        return False
    return head[_LOG_VERSION] == b"\2\2"


def _ask(address: Address) -> _Found:
    with session(address) as opened:
        return _Found(opened.server_version, settings.read(opened))


SQLITE = Sqlite()
