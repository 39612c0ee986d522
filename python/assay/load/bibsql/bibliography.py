"""Takes what an experiment and a workload say of bibliographies; returns the one that runs are
loaded with, and the documents of it that the engine takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypedDict

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from assay import _engine
from assay.contracts.documents import EngineDocument
from assay.errors import InputError
from assay.experiment import Experiment
from assay.load.bibsql import beebe
from assay.load.row_sources.protocol import (
    PLACE_HINT,
    DataRequest,
    Problem,
    ProgressReceiver,
    input_folder,
)
from assay.provision.engine.engine_calls import raise_as_ours
from assay.text.paths import exists, is_folder, is_something_else, shown_if_not_utf8
from assay.text.phrases import did_you_mean, phrase
from assay.text.toml_file import TomlTable
from assay.workload.schema import Schema
from assay.workload.values import Workload

SYNTHETIC_SEED = 1
"""One seed for everybody: runs on synthetic data can be compared."""


class Bibliography(Struct, frozen=True):
    """Files that have been read once from end to end."""

    origin: str
    """``real``, ``synthetic`` or ``files``."""
    description: str
    files: tuple[Path, ...]
    encoding: str
    keep_going: bool
    scan: Scan

    def of_files(self, files: Sequence[Path]) -> Bibliography:
        """The same with other files: edited copies of its own."""
        scan = _scan(files, self.encoding, self.keep_going)
        return replace(self, files=tuple(files), scan=scan)

    def request(
        self,
        *,
        replicas: int = 1,
        variant: str = "full",
        seed: int = 1,
        reported: Sequence[tuple[str | None, str | None]] = (),
    ) -> DataRequest:
        """What a run is loaded with: these files, ``replicas`` times.

        ``reported``: (file, label) of entries that a check reports; of those the variant ``clean``
        makes no replicas.
        """
        problems = self.scan["problems"]
        enlarged = Replicas(
            count=replicas,
            variant=variant,
            seed=seed,
            reported=tuple(reported) if variant == "clean" else (),
        )
        source = BibDocument(
            kind="bib",
            files=tuple(str(file) for file in self.files),
            encoding=self.encoding,
            keep_going=self.keep_going,
            replicas=enlarged if replicas > 1 else UNSET,
        )
        return DataRequest(
            source=source,
            origin=self.origin,
            description=self.description,
            fingerprint=self.scan["fingerprint"],
            items=self.scan["entries"],
            files=source.files,
            settings=source.plain,
            bytes_total=self.scan["bytes"] * replicas,
            problems=tuple(problems["kept"]),
            skipped_items=problems["skipped_entries"],
            replicas=replicas,
            variant=variant,
        )


def resolve(experiment: Experiment, workload: Workload, progress: ProgressReceiver) -> Bibliography:
    """The bibliography of this experiment, read once; raises `InputError` where it is wrong."""
    if experiment.input_paths:
        files = files_of(experiment.input_paths)
        origin, description = "files", _described(files)
    elif workload.data.default_input == "beebe":
        files, origin, description = _default(progress)
    else:
        raise InputError(
            "the workload has no data set of its own",
            file=workload.folder,
            hint=phrase("give files with {--input PATH}"),
        )
    progress.stage(f"read {description}")
    scan = _scan(files, experiment.encoding, experiment.keep_going)
    if scan["problems"]["errors"]:
        skipped = skipped_text(scan["problems"]) or "nothing"
        errors = counted(scan["problems"]["errors"], "error")
        progress.warning(
            f"{errors}; left out: {skipped}; `assay report run:latest --raw` lists them"
        )
    if experiment.input_paths and (warned := _warnings(scan["problems"])):
        progress.warning(warned)
    return Bibliography(
        origin, description, tuple(files), experiment.encoding, experiment.keep_going, scan
    )


def _warnings(problems: Problems) -> str:
    """The number of warnings, and the first with its place; empty: there are none."""
    if not problems["warnings"]:
        return ""
    sentence = (
        f"{counted(problems['warnings'], 'warning')}; `assay report run:latest --raw` lists them"
    )
    first = next(
        (problem for problem in problems["kept"] if problem["severity"] == "warning"), None
    )
    if first is None:
        return sentence
    place = ":".join(str(part) for part in (first["file"], first["line"], first["column"]) if part)
    return f"{sentence}; the first: {place}: {first['message']}"


def skipped_text(problems: Problems) -> str:
    """How much of the files the engine left out because it is bad; empty: nothing."""
    entries, size_bytes = problems["skipped_entries"], problems["skipped_bytes"]
    if not entries and not size_bytes:
        return ""
    return f"{counted(entries, 'entry', 'entries')} ({counted(size_bytes, 'byte')})"


def counted(number: int, singular: str, plural: str = "") -> str:
    """``1 error``, ``1,234 errors``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def files_of(paths: Iterable[str]) -> list[Path]:
    """The files that the paths name, by name; a folder stands for its ``*.bib``, as a shell has
    them, in upper case as well: without hidden files, and without those of folders in it.

    Raises `InputError` for what is not there, and where two files have one name: rows know only
    the name of their file.
    """
    by_name: dict[str, Path] = {}
    for path in map(Path, paths):
        found = _bib_files(path) if is_folder(path) else [path]
        if not found:
            raise InputError("this folder holds no *.bib file", file=path)
        for file in found:
            if shown := shown_if_not_utf8(file):
                raise InputError("its name is not UTF-8", file=shown, hint="rename the file")
            if not exists(file):
                raise InputError("there is no such file", file=file, hint="check the spelling")
            if is_something_else(file):
                raise InputError(
                    "expected a file, found a pipe, a socket or a device",
                    file=file,
                    hint="files are read more than once: write its content to a file",
                )
            other = by_name.setdefault(file.name, file)
            if other is not file and other.resolve() != file.resolve():
                raise InputError(
                    f"has the same name as {other}",
                    file=file,
                    hint="rename one: rows know only the name of their file",
                )
    return [by_name[name] for name in sorted(by_name)]


