"""What is known of DB-API modules beside PEP 249; takes the name of one, returns what it is, as
another process finds that imports it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct, field

from assay.contracts.engine import Examined
from assay.contracts.systems.abilities import FoundPrograms
from assay.errors import ArgumentError, SystemMissing
from assay.provision.engine import python_calls

Setting = str | int | bool


class Module(Struct, frozen=True):
    """What one module does in its own way."""

    dialect: str
    """A name of `assay.systems.dbapi.dialects.DIALECTS`."""
    package: str
    """What `pip install` gets it by; empty: it comes with Python."""
    password: str = "password"
    """The keyword argument of the password; empty: there are no passwords."""
    keywords: Mapping[str, Setting] = field(default_factory=dict)
    """Given to ``connect()`` where nothing else is said."""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    """Attributes of the module that are set first."""
    code_attribute: str = ""
    """The attribute of its exceptions that has the system's code; empty: ``sqlstate``, or one of
    the arguments."""
    bound_as: tuple[str, ...] = ()
    """Types that it cannot bind, and what is bound for them: ``date=text``, ``decimal=text``,
    ``bool=int``."""
    regexp_function: str = ""
    """The name of the function that REGEXP calls, where the module leaves it to its caller."""
    also_called: tuple[str, ...] = ()
    """Other names of the system, besides that of its dialect."""
    can_cancel: bool = False
    """Whether its connections have ``cancel()`` or ``interrupt()``, which PEP 249 does not ask
    for."""
    is_verified: bool = False
    """Whether the tests run it against a server."""


KNOWN: Final[Mapping[str, Module]] = {
    "sqlite3": Module(
        "sqlite",
        "",
        password="",
        # A session is used by one thread at a time, and not always by the same.
        keywords={"check_same_thread": False, "timeout": 60},
        code_attribute="sqlite_errorcode",
        bound_as=("date=text", "decimal=text"),
        regexp_function="regexp",
        can_cancel=True,
        is_verified=True,
    ),
    "psycopg2": Module(
        "postgresql", "psycopg2-binary", code_attribute="pgcode", can_cancel=True, is_verified=True
    ),
    "psycopg": Module("postgresql", "psycopg[binary]", can_cancel=True),
    "pg8000.dbapi": Module("postgresql", "pg8000", is_verified=True),
    "pymysql": Module("mysql", "pymysql", is_verified=True),
    "MySQLdb": Module("mysql", "mysqlclient"),
    "mysql.connector": Module("mysql", "mysql-connector-python"),
    "pycubrid": Module("cubrid", "pycubrid", code_attribute="errno"),
    "oracledb": Module(
        "oracle",
        "oracledb",
        # Large objects as texts and bytes, and numbers without loss.
        settings={"defaults.fetch_lobs": False, "defaults.fetch_decimals": True},
        bound_as=("bool=int",),
        can_cancel=True,
    ),
    "ibm_db_dbi": Module("db2", "ibm_db"),
    "mssql_python": Module(
        "sqlserver", "mssql-python", password="pwd", also_called=("mssql", "sql-server")
    ),
    "pymssql": Module("sqlserver", "pymssql"),
    "pyodbc": Module("standard", "pyodbc", password="pwd"),
}


STYLES = ("qmark", "numeric", "named", "format", "pyformat")


def find_module(module: str, package: str) -> FoundPrograms:
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
