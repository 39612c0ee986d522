"""Takes a kind of storage and a choice of it; returns the value of every option."""

from __future__ import annotations

from typing import Final

from assay.contracts.experiment import StorageChoice
from assay.contracts.plugins import OptionSpec, option_values
from assay.contracts.storages.protocol import Storage
from assay.errors import ArgumentError
from assay.text.quantities import STORAGE_BYTES
from assay.text.units import option_word


def values(storage: Storage, choice: StorageChoice) -> dict[str, str]:
    """Every option's value: the one chosen, else its default. Raises `ArgumentError` for an unknown
    option and an invalid value."""
    try:
        return option_values(storage.option_specs, choice.options, f"the kind {storage.name!r}")
    except ArgumentError as error:
        raise ArgumentError(f"storage {choice.name!r}: {error.message}", hint=error.hint) from None


SIZE: Final = OptionSpec(
    name="size",
    default="2G",
    levels=(),
    help="Size of the storage, in bytes or with a unit (512M, 20G).",
    quantity=STORAGE_BYTES,
    spelling=lambda word: option_word(size_bytes(word)),
)


def size_bytes(word: str) -> int:
    """The bytes of a size that was checked."""
    return int(STORAGE_BYTES.of_word(word))
