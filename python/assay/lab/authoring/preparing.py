"""Takes a workload and a system that is up; creates the tables there and has every statement
prepared; returns what the system refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from assay import _engine
from assay.contracts.dialects.protocol import Dialect, NamesTables
from assay.drive.observe import observe
from assay.errors import AssayError, ExperimentError, RunFailed, ScriptError, SystemRefused
from assay.lab.authoring.problems import document_for
from assay.load.mark import refuse_foreign_tables
from assay.load.tables import drop, schema, views
from assay.provision.engine.session import CREATED_BY_SCRIPT, session
from assay.provision.running_system import RunningSystem
from assay.registry import WORKLOAD_FILE
from assay.text.units import counted
from assay.workload.values import Script, Workload

# Takes a script and its dialect; returns the tables and views that the script itself makes, and
# the script without the statements that name one of them: before it has run they cannot be
# prepared.

_META = re.compile(r"^[ \t]*\\[^\n]*", re.MULTILINE)
_VIEW = re.compile(r"create\s+(?:\w+\s+)*?view\s+(?:if\s+not\s+exists\s+)?([^\s(]+)", re.IGNORECASE)
_MAKING = ("create", "select")
"""SELECT … INTO makes a table."""


class OwnTables(NamedTuple):
    names: frozenset[str]
    """In lower case, without the quotes."""
    statements: tuple[str, ...]
    """Those that name one of them, in order."""

    def without(self, text: str) -> str:
        """The text without these statements; what is left stays in its line."""
        pieces, at = [], 0
        for statement in self.statements:
            begin = text.find(statement, at)
            if begin < 0:
                continue
            end = begin + len(statement)
            end += text[end : end + 1] == ";"
            pieces += [text[at:begin], "\n" * statement.count("\n")]
            at = end
        return "".join([*pieces, text[at:]])


def own_tables(text: str, dialect: Dialect) -> OwnTables:
    """No tables where the dialect does not find those that a statement names."""
    found = [one for one, *_ in statements(text, dialect)]
    if not isinstance(dialect, NamesTables):
        return OwnTables(frozenset(), ())
    made = frozenset(name for one in found for name in _made(one, dialect))
    return OwnTables(made, tuple(one for one in found if made & named(one, dialect)))


def statements(text: str, dialect: Dialect) -> list[tuple[str, int, int]]:
    """(statement, line, column), without meta commands; none where they cannot be cut apart."""
    try:
        bare = _META.sub(lambda line: " " * len(line[0]), text)
        return _engine.split_statements(bare, "", dialect.literal_style)
    except _engine.EngineError:
        return []


def named(statement: str, dialect: Dialect) -> frozenset[str]:
    """The tables that the statement names, as `OwnTables.names` has them."""
    if not isinstance(dialect, NamesTables):
        return frozenset()
    found = dialect.tables_named(statement)
    return frozenset(map(_plain, (*found.read, *found.added_to, *found.changed, *found.made)))


def _made(statement: str, dialect: NamesTables) -> frozenset[str]:
    if not statement.lower().startswith(_MAKING):
        return frozenset()
    view = _VIEW.match(statement)
    made = {*dialect.tables_named(statement).made, *([view[1]] if view else [])}
    return frozenset(map(_plain, made))


def _plain(name: str) -> str:
    return re.sub(r'["`\[\]]', "", name).casefold()


_PLACE = re.compile(r"preparing the statement at (?P<path>.*):(?P<line>\d+):(?P<column>\d+): ")
_MOST = 50
"""Statements of one script that are refused."""
_MOST_SHOWN = 5
"""Lines of one script whose statements are not tried."""
_HEAD = "\\if 0\n"
"""Its statements are prepared and none is executed."""


def refused_statements(
    workload: Workload, running: RunningSystem, not_tried: list[str]
) -> Iterator[AssayError]:
    """Tables are made with the defaults of all parameters, and dropped at the end. Adds to
    ``not_tried`` a line for what is left out."""
    dialect, deployment = running.system.dialect, running.deployment
    tables = workload.tables_for({}, dialect.language)
    if not deployment.is_private:
        refuse_foreign_tables(deployment, dialect, tables)
    try:
        drop(deployment, dialect, tables)
        try:
            with session(deployment.address) as opened:
                statements = schema(dialect, tables, deployment)
                statements += [one for table in tables for one in dialect.create_indexes(table)]
                for table in tables:
                    statements += dialect.add_foreign_keys(table, deployment.options)
                statements += views(dialect, tables)
                for statement in statements:
                    opened.execute(statement)
        except (SystemRefused, RunFailed) as error:
            yield ExperimentError(
                f"{deployment.label} refuses a table or a view: {error.message}",
                file=workload.folder / WORKLOAD_FILE,
                hint=error.hint,
            )
            return
        if "prepared statements" in running.system.capabilities:
            for script in scripts_of(workload, running):
                yield from _refused(workload, script, running, not_tried)
    finally:
        drop(deployment, dialect, tables)


def scripts_of(workload: Workload, running: RunningSystem) -> list[Script]:
    """The scripts and checks that have a text for the system, but for those of tests alone that it
    cannot express."""
    dialect, tests = running.system.dialect, workload.tests.values()
    expressed = {
        name
        for test in tests
        if not test.why_not_expressible(dialect)
        for name in test.named_scripts
    }
    not_expressed = {name for test in tests for name in test.named_scripts} - expressed
    spoken = [
        workload.script_for(one, dialect)
        for one in workload.scripts
        if one not in not_expressed and workload.is_spoken(one, dialect)
    ]
    return [*spoken, *workload.checks_for(dialect)]


def never_prepared(workload: Workload, running: RunningSystem) -> Iterator[str]:
    """The statements of which nothing is known, ``FILE:LINE, LINE and 3 more``: they neither read
    nor change rows, nor have values, so that `assay run` sends them as text."""
    dialect = running.system.dialect
    for script in scripts_of(workload, running):
        document = document_for(workload, script, dialect)
        if statements := _engine.never_prepared(document.json):
            lines = ", ".join(str(line) for _, line, _ in statements[:_MOST_SHOWN])
            more = len(statements) - _MOST_SHOWN
            others = f" and {more} more" if more > 0 else ""
            yield f"{workload.file_of(statements[0][0])}:{lines}{others}"


def _refused(
    workload: Workload, script: Script, running: RunningSystem, not_tried: list[str]
) -> Iterator[AssayError]:
    """One error for each statement that is refused: it is left out, and the rest tried again."""
    text, dialect, file = script.text, running.system.dialect, workload.file_of(script.path)
    own, refused = own_tables(text, dialect), 0
    is_without_own = False
    while True:
        guarded = Script(script.name, script.path, f"{_HEAD}{text.rstrip()}\n\\endif\n")
        document = document_for(workload, guarded, dialect)
        try:
            observe(running.deployment, document)
            return
        except ScriptError:
            return  # what follows a statement that was left out
        except (RunFailed, SystemRefused) as error:
            place = _PLACE.search(error.message)
            if place is None:
                raise
            line, column = int(place["line"]) - 1, int(place["column"])
            statement = _statement(text, line, column)
            is_of_own = bool(own.names & named(statement, dialect))
            if is_of_own and error.hint == CREATED_BY_SCRIPT and not is_without_own:
                not_tried.append(_of_own(file, own))
                text, is_without_own = own.without(text), True
                continue
            if refused == _MOST:
                yield _behind(file, text, line, running)
                return
            refused += 1
            yield ScriptError(
                f"{running.deployment.label} refuses the statement: "
                + error.message[place.end() :],
                file=file,
                line=line,
                column=column,
                hint=_reserved(workload, script, statement, dialect) or _hint(error),
            )
            text = _without(text, line, column)


def _of_own(file: Path, own: OwnTables) -> str:
    names = sorted(own.names)
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return (
        f"{file}: {counted(len(own.statements), 'statement')} not tried, as the script itself "
        f"makes {', '.join(names[:_MOST_SHOWN])}{more}"
    )


def _behind(file: Path, text: str, line: int, running: RunningSystem) -> ScriptError:
    """Of the statement in this line, which is refused, and of those behind it."""
    left = sum(1 for _, of, _ in statements(text, running.system.dialect) if of >= line)
    return ScriptError(
        f"{running.deployment.label} refuses this statement, too, after {_MOST} others: it and "
        f"what is behind it, {counted(left, 'statement')} in all, are not named one by one",
        file=file,
        line=line,
        hint="correct those that are named, and check again",
    )


def _reserved(workload: Workload, script: Script, statement: str, dialect: Dialect) -> str | None:
    if not script.is_for_all:
        return None
    names = workload.schema.names.reserved_in(statement, dialect)
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"{dialect.name} reserves {', '.join(names)}: write {quoted}" if names else None


def _hint(error: AssayError) -> str:
    own = error.hint or ""
    if own == CREATED_BY_SCRIPT:
        return "the name of a table or column; if another script creates it, this is no mistake"
    return own or "correct it, or spell it for this system in overrides/DIALECT/"


def _without(text: str, line: int, column: int) -> str:
    """The text without the statement that begins there; all other lines stay where they are."""
    lines = text.splitlines(keepends=True)
    before = "".join(lines[: line - 1]) + lines[line - 1][: column - 1]
    statement = _statement(text, line, column)
    after = text[len(before) + len(statement) + 1 :]
    return before + "\n" * statement.count("\n") + after


def _statement(text: str, line: int, column: int) -> str:
    rest = "".join(text.splitlines(keepends=True)[line - 1 :])[column - 1 :]
    return rest.partition(";")[0]
