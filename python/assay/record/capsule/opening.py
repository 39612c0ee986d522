"""Takes the path of a capsule; verifies it and gives its record, for as long as a temporary copy is
there. Errors name the capsule, not the copy."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import msgspec

from assay import registry
from assay.contracts.experiment import Experiment, ScriptFile
from assay.errors import AssayError, ExperimentError, InputError, ScriptError, YouError
from assay.experiment import as_file
from assay.experiment.as_file import Places
from assay.record.capsule import capsule_file, named_files
from assay.record.capsule.capsule_file import (
    PACK_AGAIN,
    Capsule,
    Manifest,
    Member,
    file_pieces,
    member_pieces,
    no_capsule,
    opened_file,
    opened_zip,
)
from assay.record.runs.records import ExperimentRecord
from assay.record.store import Store
from assay.text import paths, terminal, toml_file
from assay.text.output_file import toml_text
from assay.text.toml_file import TomlData, TomlTable
from assay.text.units import size
from assay.workload import ad_hoc_script, inheritance, reader

_OF_INPUT = f"{capsule_file.EXPERIMENT_FOLDER}/{named_files.INPUT_FOLDER}/"


@contextmanager
def opened_capsule(
    path: Path, *, to_run: bool = False
) -> Iterator[tuple[Capsule, ExperimentRecord]]:
    """``to_run``: not only to be looked at. Raises `InputError` where it is not as it was packed,
    or where its experiment file declares another experiment than its record."""
    capsule = verified(path)
    with (
        tempfile.TemporaryDirectory(prefix="assay-capsule-") as name,
        errors_name_the_capsule(capsule, Path(name)),
    ):
        folder = Path(name)
        capsule.unpack(capsule_file.RECORD, folder / capsule_file.RECORD)
        with Store(folder / capsule_file.RECORD, must_exist=True) as store:
            record = store.latest()
        for member in capsule.manifest.members:
            if member.startswith(f"{capsule_file.EXPERIMENT_FOLDER}/") and _OF_INPUT not in member:
                (folder / member).parent.mkdir(parents=True, exist_ok=True)
                capsule.unpack(member, folder / member)
        insist_on_the_record(folder / capsule_file.EXPERIMENT, record, to_run=to_run)
        yield capsule, record


@contextmanager
def errors_name_the_capsule(capsule: Capsule, folder: Path) -> Iterator[None]:
    """An error that names what is unpacked in ``folder``, which may be gone when a person reads it,
    names the member of the capsule."""
    try:
        yield
    except AssayError as error:
        further = error.further if isinstance(error, YouError) else ()
        for one in (error, *further):
            one.message = _renamed(one.message, capsule, folder)
            one.hint = one.hint and _renamed(one.hint, capsule, folder)
            one.args = (one.message,)
        raise


def _renamed(text: str, capsule: Capsule, folder: Path) -> str:
    for place in dict.fromkeys((folder, folder.resolve())):
        if str(place) in text:
            text = text.replace(f"{place}/", f"{capsule.path}:").replace(
                str(place), str(capsule.path)
            )
    return text


# Takes the unpacked experiment file of a capsule and the capsule's record; insists that the file
# declares the experiment that the record has, and names nothing outside the capsule.
#
# What is compared is what was declared, before this machine adds its own defaults: `as_file`
# makes of the record the tables that `assay capsule pack` writes, and the file must have the same.
# Scripts, the feed and the workload are compared by their texts, since the record knows them by
# digest. The record does not have ``[quick]`` of a full experiment: it cannot name a system, a
# server or a file.

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
    if not record.experiment.is_quick and _QUICK in asked:
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
    return terminal.shortened(repr(tables[key]), _MOST_SHOWN) if key in tables else "nothing"


class _Named:
    """The files that an experiment file names."""

    def __init__(self, file: Path, asked: TomlData, *, to_run: bool) -> None:
        self._file = file
        self._to_run = to_run
        self._folder = file.parent.resolve()
        self._asked = asked

    def places(self, recorded: Experiment) -> Places:
        """Where the files are that the record knows. Raises `InputError` where one of them has
        another content, or is not in the folder."""
        scripts = [one.path for one in self._scripts()]
        known = recorded.scripts
        if len(scripts) != len(known):
            raise self._differs("script", f"{len(known)} scripts", str(len(scripts)))
        names = {}
        for name, script in zip(scripts, known, strict=True):
            self._insist_on("script", name, script.content)
            names[script.path] = name
        feed = self._asked.get("feed") if recorded.feed else None
        if feed is not None:
            self._insist_on("feed", str(feed), recorded.feed_content)
        return Places(
            "" if recorded.is_ad_hoc else self._workload(recorded),
            names.__getitem__,
            str(feed or ""),
            tuple(self._inputs()) if recorded.input_paths else (),
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

    def _workload(self, recorded: Experiment) -> str:
        name, known = str(self._asked.get("workload", "")), recorded.workload
        folder = self._within("workload", name)
        if name == known and not recorded.workload_content and not folder.exists():
            if self._to_run and name not in registry.workloads():
                raise registry.unknown("workload", name, registry.workloads())
            return name  # of the registry, here or where the capsule was packed
        self._insist_on_own_bases(folder)
        expected = recorded.workload_content
        found = ad_hoc_script.content_of_workload(reader.read(str(folder)))
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
        why = capsule_file.why_unsafe(name)
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
        found = paths.text_digest(paths.read_text(self._within(key, name), error))
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


# Takes the path of a capsule; insists that it is as it was packed, and gives its members.
#
# Whatever the file holds, an error says what was expected, what was found, and in which member.
# Nothing is unpacked before its name and size were looked at. A file is read in pieces, however
# long it and its members are.

_ENCRYPTED = 1


def verified(path: Path) -> Capsule:
    """Raises `InputError` where it is not as it was packed, or cannot be read."""
    with opened_file(path) as file, opened_zip(file, path) as members:
        _insist_on_manifest(members, path)
        names = _names(members, path)
        manifest = _manifest(members, path)
        _insist_on_members(names, manifest, path)
        for name, member in manifest.members.items():
            _insist_on_content(members, name, member, path)
        size_bytes, sha256 = _insist_on_the_whole(file, members.comment, path)
    return Capsule(path, manifest, size_bytes, sha256)


def _names(file: zipfile.ZipFile, path: Path) -> list[str]:
    """Those in the zip file, each of which may be read."""
    entries = file.infolist()
    if len(entries) > capsule_file.MOST_MEMBERS:
        raise InputError(
            f"expected at most {capsule_file.MOST_MEMBERS} members, found {len(entries)}", file=path
        )
    for one in entries:
        name = one.orig_filename
        if why := capsule_file.why_unsafe(name):
            raise InputError(
                f"expected members with the plain name of a file, found {name!r}, which {why}",
                file=path,
            )
        if one.flag_bits & _ENCRYPTED:
            raise InputError(f"{name}: expected a plain member, found an encrypted one", file=path)
        # Other programs write the permissions without the kind: that is a file.
        mode = one.external_attr >> 16
        if one.create_system == 3 and stat.S_IFMT(mode) and not stat.S_ISREG(mode):
            raise InputError(f"{name}: expected a file, found a link or a folder", file=path)
    names = [one.orig_filename for one in entries]
    if repeated := sorted(name for name, count in Counter(names).items() if count > 1):
        raise InputError(f"{repeated[0]}: expected each member once, found it twice", file=path)
    whole = sum(one.file_size for one in entries)
    if whole > capsule_file.MOST_BYTES:
        raise InputError(
            f"expected at most {size(capsule_file.MOST_BYTES)} of members, "
            f"found {size(whole)}, unpacked",
            file=path,
        )
    return names


def _insist_on_manifest(file: zipfile.ZipFile, path: Path) -> None:
    """First of all: of a zip file of another program it is what a reader has to know."""
    names = file.namelist()
    if capsule_file.MANIFEST in names:
        return
    if capsule_file.comment_of(file.comment) is not None:
        raise InputError(
            f"{capsule_file.MANIFEST}: expected it in every capsule, found none",
            file=path,
            hint=PACK_AGAIN,
        )
    kind = "a zip file" if names else "an empty zip file,"
    raise no_capsule(f"{kind} without {capsule_file.MANIFEST}", path)


def _manifest(file: zipfile.ZipFile, path: Path) -> Manifest:
    """Raises `InputError` where it is of another format, or was changed."""
    expected = capsule_file.comment_of(file.comment)
    declared = file.getinfo(capsule_file.MANIFEST).file_size
    if declared > capsule_file.MOST_OF_MANIFEST:
        raise InputError(
            f"{capsule_file.MANIFEST}: "
            f"expected at most {size(capsule_file.MOST_OF_MANIFEST)}, found "
            f"{size(declared)}",
            file=path,
        )
    text = b"".join(member_pieces(file, capsule_file.MANIFEST, path))
    _insist_on_format(text, path, has_comment=expected is not None)
    if expected is None:
        raise InputError(
            "expected the comment of a capsule at the end of the zip file, which has the digest of "
            f"its bytes, found {file.comment[:80]!r}: another program has packed it again, or it "
            "was changed or is not whole",
            file=path,
            hint=PACK_AGAIN,
        )
    if (found := capsule_file.digest(text)) != expected.manifest:
        raise _changed(capsule_file.MANIFEST, f"SHA-256 {expected.manifest}", found, path)
    try:
        return msgspec.json.decode(text, type=Manifest)
    except msgspec.MsgspecError as error:
        raise InputError(f"{capsule_file.MANIFEST}: {error}", file=path) from error


class _OfAnyFormat(msgspec.Struct):
    format: int
    assay: str


def _insist_on_format(text: bytes, path: Path, *, has_comment: bool) -> None:
    try:
        found = msgspec.json.decode(text, type=_OfAnyFormat).format
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if not has_comment:  # packages of web browsers have a file of this name
            raise no_capsule(
                f"a zip file with a {capsule_file.MANIFEST} of another program", path
            ) from error
        raise InputError(
            f"{capsule_file.MANIFEST}: "
            f"expected the JSON of a manifest with its format, found: {error}",
            file=path,
            hint=PACK_AGAIN,
        ) from error
    if found != capsule_file.FORMAT:
        raise InputError(
            f"{capsule_file.MANIFEST}: "
            f"expected format {capsule_file.FORMAT}, which this Assay reads, found "
            f"format {found}",
            file=path,
            hint="upgrade Assay" if found > capsule_file.FORMAT else PACK_AGAIN,
        )


def _insist_on_members(names: list[str], manifest: Manifest, path: Path) -> None:
    listed = {*manifest.members, capsule_file.MANIFEST}
    if missing := sorted(listed - {*names}):
        added = sorted({*names} - listed)
        other = f"; {added[0]} is there and not in the manifest" if added else ""
        raise InputError(
            f"{missing[0]}: expected this member of the manifest, found none of that name{other}",
            file=path,
            hint=PACK_AGAIN,
        )
    if added := sorted({*names} - listed):
        raise InputError(
            f"{added[0]}: expected the members of the manifest alone, found this one, too",
            file=path,
            hint=PACK_AGAIN,
        )
    if lacking := [name for name in capsule_file.NEEDED if name not in manifest.members]:
        raise InputError(f"{lacking[0]}: expected it in every capsule, found none", file=path)


def _insist_on_content(file: zipfile.ZipFile, name: str, member: Member, path: Path) -> None:
    declared = file.getinfo(name).file_size
    if declared != member.size:
        raise _changed(name, f"{member.size} bytes", f"{declared} bytes", path)
    digest = hashlib.sha256()
    for piece in member_pieces(file, name, path):
        digest.update(piece)
    if (found := digest.hexdigest()) != member.sha256:
        raise _changed(name, f"SHA-256 {member.sha256}", found, path)


def _insist_on_the_whole(file: IO[bytes], comment: bytes, path: Path) -> tuple[int, str]:
    """What is no member has no other digest: the zip file's own fields, and what is between.
    Returns how long the file is, and its SHA-256."""
    expected = capsule_file.comment_of(comment)
    assert expected is not None  # `_manifest` has looked
    whole = file.seek(0, os.SEEK_END)
    left = whole - len(comment) - 2
    file.seek(0)
    digest, of_all = hashlib.sha256(), hashlib.sha256()
    for piece in file_pieces(file, path, left):
        digest.update(piece)
        of_all.update(piece)
    end = b"".join(file_pieces(file, path))
    of_all.update(end)
    length = int.from_bytes(end[:2], "little")
    # The length of the comment was 0 before there was one.
    digest.update(b"\0\0")
    found = digest.hexdigest()
    is_whole = length == len(comment) and expected.format == capsule_file.FORMAT
    if found != expected.file or not is_whole:
        raise InputError(
            f"expected SHA-256 {expected.file} of the file's bytes before its comment of "
            f"{len(comment)} bytes, found {found} and {length} bytes: the members are as they "
            "were packed, the zip file around them is not",
            file=path,
            hint=PACK_AGAIN,
        )
    return whole, of_all.hexdigest()


def _changed(name: str, expected: str, seen: str, path: Path) -> InputError:
    return InputError(
        f"{name}: expected {expected}, found {seen}: it was changed after it was packed",
        file=path,
        hint=PACK_AGAIN,
    )
