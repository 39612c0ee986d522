"""Takes a kind of storage; reports every violation of the contract of `Storage`.

A plugin runs it in its own tests: ``assay.storages.validate(MY_STORAGE)``. Nothing is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.contracts.experiment import StorageChoice
from assay.contracts.members import ContractBroken, half_an_ability, members_broken
from assay.contracts.option_spec import options_broken
from assay.contracts.storages.abilities import ABILITIES
from assay.contracts.storages.protocol import Storage
from assay.errors import ArgumentError

_NO_OPTION = "an_option_that_no_storage_has"


def validate(storage: Any) -> None:
    """Raises `ContractBroken` with every violation that can be found without creating anything."""
    violations = list(_violations(storage))
    if violations:
        raise ContractBroken(f"the storage {getattr(storage, 'name', storage)!r}", violations)


def _violations(storage: Any) -> Iterator[str]:
    broken = members_broken(storage, Storage)
    yield from broken.values()
    for ability in ABILITIES:
        yield from half_an_ability(storage, ability)
    if {"name", "check", "option_specs"} & broken.keys():
        return
    if not isinstance(storage.option_specs, tuple | list):
        found = type(storage.option_specs).__name__
        yield f"option_specs: expected a tuple of OptionSpec, found {found}"
        return
    yield from options_broken(storage.option_specs)
    choice = StorageChoice(storage.name, storage.name, options={_NO_OPTION: "1"})
    try:
        storage.check(choice)
    except ArgumentError:
        return
    except Exception as error:
        yield f"check() raises {type(error).__name__} for an unknown option, not ArgumentError"
    else:
        yield "check() accepts an unknown option"
