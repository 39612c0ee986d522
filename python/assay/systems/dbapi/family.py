"""The family of systems that DB-API modules reach: ``dbapi:MODULE`` or ``dbapi:MODULE+DIALECT``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from assay.contracts.dialects.protocol import Dialect
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError
from assay.systems.dbapi import dialects, keywords
from assay.systems.dbapi.modules import KNOWN, Module
from assay.systems.dbapi.system import DbapiSystem

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


class DbapiFamily:
    name = keywords.SCHEME
    help = (
        "Any Python module that follows DB-API 2.0 (PEP 249), with the keyword arguments of its "
        "`connect()` in brackets: `dbapi:pymysql[host=h,user=u]`. Another dialect than "
        "the module's stands behind a plus sign, by its name or as a file: "
        "`dbapi:pyodbc+ingres[dsn=bench]`. See [the guide](../guides/dbapi.md)."
    )
    member_word = "MODULE"
    known_members: Sequence[str] = tuple(KNOWN)

    null_member = "assay.provision.engine.dbapi.null"
    also_called: Mapping[str, str] = {
        other: module
        for module, facts in reversed(list(KNOWN.items()))
        for other in (facts.dialect, module.lower(), *facts.also_called)
    }

    @property
    def dialects(self) -> Mapping[str, Dialect]:
        return dialects.known()

    def member(self, word: str) -> System:
        return _member(word, dialects.version_of(word.partition("+")[2]))

    def dialect_of_file(self, file: Path) -> Dialect:
        return dialects.of_word(str(file))

    def dialect_content(self, word: str) -> str:
        return dialects.content_of(word.partition("+")[2])

    def url(self, word: str, given: Mapping[str, str]) -> str:
        del word
        return keywords.url(given)


@cache
def _member(word: str, version: str) -> System:
    """Made once; again where its dialect is a file that has another ``version`` now."""
    del version
    module, plus, dialect = word.partition("+")
    if not _MODULE.fullmatch(module):
        raise ArgumentError(
            f"'dbapi:{word}': expected the name of a Python module after the colon",
            hint=f"known: {', '.join(KNOWN)}; others too, if they follow DB-API 2.0",
        )
    facts = KNOWN.get(module) or Module("standard", module.partition(".")[0])
    return DbapiSystem(word, module, facts, dialects.of_word(dialect if plus else facts.dialect))


DBAPI = DbapiFamily()
