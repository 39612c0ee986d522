"""The option ``--erase`` of commands that are given storages: which devices may be destroyed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from assay.cli.usage_errors import DestroyingOption
from assay.contracts.experiment import StorageChoice
from assay.errors import ArgumentError
from assay.experiment.storage_words import erased_devices


def erase_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--erase",
        cls=DestroyingOption,
        is_flag=True,
        help="Allow the devices of the storages (device:, raw:) to be erased.",
    )(function)


def refuse_unused_erase(storages: Iterable[StorageChoice], erase: bool) -> None:
    """Raises `ArgumentError` where no device would be erased."""
    if erase and not erased_devices(storages):
        raise ArgumentError(
            "--erase does not apply: no storage names a device that would be erased",
            hint="leave --erase out",
        )
