"""Takes Go modules and the text of a main package; builds the program, by the machine's Go.

Go's own configuration decides where modules come from. Its caches lie within the prefix while it
builds, and are removed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from assay.install import client
from assay.install.client import InstallFailed
from assay.install.prefix import Prefix, Report

_USUAL = "/usr/local/go/bin/go"
"""Where Go's own archive is unpacked, often outside $PATH."""


def go_program(least: tuple[int, int], prefix: Prefix) -> str:
    """A Go that is new enough. Raises `InstallFailed`, which says what was found."""
    wanted = f"Go {least[0]}.{least[1]} or newer"
    bring = f"install {wanted}, and have go in $PATH"
    go = shutil.which("go") or (_USUAL if os.access(_USUAL, os.X_OK) else None)
    if go is None:
        raise InstallFailed("the program go is not on this machine", hint=bring)
    said = client.run([go, "env", "GOVERSION"], prefix, environment={"GOTOOLCHAIN": "local"})
    found = re.match(r"go(\d+)\.(\d+)", said.strip())
    if found is None or (int(found[1]), int(found[2])) < least:
        raise InstallFailed(f"expected {wanted}, found {said.strip() or go}", hint=bring)
    return go


def build(
    modules: Mapping[str, str],
    main: str,
    to: Path,
    prefix: Prefix,
    report: Report,
    *,
    least_go: tuple[int, int] = (1, 21),
    flags: tuple[str, ...] = (),
) -> None:
    """``modules`` maps the path of a module to its version, ``main`` is the text of main.go, ``to``
    the program's file. Raises `InstallFailed`."""
    go = go_program(least_go, prefix)
    work = prefix.folder / ".go"
    sources = work / "sources"
    sources.mkdir(parents=True)
    (sources / "main.go").write_text(main, encoding="utf-8")
    environment = {
        "GOPATH": str(work / "path"),
        "GOCACHE": str(work / "cache"),
        # The machine's Go builds it: no other one is downloaded.
        "GOTOOLCHAIN": "local",
        # Modules are read-only otherwise, and could not be removed.
        "GOFLAGS": "-modcacherw",
    }

    def go_run(*words: str) -> None:
        client.run([go, *words], prefix, folder=sources, environment=environment)

    report(f"Go brings {', '.join(f'{path} {version}' for path, version in modules.items())}")
    go_run("mod", "init", "assay.invalid/program")
    for path, version in modules.items():
        go_run("get", f"{path}@{version}")
    report("Go compiles it; this takes a few minutes")
    go_run("mod", "tidy")
    go_run("build", "-o", str(to), *flags, ".")
    shutil.rmtree(work)
    to.chmod(0o755)
