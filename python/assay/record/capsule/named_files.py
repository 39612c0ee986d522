"""Takes an experiment's record; returns the files that it was run with and that Assay does not
bring itself: scripts, the workload's folder, its feed, its input, each with the digest that it
had."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

from assay import registry
from assay.contracts.experiment import Experiment, ScriptFile
from assay.errors import AssayError, ExperimentError, InputError, ScriptError
from assay.experiment import from_file
from assay.experiment.as_file import Places
from assay.judge.run import ScriptRecord
from assay.load.row_sources.protocol import ReadsFiles, RowSource, opened
from assay.record.capsule import capsule_file
from assay.record.file.record_file import open_for_reading, reading_errors, value
from assay.record.runs.records import ExperimentRecord
from assay.text import output_file, paths, secrets, toml_file
from assay.text import paths as text_file
from assay.text.phrases import phrase
from assay.text.toml_file import TomlData
from assay.text.units import size
from assay.workload import ad_hoc_script, inheritance, reader
from assay.workload.expected_answers import PUBLISHED_FILE
from assay.workload.values import Workload

_SCRIPTS, _WORKLOADS, _FEED = "scripts", "workloads", "feed"
_BESIDE = (PUBLISHED_FILE, "README.md")
"""Of a workload's folder: no part of what is run, but of what is said of it."""
_RUN_AGAIN = "run the experiment again with it as it is now, and pack that"
_PLAIN = "the record does not keep it, and a capsule is for others"


class NamedFiles(Struct, frozen=True):
    """What an experiment file names, and what is in it."""

    places: Places
    texts: Mapping[str, str]
    """By the names of a capsule."""
    inputs: Mapping[str, Path]
    """The files that rows were read from, by the same."""
    quick: TomlData
    """The table of that name, of the file that it was run from."""


def named_files(record: ExperimentRecord, *, with_input: bool) -> NamedFiles:
    """``with_input``: with the files that its rows were read from. Raises `InputError` or the error
    of reading it where a text is not what it was, or has a password."""
    asked = record.experiment
    _insist_on_plain_words(asked)
    sent = {text_file.text_digest(one.text): one.text for one in _sent(record)}
    members: dict[str, str] = {}
    paths: dict[str, str] = {}
    scripts: dict[str, str] = {}
    for script in asked.scripts:
        within = _free(f"{_SCRIPTS}/{_script_name(script.path)}", members)
        members[within] = _script_text(script, sent)
        scripts[script.path] = within
        paths[within] = script.path
    workload = ""
    if not asked.is_ad_hoc:
        workload, of_workload, of_paths = _workload(record)
        members |= of_workload
        paths |= of_paths
    feed = asked.feed
    place_of_feed = ""
    if feed:
        place_of_feed = f"{_FEED}/{Path(feed).name}"
        members[place_of_feed] = _feed_text(feed, asked.feed_content)
        paths[place_of_feed] = feed
    read: dict[str, Path] = {}
    if asked.input_paths and with_input:
        read = input_files(record, reader.read(asked.workload))
    for name, text in members.items():
        _insist_on_no_password(paths[name], text)
    for file in read.values():
        _insist_on_input_without_password(file)
    return NamedFiles(
        Places(workload, scripts.__getitem__, place_of_feed, tuple(read)),
        {f"{capsule_file.EXPERIMENT_FOLDER}/{name}": text for name, text in members.items()},
        {f"{capsule_file.EXPERIMENT_FOLDER}/{name}": file for name, file in read.items()},
        _quick_table(record),
    )


def _insist_on_plain_words(asked: Experiment) -> None:
    """Raises `InputError` for the first name or parameter with a password. The record has stars in
    its place, with which the experiment cannot be run again; or it would show it to all who get the
    capsule."""
    for what, word, fix in _names(asked):
        if _hides(word):
            raise InputError(
                f"{what} has a password: expected none, as {_PLAIN}",
                file=secrets.without_secrets(word),
                hint=f"{fix}, run the experiment again and pack that",
            )
    for name, level in _levels(asked):
        if secrets.is_secret(name) or (isinstance(level, str) and _hides(level)):
            raise InputError(
                f"the parameter {name!r} is or has a password: expected none, as {_PLAIN}",
                file="experiment.toml",
                hint=phrase(
                    "run it with a value of {--set} that others may see, or under another name "
                    "where it is no password, and pack that"
                ),
            )


def _hides(word: str) -> bool:
    return secrets.HIDDEN in word or secrets.without_secrets(word) != word


def _names(asked: Experiment) -> Iterator[tuple[str, str, str]]:
    """What it is, the word, and what to do."""
    yield "the title", asked.title, "give it another title"
    for script in asked.scripts:
        yield "the name of the script", script.path, "rename it"
    yield "the name of the workload", asked.workload, "rename it"
    yield "the name of the feed", asked.feed or "", "rename it"
    for path in asked.input_paths:
        yield "the name of the input", path, "rename it"