def _bib_files(folder: Path) -> list[Path]:
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=folder) from error
    named = [one for one in found if one.suffix.lower() == ".bib" and not one.name.startswith(".")]
    return [one for one in named if not is_folder(one)]


def _default(progress: ProgressReceiver) -> tuple[list[Path], str, str]:
    """(files, origin, description) of the 13 bibliographies, or of the synthetic one."""
    try:
        folder = beebe.default_folder()
        if not beebe.is_there(folder):
            beebe.get(folder, on_progress=progress.warning)
        names = sorted(beebe.manifest().files)
        return [folder / name for name in names], "real", f"{len(names)} bibliographies on TeX"
    except InputError as error:
        progress.warning(f"{error.message}; a synthetic bibliography is used instead")
        return _synthetic(), "synthetic", f"invented bibliography, seed {SYNTHETIC_SEED}"


def _synthetic() -> list[Path]:
    folder = input_folder() / f"synthetic-{SYNTHETIC_SEED}"
    document = {"folder": str(folder), "seed": SYNTHETIC_SEED}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = json.loads(_engine.bib_synthesize(json.dumps(document)))
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}", file=folder, hint=PLACE_HINT
        ) from error
    except _engine.EngineError as error:
        raise_as_ours(error)
    return [Path(file) for file in made["files"]]


def _scan(files: Sequence[Path], encoding: str, keep_going: bool) -> Scan:
    document = ScanDocument(
        files=tuple(str(file) for file in files), encoding=encoding, keep_going=keep_going
    )
    try:
        scan: Scan = json.loads(_engine.bib_scan(document.json))
    except _engine.EngineError as error:
        raise_as_ours(error)
    return scan


def _described(files: Sequence[Path]) -> str:
    names = ", ".join(file.name for file in files[:3])
    return f"{len(files)} files: {names}, …" if len(files) > 3 else names


class Replicas(EngineDocument, frozen=True, kw_only=True):
    """How a bibliography is enlarged."""

    count: int
    variant: str | UnsetType = UNSET
    seed: int
    reported: tuple[tuple[str | None, str | None], ...] | UnsetType = UNSET
    """(file, label) of entries without replicas."""


class BibDocument(EngineDocument, frozen=True, kw_only=True):
    """Where the rows come from."""

    kind: str | UnsetType = UNSET
    """``bib``, where there are sources of other kinds."""
    files: tuple[str, ...]
    encoding: str
    keep_going: bool
    strict: bool | UnsetType = UNSET
    replicas: Replicas | UnsetType | None = UNSET
    only: tuple[str, ...] | UnsetType | None = UNSET
    """Names of the files whose rows are made; None: all."""


class ScanDocument(EngineDocument, frozen=True, kw_only=True):
    """Files that are read, and nothing is made of them."""

    files: tuple[str, ...]
    encoding: str
    keep_going: bool
    strict: bool | UnsetType = UNSET


class TableName(EngineDocument, frozen=True, kw_only=True):
    """As the dialect writes it."""

    table: str
    columns: tuple[str, ...]


class SqlDocument(EngineDocument, frozen=True, kw_only=True):
    """All that an SQL script says, and where its rows come from."""

    source: BibDocument
    literal_style: str
    carriage_return: str | None
    header: tuple[str, ...]
    create: tuple[str, ...]
    begin: str
    commit: str
    rollback: str
    tables: tuple[TableName, ...]


class Problems(TypedDict):
    """The first hundred, and how many there are."""

    kept: list[Problem]
    errors: int
    warnings: int
    skipped_entries: int
    skipped_bytes: int
    """Up to the places where reading continued."""


class Scan(TypedDict):
    """Of all files together, as far as it is read here."""

    bytes: int
    entries: int
    """Without those left out."""
    problems: Problems
    fingerprint: str


class FileRows(Struct, frozen=True):
    """How rows follow their files, so that only those of changed files are replaced."""

    table: str
    """The table whose rows belong to one file each."""
    key: str
    """Its column that holds the file's name."""
    rebuilt: tuple[str, ...] = ()
    """Tables over all files, which are emptied and filled anew."""


class DeclaredInput(Struct, frozen=True):
    default_input: str
    """Name of the data set that is used where no files are named; empty: there is none."""
    update: FileRows | None
    """None: the data cannot be brought up to date by file."""


def read_declared_input(data: TomlTable, schema: Schema) -> DeclaredInput:
    return DeclaredInput(data.text("default_input", ""), _update(data, schema))


def _update(data: TomlTable, schema: Schema) -> FileRows | None:
    if "update" not in data:
        return None
    section = data.section("update")
    known = {rule.name: rule.table for rule in schema.declared}
    names = list(known)
    table = section.choice("table", names)
    key = section.choice("key", [column.name for column in known[table].columns])
    rebuilt = section.texts("rebuilt", ())
    for name in rebuilt:
        if name not in names:
            raise section.error(
                f"rebuilt names the unknown table {name!r}",
                "rebuilt",
                hint=did_you_mean(name, names),
            )
    section.done()
    return FileRows(table, key, rebuilt)
