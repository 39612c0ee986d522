"""Finds DuckDB's library: the file that the environment names, the Python package's, this
machine's, or the newest that was installed; and installs it from the Python package.

The extension module of the Python package exports DuckDB's whole C interface, and nothing of it is
imported: the driver loads it as it loads a plain ``libduckdb.so``.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from assay.contracts.installing import Prefix, Report
from assay.env_vars import EnvVar
from assay.errors import SystemMissing
from assay.provision.install import cache, python_wheel

LIBRARY = EnvVar(
    "ASSAY_DUCKDB_LIBRARY",
    "The file of the DuckDB library to use: a libduckdb.so, or the extension module of DuckDB's "
    "Python package; without it, it is looked for in that package, in the usual places, and among "
    "what `assay install` brought.",
)

MODULE = "_duckdb"
LEAST_VERSION = "1.5"
"""Of the functions that the driver calls."""
_NUMBERS = 3
"""Of a whole version."""
WHY_NOT_OLDER = "the library of an older one cannot take back the rows of a bulk load that failed"
_USUAL = ("/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu")


def find_library(programs: str = "") -> Path:
    """The file ``programs``; without it, the one that the environment names, or this machine's.
    Raises `SystemMissing`."""
    if (chosen := programs or LIBRARY.get()) is not None:
        path = Path(chosen).absolute()
        if path.is_file():
            return path
        raise SystemMissing(
            f"{path} is no file" if programs else f"{LIBRARY.name} names {path}, which is no file",
            hint="name DuckDB's shared library",
        )
    installed = cache.newest("duckdb")
    for path in [*places(), *(_modules(installed) if installed else ())]:
        if path.is_file():
            return path.resolve()
    raise SystemMissing(
        "DuckDB's library is not on this machine",
        hint=f"bring it without root: assay install duckdb; or name its file in {LIBRARY.name}",
    )


def library_in(folder: Path) -> Path:
    """The library in a folder that `install` filled. Raises `SystemMissing`."""
    for path in _modules(folder):
        if path.is_file():
            return path
    raise SystemMissing(f"it has no module {MODULE}: expected DuckDB {LEAST_VERSION} or later")


def install(version: str, prefix: Prefix, report: Report) -> None:
    """See `assay.contracts.systems.abilities.Installable`."""
    requirement = python_wheel.requirement("duckdb", version, _NUMBERS)
    python_wheel.unpack(requirement, prefix.folder, prefix, report)


def places() -> Iterable[Path]:
    """Where it may be, besides what `install` brought."""
    module = find_spec(MODULE)
    if module is not None and module.origin is not None:
        yield Path(module.origin)
    for folder in _USUAL:
        yield Path(folder) / "libduckdb.so"


def _modules(folder: Path) -> Iterable[Path]:
    for suffix in EXTENSION_SUFFIXES:
        yield folder / f"{MODULE}{suffix}"
