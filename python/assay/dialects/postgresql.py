"""How PostgreSQL differs from standard SQL: in types, in indexes over long values, in COPY, and in
psql's script."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Column, Table
from assay.dialects.limits import SchemaLimits
from assay.dialects.standard import StandardSql, may_be_long, script_words, type_words, words

_PREFIX_CHARACTERS = 200
_NOT_VALID = " (not valid: no query uses it)"
"""A B-tree entry holds at most a third of a page (2704 bytes); 200 characters of UTF-8 always fit
three times over."""

_SETS_A_SETTING = re.compile(
    r"\s*select\s+(pg_catalog\.)?set_config\s*\([^()]*\)\s*", re.IGNORECASE
)

# pg_get_keywords() of version 15 with catcode R or T, and system_user, which came with 16: none of
# them can name a column.
_RESERVED_WORDS = """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast
    check collate collation column concurrently constraint create cross current_catalog
    current_date current_role current_schema current_time current_timestamp current_user
    default deferrable desc distinct do else end except false fetch for foreign freeze from
    full grant group having ilike in initially inner intersect into is isnull join lateral
    leading left like limit localtime localtimestamp natural not notnull null offset on only
    or order outer overlaps placing primary references returning right select session_user
    similar some symmetric system_user table tablesample then to trailing true union unique
    user using variadic verbose when where window with
