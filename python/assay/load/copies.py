"""A folder of loaded data sets: copies of data directories, each under the digest of all that
decides what is in it.

::

    FOLDER/<digest>/dataset.json     what it is: system, version, settings, schema, rows, its load
    FOLDER/<digest>/files.json       every file of it, with its size and what is in it
    FOLDER/<digest>/data/            the data directory as its server left it

A copy is made under another name and gets its own by one rename, when every byte is written: what
has such a name is whole. It is found again by a system of the same name and version, with the
settings that a data directory is made with, the same schema and the same rows; any other copy is
left alone. Before the first use in an experiment its files are compared with what they were: a copy
that is damaged is never used, and the next load takes its place. To be rid of a copy, remove its
folder.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.dialects.protocol import Table
from assay.errors import ArgumentError, SystemUnderTestError
from assay.files import paths
from assay.load import manifest
from assay.load.dataset import Dataset
from assay.provision import ledger
from assay.provision.clean_up import undone_at_end
from assay.provision.copying import Copied, OnCopied, copy_directory
from assay.provision.deployment import Deployment
from assay.provision.resources import Directory
from assay.row_sources.request import DataRequest
from assay.systems.abilities import Restartable
from assay.systems.protocol import System

FORMAT = 1
"""Of ``dataset.json`` and of what is beside it."""

FACTS_FILE = "dataset.json"
FILES_FILE = "files.json"
"""Copies of before there was one have none, and are taken as they are."""

DATA = "data"
_OURS = {FACTS_FILE, FILES_FILE, DATA}
"""What a folder holds that may be replaced."""
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Copy:
    """One that is whole."""

    folder: Path
    facts: Facts
    """What decides what is in it."""
    load: Mapping[str, Any]
    """What its load counted and cost (fields of `Dataset`)."""
    description: str
    made_unix_s: int
    bytes: int
    """In its files, holes left out."""
    is_shared: bool
    """It was made by sharing the blocks of the data directory."""
    has_manifest: bool = False

    @property
    def data(self) -> Path:
        return self.folder / DATA

    def damage(self) -> str | None:
        """How it differs from what was copied, in words; None: not at all."""
        file = self.folder / FILES_FILE
        if not self.has_manifest:
            return None
        try:
            listed = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            return f"{FILES_FILE} cannot be read: {error}"
        return manifest.damage(self.data, listed)

    def dataset(self, request: DataRequest) -> Dataset:
        """The data set as it was loaded, for the run that asks for the same one."""
        return replace(Dataset(request=request, **self.load), how="restored")


def facts_of(
    deployment: Deployment, system: System, tables: Sequence[Table], request: DataRequest
) -> Facts:
    """All that decides what the data directory of ``deployment`` holds once it is loaded."""
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
            ]
        ],
        "rows": request.key,
    }


def digest_of(facts: Facts) -> str:
    """32 hex digits, under which a copy of these facts lies."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Copies:
    """A folder of copies, made where it is missing."""

    def __init__(self, folder: Path, *, is_kept: bool) -> None:
        """``is_kept``: the folder outlives the experiment, and must outlive a power cut."""
        self.folder = folder
        self.is_kept = is_kept

    def find(self, facts: Facts) -> Copy | None:
        """The copy with exactly these facts."""
        found = _read(self.folder / digest_of(facts))
        return found if found is not None and found.facts == facts else None

    def make(
        self, facts: Facts, data: Path, dataset: Dataset, on_copied: OnCopied | None = None
    ) -> Copy:
        """Copies the data directory of a stopped server. Where another Assay was faster, its copy
        is the one.

        Raises `SystemUnderTestError` where there is no room; nothing is left then, also where we
        are killed meanwhile (see `assay.provision.leftovers`).
        """
        self._make_folder()
        target = self.folder / digest_of(facts)
        identity = ledger.new_id()
        unfinished = self.folder / f".unfinished-{identity}"
        with undone_at_end(identity) as entry:
            entry.add(Directory(str(unfinished)))
            _in_place(lambda: unfinished.mkdir(mode=0o700), unfinished)
            copied = copy_directory(data, unfinished / DATA, on_copied)
            document = _document(facts, dataset, copied)
            _in_place(lambda: self._finish(unfinished, target, document), unfinished)
        found = self.find(facts)
        if found is None:
            raise SystemUnderTestError(
                f"{target} is there, and is not the copy that its name says",
                hint="remove that folder",
            )
        return found

    def __iter__(self) -> Iterator[Copy]:
        """Every copy that is whole, the newest first."""
        if not paths.is_folder(self.folder):
            return
        found = [copy for path in self.folder.iterdir() if (copy := _read(path)) is not None]
        yield from sorted(found, key=lambda copy: copy.made_unix_s, reverse=True)

    def _finish(self, unfinished: Path, target: Path, document: Mapping[str, Any]) -> None:
        if self.is_kept:
            _write(unfinished / FILES_FILE, manifest.manifest_of(unfinished / DATA))
        _write(unfinished / FACTS_FILE, {**document, "has_manifest": self.is_kept})
        if self.is_kept:
            os.sync()  # a name must not outlive a power cut that what it names does not
        try:
            unfinished.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            found = _read(target)
            is_damaged = found is None or found.damage() is not None
            if is_damaged and {path.name for path in target.iterdir()} <= _OURS:
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
    """Puts the copy where a stopped server's data directory is."""
    if data.exists():
        shutil.rmtree(data)
    return copy_directory(copy.data, data, on_copied)


def _document(facts: Facts, dataset: Dataset, copied: Copied) -> dict[str, Any]:
    load = {key: value for key, value in vars(dataset).items() if key != "request"}
    return {
        "facts": facts,
        "load": load,
        "description": dataset.request.description,
        "made_unix_s": int(time.time()),
        "bytes": copied.bytes,
        "is_shared": copied.is_shared,
    }


def _write(file: Path, document: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _in_place(work: Callable[[], None], path: Path) -> None:
    try:
        work()
    except OSError as error:
        raise SystemUnderTestError(
            f"a copy of the data cannot be written to {path.parent}: {error.strerror}",
            hint="choose another folder with --datasets",
        ) from error


def _read(folder: Path) -> Copy | None:
    """The copy in that folder; None for what is no copy of this format."""
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
