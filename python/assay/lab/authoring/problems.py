"""Takes a workload folder; returns the workload, as far as it can be read, and every mistake in its
files: each with its place and its fix."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec import UNSET, Struct, field, structs

from assay import _engine, registry
from assay.contracts.dialects.protocol import Dialect
from assay.contracts.driving import DEFERRED
from assay.contracts.engine.document import ScriptDocument
from assay.contracts.engine.drive import (
    ArrivalDocument,
    DriveDocument,
    GroupDocument,
    StopDocument,
    Value,
)
from assay.drive import goes_without
from assay.drive.document import GIVEN_SCRIPT_VARIABLES
from assay.drive.isolation import begins
from assay.drive.prepare import name_what_sets
from assay.drive.query import document_of
from assay.errors import AssayError, YouError
from assay.lab.run_context.consistency import counts
from assay.provision.engine.session import as_ours
from assay.registry import WORKLOAD_FILE
from assay.report import check_declarations
from assay.text.files import toml_file
from assay.text.files.left_out_keys import Complaint, LeftOutKeys
from assay.text.files.toml_file import SECTION, TomlTable
from assay.workload import ad_hoc_script, reader
from assay.workload.inheritance import EXTENDS
from assay.workload.parameters import Scalar
from assay.workload.steps import Deferred
from assay.workload.unused_parameters import unused_parameters
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
    variables |= goes_without.variables_with_all(workload.tests.values())
    for test in tests[:1]:
        parameters |= {name: levels[0] for name, levels in test.defaults.items()}
        for step in test.steps:
            variables |= step.own_variables
    variables |= counts(workload, 1, ()) | workload.with_defaults(parameters)
    document = document_of(script, variables, workload.identifiers_for(parameters), dialect)
    document = structs.replace(document, begins=begins(dialect))
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
