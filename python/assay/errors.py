"""Every exception Assay raises, as one tree with an exit code at each branch.

::

    AssayError
    ├── YouError            exit 2   the user's mistake: it cannot be done as written
    │   ├── ArgumentError            an option, a name, a number
    │   │   ├── NotOnThisMachine     a directory, a device or room that is asked for and not there
    │   │   └── RefusedRun           a run that cannot be done as asked at the servers it names
    │   ├── ExperimentError          an experiment file or a workload folder
    │   ├── ScriptError              a workload script
    │   └── InputError               a file of input data
    ├── SystemUnderTestError exit 3   the system under test refused, or is missing; or the
    │   │                            machine has no room
    │   ├── SystemMissing            its programs are not installed
    │   ├── SystemRefused            it refused: its message and its code are kept
    │   │   └── PasswordNeeded       it needs a password, and none is given
    │   ├── SystemDied               it stopped while it was needed
    │   ├── MachineLimit             too few threads or open files on this machine, or no control
    │   │                            groups
    │   ├── NotRemoved               what Assay has made cannot be removed, as where it is busy
    │   ├── StorageUnavailable       this machine cannot have a storage of that kind
    │   └── PluginFailed             a plugin of another package raised, or breaks its contract
    ├── RunFailed           exit 1   the run was measured and failed
    └── Bug                 exit 4   internal error; please report it

A message says what was expected, what was found and where; ``hint`` has the fix. Where they mention
settings of an experiment they are phrases (`assay.text.phrases`), which each face spells. A
transaction's error is data (see ``drive``), never one of these.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.text import pattern, phrases
from assay.text.phrases import Mention, Phrase, phrase

RESOURCES = "resources"
"""The engine's error class for a system that ran out of disk, memory or another resource."""
FULL_DISK_HINT = phrase(
    "free space there, or choose a storage with more room ({--storage}, its option size)"
)
FULL_SERVER_DISK_HINT = phrase(
    "free space on the server's own disk; {--storage} does not apply to a server by URL"
)
SHARED_MEMORY = Path("/dev/shm")
"""Where Linux keeps POSIX shared memory; containers often have 64 MB there."""
FULL_SHARED_MEMORY_HINT = (
    "make it larger (docker run --shm-size=1g, or: mount -o remount,size=1G "
    f"{SHARED_MEMORY}), or remove what ended programs left there"
)
_OTHER_RESOURCE_HINT = phrase(
    "it ran out of memory, connections, files or another resource: fewer "
    "{--clients}, or a higher limit in its settings (SYSTEM[setting=value])"
)
_FILE_SIZE_LIMIT_HINT = (
    "a file reached the limit of this shell: `ulimit -f unlimited`, then run it again"
)

_FILE_SIZE_LIMIT = pattern(
    rf"{re.escape(os.strerror(errno.EFBIG))}|error:? (?:number )?{errno.EFBIG}\b", re.IGNORECASE
)
_NO_SPACE = pattern(
    rf"\bno space left\b|{re.escape(os.strerror(errno.ENOSPC))}"
    rf"|error:? (?:number )?{errno.ENOSPC}\b"
    r"|\bdisk (?:is )?full\b(?!\?)",
    re.IGNORECASE,
)


_FULL_SHARED_MEMORY = pattern(
    rf"(?:shared memory segment|{SHARED_MEMORY}/)[^:]*:\s+"
    rf"(?:no space left\b|{re.escape(os.strerror(errno.ENOSPC))})",
    re.IGNORECASE,
)


def says_disk_is_full(text: str) -> bool:
    """Whether a system's message is about a full disk, by its text or its error number."""
    return _NO_SPACE.search(text) is not None


def says_shared_memory_is_full(text: str) -> bool:
    """Whether what is full, by a system's message, is `SHARED_MEMORY` and no storage."""
    return _FULL_SHARED_MEMORY.search(text) is not None


def full_disk_hint(*, is_by_url: bool) -> str:
    """What to do where the disk of a system is full: that of a server by URL is not Assay's."""
    return FULL_SERVER_DISK_HINT if is_by_url else FULL_DISK_HINT


def resources_hint(message: str, *, is_by_url: bool = False) -> str:
    """What to do where a system ran out of what the message says."""
    if says_shared_memory_is_full(message):
        return FULL_SHARED_MEMORY_HINT
    if _FILE_SIZE_LIMIT.search(message):
        return _FILE_SIZE_LIMIT_HINT
    if says_disk_is_full(message):
        return full_disk_hint(is_by_url=is_by_url)
    return _OTHER_RESOURCE_HINT


