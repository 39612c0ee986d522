"""The program ``bibtosql``: takes BibTeX, gives the SQL script that loads it.

After Beebe's program of the same name (TUGboat 30(2), 2009), with its options and the order of its
output. The schema is the workload's, its spelling the dialect's; the rows stream through the engine
to a file or standard output, so that memory does not grow with the input. Nothing is written before
the whole input is known to be good.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

from msgspec.structs import replace

from assay.cli.bibsql import applying, options, sql_script
from assay.cli.bibsql.bibsql import standard_answer
from assay.cli.bibsql.options import (
    Option,
    Parsed,
    check_input,
    ended_by_signals,
    files_without_entries,
    help_text,
    kept_rows_error,
    parse,
    say_problems,
)
from assay.cli.bibsql.sql_script import script_document, script_without_rows
from assay.cli.bibsql.updating import file_update
from assay.cli.output import report_output
from assay.cli.process import OutputLost, outcome_of, refuse_other_encodings
from assay.contracts.experiment import ENCODINGS
from assay.errors import ArgumentError
from assay.load.bibsql.bibliography import Problems, SqlDocument, files_of
from assay.text import output_file
from assay.text.paths import is_folder
from assay.workload import reader
from assay.workload.values import Workload

OPTIONS = (
    Option("author", "print who wrote the original program"),
    Option(
        "create",
        "drop and create the tables (and the database) first; create the indexes last",
        destroys=True,
    ),
    Option("database", "name of the database [default: bibtex]", "NAME"),
    Option("help", "print this help"),
    Option("server", "the kind of server the script is for", "NAME"),
    Option("version", "print the version"),
    Option("force", "replace the --output file if it exists", "", False, destroys=True),
    Option(
        "encoding",
        f"encoding of the input: {' or '.join(ENCODINGS)} [default: {ENCODINGS[0]}]",
        "NAME",
        False,
    ),
    Option("keep-going", "skip bad entries and report them, instead of stopping", "", False),
    Option(
        "option", "table option of the server, with --create; may be repeated", "KEY=VALUE", False
    ),
    Option("output", "write the script to a file instead of standard output", "FILE", False),
    Option("replicas", "write every entry N times, with changes [default: 1]", "N", False),
    Option("seed", "seed of the changes in replicas [default: 1]", "N", False),
    Option("strict", "treat an undefined macro as an error", "", False),
    Option(
        "update",
        "delete the rows of FILEs before they are inserted; FILEs are the whole collection",
        "",
        False,
    ),
    Option(
        "newer-than",
        "with --update: replace only the rows of files that were written after this file, "
        "or since this date",
        "STAMP",
        False,
    ),
    Option(
        "remove-gone", "with --update: delete the rows of all other files", "", False, destroys=True
    ),
    Option(
        "apply",
        "load into this database, all or nothing, instead of writing SQL; afterwards set STAMP",
        "URL|FILE",
        False,
    ),
    Option(
        "wait",
        "with --apply: how long to wait for another update or lock of the database [default: 60s]",
        "TIME",
        False,
    ),
    Option("reader", "make a database user who may only read the tables", "NAME", False),
    Option("quiet", "print only errors", "", False),
    Option("all-warnings", "print the first 100 warnings and errors, not 20", "", False),
)
STANDARD_INPUT = 0


EXAMPLES = """\
  bibtosql --server psql --create tugboat.bib > tugboat.sql
  bibtosql -c *.bib | sqlite3 bibtex.db
  bibtosql --update --newer-than last-update --apply bibtex.db bibliographies/
