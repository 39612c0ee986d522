"""Takes the name of a Python module; returns what it is, as another process finds that imports it.

Raises `SystemMissing` where it cannot be imported, `ArgumentError` where it is no DB-API 2.0
module.
"""

from __future__ import annotations

import importlib.util
from functools import cache

from assay.contracts.engine.messages import Examined
from assay.contracts.systems.abilities import FoundPrograms
from assay.errors import ArgumentError, SystemMissing
from assay.provision.engine import python_calls

STYLES = ("qmark", "numeric", "named", "format", "pyformat")


def find(module: str, package: str) -> FoundPrograms:
    """The module; the server behind it is not asked. ``package``: what pip installs it by; empty:
    it comes with Python."""
    found = _examined(module, package)
    return FoundPrograms(found["version"], found["place"])


def insist_on_dbapi(module: str, package: str) -> None:
    found = _examined(module, package)
    style = found["paramstyle"]
    lacking = [
        name
        for name, is_there in (("connect", found["connects"]), ("paramstyle", style is not None))
        if not is_there
    ]
    if lacking:
        raise ArgumentError(
            f"the Python module {module} does not follow DB-API 2.0: it has no "
            f"{' and no '.join(lacking)}",
            hint="some packages have the interface in a module of its own (pg8000.dbapi)",
        )
    if style not in STYLES:
        raise ArgumentError(
            f"the Python module {module} does not follow DB-API 2.0: expected a paramstyle of "
            f"{', '.join(STYLES)}, found {style}",
            hint="some packages have the interface in a module of its own (pg8000.dbapi)",
        )


@cache
def _examined(module: str, package: str) -> Examined:
    """An exception is not kept: the module may be installed meanwhile."""
    to_install = (
        f"install it into the environment that Assay runs in: pip install {package}"
        if package
        else "it comes with Python: this Python was built without it"
    )
    top = module.partition(".")[0]
    if not _is_there(top):
        raise SystemMissing(
            f"the Python module {module} cannot be imported: there is no module {top}",
            hint=to_install,
        )
    found = python_calls.examine(module)
    if "ended" in found:
        raise SystemMissing(
            f"the module {module} ended the program while it was imported "
            f"(exit status {found['ended']})",
            hint="a module must not end the program that uses it: use another one",
        )
    if "exception" not in found:
        return found
    missing = found["missing"]
    if missing is not None and f"{module}.".startswith(f"{missing}."):
        hint = to_install
    elif missing is not None:
        hint = f"{module} needs the module {missing}: install it into the same environment"
    elif found["is_import"] or found["exception"] == "OSError":
        hint = "install the library that it names, with the package manager of this machine"
    else:
        hint = f"the module itself has an error: update it, or see python -c 'import {module}'"
    kind = "" if found["is_import"] else f"{found['exception']}: "
    raise SystemMissing(
        f"the Python module {module} cannot be imported: {kind}{found['words']}", hint=hint
    )


def _is_there(top: str) -> bool:
    """Of a module without dots; nothing is imported for that."""
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        return True  # its import says more
