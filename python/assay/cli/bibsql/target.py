"""Takes the word of `bibtosql --apply`, a URL or a file; returns the database that it is."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from assay import _engine, registry
from assay.cli.bibsql import servers
from assay.cli.bibsql.options import Parsed
from assay.cli.bibsql.sql_script import table_options
from assay.cli.bibsql.update_lock import lock_conflicts_named, update_lock
from assay.cli.process.passwords import with_passwords
from assay.contracts.deployment import Address, Deployment
from assay.contracts.dialects.protocol import Dialect, LimitsWaiting
from assay.contracts.server_url import is_url
from assay.contracts.systems.abilities import LimitsWaitingByOption, ReachedByUrl, WorksInProcess
from assay.errors import ArgumentError, AssayError, SystemDied, SystemRefused
from assay.experiment import Experiment, SystemChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.provision.engine.session import session
from assay.text.files import paths
from assay.workload.values import Workload

_NO_PATH = re.compile(r":|[A-Za-z][A-Za-z0-9+.-]*:")
"""``:memory:``, ``file:x.db``, a URL without its slashes."""


class Target(Struct, frozen=True):
    """A database that rows are loaded into."""

    server: servers.Server
    deployment: Deployment
    wait_s: float
    """How long a session waits for a lock of the database."""
    unless_loaded: ExitStack
    """Removes a file that was made for it."""

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

    @contextmanager
    def unchanged_by_errors(self) -> Iterator[None]:
        """For what comes before the end of a commit."""
        with _unchanged(self.place, self.dialect, self.wait_s):
            yield

    def keep_file(self) -> None:
        """Whatever follows: it holds the rows now."""
        self.unless_loaded.pop_all()

    def execute(self, statements: list[str]) -> None:
        with session(self.deployment.address) as opened:
            for statement in statements:
                opened.execute(statement)

    def rows(self, question: str) -> Sequence[Sequence[str | None]]:
        with session(self.deployment.address) as opened:
            return opened.execute(question).rows

    def login_error(self, user: str, password: str) -> str:
        """Why this user cannot log in from here; empty: the session was opened."""
        try:
            with session(replace(self.deployment.address, user=user, password=password)):
                return ""
        except AssayError as error:
            return error.message

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
    """A file that ``--create`` makes is removed again, unless `Target.keep_file` was called. No
    session waits longer than ``wait_s`` for a lock of the database."""
    word = parsed.last("apply") or ""
    if not is_url(word):
        _insist_on_path(word)
    with ExitStack() as unless_loaded, ExitStack() as attaching:
        if not is_url(word) and _is_file_made(Path(word), is_new="create" in parsed.given):
            unless_loaded.callback(_remove, Path(word))
        choice = system_choice(word) if is_url(word) else _file_choice(parsed, workload, word)
        server = servers.server(choice.name)
        own = parsed.last("server")
        if own and servers.server(own).system.dialect.name != server.system.dialect.name:
            raise ArgumentError(f"--server {own}: the database is one of {server.name}")
        [choice] = with_passwords(Experiment(workload.name, (), (choice,))).systems
        system = registry.system(choice.name)
        assert isinstance(system, ReachedByUrl), "it has a URL"
        if isinstance(system, LimitsWaitingByOption):
            choice = system.waiting_at_most(choice, wait_s)
        place = choice.url_without_password if is_url(word) else word
        with _unchanged(str(place), system.dialect, wait_s):
            deployment = attaching.enter_context(system.attach(choice))
        given = {**deployment.options, **table_options(server, parsed)}
        options = _with_bulk_form(parsed, given)
        endpoints = tuple(
            _with_limit(endpoint, system.dialect, wait_s) for endpoint in deployment.endpoints
        )
        found = replace(deployment, options=options, endpoints=endpoints)
        yield Target(server, found, wait_s, unless_loaded)


def _remove(made: Path) -> None:
    """Not where another program loads into the file by now."""
    with suppress(AssayError), update_lock(os.path.realpath(made), 0):
        made.unlink(missing_ok=True)


@contextmanager
def _unchanged(place: str, dialect: Dialect, wait_s: float) -> Iterator[None]:
    """Errors say that nothing has changed, where the user could doubt it: a lock that is held, a
    full disk."""
    with lock_conflicts_named(place, dialect, wait_s):
        try:
            yield
        except AssayError as error:
            if (
                isinstance(error, SystemRefused) and error.is_of_full_disk
            ):  # there is no storage to choose
                error.hint = "free space where the database is; nothing has changed"
            if isinstance(error, SystemDied) and error.hint is None:
                error.hint = (
                    "when the server is back, run this again: all of it is done, or nothing"
                )
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


def _with_bulk_form(parsed: Parsed, options: Mapping[str, str]) -> Mapping[str, str]:
    """INSERT statements where the faster load needs a setting of the server."""
    is_given = any(word.startswith("bulk_form=") for word in parsed.all("option"))
    if "bulk_form" not in options or is_given:
        return options
    return {**options, "bulk_form": "multi-row"}


def _is_file_made(file: Path, *, is_new: bool) -> bool:
    if not is_new or paths.exists(file):
        return False
    try:
        file.touch(exist_ok=False)
    except OSError as error:
        raise ArgumentError(f"--apply {file}: cannot be made: {error.strerror}") from error
    return True


def _file_choice(parsed: Parsed, workload: Workload, word: str) -> SystemChoice:
    """A path is a file of the server that would be meant without one."""
    server = servers.server(parsed.last("server") or workload.default_system)
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
