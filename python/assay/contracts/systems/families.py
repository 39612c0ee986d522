"""A family of systems, which are named in two parts: ``FAMILY:MEMBER``.

Its members are not known beforehand (any Python module), so none of them is in the registry's list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from assay.contracts.dialects.protocol import Dialect
from assay.contracts.systems.protocol import System


class SystemFamily(Protocol):
    """Found by the entry-point group ``assay.system_families``."""

    name: str
    """As before the colon."""
    help: str
    """What it is and how its members are named, for references."""
    member_word: str
    """What stands behind the colon, for messages: ``MODULE``."""
    known_members: Sequence[str]
    """What lists show; others can be named too."""

    null_member: str
    """One that answers every statement at once with one row, for calibration."""

    dialects: Mapping[str, Dialect]
    """Those that its members may speak, by name."""

    also_called: Mapping[str, str]
    """Name of a system, in lower case → the member by which it is reached."""

    def member(self, word: str) -> System:
        """The system of that name, which is ``FAMILY:WORD``. Raises `ArgumentError`."""
        ...

    def url(self, word: str, given: Mapping[str, str]) -> str:
        """The URL of a choice from what stands in brackets and is no option of the system: systems
        of a family are reached, not started. Raises `ArgumentError`, also for a password, which
        belongs in no command line."""
        ...


@runtime_checkable
class TakesDialectFiles(Protocol):
    """Ability of a family: a member may speak a dialect that is a file."""

    def dialect_of_file(self, file: Path) -> Dialect:
        """The dialect, which is among `SystemFamily.dialects` from then on. Raises
        `ExperimentError` with the line, `ArgumentError` where another dialect is called so."""
        ...

    def dialect_content(self, word: str) -> str:
        """Digest of the file that a member's name ends with, behind a plus sign; empty: of none."""
        ...
