"""How Db2 (LUW) differs from standard SQL: in lengths, in keys, in isolation levels and in its
commands for statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Table
from assay.dialects.limits import BoundedIndexes, SchemaLimits
from assay.dialects.standard import codes, script_words, type_words

_LEVELS: Mapping[str, str] = {
    "read uncommitted": "UR",
    "read committed": "CS",
    "repeatable read": "RS",
    "serializable": "RR",
}
"""Its own names: its repeatable read is the standard's serializable."""

_CODES = {
    "constraint": "SQL0407N SQL0530N SQL0531N SQL0532N SQL0545N SQL0803N",
    "deadlock": "SQL0911N SQL0913N 40001",
    "timeout": "SQL0952N",
    "unknown object": "SQL0204N SQL0206N",
    "syntax": "SQL0104N SQL0007N SQL0010N SQL0117N SQL0440N",
    "permission": "SQL0551N SQL0552N",
    "authentication": "SQL30082N SQL1013N SQL1060N",
    "too many connections": "SQL1040N SQL1226N",
    "data": "SQL0180N SQL0302N SQL0304N SQL0408N SQL0420N SQL0433N",
    "resources": "SQL0289N SQL0955C SQL0964C SQL0968C",
    "lost connection": "SQL1224N SQL30081N SQL1024N",
}


class Db2Dialect(BoundedIndexes):
    """Every name can stand unquoted: no word is reserved."""

    name = "db2"
    version_query = "SELECT service_level FROM TABLE(sysproc.env_get_inst_info()) AS found"
    limits = SchemaLimits(
        source="Db2 documentation, SQL and XML limits; restrictions on LOB strings",
        identifier_length=128,
        columns=1012,
        varchar_length=8_168,  # of 4 bytes: 32,672 bytes
        row_bytes=32_677,  # on pages of 32 KiB
        searches_text=False,  # a CLOB: no =, ORDER BY, DISTINCT
        indexes_text=False,
    )
    server_names = ("Db2",)
    needs_not_null_in_keys = True
    error_classes = codes(_CODES)
    type_words = type_words(
        {
            "double": "DOUBLE",
            # Lengths are in characters; by themselves they are in bytes.
            "char": "CHAR({n} CODEUNITS32)",
            "varchar": "VARCHAR({n} CODEUNITS32)",
            "text": "CLOB(16M CODEUNITS32)",
            "timestamp": "TIMESTAMP(6)",
            "bytes": "BLOB(16M)",
        }
    )
    script_words = script_words(
        {"matches": "regexp_like({0}, {1})", "substring": "substr({0}, {1}, {2})"}
    )

    def marks_query(self, database: str) -> str | None:
        del database
        return (
            "SELECT tabname, remarks FROM syscat.tables "
            "WHERE tabschema = CURRENT SCHEMA AND type = 'T'"
        )

    def update_statistics(self, tables: Sequence[Table]) -> list[str]:
        return [
            "CALL SYSPROC.ADMIN_CMD('RUNSTATS ON TABLE "
            f"{self.identifier(table.name)} WITH DISTRIBUTION AND INDEXES ALL')"
            for table in tables
        ]

    def session_isolation(self, level: str) -> list[str]:
        self.insist_on_level(level)
        return [f"SET CURRENT ISOLATION = {_LEVELS[level]}"]

    def begin_at(self, level: str) -> list[str]:
        """The level stays the session's; a transaction without one has the session's own again."""
        if not level:
            return ["SET CURRENT ISOLATION = RESET", *self.begin()]
        return [*self.session_isolation(level), *self.begin()]


DB2 = Db2Dialect()