"""


def main() -> None:
    # A filter ends at Ctrl-C, also while it waits for input inside the engine.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(outcome_of("bibtosql", lambda: run(sys.argv[1:])))


def run(arguments: list[str]) -> int | None:
    """Writes the script, or what ``--help`` and the like ask for."""
    parsed = parse(arguments, OPTIONS, pass_unknown=False)
    workload = reader.read("bibsql")
    if answer := standard_answer("bibtosql", _help(workload), parsed):
        sys.stdout.write(answer)
        return None
    files = [] if parsed.rest == ["-"] else parsed.rest
    refuse_other_encodings(files)
    if parsed.last("apply") is not None:
        applying.run(parsed, workload, files)
        return None
    if parsed.last("wait") is not None:
        raise ArgumentError("--wait needs --apply", hint="--apply URL|FILE")
    _write_script(parsed, workload, files)
    return None


def _write_script(parsed: Parsed, workload: Workload, files: list[str]) -> None:
    server = options.server(parsed.last("server") or workload.default_system)
    update = file_update(parsed, parsed.rest)
    if update is not None:
        update.insist_on_stamp()
        files = [str(file) for file in update.files]
    else:  # two files of one name are a warning here
        files = [
            str(file)
            for word in files
            for file in (files_of([word]) if is_folder(Path(word)) else [word])
        ]
    user_statements = sql_script.reader_lines(parsed.last("reader"), server, workload)
    document = script_document(workload, server, parsed, files, update, user_statements)
    bad: list[str] = []
    if update is not None:
        with ended_by_signals():
            bad = files_without_entries(document.source, map(str, update.changed))
        if bad:
            left = tuple(file for file in update.changed if str(file) not in bad)
            update = replace(update, changed=left)
            document = script_document(workload, server, parsed, files, update, user_statements)
    is_without_rows = (user_statements and not parsed.rest and "create" not in parsed.given) or (
        update is not None and not update.has_work
    )
    if is_without_rows:
        with _output(parsed, files or [os.devnull]) as descriptor:
            lines = script_without_rows(document, server, parsed, user_statements)
            with open(descriptor, "w", closefd=False, encoding="utf-8") as out:
                out.writelines(f"{line}\n" for line in lines)
        if bad:
            raise kept_rows_error(bad)
        return
    if files:
        with ended_by_signals():
            check_input(document.source)
    with _output(parsed, files) as descriptor:
        report = _write(document, descriptor, _file(parsed))
    say_problems(report["problems"], parsed.given, update.changed if update else None)
    if bad:
        raise kept_rows_error(bad)


def _file(parsed: Parsed) -> str | None:
    """None: standard output."""
    file = parsed.last("output")
    return None if file == "-" else file


@contextmanager
def _output(parsed: Parsed, files: Sequence[str]) -> Iterator[int]:
    """A file descriptor to write the script to; the file appears when the block succeeds.

    Files have been read once before, which standard input cannot be: its script waits in a
    temporary file.
    """
    file = _file(parsed)
    if file is not None:
        inputs: list[str | int] = [*files] if files else [STANDARD_INPUT]
        with report_output.file_written(
            file, force="force" in parsed.given, inputs=inputs
        ) as descriptor:
            if parsed.last("reader") is not None and stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.fchmod(descriptor, 0o600)  # the password is in it
            yield descriptor
        return
    output_file.insist_on_other_file(os.fstat(sys.stdout.fileno()), "(standard output)", files)
    if files:
        yield sys.stdout.fileno()
        return
    with tempfile.TemporaryFile() as waiting:
        yield waiting.fileno()
        waiting.seek(0)
        try:
            with open(sys.stdout.fileno(), "wb", closefd=False) as out:
                shutil.copyfileobj(waiting, out)
        except OSError as error:
            raise OutputLost(error) from error


class Written(TypedDict):
    """What the engine says of a script that is written, as far as it is read here."""

    problems: Problems


def _write(document: SqlDocument, descriptor: int, file: str | None) -> Written:
    from assay import _engine
    from assay.provision.engine.engine_calls import raise_as_ours

    try:
        report: Written = json.loads(_engine.bib_write_sql(document.json, descriptor))
    except _engine.EngineError as error:
        raise_as_ours(error)
    except OSError as error:
        if file is None:
            raise OutputLost(error) from error
        raise
    return report


def _help(workload: Workload) -> str:
    return help_text(
        "bibtosql [OPTIONS] [FILE]...",
        "Write an SQL script that loads BibTeX files or standard input into a database.\n"
        f"Servers (upper or lower case; a unique abbreviation is enough):\n"
        f"  {', '.join(options.server_names())} [default: {workload.default_system}]",
        OPTIONS,
        EXAMPLES,
    )
