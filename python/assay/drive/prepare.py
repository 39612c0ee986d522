"""Takes every planned run; compiles its scripts in the engine, so that mistakes are reported
before anything is started; says which of them may change data and which of them commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from msgspec import structs

from assay import _engine, registry
from assay.contracts.dialects import Dialect, NamesTables, RecognisesReads, SetsSessions, Table
from assay.contracts.documents import ScriptDocument
from assay.contracts.durability import NO_SETTINGS, SessionSettings
from assay.contracts.engine import DriveDocument, StopDocument
from assay.contracts.factors import PROTOCOL, THREADS
from assay.contracts.observation import Observation
from assay.drive.document import document_of, scripts_of
from assay.errors import AssayError, ScriptError
from assay.experiment import Scalar
from assay.plan import PlannedRun
from assay.plan.drives import PlannedDrive, drives, parameters_of
from assay.provision.engine.engine_calls import as_ours
from assay.text import paths, pattern
from assay.text.phrases import Mention, phrase
from assay.workload.steps import Step
from assay.workload.values import Script, Workload

Found = TypeVar("Found")
_COUNT = pattern(r"(?:ok|unknown)_(\w+)")
"""What a check may use of a script: how many of its transactions ended so."""


class Compiled:
    """The compiled scripts of an experiment; runs with the same scripts are compiled once."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self._warnings: dict[object, tuple[str, ...]] = {}
        self._writing: dict[object, frozenset[str]] = {}
        self._settings: dict[object, SessionSettings] = {}
        self._statements: dict[object, list[tuple[str, str]]] = {}
        self._asked: list[object] = []

    def check(self, runs: Iterable[PlannedRun]) -> tuple[str, ...]:
        """Warnings about probable mistakes in the scripts of all runs, each with its location.

        Raises `ScriptError` for the first script that does not compile."""
        found: list[str] = []
        for run in runs:
            dialect = registry.system(run.cell.system.name).dialect
            for drive in drives(self.workload, run):
                found += self.warnings(drive)
            for step in self.workload.test(run.cell.test).steps:
                if step.scripts_run_once:
                    self._check_asked(run, step, dialect)
        return tuple(dict.fromkeys(found))

    def _check_asked(self, run: PlannedRun, step: Step, dialect: Dialect) -> None:
        """Raises `ScriptError` where a script that a step runs once does not compile."""
        key = dialect.name, run.cell.test, step, tuple(run.cell.parameters.items())
        if key in self._asked:
            return
        self._asked.append(key)
        parameters = parameters_of(self.workload, run, step)
        variables = self.workload.with_defaults(parameters)
        variables |= step.own_variables
        identifiers = self.workload.identifiers_for(parameters)
        from assay.drive import query

        for name in step.scripts_run_once:
            script = self.workload.script_for(name, dialect)
            document = query.document_of(script, variables, identifiers, dialect)
            try:
                _engine.script_warnings(document.json)
            except _engine.EngineError as error:
                raise _placed(error, self.workload, run) from error

    def warnings(self, drive: PlannedDrive) -> tuple[str, ...]:
        """Warnings about probable mistakes in the scripts of the step, each with location and
        fix."""
        key = _what_is_compiled(drive)
        if key not in self._warnings:
            found = _compiled(self.workload, drive, _engine.script_warnings) or ()
            self._warnings[key] = tuple(
                f"{_path(path, self.workload, drive.run)}:{line}:{column}: {message}"
                + (f"; {hint}" if hint else "")
                for path, line, column, message, hint in found
            )
        return self._warnings[key]

    def only_reads(self, run: PlannedRun, dialect: RecognisesReads) -> bool:
        """Whether no statement of the run's clients can change anything."""
        return not any(
            self._writing_types(drive, dialect.only_reads) for drive in drives(self.workload, run)
        )

    def writing_types(
        self, drive: PlannedDrive, dialect: Dialect, functions: frozenset[str] = frozenset()
    ) -> frozenset[str]:
        """The transaction types of a step that change data, as far as their statements show it,
        and those that call one of these functions, which may."""
        only_reads = dialect.only_reads if isinstance(dialect, RecognisesReads) else seems_to_read
        writing = self._writing_types(drive, only_reads)
        if functions and isinstance(dialect, NamesTables):
            for name, statement in self._statements_of(drive, dialect):
                if functions & dialect.tables_named(statement).called:
                    writing |= {name}
        return writing

    def session_settings(self, run: PlannedRun) -> SessionSettings:
        """What the sessions of the run's clients set for themselves."""
        return joined(map(self._session_settings, drives(self.workload, run)))

    def _session_settings(self, drive: PlannedDrive) -> SessionSettings:
        key = _what_is_compiled(drive)
        if key not in self._settings:
            dialect = registry.system(drive.run.cell.system.name).dialect
            scripts = scripts_of(self.workload, drive, dialect)
            values = document_of(self.workload, drive, dialect, scripts).variables
            statements = self._statements_of(drive, dialect)
            self._settings[key] = session_settings_of_statements(statements, values, dialect)
        return self._settings[key]

    def _writing_types(
        self, drive: PlannedDrive, only_reads: Callable[[str], bool]
    ) -> frozenset[str]:
        key = _what_is_compiled(drive)  # of one dialect, and so of one way to know reads
        if key not in self._writing:
            dialect = registry.system(drive.run.cell.system.name).dialect
            self._writing[key] = frozenset(
                name
                for name, statement in self._statements_of(drive, dialect)
                if not only_reads(statement)
            )
        return self._writing[key]

    def _statements_of(self, drive: PlannedDrive, dialect: Dialect) -> list[tuple[str, str]]:
        key = _what_is_compiled(drive)
        if key not in self._statements:
            self._statements[key] = statements_of(self.workload, drive, dialect)
        return self._statements[key]


