"""What is known of DB-API modules beside PEP 249: their dialect, and how each differs.

A module that is not listed speaks standard SQL, or the dialect named behind it:
``dbapi:MODULE+DIALECT``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

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
        "postgresql",
        "psycopg2-binary",
        code_attribute="pgcode",
        can_cancel=True,
        is_verified=True,
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
