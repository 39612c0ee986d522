"""Takes what a storage is; returns how it is written, which is its name where it has no other."""

from __future__ import annotations

from typing import Final

from assay.contracts.experiment import StorageChoice
from assay.contracts.storages.shared_options import options_of

QUOTE: Final = '"'


def written(choice: StorageChoice) -> str:
    """As a storage without a name of its own may be written: ``loop[fs=xfs,rtt=1ms]:/mnt/ssd``."""
    options = options_of(choice).items()
    given = ",".join(f"{key}={_quoted(value)}" for key, value in options)
    where = "" if choice.directory is None else f":{_quoted(choice.directory)}"
    return f"{choice.kind}[{given}]{where}" if given else f"{choice.kind}{where}"


def _quoted(text: str) -> str:
    return f"{QUOTE}{text}{QUOTE}" if "," in text else text