_ERROR_NUMBER = pattern(r"\[Errno \d+\] | \(os error \d+\)")
"""What Python and Rust add to the operating system's message."""


_LONG_WORD = pattern(r"\S{600,}|(?<=')[^'\n]{600,}(?=')")
_SHOWN_OF_A_LONG_WORD = 60


def _shortened(word: re.Match[str]) -> str:
    """A key, or a value of a statement that a server repeats, would hide the rest of a message."""
    text = word[0]
    return f"{text[:_SHOWN_OF_A_LONG_WORD]}… ({len(text):,} characters) …{text[-20:]}"


def readable(message: str) -> str:
    """The message with its long words and quoted values shortened."""
    return _LONG_WORD.sub(_shortened, message)


class AssayError(Exception):
    """A message for the person at the terminal, with the fix where there is one."""

    exit_code = 4

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        message = phrases.changed(message, lambda text: readable(_ERROR_NUMBER.sub("", text)))
        super().__init__(message)
        self.message = message
        self.hint = None if hint is None else phrases.changed(hint, readable)

    @property
    def about(self) -> str | None:
        """The setting that the message is about, by the name of its option."""
        named = self.message.mentions if isinstance(self.message, Phrase) else []
        return named[0].setting if named else None

    def respell(self, spelling: Callable[[Mention], str | None]) -> None:
        """Names the settings in it as they are written elsewhere than on a command line."""
        self.message = phrases.spelled(self.message, spelling)
        self.hint = None if self.hint is None else phrases.spelled(self.hint, spelling)
        self.args = (self.message,)


class YouError(AssayError):
    exit_code = 2
    further: Sequence[YouError] = ()
    """What else is wrong in the same file, as far as one reading finds it."""


class ArgumentError(YouError):
    """An option, a name or a number that cannot be used."""


class NotOnThisMachine(ArgumentError):
    """The directory or device of a storage is not there, or has no room for it: another machine may
    have it. Of a storage that is optional, it refuses the storage's own runs alone; `assay plan`
    lists the runs all the same."""


class RefusedRun(ArgumentError):
    """A run cannot be done as it is asked for, which is known once its servers have said what they
    are: it is refused before its first step, as one of which that is known from the plan. The
    experiment goes on."""


class _Placed(YouError):
    """An error with a location: ``file:line:column: message``."""

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
        super().__init__(f"{place}: " + message if place else message, hint=hint)
        self.file = str(file)
        self.line = line
        self.column = column


class ExperimentError(_Placed):
    """An experiment file or a workload folder that is invalid."""


class ScriptError(_Placed):
    """A workload script that does not compile."""


class InputError(_Placed):
    """A file of input data that is invalid."""


class SystemUnderTestError(AssayError):
    exit_code = 3


class SystemMissing(SystemUnderTestError):
    """The programs of a system are not installed; the hint names the packages."""


class SystemRefused(SystemUnderTestError):
    """The system refused. ``error_class`` is the engine's classification, ``code`` the system's
    own."""

    def __init__(
        self, message: str, *, error_class: str = "other", code: str = "", hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.error_class = error_class
        self.code = code

    @property
    def is_of_full_disk(self) -> bool:
        ran_out = self.error_class == RESOURCES and says_disk_is_full(self.message)
        return ran_out and not says_shared_memory_is_full(self.message)


class PasswordNeeded(SystemRefused):
    """A server by URL needs a password, and neither the URL nor the environment has one."""


class SystemDied(SystemUnderTestError):
    """The system stopped while it was needed; the message holds the end of its log."""


class MachineLimit(SystemUnderTestError):
    """This machine does not allow what is needed: so many threads or open files, a control group,
    so much memory."""


class NotRemoved(SystemUnderTestError):
    """What Assay has made cannot be removed now, as where another process uses it: the next command
    tries again. What was measured is not affected."""


class StorageUnavailable(SystemUnderTestError):
    """This machine cannot have a storage of that kind: no root, no loop devices, a missing program;
    the hint says how to get it."""


class PluginFailed(SystemUnderTestError):
    """A plugin of another package breaks its contract, or raised what no contract names."""


class RunFailed(AssayError):
    """The run was measured and failed: a wrong count, a lost server, a failed check.
    ``code`` is the system's error code, where it refused a statement."""

    exit_code = 1

    def __init__(self, message: str, *, code: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class Bug(AssayError):
    """An internal error; please report it."""

    exit_code = 4
