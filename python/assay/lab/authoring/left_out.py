"""Takes a workload folder and what is known to be wrong in it; returns the folder as if that were
not there, so that it can be read again and the next mistake is found.

Readers stop at the first mistake. Here each is left out in turn: a file, a key of a TOML file, or
a whole table. The folder itself is never changed: what is read is a folder of links to its files.
"""

from __future__ import annotations

import re
from pathlib import Path

from assay.errors import AssayError, YouError
from assay.registry import WORKLOAD_FILE
from assay.text.files import toml_file
from assay.text.files.left_out_keys import Complaint, LeftOutKeys
from assay.text.files.toml_file import SECTION, TomlTable
from assay.workload.inheritance import EXTENDS

_NAMED = re.compile(r"'([^']+)'|:(\w+)$")
"""A word in quotes, and a variable at the end of a message."""


class Reading:
    """One folder, read again and again without what is wrong."""

    def __init__(self, folder: Path, parent: Path) -> None:
        self.copy = parent / folder.resolve().name
        self._keys = LeftOutKeys()
        for file in folder.rglob("*"):
            if file.is_file():
                target = self.copy / file.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(file.resolve())

    def complaint_of(self, error: YouError) -> Complaint | None:
        """Where the error is; None: at no file of the folder."""
        if complaint := self._keys.complaint_of(error):
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
        return self.is_named_in(error) or self._keys.is_of_lack(complaint)

    def is_named_in(self, error: AssayError) -> bool:
        """Whether the error names what is left out, also as a variable."""
        names = {str(part[-1]) if part else Path(name).name for name, part in self._keys.out}
        names |= {Path(name).stem for name, part in self._keys.out if not part}
        return any(word in names for found in _NAMED.findall(error.message) for word in found)

    def leave_out(self, complaint: Complaint) -> bool:
        """Leaves it out from now on; False where that cannot be done (again), or everything else is
        judged by it: without what a workload extends, most of it is wrong."""
        place = file, path = complaint.place
        if place == (WORKLOAD_FILE, (EXTENDS,)):
            return False
        if complaint.is_expression and place not in self._keys.replaced:
            self._keys.replaced.add(place)
            return True
        if place in self._keys.out or (not path and file.endswith(".toml")):
            return False
        self._keys.out.add(place)
        if not path:
            (self.copy / file).unlink()
        return True

    def section_class(self) -> type[TomlTable]:
        """The class of sections that do not have what is left out, and note where errors are."""
        return self._keys.section_class()


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
