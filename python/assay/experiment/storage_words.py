"""Takes storages as written; returns the choices, with every name and option checked.

One form for all kinds: ``KIND[key=value,…][:DIRECTORY]``, or ``NAME=`` before it. Where a kind
takes a device, that stands in the place of the directory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from assay import registry
from assay.errors import ArgumentError
from assay.experiment.settings import key_and_values, split
from assay.experiment.values import StorageChoice, SystemChoice
from assay.storages.abilities import Labelled, LimitsProcesses, RawDevice
from assay.systems.abilities import TakesRawDevice, WorksInProcess
from assay.text.nearest import did_you_mean

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
    anything is started, and for a system that cannot be on one of the storages."""
    choices = list(storages)
    for system in systems:
        registry.system(system.name).check(system)
        if system.url is None:
            for storage in choices:
                _check_pair(system, storage)
    for storage in choices:
        registry.storage(storage.kind).check(storage)


def _check_pair(choice: SystemChoice, storage_choice: StorageChoice) -> None:
    system, storage = registry.system(choice.name), registry.storage(storage_choice.kind)
    if isinstance(storage, RawDevice):
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