def _placed(error: _engine.EngineError, workload: Workload, run: PlannedRun) -> AssayError:
    """The error of a script, with the path of its file."""
    if error.kind == "script" and error.file:
        error.file = _path(error.file, workload, run)
    return as_ours(error)


def _path(path: str, workload: Workload, run: PlannedRun) -> str:
    """The path of a script as a user can open it: the engine knows it within its workload."""
    is_given = workload.is_ad_hoc or path in {script.path for script in run.cell.scripts}
    file = workload.file_of(path)
    return str(file) if not is_given and paths.is_file(file) else path


def _what_is_compiled(drive: PlannedDrive) -> object:
    """A key of the compiled scripts: equal keys mean equal instruction lists. What a system can do
    is in the scripts' variables, and may depend on its choice."""
    cell = drive.run.cell
    choice = tuple(cell.system.particulars.items())
    parameters = tuple(cell.parameters.items())
    return choice, cell.test, drive.step.label, cell.level(PROTOCOL), parameters


def check_limits(workload: Workload, runs: Iterable[PlannedRun], load_sessions: int | None) -> None:
    """Raises `MachineLimit` where this machine allows too few threads or open files for the clients
    of a run, or for the given load sessions."""
    needs = {
        (_driver(run), drive.run.cell.clients, run.cell.level(THREADS))
        for run in runs
        for drive in drives(workload, run)
    }
    needs |= {
        (_driver(run), run.cell.clients, run.cell.level(THREADS))
        for run in runs
        if workload.test(run.cell.test).overlaps
    }
    try:
        for driver, clients, threads in sorted(needs):
            _engine.check_clients(driver, clients, threads)
        if load_sessions is not None:
            _engine.check_load_sessions(load_sessions)
    except _engine.EngineError as error:
        raise as_ours(error) from error


def _driver(run: PlannedRun) -> str:
    """The engine's driver for the run; a system that speaks several protocols has an option."""
    choice = run.cell.system
    spoken = choice.options.get("protocol", "")
    return spoken if spoken in _engine.drivers() else registry.system(choice.name).driver


def explained(workload: Workload, run: PlannedRun) -> str:
    """The instruction lists of all scripts of the run; empty where its clients run none."""
    drives_ = drives(workload, run)
    lists = [_compiled(workload, drive, _engine.explain) or "" for drive in drives_]
    return "\n".join(dict.fromkeys(drive for drive in lists if drive))


def scripts_of_all(workload: Workload, run: PlannedRun, dialect: Dialect) -> tuple[Script, ...]:
    """The scripts of all steps of the run, each once."""
    found = [
        script for drive in drives(workload, run) for script in scripts_of(workload, drive, dialect)
    ]
    return tuple({script.name: script for script in reversed(found)}.values())[::-1]