"""


class PostgresqlDialect(StandardSql):
    name = "postgresql"
    explain = "EXPLAIN (COSTS OFF) "
    version_query = "SELECT version()"
    limits = SchemaLimits(
        source="PostgreSQL documentation, appendix K (limits) and section 8.3",
        identifier_length=63,
        columns=1600,
        varchar_length=10_485_760,
    )
    server_names = ("PostgreSQL", "psql")
    own_tables = ("information_schema.", "pg_")
    functions_query = (  # a function that is declared stable may call others, which write
        "SELECT lower(proname) FROM pg_proc WHERE lower(proname) IN ({names}) "
        "AND provolatile <> 'i' AND pronamespace <> 'pg_catalog'::regnamespace"
    )
    reserved_words = words(_RESERVED_WORDS)
    type_words = type_words(
        {"decimal": "NUMERIC", "text": "TEXT", "bytes": "BYTEA", "json": "JSONB"}
    )
    script_words = script_words(
        {
            "clustering_index": "create unique index {0} on {1} ({2}); cluster {1} using {0}",
            "matches": "{0} ~ {1}",
            "order_rows": "cluster {0} using {1}",
            "position": "strpos({0}, {1})",
            "using_hash": "using hash",
        }
    )
    has_braced_arrays = True

    lock_refused_codes = ()

    def prefix(self, column: Column) -> str | None:
        """Of a wide column its beginning, as an expression."""
        name = self.identifier(column.name)
        return f"left({name}, {_PREFIX_CHARACTERS})" if column.wide else None

    def can_be_unique(self, column: Column) -> bool:
        """Only where length is bounded: a longer value would stop the load, because no B-tree entry
        could hold it."""
        return not may_be_long(column)

    def array_of(self, element: str) -> str:
        return f"{self.type_words[element]}[]"

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        """Without any key: an index that is made over all rows at once costs a fraction of one that
        grows row by row, and is packed tighter."""
        del options
        return self.table_of(table, self.columns(table))

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        """In one transaction: a table is never there without its mark."""
        marked = [*self.create_table(table, options), self.comment_on(table, mark)]
        return [*self.begin(), *marked, *self.commit()]

    def marks_query(self, database: str) -> str | None:
        del database
        return (
            "SELECT relname, obj_description(oid, 'pg_class') FROM pg_class "
            "WHERE relkind = 'r' AND pg_table_is_visible(oid)"
        )

    def create_indexes(self, table: Table) -> list[str]:
        keys = [f"ADD {key}" for key in self.keys(table)]
        alter = f"ALTER TABLE {self.identifier(table.name)}\n  "
        added = [alter + ",\n  ".join(keys)] if keys else []
        return added + super().create_indexes(table)

    def after_load(self, tables: Sequence[Table]) -> list[str]:
        """VACUUM too: otherwise the first query that reads a row pays for marking it committed."""
        return [f"VACUUM (ANALYZE) {self.identifier(table.name)}" for table in tables]

    def reclaim(self, tables: Sequence[Table]) -> list[str]:
        """The space can be used again; the end of a file goes back to the file system."""
        return [f"VACUUM {self.identifier(table.name)}" for table in tables]

    def bulk_statement(self, table: Table) -> str:
        return f"COPY {self.identifier(table.name)} ({self.column_names(table)}) FROM STDIN"

    def multi_row_statement(self, table: Table) -> str | None:
        """None: COPY is there on every server, for every user who may insert."""
        del table
        return None

    def script_prologue(self, database: str, create: bool) -> list[str]:
        r"""Lines for psql. The first stops the script at its first error, so that a failed load
        ends with status 3 and not with an error for each row. The last makes a backslash a plain
        character in literals; it comes last because \connect begins a new session."""
        name = self.quoted(database)
        new = [f"DROP DATABASE IF EXISTS {name};", f"CREATE DATABASE {name};"] if create else []
        return [
            r"\set ON_ERROR_STOP on",
            *new,
            rf"\connect {name}",
            "SET standard_conforming_strings = on;",
        ]

    def sets_session(self, statement: str) -> bool:
        return super().sets_session(statement) or _SETS_A_SETTING.fullmatch(statement) is not None

    def lock_table(self, table: str) -> list[str]:
        """A statement that has waited for another transaction deletes what was there when the
        statement began: not the rows that the other one has inserted."""
        return [f"LOCK TABLE {self.identifier(table)} IN SHARE ROW EXCLUSIVE MODE"]

    def unlock_table(self, table: str) -> list[str]:
        """Nothing to say: the lock is the transaction's."""
        del table
        return []

    def limit_statements(self, longest_s: float) -> list[str]:
        """In milliseconds, of which 0 would be no limit."""
        return [f"SET statement_timeout = {max(1, round(longest_s * 1000))}"]

    def unflushed_query(self, table: str) -> str:
        """Of the table, or of one of its partitions."""
        named = f"to_regclass({self.literal(table)})"
        parts = f"SELECT inhrelid FROM pg_inherits WHERE inhparent = {named}"
        return (
            "SELECT 'unlogged' FROM pg_class WHERE relpersistence = 'u' "
            f"AND (oid = {named} OR oid IN ({parts})) LIMIT 1"
        )

    def indexes_query(self, table: str) -> str:
        """One that was not built to its end is named so: no query uses it."""
        name = r"'^CREATE (UNIQUE )?INDEX .* USING '"
        described = rf"regexp_replace(pg_get_indexdef(indexrelid), {name}, '\1')"
        return (
            f"SELECT replace({described}, 'UNIQUE ', 'unique ') || "
            f"CASE WHEN indisvalid THEN '' ELSE {self.literal(_NOT_VALID)} END "
            f"FROM pg_index WHERE indrelid = to_regclass({self.literal(table)}) UNION ALL "
            "SELECT regexp_replace(pg_get_triggerdef(t.oid, true), '^.*?TRIGGER', 'trigger') || "
            "CASE tgenabled WHEN 'D' THEN ' (disabled)' ELSE '' END || ': ' || prosrc "
            "FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = tgfoid "
            f"WHERE NOT tgisinternal AND tgrelid = to_regclass({self.literal(table)})"
        )

    def view_query(self, table: str) -> str:
        named = f"relkind = 'v' AND oid = to_regclass({self.literal(table)})"
        return f"SELECT pg_get_viewdef(oid) FROM pg_class WHERE {named}"

    def flushed_table(self, table: str) -> str:
        return f"ALTER TABLE {table} SET LOGGED"

    def limit_waiting(self, wait_s: float) -> list[str]:
        """In milliseconds, of which 0 would be no limit."""
        return [f"SET lock_timeout = {max(1, round(wait_s * 1000))}"]

    def user_query(self, user: str) -> str:
        return f"SELECT rolcanlogin::int FROM pg_roles WHERE rolname = {self.literal(user)}"

    def write_query(self, user: str, tables: Sequence[str]) -> str:
        """A superuser has every right."""
        rights = "'INSERT, UPDATE, DELETE, TRUNCATE'"
        of_tables = (
            f"has_table_privilege({self.literal(user)}, "
            f"{self.literal(self.identifier(table))}, {rights})"
            for table in tables
        )
        return f"SELECT 1 WHERE {' OR '.join(of_tables)}"

    def create_user(self, user: str, password: str) -> list[str]:
        """There is no IF NOT EXISTS."""
        role = f"CREATE ROLE {self.quoted(user)} LOGIN PASSWORD {self.literal(password)}"
        return [
            "DO "
            + self.literal(
                f"BEGIN IF NOT EXISTS ({self.user_query(user)}) THEN {role}; END IF; END"
            )
        ]

    def grant_reading(self, user: str, tables: Sequence[str]) -> list[str]:
        """The rights on database and schema too, which a server may have taken from everybody."""
        role = self.quoted(user)
        places = (
            f"EXECUTE format('GRANT CONNECT ON DATABASE %I TO {role}', current_database()); "
            f"EXECUTE format('GRANT USAGE ON SCHEMA %I TO {role}', current_schema());"
        )
        return [
            "DO " + self.literal(f"BEGIN {places} END"),
            f"GRANT SELECT ON {self.names(tables)} TO {role}",
        ]


POSTGRESQL = PostgresqlDialect()
