"""Takes a reader of TOML files that stops at the first mistake; gives the class of sections with
which it reads them as if what is wrong were not there, so that the next mistake is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import AssayError, ExperimentError, YouError
from assay.text.keys import Keys, Kind
from assay.text.toml_file import SECTION, TomlTable

Place = tuple[str, tuple[str | int, ...]]
"""The name of a file, and the path of a table or key in it; an empty path: the whole file."""
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


class LeftOutKeys:
    """What is left out of the files of one reading, and who complained of it."""

    def __init__(self) -> None:
        self.out: set[Place] = set()
        self.replaced: set[Place] = set()
        self._complaints: list[tuple[ExperimentError, Complaint]] = []

    def complaint_of(self, error: YouError) -> Complaint | None:
        """Where a section has raised it; None: none has."""
        for known, complaint in reversed(self._complaints):
            if known is error:
                return complaint
        return None

    def is_of_lack(self, complaint: Complaint) -> bool:
        """Whether it is about a table that lacks what is left out of it."""
        file, path = complaint.place
        return not complaint.is_at_key and any(
            name == file and out[: len(path)] == path for name, out in self.out
        )

    def leave_out(self, complaint: Complaint, *, is_whole_table: bool) -> bool:
        """Leaves a key out from now on, or a table; False where that cannot be done (again)."""
        is_possible = bool(complaint.place[1]) and (complaint.is_at_key or is_whole_table)
        if not is_possible or complaint.place in self.out:
            return False
        self.out.add(complaint.place)
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
                replaced = [key for key in kept if (file.name, (*path, key)) in reading.replaced]
                kept |= dict.fromkeys(replaced, _RIGHT)
                super().__init__(file, text, path, kept, keys)

            def _out(self, path: tuple[str | int, ...]) -> bool:
                return (self._name, path) in reading.out

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
                self, message: str, key: str | None = None, *at: int, hint: str | None = None
            ) -> ExperimentError:
                found = super().error(message, key, *at, hint=hint)
                has_key = key is not None and key in self.names()
                path = (*self.path, key) if has_key and key is not None else self.path
                complaint = Complaint((self._name, path), is_at_key=has_key)
                reading._complaints.append((found, complaint))
                return found

        return Without


def further_mistakes(
    read: Callable[[], object], most: int, judged_by: Mapping[str, Iterable[str]]
) -> list[YouError]:
    """What else is wrong in a file whose reading has raised an error, which is the first that is
    found again. ``judged_by``: of a key at the top, those below which a mistake may only follow
    from its being left out; of one by which all are judged, ``("*",)``: nothing is looked for
    behind a mistake there."""
    left_out = LeftOutKeys()
    found: list[YouError] = []
    following: set[str] = set()
    token = SECTION.set(left_out.section_class())
    try:
        while len(found) < most:
            try:
                read()
                break
            except YouError as error:
                complaint = left_out.complaint_of(error)
                if complaint is None:
                    found.append(error)
                    break
                follows = bool(following.intersection(map(str, complaint.place[1][:1])))
                is_of_lack = left_out.is_of_lack(complaint)
                if not follows and not is_of_lack:
                    found.append(error)
                if not left_out.leave_out(complaint, is_whole_table=is_of_lack):
                    break
                if len(complaint.place[1]) == 1 or is_of_lack:
                    following.update(judged_by.get(str(complaint.place[1][0]), ()))
                if "*" in following:
                    break
            except AssayError:  # of the machine: no mistake in the file
                break
    finally:
        SECTION.reset(token)
    return found[1:]
