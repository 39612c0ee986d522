"""Takes storages as written; returns the choices, with every name and option checked.

One form for all kinds: ``KIND[key=value,…][:DIRECTORY]``, or ``NAME=`` before it. Where a kind
takes a device, that stands in the place of the directory.
"""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from assay import env_vars, registry
from assay.errors import ArgumentError, StorageUnavailable, SystemUnderTestError
from assay.experiment.settings import key_and_values, split
from assay.experiment.values import Experiment, StorageChoice, SystemChoice
from assay.storages.abilities import ErasesDevice, Labelled, LimitsProcesses, RawDevice, SizeChosen
from assay.systems.abilities import TakesRawDevice, WorksInProcess
from assay.text.nearest import did_you_mean
from assay.text.units import counted, size

FORM = "KIND[key=value,…]:DIRECTORY"

_WORD = re.compile(
    r"(?:(?P<name>[^=\[\]:]+)=)?(?P<kind>[^=\[\]:]*)(?:\[(?P<options>[^\]]*)\])?(?::(?P<directory>.*))?",
    re.DOTALL,
)


def storage_choices(words: Iterable[str], *, may_erase: bool = False) -> tuple[StorageChoice, ...]:
    """The choices for words of ``--storage``, each a list of storages separated by commas."""
    return tuple(_choice(word, may_erase) for words_ in words for word in split(words_))


def _choice(word: str, may_erase: bool) -> StorageChoice:
    found = _WORD.fullmatch(word)
    if found is None:
        if word.count("[") > word.count("]"):
            raise ArgumentError(f"{word}: the bracket is not closed", hint=f"{word}]")
        raise ArgumentError(f"expected a storage as {FORM}, found {word!r}")
    kind = found["kind"].strip()
    check_storage_kind(kind)
    options: dict[str, str] = {}
    for setting in split(found["options"] or ""):
        key, values = key_and_values(setting, f"'{kind}[KEY=VALUE]'", f"'{kind}[{{key}}=\"a,b\"]'")
        if len(values) > 1 or key in options:
            raise ArgumentError(
                f"{word}: expected one value of {key}, found several",
                hint=f"--storage '{kind}[{key}=A],{kind}[{key}=B]' measures each",
            )
        options[key] = option_value(kind, key, values[0])
    name = (found["name"] or "").strip() or word
    return declared_choice(name, kind, found["directory"] or None, options, may_erase=may_erase)


def option_value(kind: str, key: str, value: str) -> str:
    """The value of an option as the kind of storage declares it. Raises `ArgumentError`."""
    specs = {spec.name: spec for spec in registry.storage(kind).option_specs}
    if key not in specs:
        raise ArgumentError(
            f"the storage {kind} has no option {key!r}",
            hint=did_you_mean(key, specs) if specs else f"{kind} has no options",
        )
    level = specs[key].level(value, kind)
    specs[key].check(level)
    return level


def declared_choice(
    name: str,
    kind: str,
    directory: str | None,
    options: Mapping[str, str],
    *,
    may_erase: bool = False,
) -> StorageChoice:
    """The choice under a name that shows what the storage is not: ``disk (throttled)``."""
    storage = registry.storage(kind)
    if isinstance(storage, Labelled) and storage.label_note not in name:
        name = f"{name} ({storage.label_note})"
    return StorageChoice(name, kind, directory, options, may_erase)


def check_storage_kind(kind: str) -> None:
    """Raises `ArgumentError` for a kind of storage that is not in the registry."""
    if kind not in registry.storages():
        raise registry.unknown("storage", kind, registry.storages())


def check_choices(systems: Iterable[SystemChoice], storages: Iterable[StorageChoice]) -> None:
    """Raises `ArgumentError` for the first invalid option or setting that can be found before
    anything is started, and where no system can be on any of the storages (of a pair alone:
    `check_pair`). What this machine cannot have is no mistake: see `unavailable`."""
    choices, on_all = list(storages), list(systems)
    for system in on_all:
        registry.system(system.name).check(system)
    _refuse_where_none_fits(on_all, choices)
    unavailable(choices)


