"""Where the programs of a system are put while they are installed, and how progress is reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

Report = Callable[[str], None]
"""Takes one line for the person at the terminal."""


class Prefix(Struct, frozen=True):
    """A folder that becomes the installation when everything in it is complete."""

    folder: Path
    """Where to write. Exists, is empty, and is removed if the installation fails."""
    becomes: Path
    """The path it is renamed to at the end: for files that hold absolute paths."""
    identity: str
    """The mark of the processes that write into it; see `assay.provision.install.client`."""

    def final(self, path: Path) -> Path:
        """The path that a file of the folder has at the end."""
        return self.becomes / path.relative_to(self.folder)
