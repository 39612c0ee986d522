"""Takes a workload folder and what is known to be wrong in it; returns the folder as if that were
not there, so that it can be read again and the next mistake is found.

Readers stop at the first mistake. Here each is left out in turn: a file, a key of a TOML file, or
a whole table. The folder itself is never changed: what is read is a folder of links to its files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import AssayError, ExperimentError, YouError
from assay.registry import WORKLOAD_FILE
from assay.text.files import toml_file
from assay.text.files.keys import Keys, Kind
from assay.text.files.toml_file import SECTION, TomlTable
from assay.workload.inheritance import EXTENDS

Place = tuple[str, tuple[str | int, ...]]
"""The name of a file, and the path of a table or key in it; an empty path: the whole file."""


_NAMED = re.compile(r"'([^']+)'|:(\w+)$")
"""A word in quotes, and a variable at the end of a message."""
_RIGHT = "1"
"""An expression that is right."""


class Complaint(NamedTuple):
    """Where a mistake is."""

    place: Place
    is_at_key: bool = True
    """False: it is about a whole table, such as a key that is missing there."""
    is_expression: bool = False
    """What no section complained of but stands in a TOML file: an expression, which columns below
    may need."""


class Reading:
    """One folder, read again and again without what is wrong."""

    def __init__(self, folder: Path, parent: Path) -> None:
        self.copy = parent / folder.resolve().name
        self._out: set[Place] = set()
        self._replaced: set[Place] = set()
        self._complaints: list[tuple[ExperimentError, Complaint]] = []
        for file in folder.rglob("*"):
            if file.is_file():
                target = self.copy / file.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(file.resolve())

    def complaint_of(self, error: YouError) -> Complaint | None:
        """Where the error is; None: at no file of the folder."""
        for known, complaint in reversed(self._complaints):
            if known is error:
                return complaint
        file = Path(getattr(error, "file", "") or "-")
        if not file.is_relative_to(self.copy) or ".." in file.parts:
            return None
        name, line = file.relative_to(self.copy).as_posix(), getattr(error, "line", 0)
        if file.suffix == ".toml" and line and (path := _path_at(file, line)):
            return Complaint((name, path), is_expression=True)
        return Complaint((name, ()))

    def follows(self, error: YouError, complaint: Complaint) -> bool:
        """Whether the error is only there because something is left out: it names that, or is about
        a table that lacks it."""
        file, path = complaint.place
        if self.is_named_in(error):
            return True
        return not complaint.is_at_key and any(
            name == file and out[: len(path)] == path for name, out in self._out
        )

    def is_named_in(self, error: AssayError) -> bool:
        """Whether the error names what is left out, also as a variable."""
        names = {str(part[-1]) if part else Path(name).name for name, part in self._out}
        names |= {Path(name).stem for name, part in self._out if not part}
        return any(word in names for found in _NAMED.findall(error.message) for word in found)

    def leave_out(self, complaint: Complaint) -> bool:
        """Leaves it out from now on; False where that cannot be done (again), or everything else is
        judged by it: without what a workload extends, most of it is wrong."""
        place = file, path = complaint.place
        if place == (WORKLOAD_FILE, (EXTENDS,)):
            return False
        if complaint.is_expression and place not in self._replaced:
            self._replaced.add(place)
            return True
        if place in self._out or (not path and file.endswith(".toml")):
            return False
        self._out.add(place)
        if not path:
            (self.copy / file).unlink()
        return True

    def section_class(self) -> type[TomlTable]:
        """The class of sections that do not have what is left out, and note where errors are."""
        reading = self

        class Without(TomlTable):
            def __init__(
                self,
                file: Path,
                text: str,
                path: tuple[str | int, ...],
                data: Any,
                keys: Keys | None = None,
            ) -> None:
                self._name = file.name
                kept = {key: value for key, value in data.items() if not self._out((*path, key))}
                replaced = [key for key in kept if (file.name, (*path, key)) in reading._replaced]
                kept |= dict.fromkeys(replaced, _RIGHT)
                super().__init__(file, text, path, kept, keys)

            def _out(self, path: tuple[str | int, ...]) -> bool:
                return (self._name, path) in reading._out

            def _asks(self, key: str, kind: Kind, default: object = ()) -> None:
                del default  # what is left out has one
                super()._asks(key, kind)

            def text(self, key: str, default: str | None = None) -> str:
                if default is None and self._out((*self.path, key)):
                    default = key
                return super().text(key, default)

            def choice(self, key: str, levels: Iterable[str], default: str | None = None) -> str:
                levels = list(levels)
                if default is None and levels and self._out((*self.path, key)):
                    default = levels[0]
                return super().choice(key, levels, default)

            def sections(self, key: str) -> list[TomlTable]:
                return [one for one in super().sections(key) if not self._out(one.path)]

            def error(
                self, message: str, key: str | None = None, *, hint: str | None = None
            ) -> ExperimentError:
                found = super().error(message, key, hint=hint)
                has_key = key is not None and key in self.names()
                path = (*self.path, key) if has_key and key is not None else self.path
                complaint = Complaint((self._name, path), is_at_key=has_key)
                reading._complaints.append((found, complaint))
                return found

        return Without


def _path_at(file: Path, line: int) -> tuple[str | int, ...]:
    """The path of the key in that line; empty: none is found."""
    token = SECTION.set(TomlTable)
    try:
        return _key_at(toml_file.read(file), line)
    except YouError:  # no TOML
        return ()
    finally:
        SECTION.reset(token)


def _key_at(section: TomlTable, line: int) -> tuple[str | int, ...]:
    for key, value in section.plain().items():
        if isinstance(value, dict):
            inner = [section.section(key)]
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            inner = section.sections(key)
        elif section.line_of(key) == line:
            return (*section.path, key)
        else:
            continue
        for one in inner:
            if path := _key_at(one, line):
                return path
    return ()
