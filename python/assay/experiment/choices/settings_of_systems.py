"""Takes the name and the value of a setting without a system's name, and systems; returns how it is
spelled for those that have one of that name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from assay import registry
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.abilities import ChecksSettings
from assay.errors import AssayError

_OF_NO_SYSTEM = "assay_has_no_such_setting"


def spelled(name: str, value: str, choices: Iterable[SystemChoice]) -> Iterator[str]:
    """``SYSTEM.NAME=VALUE``. Of a system that takes any name nothing is said. Starts no
    server."""
    for choice in choices:
        if _takes(choice, name, value) and not _takes(choice, _OF_NO_SYSTEM, value):
            yield f"{choice.name}.{name}={value}"


def _takes(choice: SystemChoice, name: str, value: str) -> bool:
    system = registry.system(choice.name)
    asked = replace(choice, settings={name: value})
    try:
        system.check(asked)
        if choice.url is None and isinstance(system, ChecksSettings):
            system.refuse_settings(asked)
    except AssayError:
        return False
    return True