def statements_of(
    workload: Workload, drive: PlannedDrive, dialect: Dialect
) -> list[tuple[str, str]]:
    """(transaction type, text with its values as ``:name``) of the statements that the scripts of a
    step send."""
    scripts = scripts_of(workload, drive, dialect)
    document = _with_an_end(document_of(workload, drive, dialect, scripts))
    try:
        return _engine.statements(document.json)
    except _engine.EngineError as error:
        raise as_ours(error) from error


def sent_statements(workload: Workload, run: PlannedRun) -> list[tuple[str, str]]:
    """Those of `statements_of` of all steps of the run."""
    dialect = registry.system(run.cell.system.name).dialect
    return [
        one for drive in drives(workload, run) for one in statements_of(workload, drive, dialect)
    ]


def _with_an_end(document: DriveDocument) -> DriveDocument:
    """A document that the engine can compile: that of a step which other clients end has none.
    Groups end by themselves, or all by the duration."""
    if document.groups or document.stop != StopDocument():
        return document
    return structs.replace(document, stop=StopDocument(transactions=1))


def _compiled(workload: Workload, drive: PlannedDrive, ask: Callable[[str], Found]) -> Found | None:
    """The engine's result for the step's scripts; None where its clients run none."""
    dialect = registry.system(drive.run.cell.system.name).dialect
    scripts = scripts_of(workload, drive, dialect)
    if not scripts:
        return None
    document = _with_an_end(document_of(workload, drive, dialect, scripts))
    try:
        return ask(document.json)
    except _engine.EngineError as error:
        found = _placed(error, workload, drive.run)
        name_what_sets(found, workload)
        raise found from error


def name_what_sets(error: AssayError, workload: Workload) -> None:
    """Gives the error of an unknown variable its fix, where that is not to set it in the script: of
    an ad hoc script also to set it on the command line, of the count of a script that no test names
    to name it."""
    if not isinstance(error, ScriptError) or "variable" not in error.message:
        return
    named = re.search(r"variable :(\w+)", error.message)
    name = named[1] if named else "NAME"
    nearest = error.hint + "; " if error.hint and "did you mean" in error.hint else ""
    if workload.is_ad_hoc:
        error.hint = phrase(
            "{}\\set {} … in the script, or {}", nearest, name, Mention("set", f"{name}=VALUE")
        )
    elif not nearest and (counted := _COUNT.fullmatch(name)):
        error.hint = (
            f"it counts the transactions of {counted[1]}, and no test of {workload.name} "
            "has a script of this name: name it in a test, or leave this check out "
            '(checks = ["…"] in a test lists its own)'
        )


# Takes the statements of a run's scripts; returns those by which its sessions set themselves up
# (`SessionSettings`), as ``SET synchronous_commit = off``, with the values of the run.
#
# They are found by their first words. What a function or a procedure sets is not seen here; that
# a run flushed too seldom for the class that was measured without it is
# (`assay.judge.storage_checks`).

_BEGINS = pattern(r"\s*(begin|start\s+transaction)\b", re.IGNORECASE)
_ENDS = pattern(r"\s*(abort|commit|end|rollback(?!\s+to\b))\b", re.IGNORECASE)
_VARIABLE = pattern(r"('(?:[^']|'')*'|::)|:(\w+)")


def session_settings_of_statements(
    statements: Iterable[tuple[str, str]], values: Mapping[str, Scalar | None], dialect: Dialect
) -> SessionSettings:
    """``statements``: (script, text with its values as ``:name``), in order; ``values``: of the
    variables that the run does not change."""
    if not isinstance(dialect, SetsSessions):
        return NO_SETTINGS
    before: list[str] = []
    after: list[str] = []
    unknown = ""
    last, is_begun = "", False
    for script, text in statements:
        if script != last:
            last, is_begun = script, False
        if _BEGINS.match(text) or _ENDS.match(text):
            is_begun = bool(_BEGINS.match(text))
        elif dialect.sets_session(text):
            spelled = _with_values(text, values)
            if spelled is None:
                unknown = f"its sessions execute {text}, whose value is chosen in the run"
            else:
                (after if is_begun else before).append(spelled)
    return SessionSettings(tuple(dict.fromkeys(before)), tuple(dict.fromkeys(after)), unknown)