def _refuse_where_none_fits(
    systems: Iterable[SystemChoice], storages: Iterable[StorageChoice]
) -> None:
    first: ArgumentError | None = None
    for system, storage in itertools.product(systems, storages):
        try:
            check_pair(system, storage)
            return
        except ArgumentError as error:
            first = first or error
    if first is not None:
        raise first


def unavailable(storages: Iterable[StorageChoice]) -> dict[str, SystemUnderTestError]:
    """Why this machine cannot have some of the storages, by their names. Raises `ArgumentError` for
    one that no machine can have as it is written."""
    found: dict[str, SystemUnderTestError] = {}
    for storage in storages:
        try:
            registry.storage(storage.kind).check(storage)
        except StorageUnavailable as error:
            found[storage.name] = error
    return found


def erased_devices(storages: Iterable[StorageChoice]) -> dict[str, Path]:
    """The devices whose contents are destroyed, by the name of the storage."""
    found = {}
    for choice in storages:
        kind = registry.storage(choice.kind)
        device = kind.device_of(choice) if isinstance(kind, ErasesDevice) else None
        if device is not None:
            found[choice.name] = device
    return found


def refuse_shared_devices(experiment: Experiment) -> None:
    """Raises `ArgumentError` where several deployments would be on one device at the same time."""
    started = [system for system in experiment.systems if system.url is None]
    erased = erased_devices(experiment.storages)
    devices = [device.resolve() for device in erased.values()]
    for name, device in erased.items():
        users = len(started) * devices.count(device.resolve())
        if users > 1 and experiment.order != "sequential":
            raise ArgumentError(
                f"storage {name!r}: {users} deployments would be on {device} at the same time",
                hint="--order sequential runs one after another",
            )


def refuse_too_little_room(experiment: Experiment) -> None:
    """Raises `ArgumentError` where the images of all storages do not fit on their directory
    together: each system has its own, and with interleaved repetitions all are there at once."""
    started = [system for system in experiment.systems if system.url is None]
    sizes: dict[str | None, list[int]] = {}
    for choice in experiment.storages:
        kind = registry.storage(choice.kind)
        size_bytes = kind.size_bytes(choice) if isinstance(kind, SizeChosen) else None
        if size_bytes is not None:
            sizes.setdefault(choice.directory, []).extend([size_bytes] * len(started))
    for directory, needed in sizes.items():
        at_once = max(needed, default=0) if experiment.order == "sequential" else sum(needed)
        place, free_bytes = _most_room(directory)
        if at_once > free_bytes:
            raise ArgumentError(
                f"the images of {counted(len(needed), 'storage')} need {size(at_once)} at the same "
                f"time, and {place} has {size(free_bytes)} free",
                hint="choose a smaller size or another directory, or --order sequential",
            )


def _most_room(directory: str | None) -> tuple[Path, int]:
    """The directory in which images are made, and its free bytes; of the two that may be the
    default one, that with more."""
    named = directory or env_vars.DATA_DIRECTORY.get()
    places = [Path(named).absolute()] if named else [Path.cwd(), Path("/var/tmp")]
    rooms = []
    for place in places:
        existing = next(path for path in (place, *place.parents) if path.exists())
        rooms.append((place, shutil.disk_usage(existing).free))
    return max(rooms, key=lambda room: room[1])


def check_pair(choice: SystemChoice, storage_choice: StorageChoice) -> None:
    """Raises `ArgumentError` where the system cannot be on the storage."""
    if choice.url is not None:
        return
    system, storage = registry.system(choice.name), registry.storage(storage_choice.kind)
    if isinstance(storage, RawDevice) and storage.is_raw(storage_choice):
        if not isinstance(system, TakesRawDevice):
            raise ArgumentError(
                f"{choice.name} cannot use the storage {storage_choice.name!r}: it keeps its data "
                "in files, not on a raw device",
                hint="choose a storage with a file system, such as loop[fs=ext4]",
            )
        system.check_raw_device(choice)
    if (
        isinstance(storage, LimitsProcesses)
        and isinstance(system, WorksInProcess)
        and system.is_in_process(choice)
    ):
        raise ArgumentError(
            f"{choice.label} cannot use the storage {storage_choice.name!r}: it limits the "
            f"server's processes, and {choice.name} works in the client's",
            hint="choose a system with a server, or another storage",
        )
