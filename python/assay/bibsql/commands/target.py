"""Takes the word of `bibtosql --apply`, a URL or a file; returns the database that it is."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from assay import _engine, registry
from assay.bibsql.commands import servers
from assay.bibsql.commands.options import Parsed
from assay.bibsql.commands.sql_script import table_options
from assay.bibsql.commands.update_lock import lock_conflicts_named, update_lock
from assay.cli.passwords import with_passwords
from assay.dialects.protocol import Dialect, LimitsWaiting
from assay.errors import FULL_DISK_HINT, ArgumentError, AssayError, RunFailed
from assay.experiment import Experiment, SystemChoice
from assay.experiment.settings import system_choice
from assay.files import paths
from assay.provision.deployment import Address, Deployment
from assay.provision.session import session
from assay.server_url import is_url
from assay.systems.abilities import LimitsWaiting as LimitedByOption
from assay.systems.abilities import ReachedByUrl, WorksInProcess
from assay.workload.values import Workload

_NO_PATH = re.compile(r":|[A-Za-z][A-Za-z0-9+.-]*:")
"""``:memory:``, ``file:x.db``, a URL without its slashes."""


@dataclass(frozen=True)
class Target:
    """A database that rows are loaded into."""

    server: servers.Server
    deployment: Deployment

    @property
    def dialect(self) -> Dialect:
        return self.server.system.dialect

    @property
    def place(self) -> str:
        """What identifies it, for every user."""
        address = self.deployment.address
        if address.file:
            return os.path.realpath(address.file)
        where = address.unix or f"{address.host}:{address.port}"
        return f"{where}/{address.database}"

    def execute(self, statements: list[str]) -> None:
        with session(self.deployment.address) as opened:
            for statement in statements:
                opened.execute(statement)

    def rows(self, question: str) -> Sequence[Sequence[str | None]]:
        with session(self.deployment.address) as opened:
            return opened.execute(question).rows

    def texts(self, table: str, column: str) -> set[str]:
        """The values of a column of texts; raises `ArgumentError` where there is no such table."""
        with session(self.deployment.address) as opened:
            try:
                rows = opened.execute(self.server.dialect.distinct(table, column)).rows
            except _engine.EngineError as error:
                if error.error_class != "unknown object":
                    raise
                if self.has(table):
                    raise ArgumentError(
                        f"{self.place}: its table {table} has no column {column}",
                        hint="expected the tables that --create makes: name another database",
                    ) from None
                raise ArgumentError(
                    f"{self.place} has no table {table}",
                    hint="--create in place of --update makes the tables",
                ) from None
        return {cells[0] for cells in rows if cells[0] is not None}

    def has(self, table: str) -> bool:
        """Whether there is such a table."""
        with session(self.deployment.address) as opened:
            try:
                opened.execute(self.dialect.exists(table))
            except _engine.EngineError as error:
                if error.error_class != "unknown object":
                    raise
                return False
        return True


@contextmanager
def attached(parsed: Parsed, workload: Workload, wait_s: float) -> Iterator[Target]:
    """A file that ``--create`` makes is removed again after an error. No session waits longer than
    ``wait_s`` for a lock of the database; raises `RunFailed` where one had to."""
    word = parsed.last_or("apply", "")
    if not is_url(word):
        _insist_on_path(word)
    made = None if is_url(word) else _file_made(Path(word), is_new="create" in parsed.given)
    try:
        choice = system_choice(word) if is_url(word) else _file_choice(parsed, workload, word)
        server = servers.server(choice.name)
        own = parsed.last("server")
        if own and servers.server(own).system.dialect.name != server.system.dialect.name:
            raise ArgumentError(f"--server {own}: the database is one of {server.name}")
        [choice] = with_passwords(Experiment(workload.name, (), (choice,))).systems
        system = registry.system(choice.name)
        assert isinstance(system, ReachedByUrl), "it has a URL"
        if isinstance(system, LimitedByOption):
            choice = system.waiting_at_most(choice, wait_s)
        place = choice.url_without_password if is_url(word) else word
        with (
            lock_conflicts_named(str(place), system.dialect, wait_s),
            _full_disk_named(),
            system.attach(choice) as deployment,
        ):
            given = {**deployment.options, **table_options(server, parsed)}
            options = _with_bulk_form(parsed, given)
            endpoints = tuple(
                _with_limit(endpoint, system.dialect, wait_s) for endpoint in deployment.endpoints
            )
            yield Target(server, replace(deployment, options=options, endpoints=endpoints))
    except BaseException:
        if made is not None:
            _remove(made)
        raise


@contextmanager
def _full_disk_named() -> Iterator[None]:
    """With what helps here, where there is no storage to choose."""
    try:
        yield
    except AssayError as error:
        if error.hint == FULL_DISK_HINT:
            error.hint = "free space where the database is; nothing has changed"
        raise


def _insist_on_path(word: str) -> None:
    """Raises `ArgumentError` for what other programs take for no path."""
    if _NO_PATH.match(word) and not paths.exists(Path(word)):
        raise ArgumentError(
            f"--apply {word}: expected a file or a URL, scheme://…",
            hint=f"./{word} is a file of this name",
        )


def _with_limit(address: Address, dialect: Dialect, wait_s: float) -> Address:
    if not isinstance(dialect, LimitsWaiting):
        return address
    first = (*address.session_statements, *dialect.limit_waiting(wait_s))
    return replace(address, session_statements=first)


def _remove(made: Path) -> None:
    """Not where another program loads into the file by now."""
    with suppress(RunFailed), update_lock(os.path.realpath(made), 0):
        made.unlink(missing_ok=True)


def _with_bulk_form(parsed: Parsed, options: Mapping[str, str]) -> Mapping[str, str]:
    """INSERT statements where the faster load needs a setting of the server."""
    is_given = any(word.startswith("bulk_form=") for word in parsed.all("option"))
    if "bulk_form" not in options or is_given:
        return options
    return {**options, "bulk_form": "multi-row"}


def _file_made(file: Path, *, is_new: bool) -> Path | None:
    if not is_new or paths.exists(file):
        return None
    try:
        file.touch(exist_ok=False)
    except OSError as error:
        raise ArgumentError(f"--apply {file}: cannot be made: {error.strerror}") from error
    return file


def _file_choice(parsed: Parsed, workload: Workload, word: str) -> SystemChoice:
    """A path is a file of the server that would be meant without one."""
    server = servers.server(parsed.last_or("server", workload.default_system))
    system = server.system
    is_file = isinstance(system, WorksInProcess) and system.is_in_process(SystemChoice(system.name))
    if not isinstance(system, ReachedByUrl) or not is_file:
        raise ArgumentError(
            f"--apply {word}: expected the URL of a {server.name} server",
            hint="scheme://USER@HOST:PORT/DATABASE",
        )
    if not paths.exists(Path(word)):
        raise ArgumentError(
            f"--apply {word}: there is no file of this name",
            hint=f"for the first load: bibtosql --create --apply {shlex.quote(word)} FILE…",
        )
    return system_choice(f"{system.url_schemes[0]}:///{quote(str(Path(word).absolute()))}")
