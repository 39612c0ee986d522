"""Runs a package client (``apt-get``, ``mvn``, ``go``, ``pip``) that writes into a prefix.

Its processes carry the mark of the prefix: however an installation ends, none of them is left, and
those of a killed one are found at the next start.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.contracts.installing import Prefix
from assay.errors import SystemUnderTestError
from assay.provision.machine import process_tags
from assay.provision.machine.identity import ProcessIdentity
from assay.provision.machine.program import Program

TIMEOUT_S = 3600.0
_LAST_LINES = 12
_HINT = (
    "is the network there, and is the client set up for it (its mirror, its proxy)? try the same "
    "program by itself"
)


_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""Colours, which some programs write into a file too."""


class InstallFailed(SystemUnderTestError):
    """A package client is missing, or did not bring what it was asked for."""


class VersionUnknown(InstallFailed):
    """The package client was reached, and does not have that ``version``."""

    def __init__(self, message: str, version: str) -> None:
        super().__init__(message)
        self.version = version


@contextlib.contextmanager
def version_of(package: str, version: str, is_unknown: re.Pattern[str]) -> Iterator[None]:
    """Within the block, `InstallFailed` with words that match ``is_unknown`` becomes
    `VersionUnknown`."""
    try:
        yield
    except InstallFailed as error:
        if is_unknown.search(error.message):
            raise VersionUnknown(f"there is no {package} {version}", version) from error
        raise


def need(program: Program, bring: str) -> str:
    """The path of a program; raises `InstallFailed`, whose hint is ``bring``, without it."""
    found = program.find_in_path()
    if found is None:
        raise InstallFailed(f"the program {program.name} is not on this machine", hint=bring)
    return found


def run(
    words: Sequence[str | Path],
    prefix: Prefix,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    standard_input: int = subprocess.DEVNULL,
    timeout_s: float = TIMEOUT_S,
    without: re.Pattern[str] | None = None,
) -> str:
    """Runs a program to its end; returns its standard output.

    Raises `InstallFailed` with the end of its words where its status is not 0 or it takes longer
    than ``timeout_s``. Lines that match ``without`` are left out of them.
    """
    program = Path(words[0]).name
    # In a session of its own: Ctrl-C reaches us, and we end it with everything it started.
    child = subprocess.Popen(
        [str(word) for word in words],
        stdin=standard_input,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder or prefix.folder,
        start_new_session=True,
        env={
            **os.environ,
            "LC_ALL": "C",
            **(environment or {}),
            process_tags.TAG_VARIABLE: prefix.identity,
        },
    )
    with child:
        try:
            said, complained = child.communicate(timeout=timeout_s)
        except BaseException as error:
            process_tags.kill(prefix.identity, ProcessIdentity.of(child.pid))
            child.wait()  # which the block leaves out after Ctrl-C
            if isinstance(error, subprocess.TimeoutExpired):
                raise InstallFailed(f"{program} did not end within {timeout_s:g} s") from error
            raise
    if child.returncode != 0:
        lines = (_lines(complained, without) or _lines(said, without))[-_LAST_LINES:]
        shown = " ".join([program, *(str(word) for word in words[1:3])])
        raise InstallFailed(
            f"`{shown} …` ended with status {child.returncode}:\n"
            + "\n".join(lines or ["it said nothing"]),
            hint=_HINT,
        )
    return said.decode(errors="replace")


def _lines(output: bytes, without: re.Pattern[str] | None) -> list[str]:
    lines = _ESCAPES.sub("", output.decode(errors="replace")).splitlines()
    return [one for one in lines if one.strip() and not (without and without.search(one))]
