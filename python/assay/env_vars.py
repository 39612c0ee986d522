"""Every environment variable that Assay reads, with its description."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Literal

from msgspec import Struct

from assay.errors import ArgumentError
from assay.text import paths
from assay.text.phrases import alternatives

_FLAGS = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}


class EnvVar(Struct, frozen=True):
    """A variable and its description."""

    name: str
    help: str
    kind: Literal["text", "seconds", "flag"] = "text"

    def get(self) -> str | None:
        """Its value, None where it is unset or empty."""
        return os.environ.get(self.name) or None

    def seconds(self, default: float) -> float:
        """Its value as a time. Raises `ArgumentError`."""
        text = self.get()
        try:
            value = default if text is None else float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 86400:
            raise ArgumentError(f"{self.name}: expected seconds from 0 to 86400, found {text!r}")
        return value

    def flag(self, *, default: bool) -> bool:
        """Of a variable that is a flag. Raises `ArgumentError`."""
        word = self.get()
        if word is not None and word.lower() not in _FLAGS:
            raise ArgumentError(f"{self.name}: expected {alternatives(_FLAGS)}, found {word!r}")
        return default if word is None else _FLAGS[word.lower()]


STATE_DIRECTORY = EnvVar(
    "ASSAY_STATE_DIRECTORY",
    "Where Assay records the servers and mounts it made, so that its next run can remove what "
    "a killed process left (default: $XDG_STATE_HOME/assay or ~/.local/state/assay).",
)
DATA_DIRECTORY = EnvVar(
    "ASSAY_DATA_DIRECTORY",
    "Where the storage `here` makes data directories; it must be there (default: .assay in the "
    "current directory, which is made, or /var/tmp where the server's user cannot reach that).",
)
SERVER_USER = EnvVar(
    "ASSAY_SERVER_USER",
    "The unprivileged user that private servers run as when Assay is run by root (default: assay, "
    "made where it does not exist).",
)
SERVER_ADDRESS = EnvVar(
    "ASSAY_SERVER_ADDRESS",
    "The address of this machine at which a private server is reached by TCP (`transport=tcp`). "
    "Another than of loopback lets load generators of other machines reach it; the server then has "
    "a password, or is refused (default: 127.0.0.1).",
)
SERVER_START = EnvVar(
    "ASSAY_SERVER_START_S",
    "Seconds that a private server may take to become ready, and its programs to make a data "
    "directory (default: 60 and 300; a system that is known to start slowly has more).",
    "seconds",
)
XDG_STATE_HOME = EnvVar(
    "XDG_STATE_HOME", "Where programs keep their state; see ASSAY_STATE_DIRECTORY."
)
INPUT_DIRECTORY = EnvVar(
    "ASSAY_INPUT_DIRECTORY",
    "Where `assay install` keeps data sets (default: $XDG_DATA_HOME/assay/input or "
    "~/.local/share/assay/input).",
)
XDG_DATA_HOME = EnvVar("XDG_DATA_HOME", "Where programs keep data; see ASSAY_INPUT_DIRECTORY.")
DATASETS = EnvVar(
    "ASSAY_DATASETS",
    "A folder in which copies of loaded data are kept, to be restored by later runs (default: none "
    "are kept); the option --datasets wins.",
)
NEW_DATA = EnvVar(
    "ASSAY_NEW_DATA",
    "A folder in which new data directories of servers are kept, so that later servers of the same "
    "program begin with a copy, which takes less time (default: none are kept).",
)
RECORDS = EnvVar(
    "ASSAY_RECORDS",
    "The file that keeps all runs (default: assay-records.sqlite in the current directory); the "
    "option --records wins.",
)
MACHINE = EnvVar(
    "ASSAY_MACHINE",
    "What this machine is called in records and reports, where several are compared (default: by "
    "its processors and memory).",
)
PROBE_SECONDS = EnvVar(
    "ASSAY_PROBE_SECONDS",
    "How many seconds `assay run` probes each storage before its first use (default: 2 where "
    "storages are compared, else 0: not at all); --probe-seconds and --no-probe win.",
)
AGAIN = EnvVar(
    "ASSAY_AGAIN",
    "`yes`: `assay run` measures storages and the durability of commits even if the user's cache "
    "has their results of the last 24 hours (default: no).",
    "flag",
)
REPEAT_DISTURBED = EnvVar(
    "ASSAY_REPEAT_DISTURBED",
    "Whether `assay run` measures repetitions and trials again that other programs disturbed: `no` "
    "for a machine that is always busy, where that would take much longer (default: yes); "
    "--no-repeat wins.",
    "flag",
)
RECORD_TIMEOUT = EnvVar(
    "ASSAY_RECORD_TIMEOUT_S",
    "Seconds that a run waits for a record file which another process has locked, before it goes "
    "on in a rescue file beside it (default: 600).",
    "seconds",
)
DBAPI_PASSWORD = EnvVar(
    "ASSAY_DBAPI_PASSWORD",
    "The password that a system `dbapi:MODULE` gives to the module's connect().",
)
COLUMNS = EnvVar(
    "COLUMNS",
    "How many columns reports and tables may take, also in a pipe or a file (default: those of the "
    "terminal; elsewhere 80 for reports, and as many as they need for lists).",
)
BIBSQL_PROFILES = EnvVar(
    "ASSAY_BIBSQL_PROFILES",
    "The file of `bibsql --profile` (default: $XDG_CONFIG_HOME/assay/bibsql.toml or "
    "~/.config/assay/bibsql.toml).",
)
READER_PASSWORD = EnvVar(
    "ASSAY_READER_PASSWORD", "The password of the user that `bibtosql --reader` makes."
)
XDG_CONFIG_HOME = EnvVar(
    "XDG_CONFIG_HOME", "Where programs keep what a person configured; see ASSAY_BIBSQL_PROFILES."
)
CACHE = EnvVar(
    "ASSAY_CACHE",
    "Where `assay install` keeps programs (default: $XDG_CACHE_HOME/assay or ~/.cache/assay; for "
    "root /var/cache/assay, because servers run as another user).",
)
XDG_CACHE_HOME = EnvVar(
    "XDG_CACHE_HOME", "Where programs keep what they can make again; see ASSAY_CACHE."
)


def home() -> Path | None:
    """The user's home directory: $HOME where that is a folder, else that of the user database; None
    where neither exists."""
    named = os.environ.get("HOME")
    if named and paths.is_folder(Path(named)):
        return Path(named)
    try:
        found = Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return None
    return found if paths.is_folder(found) else None


def every() -> list[EnvVar]:
    """In their order here."""
    return [one for one in globals().values() if isinstance(one, EnvVar)]


def refuse_wrong_values() -> None:
    """Raises `ArgumentError` for the first variable with a value that cannot be read."""
    for one in every():
        if one.kind == "seconds":
            one.seconds(0)
        elif one.kind == "flag":
            one.flag(default=False)
