"""Takes the options of `bibtosql`; returns the document from which the engine writes the script,
and the statements that make a user who may read its tables and nothing else."""

from __future__ import annotations

import getpass
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from assay import env_vars
from assay.cli.bibsql import options
from assay.cli.bibsql import options as servers
from assay.cli.bibsql.options import Parsed
from assay.cli.bibsql.updating import FileUpdate, rule_of
from assay.cli.process import is_at_terminal
from assay.contracts.dialects import Dialect, HasUsers, Table
from assay.contracts.experiment import ENCODINGS
from assay.errors import ArgumentError
from assay.load.bibsql.bibliography import BibDocument, Replicas, SqlDocument, TableName
from assay.load.bibsql.updates import unlock
from assay.registry import unknown
from assay.text.quantities import REPLICAS, SEED
from assay.workload.values import Workload

_NUMBERS = {"replicas": REPLICAS, "seed": SEED}


def script_document(
    workload: Workload,
    server: servers.Server,
    parsed: Parsed,
    files: list[str],
    update: FileUpdate | None = None,
    reader: Sequence[str] = (),
) -> SqlDocument:
    """The engine's document: everything the script says, and where its rows come from."""
    dialect, text = server.system.dialect, server.dialect
    _refuse_unused(parsed)
    database = servers.database_name(parsed.last("database") or servers.DEFAULT_DATABASE)
    is_new = "create" in parsed.given
    options = table_options(server, parsed)
    indexes = [
        statement for table in workload.tables for statement in dialect.create_indexes(table)
    ]
    unlocks = [] if update is None else unlock(dialect, rule_of(workload))
    after = [*dialect.commit(), *unlocks, *(indexes if is_new else []), *reader]
    deletes = [] if update is None else update.script_deletes(workload, server)
    source = BibDocument(
        files=tuple(files),
        encoding=_encoding(parsed.last("encoding") or ENCODINGS[0]),
        keep_going="keep-going" in parsed.given,
        strict="strict" in parsed.given,
        replicas=_replicas(parsed),
        only=None if update is None else tuple(update.changed_names),
    )
    return SqlDocument(
        source=source,
        literal_style=text.text_style.literals,
        carriage_return=text.carriage_return,
        header=tuple(_header(server.name, files)),
        create=(
            *text.script_prologue(database, is_new),
            *_ended(_schema(workload, dialect, options) if is_new else []),
        ),
        begin="\n".join([*_ended(dialect.begin()), *deletes]),
        commit="\n".join(_ended(after)),
        rollback="\n".join(_ended(dialect.rollback())),
        tables=tuple(_table_name(dialect, table) for table in workload.tables),
    )


def script_without_rows(
    document: SqlDocument, server: servers.Server, parsed: Parsed, reader: Sequence[str]
) -> list[str]:
    """Lines of a script where no file has changed, or for a reader of tables that are there."""
    if not reader:
        return [*document.header, f"-- no file is newer than {parsed.last('newer-than')}"]
    database = servers.database_name(parsed.last("database") or servers.DEFAULT_DATABASE)
    return [
        *(line for line in document.header if not line.startswith("-- file")),
        *server.dialect.script_prologue(database, create=False),
        *_ended(reader),
    ]


def _refuse_unused(parsed: Parsed) -> None:
    if parsed.all("option") and "create" not in parsed.given:
        raise ArgumentError("--option needs --create: without it no table is made", hint="--create")
    if "force" in parsed.given and parsed.last("output") is None:
        raise ArgumentError("--force needs --output", hint="--output FILE")
    if parsed.last("seed") is not None and _replicas(parsed) is None:
        raise ArgumentError(
            "--seed needs --replicas: without them nothing is random", hint="--replicas 10"
        )


def _ended(statements: Sequence[str]) -> list[str]:
    return [f"{statement};" for statement in statements]


def _schema(workload: Workload, dialect: Dialect, options: Mapping[str, str]) -> list[str]:
    statements = []
    for table in workload.tables:
        statements += dialect.drop_table(table)
        statements += dialect.create_table(table, options)
    return statements


def table_options(server: servers.Server, parsed: Parsed) -> dict[str, str]:
    """The system's own options: their defaults, and what ``--option`` says."""
    specs = {spec.name: spec for spec in server.system.option_specs}
    options = {name: spec.default for name, spec in specs.items()}
    for word in parsed.all("option"):
        key, _, value = word.partition("=")
        if key not in specs:
            raise unknown(f"option of {server.name}", key, specs)
        if specs[key].levels and value not in specs[key].levels:
            raise unknown(f"{key} of {server.name}", value, specs[key].levels)
        options[key] = value
    return options


