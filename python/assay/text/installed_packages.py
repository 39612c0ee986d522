"""Takes the folders that Python imports from; returns what the packages that are installed there
register, and their versions.

They are read as `importlib.metadata` reads them, without its parser of mail: importing that takes
a twentieth of a short run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

_ENDINGS = (".dist-info", ".egg-info")


class EntryPoint(NamedTuple):
    name: str
    value: str
    """``MODULE:NAME``, or a module."""
    group: str
    information: Path | None = None
    """The folder that says what package registers it."""

    @property
    def module(self) -> str:
        return self.value.partition(":")[0].strip()

    def load(self) -> Any:
        """Imports it."""
        found: Any = import_module(self.module)
        names = self.value.partition("[")[0].partition(":")[2].strip()
        for name in names.split(".") if names else ():
            found = getattr(found, name)
        return found


def entry_points(group: str) -> list[EntryPoint]:
    """Those of this group."""
    return [one for one in _every_entry_point(tuple(sys.path)) if one.group == group]


@cache
def version_of(package: str) -> str:
    """Raises `importlib.metadata.PackageNotFoundError`."""
    for folder in _folders(tuple(sys.path)):
        if _package(folder.name) == _normal(package):
            for line in (folder / "METADATA").read_text(encoding="utf-8").splitlines():
                if line.startswith("Version: "):
                    return line.removeprefix("Version: ").strip()
    from importlib.metadata import version  # here: it finds what is installed in another way

    return version(package)


@cache
def _every_entry_point(path: tuple[str, ...]) -> list[EntryPoint]:
    found: list[EntryPoint] = []
    for folder in _folders(path):
        try:
            text = (folder / "entry_points.txt").read_text(encoding="utf-8")
        except OSError:
            continue
        group = ""
        for line in map(str.strip, text.splitlines()):
            if line.startswith("[") and line.endswith("]"):
                group = line[1:-1]
            elif line and not line.startswith("#"):
                name, _, value = line.partition("=")
                found.append(EntryPoint(name.strip(), value.strip(), group, folder))
    return found


def _folders(path: tuple[str, ...]) -> Iterator[Path]:
    """Of each package one: the first on the path."""
    known = set()
    for place in path:
        try:
            with os.scandir(place or ".") as found:
                names = [one.name for one in found if one.name.endswith(_ENDINGS)]
        except OSError:
            continue
        for name in names:
            if (package := _package(name)) not in known:
                known.add(package)
                yield Path(place, name)


def _package(folder: str) -> str:
    return _normal(folder.removesuffix(".dist-info").removesuffix(".egg-info").partition("-")[0])


def _normal(name: str) -> str:
    """As names of packages are compared."""
    return re.sub(r"[-_.]+", "_", name).lower()
