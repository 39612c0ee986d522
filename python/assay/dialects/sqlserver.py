"""How Microsoft SQL Server differs from standard SQL: in types, in literals, in marks and
statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Table
from assay.contracts.documents import TextStyle
from assay.dialects.limits import BoundedIndexes, SchemaLimits
from assay.dialects.standard import TRUTH_AS_NUMBERS, codes, script_words, type_words, words

# "Reserved keywords (Transact-SQL)" in Microsoft's documentation, without those of ODBC alone.
_RESERVED_WORDS = """
    add all alter and any as asc authorization backup begin between break browse bulk by cascade
    case check checkpoint close clustered coalesce collate column commit compute constraint
    contains containstable continue convert create cross current current_date current_time
    current_timestamp current_user cursor database dbcc deallocate declare default delete deny
    desc disk distinct distributed double drop dump else end errlvl escape except exec execute
    exists exit external fetch file fillfactor for foreign freetext freetexttable from full
    function goto grant group having holdlock identity identity_insert identitycol if in index
    inner insert intersect into is join key kill left like lineno load merge national nocheck
    nonclustered not null nullif of off offsets on open opendatasource openquery openrowset
    openxml option or order outer over percent pivot plan precision primary print proc procedure
    public raiserror read readtext reconfigure references replication restore restrict return
    revert revoke right rollback rowcount rowguidcol rule save schema securityaudit select
    semantickeyphrasetable semanticsimilaritydetailstable semanticsimilaritytable session_user
    set setuser shutdown some statistics system_user table tablesample textsize then to top tran
    transaction trigger truncate try_convert tsequal union unique unpivot update updatetext use
    user values varying view waitfor when where while with writetext
"""

_CODES = {
    "constraint": "515 547 2601 2627",
    "deadlock": "1205 40001",
    "serialization": "3960 41302 41305 41325",
    "timeout": "1222 HYT00 HYT01",
    "unknown object": "207 208 2812 3701 4902 42S02 42S22",
    "syntax": "102 105 156 170 319",
    "permission": "229 230 262 3906",
    "authentication": "4060 18452 18456",
    "too many connections": "10928 10929 17809",
    "data": "241 242 245 2628 8114 8115 8152",
    "resources": "701 802 1105 9002",
    "lost connection": "233 10053 10054 20003 20047 08S01",
}


class SqlServerDialect(BoundedIndexes):
    name = "sqlserver"
    text_style = TextStyle(bracketed_names=True)
    version_query = "SELECT @@VERSION"
    limits = SchemaLimits(
        source="Microsoft: maximum capacity specifications for SQL Server",
        identifier_length=128,
        columns=1024,
        varchar_length=4_000,  # 8,000 bytes
        indexes_text=False,  # a key of an index has at most 1,700 bytes
    )
    server_names = ("SQL Server",)
    reserved_words = words(_RESERVED_WORDS)
    error_classes = codes(_CODES)
    truth_words = TRUTH_AS_NUMBERS
    type_words = type_words(
        {
            "int": "INT",
            "double": "FLOAT(53)",
            # Of any language: CHAR and VARCHAR have one code page.
            "char": "NCHAR",
            "varchar": "NVARCHAR",
            "text": "NVARCHAR(MAX)",
            "timestamp": "DATETIME2(6)",  # TIMESTAMP is a counter of the server's own
            "bool": "BIT",
            "bytes": "VARBINARY(MAX)",
        }
    )

    # No regular expressions: LIKE knows sets of characters, here by code point.
    script_words = script_words({"matches": "{0} collate Latin1_General_BIN2 like {2}"})

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        """A table carries properties in place of a comment."""
        added = (
            "DECLARE @schema sysname = SCHEMA_NAME(); EXEC sp_addextendedproperty @name = 'assay', "
            f"@value = {self.literal(mark)}, @level0type = 'SCHEMA', @level0name = @schema, "
            f"@level1type = 'TABLE', @level1name = {self.literal(table.name)}"
        )
        return [*self.create_table(table, options), added]

    def marks_query(self, database: str) -> str | None:
        del database
        return (
            "SELECT t.name, CAST(p.value AS NVARCHAR(400)) FROM sys.tables t "
            "JOIN sys.extended_properties p ON p.major_id = t.object_id AND p.minor_id = 0 "
            "WHERE p.name = 'assay' AND t.schema_id = SCHEMA_ID()"
        )

    def update_statistics(self, tables: Sequence[Table]) -> list[str]:
        return [f"UPDATE STATISTICS {self.identifier(table.name)}" for table in tables]

    def session_isolation(self, level: str) -> list[str]:
        self.insist_on_level(level)
        return [f"SET TRANSACTION ISOLATION LEVEL {level.upper()}"]

    def literal(self, text: str | None) -> str:
        """Of any language."""
        return "NULL" if text is None else f"N{super().literal(text)}"


SQL_SERVER = SqlServerDialect()
