"""A DB-API 2.0 module that does nothing: every query has one row, every other statement none.

What clients reach with it is the most that they can reach with any module (`assay measure
client`). It is compiled, because most modules are.
"""

from __future__ import annotations

from assay._engine import NullDbapiConnection

apilevel = "2.0"
threadsafety = 2
paramstyle = "qmark"


class Error(Exception):
    pass


def connect(**keywords: object) -> NullDbapiConnection:
    del keywords
    return NullDbapiConnection()
