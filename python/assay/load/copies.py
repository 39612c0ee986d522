"""A folder of loaded data sets: copies of data directories, each named by the digest of everything
that determines its content.

::

    FOLDER/<digest>/dataset.json     what it is: system, version, settings, schema, rows, its load
    FOLDER/<digest>/files.json       every file of it, with its size and what is in it
    FOLDER/<digest>/data/            the data directory as its server left it

A copy is written under a temporary name and renamed when it is complete. It is reused for a system
of the same name and version, with the same settings of the data directory, the same schema and the
same rows. Before the first use in an experiment its files are verified: a damaged copy is never
used, and the next load replaces it. To delete a copy, remove its folder.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import msgspec
from msgspec import structs
from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Table
from assay.contracts.systems.abilities import Restartable
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError, SystemUnderTestError
from assay.load.dataset import Dataset
from assay.load.row_sources.protocol import DataRequest
from assay.load.tables import views
from assay.provision.copying import RESERVE_BYTES, Copied, OnCopied, copy_directory
from assay.provision.undo import ledger
from assay.provision.undo.ledger import undone_at_end
from assay.provision.undo.resources import Directory
from assay.text import paths
from assay.text.output_file import sync_file_system
from assay.text.phrases import phrase

FORMAT = 1
"""The version of ``dataset.json`` and of the files beside it."""

FACTS_FILE = "dataset.json"
FILES_FILE = "files.json"
"""Missing in copies of earlier versions, which are not verified."""

DATA = "data"
_OF_A_COPY = {FACTS_FILE, FILES_FILE, DATA}
"""The files and folders of a copy; a folder with anything else is never replaced."""


class CopyFacts(TypedDict):
    """Everything that determines the content of a copy."""

    format: int
    system: str
    version: str
    machine: str
    settings: dict[str, str]
    """Of the server, which its data directory has for good."""
    schema: list[str]
    """Statements."""
    rows: str
    """`DataRequest.key`."""


class _Document(msgspec.Struct, frozen=True):
    """``dataset.json``."""

    facts: Any
    """`CopyFacts`, or those of another format."""
    load: Any
    """Counts and times of the load: fields of `Dataset`, as plain data."""
    description: str
    made_unix_s: int
    bytes: int
    """The size of its files, without holes."""
    is_shared: bool
    """Whether it shares blocks with the data directory."""
    has_manifest: bool = False


class Copy(_Document, frozen=True, kw_only=True):
    """A complete copy."""

    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / DATA

    def damage(self) -> str | None:
        """The first difference from what was copied; None: it is intact."""
        file = self.folder / FILES_FILE
        if not self.has_manifest:
            return None
        try:
            listed = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            return f"{FILES_FILE} cannot be read: {error}"
        return damage(self.data, listed)

    def dataset(self, request: DataRequest) -> Dataset:
        """The data set as it was loaded, for a run that requests the same data."""
        return replace(Dataset(request=request, **self.load), how="restored")


def facts_of(
    deployment: Deployment, system: System, tables: Sequence[Table], request: DataRequest
) -> CopyFacts:
    """Everything that determines the content of the data directory of ``deployment`` after the
    load."""
    dialect, options = system.dialect, deployment.options
    settings: Mapping[str, str] = {}
    if isinstance(system, Restartable):
        settings = system.settings_of_the_data(deployment)
    return {
        "format": FORMAT,
        "system": system.name,
        "version": deployment.version,
        "machine": platform.machine(),
        "settings": dict(sorted(settings.items())),
        "schema": [
            statement
            for table in tables
            for statement in [
                *dialect.create_table(table, options),
                *dialect.create_indexes(table),
                *dialect.add_foreign_keys(table, options),
                *views(dialect, [table]),
            ]
        ],
        "rows": request.key,
    }


def digest_of(facts: CopyFacts) -> str:
    """32 hex digits, the folder name of a copy with these facts."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Copies:
    """A folder of copies, created where it is missing."""

    def __init__(self, folder: Path, *, is_kept: bool) -> None:
        """``is_kept``: the folder outlives the experiment and must survive a power failure."""
        self.folder = folder
        self.is_kept = is_kept

    def find(self, facts: CopyFacts) -> Copy | None:
        """The copy with exactly these facts."""
        found = _read(self.folder / digest_of(facts))
        return found if found is not None and found.facts == facts else None

    def make(
        self, facts: CopyFacts, data: Path, dataset: Dataset, on_copied: OnCopied | None = None
    ) -> Copy:
        """Copies the data directory of a stopped server. Where another Assay has made the same copy
        meanwhile, returns that one.

        Raises `SystemUnderTestError` where there is no room; then no files remain, even after a
        kill (see `assay.provision.undo.ledger`).
        """
        self._make_folder()
        target = self.folder / digest_of(facts)
        identity = ledger.new_id()
        unfinished = self.folder / f".unfinished-{identity}"
        with undone_at_end(identity) as entry:
            entry.add(Directory(str(unfinished)))
            _in_place(lambda: unfinished.mkdir(mode=0o700), unfinished)
            copied = copy_directory(data, unfinished / DATA, on_copied, reserve_bytes=RESERVE_BYTES)
            document = _document(facts, dataset, copied, has_manifest=self.is_kept)
            _in_place(lambda: self._finish(unfinished, target, document), unfinished)
        found = self.find(facts)
        if found is None:
            raise SystemUnderTestError(
                f"{target} exists, but does not hold the copy that its name stands for",
                hint="remove that folder",
            )
        return found

    def __iter__(self) -> Iterator[Copy]:
        """Every complete copy, the newest first."""
        if not paths.is_folder(self.folder):
            return
        found = [copy for path in self.folder.iterdir() if (copy := _read(path)) is not None]
        yield from sorted(found, key=lambda copy: copy.made_unix_s, reverse=True)

    def _finish(self, unfinished: Path, target: Path, document: _Document) -> None:
        if self.is_kept:
            _write(unfinished / FILES_FILE, manifest_of(unfinished / DATA))
        _write(unfinished / FACTS_FILE, structs.asdict(document))
        if self.is_kept:
            # After a power failure the name must not exist without the data.
            sync_file_system(unfinished)
        try:
            unfinished.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            found = _read(target)
            is_damaged = found is None or found.damage() is not None
            if is_damaged and {path.name for path in target.iterdir()} <= _OF_A_COPY:
                identity = ledger.new_id()
                aside = self.folder / f".unfinished-{identity}"
                with undone_at_end(identity) as entry:
                    entry.add(Directory(str(aside)))
                    target.rename(aside)
                    unfinished.rename(target)

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArgumentError(
                f"the folder of data sets {self.folder} cannot be made: {error.strerror}"
            ) from error


