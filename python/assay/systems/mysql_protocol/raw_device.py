"""Takes the directory of a server; returns the settings by which InnoDB keeps its system tablespace
on a raw device, with the tables of all databases in it.

Redo log, undo tablespaces and the catalogue stay in the data directory.
"""

from __future__ import annotations

import os

from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError
from assay.systems.mysql_protocol.names import plain_name

_SETTINGS = frozenset({"innodb_data_home_dir", "innodb_data_file_path", "innodb_file_per_table"})


def settings(directory: ServerDirectory, *, is_new: bool) -> dict[str, str]:
    """None where the server has no raw device. ``is_new``: InnoDB formats it."""
    if directory.raw_device is None:
        return {}
    file = os.open(directory.raw_device, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size_mib = os.lseek(file, 0, os.SEEK_END) >> 20
    finally:
        os.close(file)
    how = "newraw" if is_new else "raw"
    return {
        "innodb_data_home_dir": "",
        "innodb_data_file_path": f"{directory.raw_device}:{size_mib}M{how}",
        "innodb_file_per_table": "OFF",
    }


def check(choice: SystemChoice, engine: str) -> None:
    """Raises `ArgumentError` where the choice cannot be on a raw device."""
    if engine.lower() != "innodb":
        raise ArgumentError(
            f"{choice.label}: only InnoDB keeps its tables on a raw device, found engine {engine}",
            hint="leave engine out, or choose a storage with a file system",
        )
    if set_here := [name for name in choice.settings if plain_name(name) in _SETTINGS]:
        raise ArgumentError(
            f"{choice.label}: on a raw device Assay sets {set_here[0]}",
            hint=f"leave {set_here[0]} out",
        )
