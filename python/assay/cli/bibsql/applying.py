"""Takes the options of `bibtosql --apply`; loads the files into a database, or brings it up to
date, all or nothing.

An update holds the lock of its database from before it looks at the files until its stamp is set.
What it changes is one transaction: where it fails or is killed, tables and stamp are as they were.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct, structs

from assay import _engine, registry
from assay.cli.bibsql import options as servers
from assay.cli.bibsql import sql_script
from assay.cli.bibsql.options import (
    Parsed,
    check_input,
    ended_by_signals,
    files_without_entries,
    kept_rows_error,
    say_problems,
)
from assay.cli.bibsql.sql_script import script_document, table_options
from assay.cli.bibsql.updating import (
    FileUpdate,
    file_update,
    lock_conflicts_named,
    rule_of,
    update_lock,
    update_options,
)
from assay.cli.output.passwords import with_passwords
from assay.cli.output.progress import progress
from assay.cli.process import say
from assay.contracts.deployment import Address, Deployment
from assay.contracts.dialects import Dialect, LimitsWaiting, Table
from assay.contracts.events import RowsSent, Sink, StageBegun, ignored
from assay.contracts.server_url import is_url
from assay.contracts.systems.abilities import LimitsWaitingByOption, ReachedByUrl, WorksInProcess
from assay.errors import ArgumentError, AssayError, SystemDied, SystemRefused
from assay.experiment import Experiment, SystemChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.load.bibsql.bibliography import BibDocument, counted, files_of
from assay.load.bibsql.updates import LoadedTables, NewerThan, Replaced, now_ns, set_stamp
from assay.load.load import OnProgress, fill
from assay.load.tables import count, drop, drops
from assay.provision.engine.engine_calls import session
from assay.text import paths
from assay.text.quantities import WAIT_S
from assay.text.units import duration
from assay.workload.values import Workload

# Takes the word of `bibtosql --apply`, a URL or a file; returns the database that it is.

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
            with session(structs.replace(self.deployment.address, user=user, password=password)):
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
    return structs.replace(address, session_statements=first)


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


WAIT_DEFAULT_S = 60.0
_OF_SCRIPTS = {
    "output": "no script is written",
    "database": "the URL names the database, or the file is it",
}
_NAMES_SHOWN = 3


def run(parsed: Parsed, workload: Workload, words: list[str]) -> None:
    """Raises members of the whole tree of errors; then nothing has changed, unless the message says
    that the tables are up to date."""
    wait_s = _waiting(parsed, words)
    file_update(parsed, words)  # what is wrong with the files is said before a password is asked
    with attached(parsed, workload, wait_s) as target:
        with target.unchanged_by_errors():
            reader = _reader(parsed, workload, target)  # a password is asked for before a long load
        with update_lock(target.place, wait_s):
            if "update" in parsed.given:
                _update(parsed, workload, target, words)
            elif "create" in parsed.given:
                _create(parsed, workload, target, words)
            if reader is not None:
                _make_reader(parsed, target, reader)


def _waiting(parsed: Parsed, words: list[str]) -> float:
    """How long the lock may be waited for; refuses options that contradict `--apply`."""
    for name, why in _OF_SCRIPTS.items():
        if parsed.last(name) is not None:
            raise ArgumentError(f"--{name} with --apply: {why}", hint=f"leave out --{name}")
    if {"update", "create"} & parsed.given:
        if not words:
            raise ArgumentError("--apply needs the names of files", hint="bibtosql … *.bib")
    elif parsed.last("reader") is None or words:
        raise ArgumentError(
            "--apply: expected --create or --update, found neither",
            hint="--create for tables that are not there yet, --update for those that are",
        )
    word = parsed.last("wait")
    try:
        return WAIT_DEFAULT_S if word is None else WAIT_S.of_word(word)
    except ValueError as error:
        raise ArgumentError(f"--wait: {error}") from None


def _update(parsed: Parsed, workload: Workload, target: Target, words: list[str]) -> None:
    rule = rule_of(workload)
    with target.unchanged_by_errors():
        held = target.texts(rule.table, rule.key)
    # Now: another update may have set the stamp while this one waited for the lock.
    options = update_options(parsed, words)
    assert options is not None, "--update is given"
    stamp, began_ns = _begun(options.newer_than)
    asked = options.file_update()
    removed = sorted(held - set(asked.names))
    if removed and not asked.removes_others:
        raise ArgumentError(
            f"{target.place} holds rows of {counted(len(removed), 'file')} not named here: "
            f"{_shown(removed)}",
            hint="name all files of the collection, or delete the rows of the others: "
            "--remove-gone",
        )
    chosen = (set(asked.names) - held).union(asked.changed_names)
    named = [file for file in asked.files if file.name in chosen]
    changed = [file.name for file in named]
    loaded = LoadedTables(target.deployment, target.dialect, workload.tables, rule)
    before_rows, replaced = 0, Replaced(0, 0)
    bad: list[str] = []
    if changed or removed:
        with _read(parsed, workload, target, asked.files, named) as (source, said):
            read = {str(file): file.name for file in named}
            bad = files_without_entries(source, read)
            kept = {read[file] for file in bad}
            changed = [name for name in changed if name not in kept]
            if changed or removed:
                with target.unchanged_by_errors():
                    before_rows = loaded.count()
                    replaced = loaded.replace(source, changed, removed, said)
    if stamp is not None and not bad:
        set_stamp(stamp, began_ns)
    if changed or removed:
        with _done_but("the tables are up to date, but how many rows were deleted is unknown"):
            deleted_rows = before_rows + replaced.inserted_rows - loaded.count()
        _say(parsed, _summary(changed, removed, asked, deleted_rows, replaced))
    elif not bad:
        _say(parsed, f"no file of {len(asked.files)} has changed")
    if bad:
        raise kept_rows_error(bad)


@contextmanager
def _done_but(what: str, *, hint: str | None = None) -> Iterator[None]:
    """Errors in the block come after the commit; they say ``what`` is left undone."""
    try:
        yield
    except AssayError as error:
        error.message = f"{what}: {error.message}"
        error.hint = hint or error.hint
        raise


def _begun(newer_than: NewerThan | None) -> tuple[Path | None, int]:
    """The stamp that is set at the end, and the time now, before the files are looked at."""
    if newer_than is None:
        return None, 0
    if newer_than.stamp is None:
        newer_than.insist_on_past(time.time_ns())
        return None, 0
    now = now_ns(newer_than.stamp)
    newer_than.insist_on_past(now)
    return newer_than.stamp, now


def _create(parsed: Parsed, workload: Workload, target: Target, words: list[str]) -> None:
    """New tables with all rows. Tables that are there are replaced only where they are empty, as a
    killed load leaves them."""
    tables, dialect = workload.tables, target.dialect
    with target.unchanged_by_errors():
        _empty_tables(workload, target)  # said before files are read for minutes
    with _read(parsed, workload, target, files_of(words)) as (source, said):
        began_s = time.monotonic()
        # Indexes before the rows: then the rows are all that is left to do, in one transaction.
        options = target.deployment.options
        indexes = [statement for table in tables for statement in dialect.create_indexes(table)]
        made: list[Table] = []
        with target.unchanged_by_errors():
            try:
                target.execute(drops(dialect, _empty_tables(workload, target)))
                for table in tables:
                    target.execute(dialect.create_table(table, options))
                    made.append(table)
                target.execute(indexes)
                sent = fill(target.deployment, dialect, tables, source, progress=said)
            except BaseException:
                # Not those that another program has made meanwhile.
                drop(target.deployment, dialect, made)
                raise
        target.keep_file()
    with _done_but(
        "the tables are loaded, but without statistics",
        hint="the rows are there; queries may be slow",
    ):
        target.execute(dialect.after_load(tables))
    parts = [f"{table.name} {counted(table.rows, 'row')}" for table in sent.tables]
    _say(parsed, f"{', '.join(parts)} in {duration(time.monotonic() - began_s)}")


def _empty_tables(workload: Workload, target: Target) -> list[Table]:
    """Those that are there; raises `ArgumentError` where one has rows."""
    there = [table for table in workload.tables if target.has(table.name)]
    for name, rows in count(target.deployment, target.dialect, there).items():
        if rows:
            raise ArgumentError(
                f"{target.place} has a table {name} with {counted(rows, 'row')}",
                hint="--update brings it up to date; --create is for a database without it",
            )
    return there


@contextmanager
def _read(
    parsed: Parsed,
    workload: Workload,
    target: Target,
    files: Sequence[Path],
    changed: Sequence[Path] | None = None,
) -> Iterator[tuple[BibDocument, OnProgress]]:
    """The engine's document of the files, which have been read once and are good, and what shows
    how far it is. ``changed``: only what is wrong with these is said; None: with all."""
    names = [str(file) for file in files]
    source = structs.replace(
        script_document(workload, target.server, parsed, names).source, kind="bib"
    )
    is_quiet = "quiet" in parsed.given
    with ended_by_signals():
        scan = check_input(source)
    say_problems(scan["problems"], parsed.given, changed)
    total_bytes = scan["bytes"]
    with _shown_progress(is_quiet) as shown:
        shown(StageBegun(f"load {counted(len(files), 'file')}"))
        yield source, lambda report: shown(RowsSent(report, total_bytes))


@contextmanager
def _shown_progress(is_quiet: bool) -> Iterator[Sink]:
    if is_quiet:
        yield ignored
        return
    with progress() as shown:
        yield shown


def _make_reader(parsed: Parsed, target: Target, reader: _Reader) -> None:
    loaded = "the tables are up to date, but " if {"update", "create"} & parsed.given else ""
    again = f"correct that, then: bibtosql --reader {reader.name} --apply URL"
    with _done_but(f"{loaded}{reader.name} may not read all of the tables", hint=again):
        target.execute(reader.statements)
    _say(parsed, reader.done)
    with _done_but(f"{loaded}whether {reader.name} may change them is unknown", hint=again):
        may_write = bool(target.rows(reader.write_question))
    if may_write:
        _say(
            parsed,
            f"warning: {reader.name} may change the tables as well: "
            "revoke that, or name another user",
        )
    if reader.password is not None and (why := target.login_error(reader.name, reader.password)):
        _say(parsed, f"warning: {reader.name} cannot log in to {target.place} from here: {why}")


class _Reader(Struct, frozen=True):
    name: str
    password: str | None
    """Of a new user."""
    statements: list[str]
    done: str
    """What is said when they have been executed."""
    write_question: str


def _reader(parsed: Parsed, workload: Workload, target: Target) -> _Reader | None:
    """A user that is there keeps password and rights, and may read the tables as well."""
    if (name := parsed.last("reader")) is None:
        return None
    dialect = sql_script.with_users(target.dialect, target.server.name, name)
    answer = target.rows(dialect.user_query(name))
    sql_script.insist_on_login(name, answer)
    password = None if answer else sql_script.new_password(name)
    unused = " (the one given is not used)" if sql_script.is_password_given() else ""
    old = f", who was there and keeps the password{unused},"
    return _Reader(
        name,
        password,
        sql_script.reader_statements(name, dialect, workload, password),
        f"{name}{old if answer else ', a new user,'} may read the tables",
        sql_script.write_question(name, dialect, workload),
    )


def _summary(
    changed: Sequence[str],
    removed: Sequence[str],
    asked: FileUpdate,
    deleted_rows: int,
    replaced: Replaced,
) -> str:
    parts = [f"{len(changed)} of {counted(len(asked.files), 'file')} read"]
    if removed:
        parts.append(f"{counted(len(removed), 'file')} removed")
    return (
        f"{', '.join(parts)}: {counted(deleted_rows, 'row')} deleted, "
        f"{replaced.inserted_rows:,} inserted in {duration(replaced.elapsed_ns / 1e9)}"
    )


def _shown(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


def _say(parsed: Parsed, line: str) -> None:
    if "quiet" not in parsed.given:
        say(line)
