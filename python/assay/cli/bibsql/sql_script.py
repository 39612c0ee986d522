"""Takes the options of `bibtosql`; returns the document from which the engine writes the script.

The order is that of the original: comments, tables dropped and made, one transaction with the rows
of bibtab, strtab and namtab. An update's deletes stand before its inserts, in the same transaction.
Indexes, which version 0.01 did not make, and the rights of a reader follow behind.
"""

from __future__ import annotations

import getpass
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from assay.cli.bibsql import servers
from assay.cli.bibsql.file_update import FileUpdate, rule_of
from assay.cli.bibsql.options import Parsed
from assay.contracts.dialects.protocol import Dialect, Table
from assay.contracts.experiment import ENCODINGS
from assay.errors import ArgumentError
from assay.load.bibsql.changed_files import unlock
from assay.load.bibsql.documents import BibDocument, Replicas, SqlDocument, TableName
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
        encoding=_one_of("encoding", parsed.last("encoding") or ENCODINGS[0]),
        keep_going="keep-going" in parsed.given,
        strict="strict" in parsed.given,
        replicas=_replicas(parsed),
        only=None if update is None else tuple(update.changed_names),
    )
    return SqlDocument(
        source=source,
        literal_style=text.literal_style,
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


def _one_of(name: str, word: str) -> str:
    if word.lower() not in ENCODINGS:
        raise unknown(name, word, ENCODINGS)
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
