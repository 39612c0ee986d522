"""Takes a requirement (``NAME==VERSION``, ``NAME==1.5.*``); unpacks its wheel for this Python into
a folder, by uv or pip. Nothing is installed into the environment that Assay runs in."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

from assay.contracts.installing import Prefix, Report
from assay.provision.install import client
from assay.provision.install.client import InstallFailed
from assay.provision.machine.program import Program

UV = Program("uv", None)
PIP = Program("pip3", "python3-pip", is_optional=True)

_ANY = ".*"
_UNKNOWN = re.compile(
    r"there is no version of|(?:is|are) available[\s\S]*?you\s+require|from versions: \d|"
    r"Failed to parse|Invalid requirement",
    re.IGNORECASE,
)
"""What uv and pip write where there is no such version; pip knows no version at all without a
network."""


def requirement(package: str, version: str, numbers: int) -> str:
    """Of a version that may be only the beginning of one (``1.5`` of ``numbers`` = 3): then the
    newest of those that begin so."""
    parts = version.split(".")
    is_beginning = len(parts) < numbers and all(part.isdecimal() for part in parts)
    return f"{package}=={version}{_ANY if is_beginning else ''}"


def unpack(
    requirement: str, to: Path, prefix: Prefix, report: Report, *, dependencies: bool = False
) -> None:
    """Into ``to``, as ``pip install --target`` has it. Raises `InstallFailed`."""
    report(f"the Python package client brings {requirement}")
    name, _, version = requirement.partition("==")
    with client.version_of(name, version.removesuffix(_ANY), _UNKNOWN):
        client.run(
            [
                *_client(),
                "--target",
                to,
                "--only-binary",
                ":all:",
                *([] if dependencies else ["--no-deps"]),
                requirement,
            ],
            prefix,
        )


def _client() -> list[str]:
    """The words that install a package for the Python we run in."""
    beside = Path(sys.executable).parent / "uv"
    if uv := UV.find_in_path() or (str(beside) if beside.exists() else None):
        return [uv, "pip", "install", "--quiet", "--no-cache", "--python", sys.executable]
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    if pip := PIP.find_in_path():
        return [pip, f"--python={sys.executable}", "install", "--quiet", "--no-cache-dir"]
    raise InstallFailed(
        "neither uv nor pip is on this machine",
        hint=f"install one of them: {PIP.hint} (Debian, Ubuntu)",
    )
