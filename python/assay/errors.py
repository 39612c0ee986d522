"""Every exception Assay raises, as one tree with an exit code at each branch.

::

    AssayError
    ├── YouError            exit 2   what you asked for cannot be done as written
    │   ├── ArgumentError            an option, a name, a number
    │   ├── ExperimentError          an experiment file or a workload folder
    │   ├── ScriptError              a workload script
    │   └── InputError               a file of data: where and what
    ├── SystemUnderTestError exit 3   the system under test refused, or is missing; or the
    │   │                            machine has no room
    │   ├── SystemMissing            its programs are not on this machine
    │   ├── SystemRefused            it said no: its words and its code are kept
    │   │   └── PasswordNeeded       it asks for a password, and none is known
    │   ├── SystemDied               it went away while it was needed
    │   └── MachineLimit             this machine has not the threads or open files for it
    ├── RunFailed           exit 1   everything worked, and the answer is no
    └── Bug                 exit 4   we are wrong; please report it

A message says what was expected, what was found and where; ``hint`` has the fix. A
transaction's error is data (see ``drive``), never one of these.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

RESOURCES = "resources"
"""The engine's word for a disk, memory or another resource of a system that ran out."""
RESOURCES_HINT = (
    "is the disk full? free space there, or choose a storage with more room (--storage); "
    "else raise the limit that the message names"
)


_NO_SPACE = re.compile(
    rf"{re.escape(os.strerror(errno.ENOSPC))}|error:? (?:number )?{errno.ENOSPC}\b", re.IGNORECASE
)


def says_disk_is_full(text: str) -> bool:
    """Whether a system's own words speak of a full disk, by the system's message or its number."""
    return _NO_SPACE.search(text) is not None


_ERROR_NUMBER = re.compile(r"\[Errno \d+\] | \(os error \d+\)")
"""What Python and Rust put beside the system's own sentence."""


class AssayError(Exception):
    """A message for the person at the terminal, with the fix where there is one."""

    exit_code = 4

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        message = _ERROR_NUMBER.sub("", message)
        super().__init__(message)
        self.message = message
        self.hint = hint


class YouError(AssayError):
    exit_code = 2


class ArgumentError(YouError):
    """An option, a name or a number that cannot be used."""


class _Placed(YouError):
    """An error that has a place: ``file:line:column: message``."""

    def __init__(
        self,
        message: str,
        *,
        file: str | Path,
        line: int = 0,
        column: int = 0,
        hint: str | None = None,
    ) -> None:
        place = str(file)
        if line:
            place += f":{line}"
        if column:
            place += f":{column}"
        super().__init__(f"{place}: {message}", hint=hint)
        self.file = str(file)
        self.line = line
        self.column = column


class ExperimentError(_Placed):
    """An experiment file or a workload folder that says something impossible."""


class ScriptError(_Placed):
    """A workload script that does not compile."""


class InputError(_Placed):
    """A file of data that is not what it must be."""


class SystemUnderTestError(AssayError):
    exit_code = 3


class SystemMissing(SystemUnderTestError):
    """The programs of a system are not on this machine; the hint names the packages."""


class SystemRefused(SystemUnderTestError):
    """The system answered no. ``error_class`` is the engine's word, ``code`` the system's own."""

    def __init__(
        self, message: str, *, error_class: str = "other", code: str = "", hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.error_class = error_class
        self.code = code


class PasswordNeeded(SystemRefused):
    """A server by URL asks for a password, and neither the URL nor the environment has one."""


class SystemDied(SystemUnderTestError):
    """The system went away while it was needed; the message holds the end of its log."""


class MachineLimit(SystemUnderTestError):
    """This machine does not allow as many threads or open files as are needed; says how many."""


class RunFailed(AssayError):
    """The run ended and its answer is no: a wrong count, a lost server, a check that failed.
    ``code`` is the system's own, where it refused a statement."""

    exit_code = 1

    def __init__(self, message: str, *, code: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class Bug(AssayError):
    """Something that cannot happen happened; please report it."""

    exit_code = 4
