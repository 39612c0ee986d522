"""Takes a capsule that was verified; unpacks what it is run again with, beside the record that
names it, and insists that it reaches no server and no place that the user has not named."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from assay import env_vars, registry
from assay.contracts.experiment import Experiment, StorageChoice
from assay.contracts.storages.abilities import HasDefaultDirectory
from assay.errors import ArgumentError, AssayError, SystemUnderTestError
from assay.experiment.choices.storage_words import usable_path
from assay.experiment.settings_catalogue import Words
from assay.record.capsule import capsule_file
from assay.record.capsule.capsule_file import Capsule
from assay.record.capsule.opening import errors_name_the_capsule
from assay.record.file.record_file import open_for_reading, reading_errors
from assay.text import output_file, toml_file
from assay.text.phrases import phrase
from assay.workload import inheritance

KEPT: Final = ".capsules"
"""Ends the name of the folder beside the record, ``assay-records.capsules``."""
_DIGITS = 12
"""Of the digest of a capsule, as the name of its folder in that one."""
_IN_FOLDER = f"{capsule_file.EXPERIMENT_FOLDER}/"


@contextmanager
def unpacked(capsule: Capsule, records: Path, temporary: Path) -> Iterator[Path]:
    """The experiment file, with what it names beside it: in the folder ``temporary`` where it names
    nothing, else in the kept one, which goes again where an error comes before any experiment."""
    members = [name for name in capsule.manifest.members if name.startswith(_IN_FOLDER)]
    if members == [capsule_file.EXPERIMENT]:
        _write(capsule, members, temporary)
        with errors_name_the_capsule(capsule, temporary):
            yield temporary / capsule_file.EXPERIMENT
        return
    records = records.resolve()
    folder = records.with_name(records.stem + KEPT) / capsule.sha256[:_DIGITS]
    before = _newest(records)
    is_new = not _is_there(capsule, members, folder)
    if is_new:
        _place(capsule, members, folder)
    try:
        with errors_name_the_capsule(capsule, folder):
            yield folder / capsule_file.EXPERIMENT
    except BaseException:
        if is_new and not _has_begun(records, before):
            shutil.rmtree(folder, ignore_errors=True)
            if not any(folder.parent.iterdir()):
                folder.parent.rmdir()
        raise


def _place(capsule: Capsule, members: list[str], folder: Path) -> None:
    """Whole or not at all, whatever ends this process; another one may do the same."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="unfinished-", dir=folder.parent) as name:
            _write(capsule, members, Path(name, "of"))
            shutil.rmtree(folder, ignore_errors=True)
            Path(name, "of").rename(folder)
    except OSError as error:
        raise SystemUnderTestError(
            f"{folder}: what the capsule holds cannot be kept there: {error.strerror or error}",
            hint=phrase("name a record file in a folder that can be written with {--records}"),
        ) from error


def _write(capsule: Capsule, members: list[str], folder: Path) -> None:
    """With its manifest, by which `assay.experiment.origin` knows it. Names were verified."""
    folder.mkdir(parents=True, exist_ok=True)
    capsule.unpack_manifest(folder / capsule_file.MANIFEST)
    for name in members:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        capsule.unpack(name, target)


def _is_there(capsule: Capsule, members: list[str], folder: Path) -> bool:
    """As it was packed: anyone may have changed it since."""
    try:
        found = {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}
        return found == {*members, capsule_file.MANIFEST} and all(
            output_file.file_digest(folder / name) == capsule.manifest.members[name].sha256
            for name in members
        )
    except OSError:
        return False


def _has_begun(records: Path, before: int) -> bool:
    """Whether there may be an experiment that names the folder."""
    try:
        return _newest(records) != before
    except AssayError:
        return True


def _newest(records: Path) -> int:
    """The number of the newest experiment; 0: there is none."""
    if not records.exists() or not records.stat().st_size:
        return 0
    with closing(open_for_reading(records)) as connection, reading_errors(records):
        (number,) = connection.execute("SELECT max(id) FROM experiments").fetchone()
    return int(number or 0)


def insist_on_named_places(experiment: Experiment, words: Words, folder: Path) -> None:
    """``words``: those of the user, who may name what he likes; ``folder``: the unpacked one.
    Raises `ArgumentError` for the first server, directory, device or file that the capsule alone
    names."""
    if not words.on:
        _refuse_servers(experiment)
    named = [
        *(experiment.storages if words.storage else ()),
        *(experiment.log_storages if words.log_storage else ()),
    ]
    _refuse_directories(one for one in experiment.all_storages if one not in named)
    for what, path in _files(experiment, words):
        if not Path(path).resolve().is_relative_to(folder.resolve()):
            raise ArgumentError(
                f"{what} {path} is outside the capsule, which names it: expected a file in the "
                "capsule",
                hint="run an experiment file of your own that names it: assay run FILE.toml",
            )


def insist_on_no_program(experiment: Experiment, words: Words, folder: Path) -> None:
    """Raises `ArgumentError` where a workload in the capsule says which program makes its rows, and
    the user has not allowed it."""
    if words.allow_shell or experiment.is_ad_hoc or experiment.workload in registry.workloads():
        return
    own = Path(experiment.workload)
    while own.resolve().is_relative_to(folder.resolve()):
        top = toml_file.read(own / registry.WORKLOAD_FILE)
        data = top.plain().get("data")
        source = data.get("source") if isinstance(data, Mapping) else None
        if source in registry.row_sources() and registry.row_source(str(source)).starts_programs:
            raise ArgumentError(
                "a program that its workload names makes the rows, on this machine",
                hint=phrase("read the workload in it; {--allow-shell} lets it"),
            )
        base = inheritance.base_folder(top)
        if base is None:
            return
        own = base


def _refuse_servers(experiment: Experiment) -> None:
    for one in experiment.systems:
        if one.url is not None:
            raise ArgumentError(
                f"the capsule names a server or file by URL, {one.url_without_password}: Assay "
                "reaches only servers that you name",
                hint=phrase("name all its systems: {--on SYSTEM,…}"),
            )


def _refuse_directories(storages: Iterable[StorageChoice]) -> None:
    for one in storages:
        if one.directory is not None and one.directory != _of_this_machine(one.kind):
            raise ArgumentError(
                f"the capsule names the directory or device {one.directory} (storage {one.name}): "
                "Assay writes only to places that you name",
                hint=phrase(
                    "name all its storages with {--storage KIND:DIRECTORY}, those of logs with "
                    "{--log-storage KIND:DIRECTORY}"
                ),
            )


def _of_this_machine(kind: str) -> str | None:
    """The directory that a storage of this kind has here without being given one."""
    given = env_vars.DATA_DIRECTORY.get()
    if given is None or not isinstance(registry.storage(kind), HasDefaultDirectory):
        return None
    return usable_path(given, kind)


def _files(experiment: Experiment, words: Words) -> Iterator[tuple[str, str]]:
    """What each is, and its path."""
    for script in experiment.scripts:
        yield "the script", script.path
    if experiment.feed is not None and experiment.feed != words.feed:
        yield "the feed", experiment.feed
    if not experiment.is_ad_hoc and experiment.workload not in registry.workloads():
        yield "the workload", experiment.workload
    if not words.input:
        for path in experiment.input_paths:
            yield "the input", path
