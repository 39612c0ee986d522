"""Takes the experiment of a capsule as it will run; insists that it reaches no server and no place
that the user has not named: the author of a capsule may have written anything into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from assay import env_vars, registry
from assay.contracts.experiment import Experiment, StorageChoice
from assay.contracts.storages.abilities import HasDefaultDirectory
from assay.errors import ArgumentError
from assay.experiment.choices.storage_words import usable_path
from assay.experiment.settings.catalogue import Words
from assay.text.files import toml_file
from assay.text.mentions import phrase
from assay.workload import inheritance


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
