"""How Ingres (Actian) differs from standard SQL: in types, in keys, and in its SQLSTATEs."""

from __future__ import annotations

from collections.abc import Mapping

from assay.dialects.bounded_indexes import BoundedIndexes, codes, type_words, words
from assay.dialects.limits import SchemaLimits

# "Reserved single keywords" in the SQL Reference of Ingres.
_RESERVED_WORDS = """
    abort activate add after all alter and any as asc asymmetric at authorization avg before begin
    between boolean both by byref cache call cascade case cast check close coalesce collate column
    comment commit connect constraint continue copy count create cross current current_user cursor
    cycle datahandler date declare default define delete deleteall describe descending destroy
    direct disable disconnect display distinct do down drop dynamic else elseif enable end endfor
    endif endloop endrepeat endwhile escape except exclude excluding execute exists exit fetch
    field finalize first for foreign from full get getdata global goto grant group having if
    iimessage immediate import in include index initial_user inner inquire_ingres inquire_sql
    insert integrity intersect into is join key leading leave left level like local long loop max
    menuitem min minvalue mode modify module natural next no nocache nocycle noorder not null
    nullif of on only open option or order out outer overlaps param partition permit prepare
    preserve primary privileges procedure public raise range references register relocate remove
    rename repeat replace resetcmd restart restrict result retrieve return revoke right role
    rollback row rows save savepoint schema screen scroll section select session session_user set
    sleep some start stop sum symmetric system system_user table tableinfo temporary then to
    trailing transaction trim trigger union unique unloadtable until update user using validate
    values view when whenever where while with work
"""

_CODES = {
    "constraint": "23501 23502 23503 23504 23505",
    "deadlock": "40001",
    "timeout": "5000P",
    "unknown object": "42500 42501",
    "permission": "42503 42504",
    "resources": "50000 50002",
}


class IngresDialect(BoundedIndexes):
    name = "ingres"
    version_query = "SELECT dbmsinfo('_version')"
    limits = SchemaLimits(
        source="Actian SQL Reference: data types, restrictions on long data types",
        identifier_length=256,
        columns=1024,
        varchar_length=8_000,  # of 4 bytes: 32,000 bytes
        row_bytes=262_144,
        searches_text=False,  # LONG VARCHAR: no comparison, no ORDER BY
        indexes_text=False,
    )
    server_names: tuple[str, ...] = ("Ingres",)
    needs_not_null_in_keys = True
    keeps_statistics = False  # a program of the server gathers them: optimizedb
    reserved_words = words(_RESERVED_WORDS)
    error_classes = codes(_CODES)
    type_words: Mapping[str, str] = type_words(
        {
            "text": "LONG VARCHAR",
            "date": "ANSIDATE",  # DATE can be Ingres's own type with a time of day
            "timestamp": "TIMESTAMP(6) WITHOUT TIME ZONE",
            "bytes": "LONG BYTE",
        }
    )

    def marks_query(self, database: str) -> str | None:
        del database
        return "SELECT object_name, long_remark FROM iidb_comments WHERE object_type = 'T'"

    def session_isolation(self, level: str) -> list[str]:
        self.insist_on_level(level)
        return [f"SET SESSION ISOLATION LEVEL {level.upper()}"]

    def session_read_only(self) -> list[str]:
        return ["SET SESSION READ ONLY"]


INGRES = IngresDialect()
