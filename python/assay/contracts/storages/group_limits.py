"""A limit of a control group: the controller that enforces it, and what is written to which files
of the group."""

from __future__ import annotations

from msgspec import Struct

Lines = tuple[tuple[str, str], ...]
"""Name of a file and what is written to it, in this order."""


class GroupLimit(Struct, frozen=True):
    """Of a storage (requests to its device), or of the machine that a server is given (memory, CPU
    time). All limits of a server are set on the same groups: in version 2 a process can be in one
    group only."""

    controller: str
    """By its name in version 2: ``cpu``, ``io``, ``memory``."""
    version_1: Lines
    version_2: Lines
    optional_files: frozenset[str] = frozenset()
    """Files that a kernel may lack; nothing is written there then."""

    def lines(self, version: int) -> Lines:
        return self.version_1 if version == 1 else self.version_2
