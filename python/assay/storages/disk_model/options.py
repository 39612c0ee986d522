"""Takes the options of a storage; returns the parameters of its disk, checked by the program that
models it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

import msgspec
from msgspec import Struct

from assay import _engine
from assay.contracts.engine.document import read_answer
from assay.contracts.option_spec import OptionSpec
from assay.errors import ArgumentError

DEFAULT_PROFILE = "hdd-7200"


class Model(Struct, frozen=True):
    """A disk, with everything that determines its times."""

    profile: str
    kind: str
    """``rotating``, ``solid-state`` or ``none``."""
    source: str
    """Where the numbers of the profile come from."""
    parameters: Mapping[str, str]
    """In effect."""
    profile_values: Mapping[str, str]
    """Of the parameters that differ from the profile, the profile's values; empty: it has none."""


@cache
def disk_options() -> tuple[OptionSpec, ...]:
    """The profile, then every parameter of a disk; an empty one is that of the profile."""
    reference = json.loads(_engine.disk_model_reference())
    profiles = tuple(profile["name"] for profile in reference["profiles"])
    specs = []
    for parameter in reference["parameters"]:
        name, help_text = parameter["name"], parameter["help"]
        if name == "profile":
            specs.append(OptionSpec(name, DEFAULT_PROFILE, profiles, help_text))
        else:
            of = f" ({' and '.join(parameter['kinds'])} disks)" if parameter["kinds"] else ""
            specs.append(OptionSpec(name, "", (), f"{help_text}{of}"))
    return tuple(specs)


def model_of(values: Mapping[str, str], size_bytes: int) -> Model:
    """The disk of so many bytes of a storage's options, those that are not the disk's included.
    Raises `ArgumentError`."""
    names = {spec.name for spec in disk_options()}
    given = {name: value for name, value in values.items() if name in names and value}
    disk = _disk(given, size_bytes)
    profile = _disk({"profile": disk.profile}, size_bytes).parameters
    changed = {
        name: profile.get(name, "")
        for name, value in disk.parameters.items()
        if value != profile.get(name)
    }
    return Model(disk.profile, disk.kind, disk.source, disk.parameters, profile_values=changed)


class _Disk(msgspec.Struct, frozen=True):
    """What the program says of a disk."""

    profile: str
    kind: str
    source: str
    parameters: dict[str, str]


def _disk(given: Mapping[str, str], size_bytes: int) -> _Disk:
    try:
        text = _engine.disk_model_parameters(words(given), size_bytes)
    except _engine.EngineError as error:
        raise ArgumentError(error.message, hint=error.hint) from error
    return read_answer(text, _Disk)


def words(parameters: Mapping[str, str]) -> str:
    """As the program takes them."""
    return ",".join(f"{name}={value}" for name, value in parameters.items())
