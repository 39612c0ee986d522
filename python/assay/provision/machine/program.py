"""A program of the operating system that Assay starts: its name, the Debian package that brings it,
and where it is looked for.

Each is declared once, as a constant of the module that starts it. ``make test`` brings the packages
of all of them, and the tests refuse a program that is not declared (``tools/servers.py``).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from msgspec import Struct

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_declared: set[Program] = set()


class Program(Struct, frozen=True):
    name: str
    package: str | None
    """Of Debian and its descendants; None: they have none."""
    places: tuple[str, ...] = ()
    """Folders besides the usual ones, as patterns: ``/opt/NAME*/bin``."""
    is_optional: bool = False
    """It is not brought for the tests: something else serves where it is not here, or none of them
    starts it."""

    def __post_init__(self) -> None:
        _declared.add(self)

    def find(self) -> str | None:
        """Its path, in the folders of system programs whatever the user's $PATH; None: it is not
        installed."""
        return shutil.which(self.name, path=SEARCH_PATH)

    def find_in_path(self) -> str | None:
        """Its path in the user's $PATH."""
        return shutil.which(self.name)

    def find_anywhere(self) -> str | None:
        """Its path in $PATH, in the folders of system programs or in its `places`."""
        folders = [str(one) for place in self.places for one in Path("/").glob(place.lstrip("/"))]
        path = os.pathsep.join([*os.get_exec_path(), SEARCH_PATH, *sorted(folders, reverse=True)])
        return shutil.which(self.name, path=path)

    @property
    def path(self) -> str:
        """As `find`; of one that is not installed the name, by which it cannot be run either."""
        return self.find() or self.name

    @property
    def hint(self) -> str | None:
        """How to get it."""
        return f"apt-get install {self.package}" if self.package else None


def packages(*programs: Program) -> str:
    """The command that brings them all, for a hint."""
    return "apt-get install " + " ".join(dict.fromkeys(p.package for p in programs if p.package))


def declared() -> frozenset[Program]:
    """Those of the modules that have been imported."""
    return frozenset(_declared)