def joined(settings: Iterable[SessionSettings]) -> SessionSettings:
    """Of sessions one after another: what the last one sets counts."""
    each = tuple(settings)
    return SessionSettings(
        tuple(dict.fromkeys(text for one in each for text in one.before_begin)),
        tuple(dict.fromkeys(text for one in each for text in one.after_begin)),
        next((one.why_unknown for one in each if one.why_unknown), ""),
    )


def _with_values(text: str, values: Mapping[str, Scalar | None]) -> str | None:
    """None where a value is not known before the run."""
    names = {name for _, name in _VARIABLE.findall(text) if name}
    if any(values.get(name) is None for name in names):
        return None
    return _VARIABLE.sub(lambda match: match[1] or str(values[match[2]]), text)


_COMMENT = pattern(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_FIRST_WORD = pattern(r"[\s(]*(\w*)")
_CHANGES = pattern(r"\b(insert|update|delete|merge)\b", re.IGNORECASE)
_SEQUENCE = pattern(r"\b(next|set)val\s*\(|\bnext\s+value\s+for\b", re.IGNORECASE)
_OF_TRANSACTIONS = frozenset(
    ("abort", "begin", "commit", "end", "release", "rollback", "savepoint", "set", "start", "")
)
_OF_READS = frozenset(("describe", "select", "show", "table", "values"))


def seems_to_read(statement: str) -> bool:
    """Whether a statement of SQL changes nothing by its first word. A function that it calls may
    still write, so this is good for counting commits and for nothing that needs certainty."""
    word = first_word(statement)
    if word in ("explain", "with"):
        return _CHANGES.search(_COMMENT.sub(" ", statement)) is None
    return word in _OF_TRANSACTIONS | _OF_READS and not _SEQUENCE.search(statement)


def first_word(statement: str) -> str:
    """In lower case, without comments and parentheses before it; empty: there is none."""
    found = _FIRST_WORD.match(_COMMENT.sub(" ", statement))
    return found[1].lower() if found else ""


def committed_transactions(observation: Observation, writing_types: Collection[str]) -> int | None:
    """Of the transactions that ended ok, those of a type that changes data. None: there are none,
    and the outcome of others of such a type is unknown, so that they may have changed data."""
    found = [one for one in observation.outcomes_by_transaction if one.name in writing_types]
    ok = sum(one.ok for one in found)
    return None if not ok and any(one.unknown for one in found) else ok


WHY_REFUSED = "sessions are read-only, because the test says changes_data = false"


def may_change_data(compiled: Compiled, run: PlannedRun) -> bool:
    """Whether the data must be loaded again for the next run that uses them."""
    test = compiled.workload.test(run.cell.test)
    if test.leaves_other_data:
        return True
    dialect = registry.system(run.cell.system.name).dialect
    if not test.drives or read_only_statements(compiled.workload, run, dialect):
        return False
    return not (isinstance(dialect, RecognisesReads) and compiled.only_reads(run, dialect))


def may_commit(compiled: Compiled, run: PlannedRun) -> bool:
    """Whether what is measured may commit anything: the clients, or without any the load."""
    has_clients = bool(compiled.workload.test(run.cell.test).drives)
    return not has_clients or may_change_data(compiled, run)


def read_only_statements(workload: Workload, run: PlannedRun, dialect: Dialect) -> list[str]:
    """Statements that make a session of the run read-only; empty where its clients may write, or
    where it is not enforced."""
    if workload.test(run.cell.test).leaves_other_data:
        return []
    opens = {drive.run.cell.driving.connection for drive in drives(workload, run)}
    return dialect.session_read_only() if opens <= {"kept"} else []


def hint_at_reserved_name(
    tables: Iterable[Table], scripts: Iterable[ScriptDocument], dialect: Dialect
) -> str | None:
    """None where no script has such a name without quotes."""
    texts = {script.path: script.text for script in scripts}
    for table in tables:
        for name, what in [
            (table.name, "table"),
            *((column.name, f"column of {table.name}") for column in table.columns),
        ]:
            spelled = dialect.identifier(name)
            if spelled == name:
                continue
            for path, text in texts.items():
                if re.search(rf"(?<![\w:\"'`\[]){re.escape(name)}(?![\w\"'`\]])", text):
                    return (
                        f"{name}, a {what}, is a reserved word of {dialect.name}: in {path} write "
                        f"{spelled}"
                    )
    return None