def _levels(asked: Experiment) -> Iterator[tuple[str, object]]:
    tables = [asked.parameters, *(one.get("parameters", {}) for one in asked.of_tests.values())]
    for table in tables:
        for name, levels in table.items():
            for level in levels:
                yield name, level


def _insist_on_no_password(path: str, text: str) -> None:
    """A text cannot be packed without what it says, as its digest is that of the whole."""
    if path.endswith(".md"):
        at = _first_with_password(text.splitlines())
    else:
        at = secrets.line_with_password(text)
    if at is not None:
        raise _has_password(path, at, "")


def _insist_on_input_without_password(file: Path) -> None:
    at = _first_with_password(input_lines(file))
    if at is not None:
        raise _has_password(file, at, f"; or {LEAVE_INPUT_OUT}")


def _first_with_password(lines: Iterable[str]) -> int | None:
    return next((at for at, one in enumerate(lines, 1) if secrets.has_password(one)), None)


def _has_password(path: str | Path, line: int, or_else: str) -> InputError:
    return InputError(
        f"line {line} has a password: expected none, as a capsule is for others",
        file=path,
        hint="take it out (the server can know it, or a password file there), run the experiment "
        f"again and pack that{or_else}",
    )


def _quick_table(record: ExperimentRecord) -> TomlData:
    """A record does not keep it. Empty: there is none, or none that can be read any more; then the
    quick version is that of the workload alone."""
    with closing(open_for_reading(record.path)) as connection, reading_errors(record.path):
        command = value(connection, "SELECT command FROM experiments WHERE id = ?", record.id)
        file = json.loads(command).get("file") if command else None
    if not file or record.experiment.is_quick:
        return {}
    try:
        from_file.read(Path(file), is_quick=True)
        found = toml_file.read(Path(file)).plain().get("quick", {})
    except AssayError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _sent(record: ExperimentRecord) -> Iterator[ScriptRecord]:
    for run in record.runs:
        for step in run.steps:
            yield from step.scripts


def _script_name(path: str) -> str:
    return "stdin.sql" if path == ad_hoc_script.STANDARD_INPUT else Path(path).name


def _free(name: str, taken: Mapping[str, str]) -> str:
    """Scripts of several folders may have one name in different languages only."""
    if name not in taken:
        return name
    path = PurePosixPath(name)
    return next(
        other
        for number in range(2, len(taken) + 3)
        if (other := str(path.with_name(f"{number}-{path.name}"))) not in taken
    )


def _script_text(script: ScriptFile, sent: Mapping[str, str]) -> str:
    expected = script.content
    if expected in sent:
        return sent[expected]
    text = text_file.read_text(Path(script.path), ScriptError)
    _insist_on(text, expected, script.path)
    return text


def _feed_text(path: str, expected: str) -> str:
    text = text_file.read_text(Path(path), ScriptError)
    _insist_on(text, expected, path)
    return text


def _insist_on(text: str, expected: str, path: str) -> None:
    found = text_file.text_digest(text)
    if expected and found != expected:
        raise InputError(
            f"expected the text that was run, with SHA-256 {expected}, found {found}: it was "
            "changed since",
            file=path,
            hint=_RUN_AGAIN,
        )


def _workload(record: ExperimentRecord) -> tuple[str, dict[str, str], dict[str, str]]:
    """The name of a workload of the registry; or the folder of another, as the experiment file
    says it, and the texts in it and in those that it extends, and their paths."""
    name = record.experiment.workload
    if name in registry.workloads():
        return name, {}, {}
    try:
        read = reader.read(name)
    except AssayError as error:
        error.hint = error.hint or "its folder is needed: go to where the experiment was run"
        raise
    expected, found = (record.experiment.workload_content, ad_hoc_script.content_of_workload(read))
    if expected and found != expected:
        raise InputError(
            f"expected the workload that was run, with SHA-256 {expected} over its texts, found "
            f"{found}: it was changed since",
            file=name,
            hint=_RUN_AGAIN,
        )
    folders = list(_folders(read.folder.resolve()))
    root = Path(os.path.commonpath([folder.parent for folder in folders]))
    texts = {
        folder / one: text
        for folder in folders
        for one, text in _texts(reader.read(str(folder))).items()
    }
    names = {path: f"{_WORKLOADS}/{path.relative_to(root).as_posix()}" for path in texts}
    return (
        f"{_WORKLOADS}/{folders[0].relative_to(root).as_posix()}",
        {names[path]: text for path, text in texts.items()},
        {name: str(path) for path, name in names.items()},
    )


