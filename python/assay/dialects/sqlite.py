"""How SQLite differs from standard SQL: in types that decide how a value is kept, in its load, and
in its shell's script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Table
from assay.contracts.documents import TextStyle
from assay.dialects.limits import SchemaLimits
from assay.dialects.minimal import MinimalDialect
from assay.dialects.standard import StandardSql, codes, script_words, type_words, words
from assay.text import pattern

# Those of sqlite_keywords() in version 3.54 that the parser does not also take for names (found by
# trying each as the name of a table and of a column).
_RESERVED_WORDS = """
    add all alter and as autoincrement between case cast check collate commit constraint create
    current_date current_time current_timestamp default deferrable delete distinct drop else escape
    except exists foreign from group having if in index insert intersect into is isnull join limit
    not nothing notnull null on or order primary raise references returning select set table then to
    transaction union unique update using values when where window
"""


_OF_CONNECTION = pattern(
    r"(?i)\s*pragma\s+(\w+\.)?("
    r"(synchronous|(checkpoint_)?fullfsync|wal_autocheckpoint)\s*[=(]"
    r"|journal_mode\s*[=(]\s*['\"]?(off|memory)\b)"
)
"""Pragmas that say how a connection commits; other journals are kept in the file."""


class SqliteDialect(StandardSql):
    """An index entry can be as long as a row: UNIQUE and indexes stand wherever they are asked for,
    over whole values."""

    name = "sqlite"
    text_style = TextStyle(nests_comments=False, bracketed_names=True)
    explain = "EXPLAIN QUERY PLAN "
    # Foreign keys bind only while the setting `foreign_keys` is on.
    adds_foreign_keys = False
    version_query = "SELECT 'SQLite ' || sqlite_version()"
    lacking = frozenset({"exact decimals", "own processes", "text lengths", "typed columns"})
    limits = SchemaLimits(source="sqlite.org/limits.html", columns=2000)
    own_tables = ("sqlite_", "pragma_")
    carriage_return = "char(13)"
    read_only_codes = ("8",)
    error_fixes: Mapping[str, str] = {
        "5": "BEGIN IMMEDIATE where a transaction reads before it writes, more retries of each "
        "transaction (1000, say), or fewer clients"
    }
    server_names = ("SQLite",)
    error_classes = codes(
        {
            "timeout": "5 6 9",
            "serialization": "517",
            "permission": "8",
            "resources": "10 13",
            "data": "26",
        }
    )
    error_phrases: Mapping[str, str] = {
        "syntax error": "syntax",
        "incomplete input": "syntax",
        "unrecognized token": "syntax",
        "no such ": "unknown object",
        "has no column named": "unknown object",
        "database is locked": "timeout",
    }
    reserved_words = words(_RESERVED_WORDS)
    type_words = type_words(
        {
            # Of up to eight bytes all three; by another name one could not be the row's own key.
            "smallint": "INTEGER",
            "bigint": "INTEGER",
            "double": "DOUBLE",
            "text": "TEXT",
            "date": "TEXT",  # a column declared DATE would make a number of 20261231
            "timestamp": "TEXT",
            "bytes": "BLOB",
        }
    )
    script_words = script_words(
        {
            "character_code": "unicode({0})",
            "check_foreign_keys": "pragma foreign_keys = {0};",
            "for_update": "",
            "write_first": "{0};",  # waits for the writer before it reads
            "year": "cast(substr({0}, 1, 4) as integer)",
        }
    )

    isolation_levels = ("serializable",)

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        """The schema keeps a table's text, with a comment that stands inside its parentheses."""
        [statement] = self.create_table(table, options)
        return [f"{statement.removesuffix(')')}/* {mark} */)"]

    def marks_query(self, database: str) -> str | None:
        del database
        return "SELECT name, sql FROM sqlite_master WHERE type = 'table'"

    def session_isolation(self, level: str) -> list[str]:
        """Nothing to say: there is no other level (https://sqlite.org/isolation.html)."""
        self.insist_on_level(level)
        return []

    def sets_session(self, statement: str) -> bool:
        return _OF_CONNECTION.match(statement) is not None

    def indexes_query(self, table: str) -> str:
        """With those that UNIQUE and PRIMARY KEY make; the row number is none. One with an
        expression or a condition is in the words of the statement that made it."""
        name = self._own_name(table)
        column = (
            "name || iif(coll = 'BINARY', '', ' COLLATE ' || coll) || iif(\"desc\", ' DESC', '')"
        )
        columns = f"SELECT '(' || group_concat({column}, ', ') || ')' FROM pragma_index_xinfo"
        made = f"SELECT substr(sql, instr(sql, '(')) FROM {_schema(table)}sqlite_master AS m"
        is_plain = "NOT l.partial AND (SELECT min(cid) FROM pragma_index_xinfo(l.name)) > -2"
        return (
            "SELECT iif(l.\"unique\", 'unique ', '') || "
            f"iif({is_plain}, ({columns}(l.name) WHERE key), ({made} WHERE m.name = l.name)) "
            f"FROM pragma_index_list({name}) AS l UNION ALL "
            f"SELECT 'trigger' || substr(sql, 15) FROM {_schema(table)}sqlite_master "
            f"WHERE type = 'trigger' AND tbl_name = {name} COLLATE NOCASE"
        )

    def view_query(self, table: str) -> str:
        named = f"type = 'view' AND name = {self._own_name(table)} COLLATE NOCASE"
        return f"SELECT sql FROM {_schema(table)}sqlite_master WHERE {named}"

    def _own_name(self, table: str) -> str:
        return self.literal(table.rpartition(".")[2].strip('`"[]'))

    def session_read_only(self) -> list[str]:
        return ["PRAGMA query_only = ON"]

    def reclaim(self, tables: Sequence[Table]) -> list[str]:
        """The whole file is rewritten."""
        del tables
        return ["VACUUM"]

    def bulk_statement(self, table: Table) -> str:
        """Prepared once and run for each row."""
        places = ", ".join("?" for _ in table.columns)
        return f"{self.insert(table)} ({places})"

    def multi_row_statement(self, table: Table) -> str | None:
        """None: in process nothing is saved by sending rows together."""
        del table
        return None

    def begin(self) -> list[str]:
        """There is no START."""
        return ["BEGIN TRANSACTION"]

    def begin_at(self, level: str) -> list[str]:
        """Nothing to say of the only level."""
        return MinimalDialect.begin_at(self, level)

    def script_prologue(self, database: str, create: bool) -> list[str]:
        """A line for the sqlite3 shell: stop at the first error, before the COMMIT that would keep
        half a load. The database is the file the shell was given, so none is made or chosen."""
        del database, create
        return [".bail on"]


def _schema(table: str) -> str:
    """``main.``, where a script spells it."""
    return "".join(table.rpartition(".")[:2])


SQLITE = SqliteDialect()
