#!/usr/bin/env python3
"""Brings what the product and its tests start and this machine has not: the Debian packages of all
declared programs (`assay.provision.machine.program`), and the systems that `assay install` can
bring.

With --peers also what benchmarks are compared with. Only programs: no service is set up or started,
each test makes its own private server. What does not come is a note: tests that need it are skipped
with the reason.

`python tools/servers.py where SYSTEM` prints where a system is on this machine; nothing where it is
not.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import assay
from assay import registry
from assay.contracts.systems.abilities import Findable, Installable
from assay.errors import SystemMissing
from assay.provision.machine import program
from assay.provision.machine.program import Program

ROOT = Path(__file__).resolve().parents[1]
CLUSTERS = Path("/etc/postgresql-common/createcluster.conf")
"""Debian's package of this name makes and starts a server of its own, unless this file forbids."""

PYTHON = "libpython{}.{}".format(*sys.version_info)
LIBRARIES = {"libtommath.so.1": "libtommath1", f"{PYTHON}.so.1.0": PYTHON}
"""Those that tests need besides programs, each with its Debian package: of the wheel's Firebird,
and one that the engine's tests load before DuckDB, which is an extension module of Python here."""

SECOND_VERSIONS = ("duckdb@1.5.6",)
"""Of systems that tests run in two versions, where one comes in seconds (21 MB)."""


def loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


@cache
def declared(*, peers: bool = False) -> frozenset[Program]:
    """Every program that the product and its tests start; with those of benchmarks."""
    package = Path(assay.__path__[0])
    for path in package.rglob("*.py"):
        if path.stem not in ("__main__", "__init__"):  # the first runs, its folder is imported
            inside = path.relative_to(package.parent).with_suffix("")
            importlib.import_module(".".join(inside.parts))
    for folder in (ROOT, ROOT / "tests" / "support"):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    importlib.import_module("programs")
    if peers:
        importlib.import_module("benches._client_peers")
    return program.declared()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--peers", action="store_true", help="also for `make bench`")
    parser.add_argument("where", nargs="*", metavar="where SYSTEM")
    options = parser.parse_args()
    if options.where:
        print(where(options.where[-1]) or "")
        return
    missing = {
        one.package
        for one in declared(peers=options.peers)
        if one.package and not one.is_optional and one.find_anywhere() is None
    }
    missing |= {package for library, package in LIBRARIES.items() if not loads(library)}
    if missing:
        bring(sorted(missing))
    for name, system in registry.usable_systems():
        if isinstance(system, Installable) and where(name) is None:
            install(name)
    for name in SECOND_VERSIONS:
        install(name)


def install(name: str) -> None:
    """``NAME`` or ``NAME@VERSION``; nothing is done where it was installed before."""
    assay_program = Path(sys.executable).with_name("assay")
    if subprocess.run([assay_program, "install", name], stdout=sys.stderr).returncode:
        note([name])


def where(name: str) -> str | None:
    system = registry.system(name)
    assert isinstance(system, Findable), name
    try:
        return system.find().place
    except SystemMissing as missing:
        print(f"{missing.message} ({missing.hint})", file=sys.stderr)
        return None


def bring(packages: list[str]) -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        note(packages)
        return
    apt("update")
    if any(one.startswith("postgresql") for one in packages) and not CLUSTERS.exists():
        apt("install", "postgresql-common")
        with CLUSTERS.open("a", encoding="utf-8") as file:
            file.write("create_main_cluster = false\n")
    if not apt("install", *packages):
        # Another release may lack one, which must not keep the others away.
        note(one for one in packages if not apt("install", one))


def apt(*words: str) -> bool:
    command = ["apt-get", words[0], "-y", "-q", "--no-install-recommends", *words[1:]]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, env=environment, stdout=sys.stderr).returncode == 0


def note(names: Iterable[str]) -> None:
    if names := list(names):
        print(
            f"note: not on this machine: {' '.join(names)}. Tests that need them are skipped with "
            "the reason.",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
