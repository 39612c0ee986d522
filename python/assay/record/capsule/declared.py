"""Takes the unpacked experiment file of a capsule and the capsule's record; insists that the file
declares the experiment that the record has, and names nothing outside the capsule.

What is compared is what was declared, before this machine adds its own defaults: `as_file` makes of
the record the tables that `assay pack` writes, and the file must have the same. Scripts, the feed
and the workload are compared by their texts, since the record knows them by digest. The record does
not have ``[quick]`` of a full experiment: it cannot name a system, a server or a file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from assay import registry
from assay.contracts.experiment import ScriptFile
from assay.contracts.recorded import ExperimentDocument
from assay.errors import ExperimentError, InputError, ScriptError
from assay.experiment import as_file
from assay.experiment.as_file import Places
from assay.record.capsule import layout
from assay.record.capsule.capsule_file import PACK_AGAIN
from assay.record.runs.records import ExperimentRecord
from assay.text import cut
from assay.text.files import text_file, toml_file
from assay.text.files.toml_file import TomlData, TomlTable
from assay.text.files.toml_text import toml_text
from assay.workload import ad_hoc_script, by_content, inheritance, reader

_QUICK: Final = "quick"
_MOST_SHOWN = 160
"""Characters of a value in an error."""


def insist_on_the_record(file: Path, record: ExperimentRecord, *, to_run: bool) -> None:
    """``file``: the experiment file, in the folder with all that it names; ``to_run``: not only to
    be looked at. Raises `InputError` where it declares another experiment than the record, or names
    a file outside the folder; `ArgumentError` for a workload that is not here."""
    asked = toml_file.read(file).plain()
    places = _Named(file, asked, to_run=to_run).places(record.experiment)
    declared = tomllib.loads(toml_text(as_file.tables_of(record.experiment, places, {})))
    if not record.experiment.get("is_quick") and _QUICK in asked:
        declared[_QUICK] = asked[_QUICK]
    for key in dict.fromkeys([*declared, *asked]):
        if declared.get(key) != asked.get(key):
            raise InputError(
                f"{key}: expected {_shown(declared, key)}, as the record in the capsule declares, "
                f"found {_shown(asked, key)}",
                file=file,
                hint=PACK_AGAIN,
            )


def _shown(tables: Mapping[str, object], key: str) -> str:
    return cut.beginning(repr(tables[key]), _MOST_SHOWN) if key in tables else "nothing"


class _Named:
    """The files that an experiment file names."""

    def __init__(self, file: Path, asked: TomlData, *, to_run: bool) -> None:
        self._file = file
        self._to_run = to_run
        self._folder = file.parent.resolve()
        self._asked = asked

    def places(self, recorded: ExperimentDocument) -> Places:
        """Where the files are that the record knows. Raises `InputError` where one of them has
        another content, or is not in the folder."""
        scripts = [one.path for one in self._scripts()]
        known = recorded.get("scripts", [])
        if len(scripts) != len(known):
            raise self._differs("script", f"{len(known)} scripts", str(len(scripts)))
        names = {}
        for name, script in zip(scripts, known, strict=True):
            self._insist_on("script", name, script.get("content", ""))
            names[script["path"]] = name
        feed = self._asked.get("feed") if recorded.get("feed") else None
        if feed is not None:
            self._insist_on("feed", str(feed), recorded.get("feed_content", ""))
        return Places(
            "" if recorded.get("is_ad_hoc") else self._workload(recorded),
            names.__getitem__,
            str(feed or ""),
            tuple(self._inputs()) if recorded.get("input_paths") else (),
        )

    def _scripts(self) -> Sequence[ScriptFile]:
        words = self._texts("script")
        for word in words:
            for part in word.split(","):
                self._within("script", ad_hoc_script.script_file(part.strip()).path)
        return ad_hoc_script.levels_and_mix(words, self._folder)[0]

    def _inputs(self) -> Iterator[str]:
        for name in self._texts("input"):
            self._within("input", name)
            yield name

    def _workload(self, recorded: ExperimentDocument) -> str:
        name, known = str(self._asked.get("workload", "")), str(recorded["workload"])
        folder = self._within("workload", name)
        if name == known and not recorded.get("workload_content") and not folder.exists():
            if self._to_run and name not in registry.workloads():
                raise registry.unknown("workload", name, registry.workloads())
            return name  # of the registry, here or where the capsule was packed
        self._insist_on_own_bases(folder)
        expected = recorded.get("workload_content", "")
        found = by_content.content_of(reader.read(str(folder)))
        if expected and expected != found:
            raise self._differs("workload", f"texts with SHA-256 {expected}", found)
        return name

    def _insist_on_own_bases(self, folder: Path) -> None:
        """What a workload reads from other folders is in the capsule too, or a workload that this
        machine has by name."""
        seen: set[Path] = set()
        named = {registry.workload_folder(one).resolve() for one in registry.workloads()}
        while folder not in seen and folder not in named:
            seen.add(folder)
            top = toml_file.read(folder / registry.WORKLOAD_FILE)
            own = top.plain()
            for word in _texts(own.get("dialects", ())):
                self._insist_on_inside(top, "dialects", folder / word)
            for word in _texts(own.get(inheritance.EXTENDS)):
                if word not in registry.workloads():
                    self._insist_on_inside(top, inheritance.EXTENDS, folder / word)
            base = inheritance.base_folder(top)
            if base is None:
                return
            folder = base.resolve()

    def _insist_on_inside(self, top: TomlTable, key: str, path: Path) -> None:
        if not path.resolve().is_relative_to(self._folder):
            raise InputError(
                f"{key}: expected what is in the capsule, found {str(path)!r}, which is outside",
                file=top.file,
                hint=PACK_AGAIN,
            )

    def _texts(self, key: str) -> Sequence[str]:
        return _texts(self._asked.get(key, ()))

    def _within(self, key: str, name: str) -> Path:
        path = (self._folder / name).resolve()
        why = layout.why_unsafe(name)
        if why or not path.is_relative_to(self._folder):
            raise InputError(
                f"{key}: expected the name of a file in the capsule, found {name!r}, which "
                f"{why or 'leads out of the folder'}",
                file=self._file,
                hint=PACK_AGAIN,
            )
        return path

    def _insist_on(self, key: str, name: str, expected: str) -> None:
        error = ScriptError if key == "script" else ExperimentError
        found = text_file.digest(text_file.read(self._within(key, name), error))
        if expected and found != expected:
            raise self._differs(key, f"{name} with SHA-256 {expected}", found)

    def _differs(self, key: str, expected: str, seen: str) -> InputError:
        return InputError(
            f"{key}: expected {expected}, as the record in the capsule declares, found {seen}",
            file=self._file,
            hint=PACK_AGAIN,
        )


def _texts(value: object) -> Sequence[str]:
    """A text, or a list of texts; what else stands there, the reader of the file refuses."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()
