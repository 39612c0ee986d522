"""How DuckDB differs from standard SQL: in types, in keys that only a new table can have, and in
that no isolation level can be asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Table
from assay.dialects.standard import StandardSql, script_words, type_words, words

# Those of duckdb_keywords() in version 2.0 that cannot name a table or a column (found by trying
# each).
_RESERVED_WORDS = """
    all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by
    case cast check collate collation column concurrently constraint create cross default
    deferrable desc describe distinct do else end except false fetch for foreign freeze from full
    glob group having ilike in initially inner intersect into is isnull join lambda lateral leading
    left like limit natural not notnull null offset on only or order outer overlaps pivot
    pivot_longer pivot_wider placing positional primary qualify references returning right select
    semi show similar some summarize symmetric table tablesample then to trailing true union unique
    unpack unpivot using variadic verbose when where window with
"""


class DuckdbDialect(StandardSql):
    """An index entry can be as long as a row: UNIQUE and indexes stand wherever they are asked for,
    over whole values."""

    name = "duckdb"
    explain = "EXPLAIN "
    adds_foreign_keys = False
    reserved_words = words(_RESERVED_WORDS)
    read_only_codes = ()
    functions_query = (  # macros
        "SELECT lower(function_name) FROM duckdb_functions() "
        "WHERE lower(function_name) IN ({names}) AND NOT internal"
    )
    type_words = type_words(
        {"float": "FLOAT", "double": "DOUBLE", "text": "VARCHAR", "bytes": "BLOB", "json": "JSON"}
    )
    script_words = script_words(
        {
            "for_update": "",  # of two that change one row the second is refused
            "matches": "regexp_matches({0}, {1})",
            "strictest_level": "repeatable read",
        }
    )

    isolation_levels = ()
    own_isolation = "repeatable read"
    """None can be asked for. A transaction works on a snapshot; where two change one row, the
    second is refused."""

    def array_of(self, element: str) -> str:
        """A list."""
        return f"{self.type_words[element]}[]"

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        """In one transaction: a table is never there without its mark."""
        marked = [*self.create_table(table, options), self.comment_on(table, mark)]
        return [*self.begin(), *marked, *self.commit()]

    def marks_query(self, database: str) -> str | None:
        del database
        return "SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal"

    def after_load(self, tables: Sequence[Table]) -> list[str]:
        """CHECKPOINT too: it writes the log back into the file, which the first statements of the
        measurement would have to pay for."""
        return [*super().after_load(tables), "CHECKPOINT"]

    def bulk_statement(self, table: Table) -> str:
        """The driver hands the rows to the library's appender."""
        places = ", ".join("?" for _ in table.columns)
        return f"{self.insert(table)} ({places})"

    def multi_row_statement(self, table: Table) -> str | None:
        """None: the appender is there for every table."""
        del table
        return None

    def indexes_query(self, table: str) -> str:
        """With those that UNIQUE and PRIMARY KEY make."""
        name = f"lower(table_name) = {self._own_name(table)}"
        made = r"'^CREATE (UNIQUE )?INDEX .*? ON [^(]*(.*?);?$', '\2', 's'"
        return (
            f"SELECT if(is_unique, 'unique ', '') || regexp_replace(sql, {made}) "
            f"FROM duckdb_indexes() WHERE {name} UNION ALL SELECT concat(lower(constraint_type), "
            "' (', array_to_string(constraint_column_names, ', '), ')') FROM duckdb_constraints() "
            f"WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND {name}"
        )

    def view_query(self, table: str) -> str:
        named = f"lower(view_name) = {self._own_name(table)}"
        return f"SELECT sql FROM duckdb_views() WHERE {named}"

    def _own_name(self, table: str) -> str:
        return self.literal(table.rpartition(".")[2].strip('"').lower())

    def begin(self) -> list[str]:
        return ["BEGIN TRANSACTION"]

    def long_statement(self, table: Table, column: str) -> str:
        """On a hash: the library knows from its statistics that no sum of squares is negative."""
        name, value = self.identifier(table.name), self.identifier(column)
        tables = ", ".join(f"{name} {alias}" for alias in "abcd")
        values = ", ".join(f"{alias}.{value}" for alias in "abcd")
        return f"SELECT count(*) FROM {tables} WHERE hash({values}) = 1"

    def session_read_only(self) -> list[str]:
        """None: only a whole database can be opened for reading alone."""
        return []


DUCKDB = DuckdbDialect()
