"""The family of systems that DB-API modules reach: ``dbapi:MODULE`` or ``dbapi:MODULE+DIALECT``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from assay import registry
from assay.contracts.dialects.protocol import Dialect
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError
from assay.systems.dbapi import keywords
from assay.systems.dbapi.dialects import DIALECTS
from assay.systems.dbapi.modules import KNOWN, Module
from assay.systems.dbapi.system import DbapiSystem

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


class DbapiFamily:
    name = keywords.SCHEME
    help = (
        "Any Python module that follows DB-API 2.0 (PEP 249), with the keyword arguments of its "
        "`connect()` in brackets: `dbapi:pymysql[host=h,user=u]`. Another dialect than "
        "the module's stands behind a plus sign: `dbapi:pyodbc+ingres[dsn=bench]`. See "
        "[the guide](../guides/dbapi.md)."
    )
    member_word = "MODULE"
    known_members: Sequence[str] = tuple(KNOWN)

    null_member = "assay.provision.engine.dbapi.null"
    dialects: Mapping[str, Dialect] = DIALECTS
    also_called: Mapping[str, str] = {
        other: module
        for module, facts in reversed(list(KNOWN.items()))
        for other in (facts.dialect, module.lower(), *facts.also_called)
    }

    def member(self, word: str) -> System:
        return _member(word)

    def url(self, word: str, given: Mapping[str, str]) -> str:
        del word
        return keywords.url(given)


@cache
def _member(word: str) -> System:
    module, plus, dialect = word.partition("+")
    if not _MODULE.fullmatch(module):
        raise ArgumentError(
            f"'dbapi:{word}': expected the name of a Python module after the colon",
            hint=f"known: {', '.join(KNOWN)}; others too, if they follow DB-API 2.0",
        )
    facts = KNOWN.get(module) or Module("standard", module.partition(".")[0])
    if plus and dialect not in DIALECTS:
        registry.dialect_of_package(dialect, DIALECTS)
    return DbapiSystem(module, facts, dialect or facts.dialect, named_dialect=bool(plus))


DBAPI = DbapiFamily()
