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
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from assay.bibsql.bibliography import counted, skipped_text
from assay.bibsql.commands import servers
from assay.bibsql.commands.bibsql import standard_answer
from assay.bibsql.commands.options import Option, Parsed, help_text, parse
from assay.bibsql.commands.sql_script import script_document
from assay.cli.outcome import outcome_of, say
from assay.cli.streams import OutputLost
from assay.cli.surroundings import refuse_other_encodings
from assay.files import output_file
from assay.workload import reader
from assay.workload.values import Workload

OPTIONS = (
    Option("author", "print who wrote the original program"),
    Option(
        "create", "drop and create the tables (and the database) first; create the indexes last"
    ),
    Option("database", "name of the database [default: bibtex]", "NAME"),
    Option("help", "print this help"),
    Option("server", "the kind of server the script is for", "NAME"),
    Option("version", "print the version"),
    Option("force", "replace the --output file if it exists", "", False),
    Option("encoding", "encoding of the input: utf-8 or latin-1 [default: utf-8]", "NAME", False),
    Option("keep-going", "skip bad entries and report them, instead of stopping", "", False),
    Option(
        "option", "table option of the server, with --create; may be repeated", "KEY=VALUE", False
    ),
    Option("output", "write the script to a file instead of standard output", "FILE", False),
    Option("replicas", "write every entry N times, with changes [default: 1]", "N", False),
    Option("seed", "seed of the changes in replicas [default: 1]", "N", False),
    Option("strict", "treat an undefined macro as an error", "", False),
)
SHOWN_PROBLEMS = 20
STANDARD_INPUT = 0


EXAMPLES = """\
  bibtosql --server psql --create tugboat.bib > tugboat.sql
  bibtosql -c *.bib | sqlite3 bibtex.db
"""


def main() -> None:
    """The program ``bibtosql``."""
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
    server = servers.server(parsed.last_or("server", workload.default_system))
    files = [] if parsed.rest == ["-"] else parsed.rest
    refuse_other_encodings(files)
    document = script_document(workload, server, parsed, files)
    if files:
        with _ended_by_signals():
            _check(document["source"])
    with _output(parsed, files) as descriptor:
        report = _write(document, descriptor, parsed.last("output"))
    for line in problem_lines(report["problems"]):
        say(line)
    return None


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """At once: a pipe without a writer is waited for inside the engine, where no handler of
    ours runs, and there is nothing yet to put away."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    handlers = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)


@contextmanager
def _output(parsed: Parsed, files: Sequence[str]) -> Iterator[int]:
    """A file descriptor to write the script to; the file appears when the block succeeds.

    Files have been read once before, which standard input cannot be: its script waits in a
    temporary file.
    """
    file = parsed.last("output")
    if file is not None:
        inputs: list[str | int] = [*files] if files else [STANDARD_INPUT]
        with output_file.written(file, force="force" in parsed.given, inputs=inputs) as descriptor:
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


def _check(source: Mapping[str, Any]) -> None:
    """Reads the files once before anything is written. Costs a tenth."""
    from assay import _engine
    from assay.provision.session import raise_as_ours

    scan = {key: value for key, value in source.items() if key != "replicas"}
    try:
        _engine.bib_scan(json.dumps(scan))
    except _engine.EngineError as error:
        raise_as_ours(error)


def _write(document: dict[str, Any], descriptor: int, file: str | None) -> dict[str, Any]:
    from assay import _engine
    from assay.provision.session import raise_as_ours

    try:
        report: dict[str, Any] = json.loads(_engine.bib_write_sql(json.dumps(document), descriptor))
    except _engine.EngineError as error:
        raise_as_ours(error)
    except OSError as error:
        if file is None:
            raise OutputLost(error) from error
        raise
    return report


def problem_lines(problems: Mapping[str, Any]) -> list[str]:
    """What was wrong and did not stop the program: the first of it, and how much there is."""
    lines = []
    for problem in problems["kept"][:SHOWN_PROBLEMS]:
        place = ":".join(
            str(part) for part in (problem["file"], problem["line"], problem["column"]) if part
        )
        lines.append(f"{problem['severity']}: {place}: {problem['message']}")
    if not lines:
        return []
    total = f"{counted(problems['errors'], 'error')}, {counted(problems['warnings'], 'warning')}"
    if skipped := skipped_text(problems):
        total += f"; left out: {skipped}"
    return [*lines, total]


def _help(workload: Workload) -> str:
    return help_text(
        "bibtosql [OPTIONS] [FILE]...",
        "Writes an SQL script that loads BibTeX files or standard input into a database.\n"
        f"Servers (upper or lower case; a unique abbreviation is enough):\n"
        f"  {', '.join(servers.names())} [default: {workload.default_system}]",
        OPTIONS,
        EXAMPLES,
    )
