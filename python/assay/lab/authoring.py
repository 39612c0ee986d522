"""Takes a workload folder; returns the workload and every mistake in its files, each with its
place and its fix, before any run; and, on a system that is up, the statements that it refuses."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec import UNSET, Struct, field, structs

from assay import _engine, registry
from assay.contracts.dialects import Dialect, NamesTables
from assay.contracts.documents import ScriptDocument
from assay.contracts.driving import DEFERRED
from assay.contracts.engine import (
    ArrivalDocument,
    DriveDocument,
    GroupDocument,
    StopDocument,
    Value,
)
from assay.drive import substitutes
from assay.drive.document import GIVEN_SCRIPT_VARIABLES
from assay.drive.observe import observe
from assay.drive.prepare import name_what_sets
from assay.drive.query import document_of
from assay.drive.substitutes import begins_transaction
from assay.errors import (
    AssayError,
    ExperimentError,
    RunFailed,
    ScriptError,
    SystemRefused,
    YouError,
)
from assay.lab.run_context.context import counts_of_outcomes
from assay.load.tables import drop, refuse_foreign_tables, schema, views
from assay.provision.engine.engine_calls import CREATED_BY_SCRIPT, as_ours, session
from assay.provision.running_system import RunningSystem
from assay.registry import WORKLOAD_FILE
from assay.report import check_declarations
from assay.text import toml_file
from assay.text.left_out_keys import Complaint, LeftOutKeys
from assay.text.toml_file import SECTION, TomlTable
from assay.text.units import counted
from assay.workload import ad_hoc_script, reader
from assay.workload.inheritance import EXTENDS
from assay.workload.parameters import Scalar, unused_parameters
from assay.workload.steps import Deferred
from assay.workload.values import Script, Workload

# Takes a workload folder and what is known to be wrong in it; returns the folder as if that were
# not there, so that it can be read again and the next mistake is found.
#
# Readers stop at the first mistake. Here each is left out in turn: a file, a key of a TOML file,
# or a whole table. The folder itself is never changed: what is read is a folder of links to its
# files.

_NAMED = re.compile(r"'([^']+)'|:(\w+)$")
"""A word in quotes, and a variable at the end of a message."""


class Reading:
    """One folder, read again and again without what is wrong."""

    def __init__(self, folder: Path, parent: Path) -> None:
        self.copy = parent / folder.resolve().name
        self._keys = LeftOutKeys()
        for file in folder.rglob("*"):
            if file.is_file():
                target = self.copy / file.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(file.resolve())

    def complaint_of(self, error: YouError) -> Complaint | None:
        """Where the error is; None: at no file of the folder."""
        if complaint := self._keys.complaint_of(error):
            return complaint
        file = Path(getattr(error, "file", "") or "-")
        if not file.is_relative_to(self.copy) or ".." in file.parts:
            return None
        name, line = file.relative_to(self.copy).as_posix(), getattr(error, "line", 0)
        if file.suffix == ".toml" and line and (path := _path_at(file, line)):
            return Complaint((name, path), is_expression=True)
        return Complaint((name, ()))

    def follows(self, error: YouError, complaint: Complaint) -> bool:
        """Whether the error is only there because something is left out: it names that, or is about
        a table that lacks it."""
        return self.is_named_in(error) or self._keys.is_of_lack(complaint)

    def is_named_in(self, error: AssayError) -> bool:
        """Whether the error names what is left out, also as a variable."""
        names = {str(part[-1]) if part else Path(name).name for name, part in self._keys.out}
        names |= {Path(name).stem for name, part in self._keys.out if not part}
        return any(word in names for found in _NAMED.findall(error.message) for word in found)

    def leave_out(self, complaint: Complaint) -> bool:
        """Leaves it out from now on; False where that cannot be done (again), or everything else is
        judged by it: without what a workload extends, most of it is wrong."""
        place = file, path = complaint.place
        if place == (WORKLOAD_FILE, (EXTENDS,)):
            return False
        if complaint.is_expression and place not in self._keys.replaced:
            self._keys.replaced.add(place)
            return True
        if place in self._keys.out or (not path and file.endswith(".toml")):
            return False
        self._keys.out.add(place)
        if not path:
            (self.copy / file).unlink()
        return True

    def section_class(self) -> type[TomlTable]:
        """The class of sections that do not have what is left out, and note where errors are."""
        return self._keys.section_class()


def _path_at(file: Path, line: int) -> tuple[str | int, ...]:
    """The path of the key in that line; empty: none is found."""
    token = SECTION.set(TomlTable)
    try:
        return _key_at(toml_file.read(file), line)
    except YouError:  # no TOML
        return ()
    finally:
        SECTION.reset(token)


def _key_at(section: TomlTable, line: int) -> tuple[str | int, ...]:
    for key, value in section.plain().items():
        if isinstance(value, dict):
            inner = [section.section(key)]
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            inner = section.sections(key)
        elif section.line_of(key) == line:
            return (*section.path, key)
        else:
            continue
        for one in inner:
            if path := _key_at(one, line):
                return path
    return ()


Read = TypeVar("Read")
_MOST = 200
"""Mistakes that are listed; a folder with more is something else."""
_NOTHING = "\\sleep 0"
"""In place of another script, in every language of statements."""


class ExaminedWorkload(Struct):
    """What is wrong with a workload folder."""

    problems: list[AssayError] = field(default_factory=list)
    workload: Workload | None = None
    """Without what is wrong; None: it cannot be read."""
    is_whole: bool = True
    """Whether everything was examined: a mistake may hide others."""


@contextmanager
def examined(name_or_path: str) -> Iterator[ExaminedWorkload]:
    """Everything that can be said of the folder without a run. Inside, `ExaminedWorkload.workload`
    can be used: its files are links in a temporary folder."""
    folder = registry.workload_folder(name_or_path)
    with tempfile.TemporaryDirectory(prefix="assay-check-") as temporary:
        reading = Reading(folder, Path(temporary))
        found = ExaminedWorkload()
        token = SECTION.set(reading.section_class())
        try:
            found.workload = _without_mistakes(
                found, reading, lambda: reader.read(str(reading.copy))
            )
            if (workload := found.workload) is not None:
                _without_mistakes(found, reading, lambda: check_declarations(workload))
                of_scripts = _of_scripts(workload)
                found.problems += [one for one in of_scripts if not reading.is_named_in(one)]
                found.problems += unused_parameters(workload)
        finally:
            SECTION.reset(token)
        for problem in found.problems:
            problem.message = problem.message.replace(str(reading.copy), str(folder))
        yield found


def examined_script(word: str, variables: Mapping[str, tuple[Scalar, ...]]) -> ExaminedWorkload:
    """Everything that can be said of a script file without a run, with these variables; as a test
    of its own, as a run of it is."""
    try:
        workload = ad_hoc_script.workload([ad_hoc_script.script_file(word)], variables)
        for name in variables:
            ad_hoc_script.refuse_variable(name, workload)
    except YouError as error:
        return ExaminedWorkload([error], is_whole=False)
    return ExaminedWorkload(list(_of_scripts(workload)), workload)


def _without_mistakes(
    examined: ExaminedWorkload, reading: Reading, read: Callable[[], Read]
) -> Read | None:
    """What is read once all that is wrong is left out."""
    while len(examined.problems) < _MOST:
        try:
            return read()
        except YouError as error:
            complaint = reading.complaint_of(error)
            if complaint is None or not reading.follows(error, complaint):
                examined.problems.append(error)
            if complaint is None or not reading.leave_out(complaint):
                break
    examined.is_whole = False
    return None


def document_for(workload: Workload, script: Script, dialect: Dialect) -> DriveDocument:
    """The engine's document of one script alone, with the parameters of the first test that runs
    it, at their defaults."""
    tests = [test for test in workload.tests.values() if script.name in test.named_scripts]
    parameters: dict[str, Scalar] = {}
    # A script may know by its name how many rows it must find.
    variables: dict[str, Value] = dict.fromkeys(() if workload.is_ad_hoc else workload.scripts)
    variables |= GIVEN_SCRIPT_VARIABLES if workload.is_ad_hoc else {}
    variables |= substitutes.all_capability_variables(workload.tests.values())
    for test in tests[:1]:
        parameters |= {name: levels[0] for name, levels in test.defaults.items()}
        for step in test.steps:
            variables |= step.own_variables
    variables |= counts_of_outcomes(workload, 1, ()) | workload.with_defaults(parameters)
    document = document_of(script, variables, workload.identifiers_for(parameters), dialect)
    document = structs.replace(document, begins=begins_transaction(dialect))
    deferred = next((test.deferred for test in tests if test.deferred), None)
    if deferred is None:
        return document
    others = workload.scripts.values()
    return _with_deferred(document, script, deferred, others)


def _with_deferred(
    document: DriveDocument, script: Script, deferred: Deferred, others: Iterable[Script]
) -> DriveDocument:
    """With what the other scripts of the test give it: those that it may queue, or the variables
    with which it is queued."""
    if script.name in deferred.scripts:
        given = dict.fromkeys(_given(script.name, others))
        return structs.replace(document, variables={**given, **document.variables})
    stubs = (ScriptDocument(name=name, path=name, text=_NOTHING) for name in deferred.scripts)
    once = StopDocument(passes=1)
    groups = (
        GroupDocument(name="", scripts=(script.name,), order="sequence", clients=1, stop=once),
        GroupDocument(
            name=DEFERRED, scripts=deferred.scripts, order="sequence", clients=1,
            arrival=ArrivalDocument(kind=DEFERRED),
        ),
    )  # fmt: skip
    return structs.replace(
        document,
        scripts=(*document.scripts, *stubs),
        groups=groups,
        order=UNSET,
        clients=UNSET,
        stop=StopDocument(),
    )


def _given(name: str, others: Iterable[Script]) -> Iterable[str]:
    """The variables whose values it is given where it is queued."""
    queues = re.compile(rf"^\s*\\defer\s+{re.escape(name)}((?:[ \t]+\w+)*)[ \t]*$", re.MULTILINE)
    return (word for one in others for found in queues.findall(one.text) for word in found.split())


def _of_scripts(workload: Workload) -> Iterator[AssayError]:
    """Of each script, check and override the first mistake that the compiler finds."""
    for script, dialect in _texts(workload):
        try:
            _engine.script_warnings(document_for(workload, script, dialect).json)
        except _engine.EngineError as error:
            if error.file:
                error.file = str(workload.file_of(error.file))
            found = as_ours(error)
            name_what_sets(found, workload)
            yield found
        except YouError as error:  # of a parameter or a constant: of all scripts
            yield error
            return


def _texts(workload: Workload) -> Iterator[tuple[Script, Dialect]]:
    """Every text, with a dialect whose language it is in."""
    dialects = registry.dialects()
    first = workload.default_system
    preferred = [registry.system(first).dialect] if first else []

    def of(word: str) -> Dialect:
        spoken = [one for one in (*preferred, *dialects.values()) if one.language == word]
        return dialects[word] if word in dialects else spoken[0]

    for script in (*workload.scripts.values(), *workload.checks.values()):
        dialect = of(script.language or "sql")
        yield workload.written(script, dialect), dialect
    for (word, _), script in workload.overrides.items():
        yield script, of(word)


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
    found = [one for one, *_ in statements_of_text(text, dialect)]
    if not isinstance(dialect, NamesTables):
        return OwnTables(frozenset(), ())
    made = frozenset(name for one in found for name in _made(one, dialect))
    return OwnTables(made, tuple(one for one in found if made & named_tables(one, dialect)))


def statements_of_text(text: str, dialect: Dialect) -> list[tuple[str, int, int]]:
    """(statement, line, column), without meta commands; none where they cannot be cut apart."""
    try:
        bare = _META.sub(lambda line: " " * len(line[0]), text)
        return _engine.split_statements(bare, "", dialect.text_style)
    except _engine.EngineError:
        return []


def named_tables(statement: str, dialect: Dialect) -> frozenset[str]:
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
_MOST_STATEMENTS = 50
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
            is_of_own = bool(own.names & named_tables(statement, dialect))
            if is_of_own and error.hint == CREATED_BY_SCRIPT and not is_without_own:
                not_tried.append(_of_own(file, own))
                text, is_without_own = own.without(text), True
                continue
            if refused == _MOST_STATEMENTS:
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
    left = sum(1 for _, of, _ in statements_of_text(text, running.system.dialect) if of >= line)
    return ScriptError(
        f"{running.deployment.label} refuses this statement, too, "
        f"after {_MOST_STATEMENTS} others: it and "
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
