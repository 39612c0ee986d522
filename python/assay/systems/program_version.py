"""Takes a program; returns the version that it prints."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from assay.errors import SystemMissing

_NUMBER = re.compile(r"\d+(?:\.\d+)+(?:[-.~+\w]*\w)?")


def said_version(program: Path) -> str:
    """All that ``program --version`` prints. Raises `SystemMissing` where it cannot be run."""
    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SystemMissing(f"{program} cannot be run: {error}") from error
    return (said.stdout + said.stderr).strip()


def version_of(program: Path) -> str:
    """The version number within that. Raises `SystemMissing` where there is none."""
    said = said_version(program)
    # Some begin with their own path, which may have a number in it.
    found = _NUMBER.search(said.replace(str(program), ""))
    if found is None:
        raise SystemMissing(f"{program} --version says {said!r}, no version")
    return found[0]