def restore(copy: Copy, data: Path, on_copied: OnCopied | None = None) -> Copied:
    """Replaces a stopped server's data directory by the copy. It needs no more room than the load
    did that it stands for."""
    if data.exists():
        shutil.rmtree(data)
    return copy_directory(copy.data, data, on_copied)


def _document(
    facts: CopyFacts, dataset: Dataset, copied: Copied, *, has_manifest: bool
) -> _Document:
    load = {key: value for key, value in structs.asdict(dataset).items() if key != "request"}
    return _Document(
        facts=facts,
        load=load,
        description=dataset.request.description,
        made_unix_s=int(time.time()),
        bytes=copied.bytes,
        is_shared=copied.is_shared,
        has_manifest=has_manifest,
    )


def _write(file: Path, document: object) -> None:
    file.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _in_place(work: Callable[[], None], path: Path) -> None:
    try:
        work()
    except OSError as error:
        raise SystemUnderTestError(
            f"a copy of the data cannot be written to {path.parent}: {error.strerror}",
            hint=phrase("choose another folder with {--datasets}"),
        ) from error


def _read(folder: Path) -> Copy | None:
    """The copy in that folder; None where it is not a copy of this format."""
    try:
        document = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
        facts = document["facts"]
        if folder.name != digest_of(facts) or facts["format"] != FORMAT:
            return None
        return Copy(
            folder=folder,
            facts=facts,
            load=document["load"],
            description=str(document["description"]),
            made_unix_s=int(document["made_unix_s"]),
            bytes=int(document["bytes"]),
            is_shared=bool(document["is_shared"]),
            has_manifest=bool(document.get("has_manifest", False)),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


# Takes a folder of files; returns a manifest of their content, and verifies the files against it
# later.

Manifest = Mapping[str, str]
"""Path below the folder → ``SIZE SHA-256`` of a file, or ``-> TARGET`` of a link."""


def manifest_of(folder: Path) -> Manifest:
    """Reads every file once."""
    return {name: _described(path) for name, path in _files(folder)}


def damage(folder: Path, expected: Manifest) -> str | None:
    """The first difference; None: there is none. Compares names and sizes before it reads any
    content, so that a missing file is found at once."""
    try:
        found = dict(_files(folder))
        for name, described in expected.items():
            if name not in found:
                return f"{name} is missing"
            size, _, _ = described.partition(" ")
            if size.isdecimal() and found[name].lstat().st_size != int(size):
                return f"{name} has {found[name].lstat().st_size} bytes, expected {size}"
        if more := sorted(found.keys() - expected.keys()):
            return f"{more[0]} was not there when the copy was made"
        changed = (
            name for name, described in expected.items() if _described(found[name]) != described
        )
        first = next(changed, None)
        return None if first is None else f"the content of {first} has changed"
    except OSError as error:
        return f"{error.filename}: {error.strerror}"


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Files and links, as `assay.provision.copying` copies them."""

    def unreadable(error: OSError) -> None:
        raise error

    for parent, folders, files in os.walk(folder, onerror=unreadable):
        for name in sorted([*folders, *files]):
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                yield (
                    os.fsencode(path.relative_to(folder)).decode("utf-8", "backslashreplace"),
                    path,
                )


def _text(path: Path) -> str:
    """As JSON can hold it, whatever bytes are in a name."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _described(path: Path) -> str:
    if path.is_symlink():
        return f"-> {_text(path.readlink())}"
    with path.open("rb") as file:
        return f"{path.stat().st_size} {hashlib.file_digest(file, 'sha256').hexdigest()}"
