"""The option ``--erase`` of commands that are given storages: which devices may be destroyed."""

from __future__ import annotations

from collections.abc import Iterable

from assay.cli.options.setting_options import option
from assay.contracts.experiment import StorageChoice
from assay.errors import ArgumentError
from assay.experiment.choices.storage_words import erased_devices
from assay.experiment.settings.catalogue import SETTINGS

erase_option = option(SETTINGS["erase"])


def refuse_unused_erase(storages: Iterable[StorageChoice], erase: bool) -> None:
    """Raises `ArgumentError` where no device would be erased."""
    if erase and not erased_devices(storages):
        raise ArgumentError(
            "--erase does not apply: no storage names a device that would be erased",
            hint="leave --erase out",
        )