def _folders(folder: Path) -> Iterator[Path]:
    """Of a workload, and of those that it extends and that have no name of their own."""
    yield folder
    base = inheritance.base_folder(toml_file.read(folder / registry.WORKLOAD_FILE))
    if base is not None and base.resolve() not in map(
        registry.workload_folder, registry.workloads()
    ):
        yield from _folders(base.resolve())


def _texts(workload: Workload) -> dict[str, str]:
    """By their paths in its folder: those that any part of the program reads from it."""
    found = {
        path: text
        for path, text in workload.texts.items()
        if not path.startswith((inheritance.TEXTS, ad_hoc_script.GIVEN))
    }
    top = toml_file.read(workload.folder / registry.WORKLOAD_FILE).plain()
    sheets = [one.get("file") for one in top.get("sheets", []) if isinstance(one, dict)]
    for name in (*_BESIDE, *map(str, top.get("dialects", ())), *map(str, sheets)):
        file = workload.folder / name
        if name not in found and file.is_file():
            found[name] = text_file.read_text(file, ExperimentError)
    return found


INPUT_FOLDER: Final = "input"
MOST_INPUT_BYTES: Final = 1_000_000_000
"""Of all: a capsule is a file that people send one another."""
WITHOUT_INPUT: Final = "--without-input"
"""Of `assay capsule pack`."""
LEAVE_INPUT_OUT: Final = (
    f"{WITHOUT_INPUT} leaves input files out of the capsule: it then has their digest alone"
)


def input_files(record: ExperimentRecord, workload: Workload) -> dict[str, Path]:
    """By their names in the folder of the experiment file, in the order in which they are read.
    Raises `InputError` where they cannot be packed."""
    source: RowSource = registry.row_source(workload.data_source)
    files = _input_paths(source, record)
    found: dict[str, Path] = {}
    left = MOST_INPUT_BYTES
    for file in files:
        name = f"{INPUT_FOLDER}/{file.name}"
        if name in found:
            raise InputError(
                "has the name of another input file: expected each name once",
                file=file,
                hint=LEAVE_INPUT_OUT,
            )
        found[name] = file
        left -= file.stat().st_size
        if left < 0:
            raise InputError(
                f"with this file the input has {_whole(files)}: expected at most "
                f"{size(MOST_INPUT_BYTES)} of input in a capsule",
                file=file,
                hint=phrase(
                    f"publish the files beside it, and pack with {WITHOUT_INPUT}: "
                    "who runs it again "
                    "names them with {--input PATH}"
                ),
            )
    return found


def _input_paths(source: RowSource, record: ExperimentRecord) -> list[Path]:
    try:
        files = list(source.input_files(record.experiment.input_paths))
    except InputError as error:
        error.hint = LEAVE_INPUT_OUT
        raise
    for file in files:
        if not paths.is_file(file):
            what = "a folder" if paths.is_folder(file) else "nothing that can be read"
            raise InputError(
                f"expected an input file, found {what}", file=file, hint=LEAVE_INPUT_OUT
            )
    return files


def input_lines(file: Path) -> Iterator[str]:
    """Raises `InputError` where it cannot be read."""
    with _reading(file), paths.opened_file(file) as content:
        for line in content:
            yield line.decode(errors="replace")


def copy_input(file: Path, target: Path) -> None:
    """Raises `InputError` where it cannot be read, `OSError` where the copy cannot be written."""
    output_file.write_pieces(target, _pieces(file))


def _pieces(file: Path) -> Iterator[bytes]:
    with _reading(file), paths.opened_file(file) as content:
        yield from output_file.pieces_of_file(content)


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}", file=file, hint=LEAVE_INPUT_OUT
        ) from error


def _whole(files: list[Path]) -> str:
    return size(sum(file.stat().st_size for file in files))


def insist_on_the_same_input(
    record: ExperimentRecord, experiment: Experiment, workload: Workload
) -> None:
    """``experiment``: with the paths of the copies. Raises `InputError` where other rows would be
    read from them than were read from the files."""
    with closing(open_for_reading(record.path)) as connection, reading_errors(record.path):
        text = value(connection, "SELECT content FROM experiments WHERE id = ?", record.id)
    expected = json.loads(text).get("input", "")
    rows = opened(workload, experiment, _Silent())
    found = rows.input_fingerprint if isinstance(rows, ReadsFiles) else ""
    if expected and found != expected:
        names = ", ".join(Path(one).name for one in record.experiment.input_paths)
        raise InputError(
            f"expected the input that was read, with digest {expected}, found {found}: it was "
            "changed since",
            file=names,
            hint="run the experiment again with it as it is now, and pack that; "
            f"or {LEAVE_INPUT_OUT}",
        )


class _Silent:
    """What is said of the input was said when it was first read."""

    def stage(self, name: str) -> None:
        del name

    def warning(self, message: str) -> None:
        del message
