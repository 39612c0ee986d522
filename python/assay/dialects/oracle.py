"""How Oracle Database differs from standard SQL: in types, in defaults, in dropping and analyzing
tables. An empty text is NULL there, which no dialect can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Column, Table
from assay.contracts.documents import TextStyle
from assay.dialects.limits import BoundedIndexes, SchemaLimits
from assay.dialects.standard import TRUTH_AS_NUMBERS, codes, script_words, type_words, words
from assay.errors import ArgumentError

# Those of V$RESERVED_WORDS that are reserved, from the SQL Language Reference, appendix E.
_RESERVED_WORDS = """
    access add all alter and any as asc audit between by char check cluster column column_value
    comment compress connect create current date decimal default delete desc distinct drop else
    exclusive exists file float for from grant group having identified immediate in increment
    index initial insert integer intersect into is level like lock long maxextents minus mlslabel
    mode modify nested_table_id noaudit nocompress not nowait null number of offline on online
    option or order pctfree prior public raw rename resource revoke row rowid rownum rows select
    session set share size smallint start successful synonym sysdate table then to trigger uid
    union unique update user validate values varchar varchar2 view whenever where with
"""

_CODES = {
    "constraint": "ORA-00001 ORA-01400 ORA-01407 ORA-02290 ORA-02291 ORA-02292",
    "deadlock": "ORA-00060",
    "serialization": "ORA-08177",
    "timeout": "ORA-00054 ORA-01013 ORA-30006 DPY-4024",
    "unknown object": "ORA-00904 ORA-00942 ORA-02289 ORA-04043",
    "syntax": "ORA-00900 ORA-00903 ORA-00905 ORA-00906 ORA-00907 ORA-00909 ORA-00911 ORA-00917 "
    "ORA-00921 ORA-00923 ORA-00933 ORA-00936 ORA-01756 ORA-03048 ORA-03049",
    "permission": "ORA-01031 ORA-01456 ORA-16000",
    "authentication": "ORA-01005 ORA-01017 ORA-28000 ORA-28001 ORA-01045",
    "too many connections": "ORA-00018 ORA-00020 ORA-12516 ORA-12519 ORA-12520",
    "data": "ORA-01438 ORA-01722 ORA-01830 ORA-01840 ORA-01843 ORA-01847 ORA-01858 ORA-01861 "
    "ORA-12899",
    "resources": "ORA-00257 ORA-01536 ORA-01652 ORA-01653 ORA-01654 ORA-04031",
    "lost connection": "ORA-00028 ORA-01089 ORA-01092 ORA-02396 ORA-03113 ORA-03114 ORA-03135 "
    "ORA-12537 DPY-1001 DPY-4011",
}


class OracleDialect(BoundedIndexes):
    name = "oracle"
    text_style = TextStyle(nests_comments=False)
    version_query = "SELECT banner_full FROM v$version"
    limits = SchemaLimits(
        source="Oracle Database Reference, datatype limits and logical database limits",
        identifier_length=128,
        columns=1000,
        varchar_length=1_000,  # of 4 bytes: 4,000 bytes, unless MAX_STRING_SIZE is EXTENDED
        searches_text=False,  # a CLOB: no =, ORDER BY, DISTINCT
        indexes_text=False,
    )
    server_names = ("Oracle",)
    isolation_levels = ("read committed", "serializable")
    own_tables = ("dba_", "v$", "sys.", "dual")
    reserved_words = words(_RESERVED_WORDS)
    error_classes = codes(_CODES)
    truth_words = TRUTH_AS_NUMBERS
    type_words = type_words(
        {
            "smallint": "NUMBER(5)",
            "int": "NUMBER(10)",
            "bigint": "NUMBER(19)",
            "decimal": "NUMBER",
            "float": "BINARY_FLOAT",
            "double": "BINARY_DOUBLE",
            # Lengths are in characters; by themselves they may be in bytes.
            "char": "CHAR({n} CHAR)",
            "varchar": "VARCHAR2({n} CHAR)",
            "text": "CLOB",
            "timestamp": "TIMESTAMP",
            "bool": "NUMBER(1)",
            "bytes": "BLOB",
        }
    )
    script_words = script_words(
        {"matches": "regexp_like({0}, {1})", "substring": "substr({0}, {1}, {2})"}
    )

    def default(self, column: Column) -> str:
        """A text is read as a date in the session's own form, so it is said that it is one."""
        if column.family in ("date", "timestamp"):
            return f"{column.family.upper()} {super().default(column)}"
        return super().default(column)

    def drop_table(self, table: Table) -> list[str]:
        """Not into the recycle bin."""
        return [f"DROP TABLE {self.identifier(table.name)} PURGE"]

    def marks_query(self, database: str) -> str | None:
        del database
        return "SELECT table_name, comments FROM user_tab_comments WHERE table_type = 'TABLE'"

    def update_statistics(self, tables: Sequence[Table]) -> list[str]:
        names = [self.identifier(table.name) for table in tables]
        return [f"CALL DBMS_STATS.GATHER_TABLE_STATS(USER, {self.literal(one)})" for one in names]

    def session_isolation(self, level: str) -> list[str]:
        self.insist_on_level(level)
        return [f"ALTER SESSION SET ISOLATION_LEVEL = {level.upper()}"]

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        """Raises `ArgumentError` for a key over a large object."""
        for name in table.primary_key:
            if table.column(name).has_any_length:
                raise ArgumentError(
                    f"the table {table.name} has {name} in its primary key, which is "
                    f"{table.column(name).type}: expected a type of bounded length",
                    hint="declare it varchar(n)",
                )
        return super().create_table(table, options)


ORACLE = OracleDialect()
