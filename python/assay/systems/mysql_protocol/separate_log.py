"""Takes the directory of a server; returns the settings by which its logs are in a folder on a
storage of their own: InnoDB's redo log, and the binary log where it is written.

Undo tablespaces, the double-write buffer and the catalogue stay in the data directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError
from assay.systems.mysql_protocol.names import plain_name

_REDO, _BINARY = "innodb_log_group_home_dir", "log_bin"
_SETTINGS = frozenset({_REDO, "log_basename", "log_bin_basename", "log_bin_index"})
_OFF = frozenset({"off", "0", "false"})
_ON = frozenset({"", "on", "1", "true"})
_NOT_WRITTEN = frozenset({"skip_log_bin", "disable_log_bin"})


def settings(
    directory: ServerDirectory, asked: Mapping[str, str], *, writes_binary_log: bool
) -> dict[str, str]:
    """Nothing where the log has no folder of its own. ``writes_binary_log``: whether the server
    writes one where nothing is asked."""
    if directory.log is None:
        return {}
    given = {plain_name(name): value for name, value in asked.items()}
    name = given.get(_BINARY, "on" if writes_binary_log else "off")
    redo = {_REDO: str(directory.log)}
    if name.lower() in _OFF or _NOT_WRITTEN & given.keys():
        return redo
    own = "binlog" if name.lower() in _ON else Path(name).name
    return {**redo, _BINARY: str(directory.log / own)}


def check(choice: SystemChoice, engine: str) -> None:
    """Raises `ArgumentError` where the logs of the choice cannot be in a folder of their own."""
    if engine.lower() != "innodb":
        raise ArgumentError(
            f"only InnoDB has a redo log that can be on another storage, found engine {engine}",
            hint="leave engine out, or the log with the data",
        )
    if set_here := [name for name in choice.settings if plain_name(name) in _SETTINGS]:
        raise ArgumentError(
            f"where logs on a storage of their own are is set by Assay, found {set_here[0]}",
            hint=f"leave {set_here[0]} out",
        )