def _table_name(dialect: Dialect, table: Table) -> TableName:
    return TableName(
        table=dialect.identifier(table.name),
        columns=tuple(dialect.identifier(column.name) for column in table.columns),
    )


def _replicas(parsed: Parsed) -> Replicas | None:
    count = _number(parsed, "replicas")
    return Replicas(count=count, seed=_number(parsed, "seed")) if count > 1 else None


def _number(parsed: Parsed, name: str) -> int:
    word = parsed.last(name)
    try:
        return 1 if word is None else _NUMBERS[name].of_word(word)
    except ValueError as error:
        raise ArgumentError(f"--{name}: {error}") from None


def _encoding(word: str) -> str:
    if word.lower() not in ENCODINGS:
        raise unknown("encoding", word, ENCODINGS)
    return word.lower()


def _header(server: str, files: Sequence[str]) -> list[str]:
    """Comments that say where the script comes from. A line feed in a name must not end one."""
    facts = {
        "server": server,
        "program": f"bibtosql of Assay {version('assay-db')}",
        "user": _user(),
        "host": platform.node(),
        "date": datetime.now().astimezone().strftime("%a %b %d %H:%M:%S %Z %Y"),
        "directory": str(Path.cwd()),
    }
    lines = [f"-- {name}:".ljust(14) + value for name, value in facts.items()]
    lines += [
        f"-- {'file' if number else 'files'}:".ljust(14) + name
        for number, name in enumerate(files or ["(standard input)"])
    ]
    return [
        "".join(character if character.isprintable() else "?" for character in line)
        for line in lines
    ]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "(unknown)"


_LONGEST_NAME = 32
"""The longest that every server accepts."""
_NAME = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{_LONGEST_NAME - 1}}}")


def with_users(dialect: Dialect, server: str, name: str) -> HasUsers:
    """The dialect. Raises `ArgumentError` where the server has no users, and for a name that some
    server would not take."""
    if not isinstance(dialect, HasUsers):
        raise ArgumentError(
            f"--reader {name}: {server} has no users",
            hint="who may read or write a database file is said by the rights of the file: chmod",
        )
    if _NAME.fullmatch(name) is None:
        raise ArgumentError(
            f"--reader {name!r}: expected a name of letters (a to z), digits, _ and -, at most "
            f"{_LONGEST_NAME} of them, of which the first is no digit"
        )
    return dialect


def reader_statements(
    name: str, dialect: HasUsers, workload: Workload, password: str | None
) -> list[str]:
    """``password``: of a new user; None for an existing one, who keeps it."""
    made = [] if password is None else dialect.create_user(name, password)
    return [*made, *dialect.grant_reading(name, _readable_tables(workload))]


def write_question(name: str, dialect: HasUsers, workload: Workload) -> str:
    """Whether the user may also change the tables."""
    return dialect.write_query(name, _readable_tables(workload))


def is_password_given() -> bool:
    return bool(env_vars.READER_PASSWORD.get())


def insist_on_login(name: str, answer: Sequence[Sequence[str | None]]) -> None:
    """Raises `ArgumentError` where `HasUsers.user_query` has found a user who may not log in."""
    if any(cells[0] != "1" for cells in answer):
        raise ArgumentError(
            f"--reader {name}: there is a role of this name, which may not log in",
            hint="choose another name, or allow it to log in",
        )


def reader_lines(name: str | None, server: options.Server, workload: Workload) -> Sequence[str]:
    """The same for a script, which cannot ask whether the user is there."""
    if name is None:
        return []
    dialect = with_users(server.system.dialect, server.name, name)
    return reader_statements(name, dialect, workload, new_password(name))


def _readable_tables(workload: Workload) -> list[str]:
    return [table.name for table in workload.tables]


def new_password(name: str) -> str:
    """Raises `ArgumentError` where it is neither in the variable nor typed."""
    if given := env_vars.READER_PASSWORD.get():
        return given
    has_terminal = is_at_terminal() and sys.stderr.isatty()
    if has_terminal and (typed := getpass.getpass(f"Password for the new user {name}: ")):
        return typed
    raise ArgumentError(
        f"--reader {name}: the new user needs a password",
        hint=f"give it in {env_vars.READER_PASSWORD.name}, or at a terminal, where it is asked for",
    )
