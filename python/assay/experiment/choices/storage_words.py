"""Takes storages as written; returns the choices, with every name and option checked.

One form for all kinds: ``KIND[key=value,…][:DIRECTORY]``, or ``NAME=`` before it. Where a kind
takes a device, that stands in the place of the directory.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import Struct, field

from assay import env_vars, registry
from assay.contracts.experiment import Experiment, StorageChoice, SystemChoice
from assay.contracts.factors import NOT_LIMITED
from assay.contracts.plugins import spelled
from assay.contracts.storages.abilities import (
    ErasesDevice,
    FreeSpace,
    HasDefaultDirectory,
    Inspectable,
    Labelled,
    LimitsProcesses,
    RawDevice,
    SizeChosen,
)
from assay.contracts.storages.protocol import SHARED_OPTIONS, shared_fields_of
from assay.contracts.systems.abilities import TakesRawDevice, WorksInProcess
from assay.errors import (
    ArgumentError,
    AssayError,
    NotOnThisMachine,
    PluginFailed,
    StorageUnavailable,
)
from assay.experiment.choices import server_limits
from assay.experiment.choices.checked_choices import in_bracket, key_and_values, split
from assay.experiment.choices.identity import QUOTE, written_storage
from assay.experiment.choices.profiles import guessing_options
from assay.text import pattern
from assay.text.phrases import Mention, did_you_mean, phrase
from assay.text.quantities import shown
from assay.text.units import binary, counted

FORM = "KIND[key=value,…]:DIRECTORY"
_PATH_BEGINS = ("/", ".", "~")
_LESS_ROOM = phrase("choose a smaller size, another directory, or {--order sequential}")

_WORD = pattern(
    r"(?s)(?:(?P<name>[^=\[\]:]+)=)?(?P<kind>[^=\[\]:]*)(?:\[(?P<options>[^\]]*)\])?"
    r"(?::(?P<directory>.*))?"
)


def storage_choices(words: Iterable[str], *, may_erase: bool = False) -> tuple[StorageChoice, ...]:
    """The choices for words of ``--storage``, each a list of storages separated by commas."""
    return tuple(choice for one in words for choice in _choices(one, may_erase))


def log_storages(
    words: Iterable[str], storages: Iterable[StorageChoice]
) -> tuple[StorageChoice | None, ...]:
    """The levels for words of ``--log-storage``: each a storage by its name among those of the
    experiment, or as a storage is written; ``none``: the log is with the data."""
    named = {name: storage for storage in storages for name in (storage.name_alone, storage.name)}
    found: list[StorageChoice | None] = []
    for word in (word for listed in words for word in split(listed)):
        if word == NOT_LIMITED:
            found.append(None)
        elif word in named:
            found.append(named[word])
        else:
            found += storage_choices([word])
    return tuple(found)


def _choices(words: str, may_erase: bool) -> Iterator[StorageChoice]:
    named = split(words)
    if not named:
        raise ArgumentError(
            f"expected a storage as {FORM}, found {words!r}",
            hint=f"one of: {', '.join(registry.storages())}",
        )
    before: StorageChoice | None = None
    for word in named:
        try:
            before = _choice(word, may_erase)
        except ArgumentError as error:
            if before is not None and before.directory is not None:
                comma = f'a directory with a comma is written in double quotes: {before.kind}:"A,B"'
                error.hint = error.hint + f"; {comma}" if error.hint else comma
            raise
        yield before


def _choice(word: str, may_erase: bool) -> StorageChoice:
    found = _WORD.fullmatch(word)
    if found is None:
        if word.count("[") > word.count("]"):
            raise ArgumentError(f"{word}: the bracket is not closed", hint=f"{word}]")
        raise ArgumentError(f"expected a storage as {FORM}, found {word!r}")
    kind = found["kind"].strip()
    if kind.startswith(_PATH_BEGINS):
        raise ArgumentError(
            f"expected a storage as {FORM}, found a path: {word!r}", hint=f"here:{word}"
        )
    check_storage_kind(kind)
    options: dict[str, str] = {}
    for setting in split(found["options"] or ""):
        key, values = key_and_values(setting, in_bracket(kind))
        if len(values) > 1 or key in options:
            raise ArgumentError(
                f"{word}: expected one value of {key}, found several",
                hint=phrase(
                    "{} measures each", Mention("storage", f"'{kind}[{key}=A],{kind}[{key}=B]'")
                ),
            )
        options[key] = option_value(kind, key, values[0])
    directory = None if found["directory"] is None else _directory(word, found["directory"])
    name = (found["name"] or "").strip()
    return declared_choice(name, kind, directory, options, may_erase=may_erase)


def _directory(word: str, text: str) -> str:
    """What stands behind the colon, without the quotes around a name with a comma."""
    given = text.strip()
    if len(given) > 1 and given[0] == given[-1] == QUOTE:
        given = given[1:-1]
    if not given:
        raise ArgumentError(
            f"{word!r}: expected a directory or a device after the colon",
            hint="write one, or leave the colon out",
        )
    if given.startswith(QUOTE):
        raise ArgumentError(f"{word!r}: double quotes must enclose the whole directory")
    return given


def option_value(kind: str, key: str, value: str) -> str:
    """The value of an option as the kind of storage declares it. Raises `ArgumentError`."""
    specs = {spec.name: spec for spec in (*SHARED_OPTIONS, *registry.storage(kind).option_specs)}
    if key not in specs:
        raise ArgumentError(
            f"the storage {kind} has no option {key!r}", hint=did_you_mean(key, specs)
        )
    return spelled(specs[key], value, kind)


def declared_choice(
    name: str,
    kind: str,
    directory: str | None,
    options: Mapping[str, str],
    *,
    may_erase: bool = False,
) -> StorageChoice:
    """The choice under a name that shows what the storage is not: ``disk (throttled)``. Without a
    name of its own it is shown as it would be written, in one spelling. Raises `ArgumentError` for
    the name of another kind, under which the report would show what was not measured, and for one
    with a line break or another control character."""
    if not name.isprintable():
        raise ArgumentError(
            f"expected a storage's name on one line, without control characters, found {name!r}",
            hint="choose another name, such as fast",
        )
    if name != kind and name in registry.storages():
        raise ArgumentError(
            f"a storage of the kind {kind} cannot be called {name}, which is another kind",
            hint="choose another name, such as fast",
        )
    storage = registry.storage(kind)
    place = None if directory is None else usable_path(directory, kind)
    shown_place = place
    if isinstance(storage, HasDefaultDirectory):
        if of_environment := env_vars.DATA_DIRECTORY.get():
            place = place or usable_path(of_environment, kind)
        elif place == str(storage.default_directory()):
            place = shown_place = None
    own = [spec.name for spec in storage.option_specs]
    in_order = {key: options[key] for key in own if key in options}
    shared = {key: value for key, value in options.items() if key not in own}
    choice = StorageChoice(name, kind, place, in_order, may_erase, **shared_fields_of(shared))
    label = name or written_storage(replace(choice, directory=shown_place))
    if isinstance(storage, Labelled) and storage.label_note not in label:
        label = f"{label} ({storage.label_note})"
    return replace(choice, name=label)


def usable_path(directory: str, kind: str) -> str:
    """As an absolute path, of a directory without links, since a relative one means another from
    another folder; with the home directory in the place of ``~``, as a shell would. Raises
    `ArgumentError` for what can be no path."""
    path = Path(directory)
    try:
        if directory.startswith("~/"):
            path = path.expanduser()
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ArgumentError(
            f"{shown(directory)} cannot be a directory of a storage: {why}",
            hint=f"choose another: {kind}:DIRECTORY",
        ) from None
    return str(path.resolve() if path.is_dir() else path.absolute())


def check_storage_kind(kind: str) -> None:
    """Raises `ArgumentError` for a kind of storage that is not in the registry."""
    if kind not in registry.storages():
        raise registry.unknown_storage(kind)


def check_choices(systems: Iterable[SystemChoice], storages: Iterable[StorageChoice]) -> None:
    """Raises `ArgumentError` for the first invalid option or setting that can be found before
    anything is started, and where no system can be on any of the storages (of a pair alone:
    `check_pair`). What this machine has not is another matter: see `refuse_absent`."""
    choices, on_all = list(storages), list(systems)
    for system in on_all:
        with guessing_options(system):
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


def refuse_absent(storages: Iterable[StorageChoice], optional: Collection[str] = ()) -> None:
    """Raises `NotOnThisMachine` for the first storage whose directory, device or room is not there:
    probably a mistake, but not where its name is among the ``optional``."""
    for name, error in unavailable(storages).items():
        if isinstance(error, NotOnThisMachine) and name not in optional:
            raise error


def unavailable(storages: Iterable[StorageChoice]) -> dict[str, AssayError]:
    """Why this machine cannot have some of the storages, by their names: `StorageUnavailable`, or
    `NotOnThisMachine`. Raises `ArgumentError` for one that no machine can have as it is written."""
    found: dict[str, AssayError] = {}
    for storage in storages:
        try:
            registry.storage(storage.kind).check(storage)
        except NotOnThisMachine as error:
            found[storage.name] = error
        except StorageUnavailable as error:
            others = () if _can_be_made(storage.kind) else kinds_to_choose()
            if others:
                instead = f"or another storage: {', '.join(others)}"
                error.hint = error.hint + f"; {instead}" if error.hint else instead
            found[storage.name] = error
    return found


def kinds_to_choose(ability: type = object) -> tuple[str, ...]:
    """Kinds of storage with the ability that this user can have on this machine without options,
    and that are what they seem."""
    return tuple(name for name in registry.storages() if _is_plain(name, ability))


def _is_plain(name: str, ability: type) -> bool:
    try:
        kind = registry.storage(name)
    except PluginFailed:
        return False
    is_special = isinstance(kind, ErasesDevice | Labelled)
    return isinstance(kind, ability) and not is_special and _can_be_made(name)


def _can_be_made(name: str) -> bool:
    kind = registry.storage(name)
    return not isinstance(kind, Inspectable) or kind.why_unavailable() is None


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
    erased = erased_devices(experiment.all_storages)
    logs = [storage for storage in experiment.log_storages if storage is not None]
    of_logs = {device.resolve() for device in erased_devices(logs).values()}
    of_data = {device.resolve() for device in erased_devices(experiment.storages).values()}
    for device in of_logs & of_data:
        raise ArgumentError(
            f"the log and the data would be on {device} at the same time",
            hint="name another device for the log",
        )
    devices = [device.resolve() for device in erased.values()]
    for name, device in erased.items():
        users = len(started) * devices.count(device.resolve())
        if users > 1 and experiment.order != "sequential":
            raise ArgumentError(
                f"storage {name!r}: {users} deployments would be on {device} at the same time",
                hint=phrase("{--order sequential} runs one after another"),
            )


def refuse_without_room(experiment: Experiment) -> None:
    """Raises `NotOnThisMachine` where the storages that are not optional do not fit together."""
    for name, error in without_room(experiment).items():
        if name not in experiment.optional:
            raise error


def without_room(experiment: Experiment) -> dict[str, NotOnThisMachine]:
    """The storages that do not fit where they are made, by their names: each system has its own,
    and with interleaved repetitions all are there at once. All that are not optional, where these
    do not fit together; of the optional ones those that do not fit beside the others."""
    names = experiment.optional
    taken = _Taken(sum(system.url is None for system in experiment.systems), experiment.order)
    needed = [choice for choice in experiment.all_storages if choice.name not in names]
    for choice in needed:
        taken.add(choice)
    if said := taken.too_much():
        return {choice.name: NotOnThisMachine(said, hint=_LESS_ROOM) for choice in needed}
    found: dict[str, NotOnThisMachine] = {}
    optional = [choice for choice in experiment.all_storages if choice.name in names]
    missing = unavailable(optional)
    for choice in optional:
        if choice.name in missing:
            continue
        before = dict(taken.sizes)
        taken.add(choice)
        if said := taken.too_much():
            found[choice.name] = NotOnThisMachine(said, hint=_LESS_ROOM)
            taken.sizes = before
    return found


class _Taken(Struct):
    """What storages take where they are made."""

    systems: int
    order: str
    sizes: dict[FreeSpace, tuple[int, ...]] = field(default_factory=dict)

    def add(self, choice: StorageChoice) -> None:
        kind = registry.storage(choice.kind)
        size_bytes = kind.size_bytes(choice) if isinstance(kind, SizeChosen) else None
        if isinstance(kind, SizeChosen) and size_bytes is not None:
            place = self._room(kind.free_space(choice))
            self.sizes[place] = self.sizes.get(place, ()) + (size_bytes,) * self.systems

    def _room(self, space: FreeSpace) -> FreeSpace:
        """As it was seen first: the memory that is free changes by the moment."""
        return next((one for one in self.sizes if one.place == space.place), space)

    def too_much(self) -> str:
        """A sentence about the first place that has not that much; empty: there is none."""
        for room, needed in self.sizes.items():
            at_once = max(needed, default=0) if self.order == "sequential" else sum(needed)
            if at_once > room.free_bytes:
                return (
                    f"{counted(len(needed), 'storage')} may take {binary(at_once)} at the same "
                    f"time, and {room.place} has {binary(room.free_bytes)} free"
                )
        return ""


def check_pair(choice: SystemChoice, storage_choice: StorageChoice) -> None:
    """Raises `ArgumentError` where the system cannot be on the storage."""
    on = storage_choice if choice.url is None else choice.stands_on
    if on is not None and on.rtt_s and (reason := server_limits.why_not_moved(choice)):
        raise ArgumentError(
            f"{choice.label} cannot use the storage {on.name!r}, which has a round-trip time: "
            f"{reason}",
            hint="choose a system with a server, or another storage",
        )
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
