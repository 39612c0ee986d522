"""Takes neutral tables; returns what standard SQL spells of them (ISO/IEC 9075-2), and the few
statements outside the standard that most systems spell alike, for a dialect to say how it differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.contracts.dialects import ISOLATION_LEVELS, Column, ForeignKey, Index, Table, View
from assay.dialects import statements
from assay.dialects.minimal import MinimalDialect
from assay.dialects.statements import NamedInText
from assay.text import pattern

_QUOTED = frozenset({"char", "varchar", "text", "date", "timestamp"})
_SETS = pattern(r"(?i)\s*set\b")
_OF_SERVER = pattern(r"(?i)\b(global|persist|persist_only|password|default\s+role)\b")
_PLAIN_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")


class StandardSql(NamedInText, MinimalDialect):
    """What dialects of SQL share. One that derives from it adds its name and the bulk load, and
    says anew only what it spells otherwise."""

    server_names: tuple[str, ...] = ()
    carriage_return: str | None = None
    read_only_codes: tuple[str, ...] = ("25006",)
    isolation_levels: tuple[str, ...] = ISOLATION_LEVELS

    error_classes: Mapping[str, str] = {}
    """The engine's class of an error by the system's own code, where that is no SQLSTATE of the
    standard. For drivers that know no system: DB-API."""
    error_phrases: Mapping[str, str] = {}
    """The same by words of the message, in lower case, where the system has no code for it."""
    has_braced_arrays: bool = False
    """Whether the literal of an array is in braces: ``'{1,2}'``."""
    begins_implicitly: bool = False
    """There is no statement that begins a transaction: the first statement after its end does."""

    version_query: str = ""
    """What asks a server for its name and version, as the next one for drivers that know no
    system."""
    lacking: frozenset[str] = frozenset()
    """Capabilities of `assay.contracts.capabilities` that its systems do not have through such a
    driver."""
    adds_foreign_keys: bool = True
    """Whether a table that is there can be given foreign keys. Else `create_table` declares them,
    and the order of the tables lets rows find their parents."""
    adds_keys_together: bool = True
    """Whether one statement can add several, so that the table is read once."""
    keeps_statistics: bool = True
    """Whether a statement brings the statistics of the planner up to date."""

    quote = '"'
    reserved_words: frozenset[str] = frozenset()
    """Words, in lower case, that cannot stand unquoted as the name of a table or of a column."""
    type_words: Mapping[str, str] = {
        "smallint": "SMALLINT",
        "int": "INTEGER",
        "bigint": "BIGINT",
        "decimal": "DECIMAL",
        "float": "REAL",
        "double": "DOUBLE PRECISION",
        "char": "CHAR",
        "varchar": "VARCHAR",
        "text": "CHARACTER LARGE OBJECT",
        "date": "DATE",
        "timestamp": "TIMESTAMP",
        "bool": "BOOLEAN",
        "bytes": "BINARY LARGE OBJECT",
    }
    """The word of each neutral type. What stands in parentheses behind one is kept, or stands in
    place of ``{n}``: ``VARCHAR({n} CHAR)``. Without one for ``json``, JSON is kept as text."""
    truth_words: Mapping[str, str] = {"true": "TRUE", "false": "FALSE"}
    """How the default of a column spells them."""
    script_words: Mapping[str, str] = {
        "character_code": "ascii({0})",
        "check_foreign_keys": "",  # {0}: on or off, where a session must ask for it
        "clustering_index": "create unique index {0} on {1} ({2})",
        "dividend": "{0}",  # a sum of decimals that is divided to more digits than it has
        "expect_changed": "\\expect rows {0}",  # of the statement before it
        "for_update": "for update",
        "from_key": "{0} >= {1} order by {0}",
        "matches": "{0} regexp {1}",  # {2}: the same for LIKE
        "of_table": "",  # behind DROP INDEX
        "order_rows": "",  # of the table {0} by its index {1}
        "position": "instr({0}, {1})",
        "scan": "",  # behind a condition that no key covers
        "strictest_level": "serializable",
        "substring": "substring({0}, {1}, {2})",
        "summand": "{0}",  # an INTEGER whose sum may need more bits
        "using_hash": "",
        "write_first": "",  # a statement, where a transaction that reads first may not write
        "year": "extract(year from {0})",
    }
    """What stands for a word in braces of a script that is for all dialects, as ``{year(day)}``;
    its arguments are ``{0}``, ``{1}`` …"""

    def kept(self, table: Table) -> Table:
        """The table with the types that its values are kept in, where the dialect has a choice."""
        return table

    def prefix(self, column: Column) -> str | None:
        """How an index takes the beginning of the column's values; None where it holds them
        whole."""
        del column
        return None

    def can_be_unique(self, column: Column) -> bool:
        """Whether UNIQUE may stand over the column."""
        return self.prefix(column) is None

    def identifier(self, name: str) -> str:
        """The name as it stands; quoted where it could not stand so."""
        if _PLAIN_NAME.fullmatch(name) and name.lower() not in self.reserved_words:
            return name
        return self.quoted(name)

    def quoted(self, name: str) -> str:
        """The name letter by letter: unquoted, some systems read capitals as small letters."""
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def names(self, names: Sequence[str]) -> str:
        return ", ".join(self.identifier(name) for name in names)

    def column_names(self, table: Table) -> str:
        return self.names([column.name for column in table.columns])

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        """UNIQUE stands only where an index holds the values whole. No options: a table can live
        in one way only."""
        del options
        lines = [*self.columns(table), *self.keys(table)]
        if not self.adds_foreign_keys:
            lines += map(self.foreign_key, table.foreign_keys)
        return self.table_of(table, lines)

    def comment_on(self, table: Table, text: str) -> str:
        """The statement that the systems have which can keep a comment on a table."""
        return f"COMMENT ON TABLE {self.identifier(table.name)} IS {self.literal(text)}"

    def table_of(self, table: Table, lines: Sequence[str]) -> list[str]:
        """The statement that makes a table of these lines."""
        body = ",\n  ".join(lines)
        return [f"CREATE TABLE {self.identifier(table.name)} (\n  {body}\n)"]

    def columns(self, table: Table) -> list[str]:
        return [self._column(column) for column in table.columns]

    def keys(self, table: Table) -> list[str]:
        """The primary key, and UNIQUE where an index holds the values whole."""
        primary = [f"PRIMARY KEY ({self.names(table.primary_key)})"] if table.primary_key else []
        return primary + [
            f"UNIQUE ({self.names(columns)})"
            for columns in table.unique
            if all(self.can_be_unique(table.column(name)) for name in columns)
        ]

    def foreign_key(self, key: ForeignKey) -> str:
        return (
            f"FOREIGN KEY ({self.names(key.columns)}) "
            f"REFERENCES {self.identifier(key.table)} ({self.names(key.references)})"
        )

    def add_foreign_keys(self, table: Table, options: Mapping[str, str]) -> list[str]:
        del options
        if not table.foreign_keys or not self.adds_foreign_keys:
            return []
        change = f"ALTER TABLE {self.identifier(table.name)}"
        added = [
            f"ADD CONSTRAINT {self.identifier(key.name)} {self.foreign_key(key)}"
            for key in table.foreign_keys
        ]
        if self.adds_keys_together:
            return [f"{change}\n  " + ",\n  ".join(added)]
        return [f"{change} {one}" for one in added]

    def create_indexes(self, table: Table) -> list[str]:
        on = f" ON {self.identifier(table.name)}"
        return [f"CREATE {self.index(table, index, on)}" for index in table.indexes]

    def index(self, table: Table, index: Index, on: str = "") -> str:
        """The index without its verb. Over the beginnings of values it cannot be unique: it would
        take two that only begin alike for one."""
        columns = [table.column(name) for name in index.columns]
        prefixes = [self.prefix(column) for column in columns]
        kind = "UNIQUE INDEX" if index.unique and not any(prefixes) else "INDEX"
        parts = ", ".join(
            (prefix or self.identifier(column.name))
            + (" DESC" if column.name in index.descending else "")
            for prefix, column in zip(prefixes, columns, strict=True)
        )
        return f"{kind} {self.identifier(index.name)}{on} ({parts})"

    def drop_table(self, table: Table) -> list[str]:
        return [f"{self.drop_words('TABLE')} {self.identifier(table.name)}"]

    def drop_words(self, what: str) -> str:
        """How a statement begins that drops a table or a view, without its name."""
        return f"DROP {what} IF EXISTS" if self.has_if_exists else f"DROP {what}"

    def create_view(self, view: View) -> list[str]:
        return [f"CREATE VIEW {self.identifier(view.name)} AS {view.query}"]

    def drop_view(self, view: View) -> list[str]:
        return [f"{self.drop_words('VIEW')} {self.identifier(view.name)}"]

    def insert(self, table: Table) -> str:
        """An INSERT statement up to its rows."""
        return f"INSERT INTO {self.identifier(table.name)} ({self.column_names(table)}) VALUES"

    def script_prologue(self, database: str, create: bool) -> list[str]:
        del database, create
        return []

    def exists(self, table: str) -> str:
        return f"SELECT 1 FROM {self.identifier(table)} WHERE 1 = 0"

    def count(self, table: str) -> str:
        return f"SELECT count(*) FROM {self.identifier(table)}"

    def read_all(self, table: str, columns: Sequence[str]) -> str:
        return f"SELECT {self.names(columns)} FROM {self.identifier(table)}"

    def read_by_key(self, table: str, columns: Sequence[str], key: str, value: str) -> str:
        return f"{self.read_all(table, columns)} WHERE {self.identifier(key)} = {value}"

    def delete_all(self, table: str) -> list[str]:
        return [f"DELETE FROM {self.identifier(table)}"]

    def delete_where(self, table: str, column: str, texts: Sequence[str]) -> list[str]:
        literals = ", ".join(map(self.literal, texts))
        where = f"{self.identifier(column)} IN ({literals})"
        return [f"DELETE FROM {self.identifier(table)} WHERE {where}"] if texts else []

    def distinct(self, table: str, column: str) -> str:
        return f"SELECT DISTINCT {self.identifier(column)} FROM {self.identifier(table)}"

    def delete_others(self, table: str, column: str, texts: Sequence[str]) -> list[str]:
        return [f"DELETE FROM {self.identifier(table)} WHERE {self._is_none_of(column, texts)}"]

    def refuse_others(
        self, table: str, column: str, texts: Sequence[str], into: Table
    ) -> list[str]:
        """A row that breaks NOT NULL: an error on every system, in every client."""
        whole = next(column.name for column in into.columns if column.not_null)
        return [
            f"INSERT INTO {self.identifier(into.name)} ({self.identifier(whole)}) "
            f"SELECT NULL FROM {self.identifier(table)} WHERE {self._is_none_of(column, texts)}"
        ]

    def _is_none_of(self, column: str, texts: Sequence[str]) -> str:
        return f"{self.identifier(column)} NOT IN ({', '.join(map(self.literal, texts))})"

    def insert_row(self, table: Table, values: Sequence[str]) -> str:
        return f"{self.insert(table)} ({', '.join(values)})"

    def update_row(self, table: Table, column: str, value: str, key: str, key_value: str) -> str:
        change = f"{self.identifier(column)} = {value}"
        return (
            f"UPDATE {self.identifier(table.name)} SET {change} "
            f"WHERE {self.identifier(key)} = {key_value}"
        )

    def greatest(self, table: Table, column: str) -> str:
        return f"SELECT max({self.identifier(column)}) FROM {self.identifier(table.name)}"

    def long_statement(self, table: Table, column: str) -> str:
        """Every combination of four rows, on a condition that no index and no statistics decide."""
        name, value = self.identifier(table.name), self.identifier(column)
        tables = ", ".join(f"{name} {alias}" for alias in "abcd")
        total = " + ".join(f"{alias}.{value} * {alias}.{value}" for alias in "abcd")
        return f"SELECT count(*) FROM {tables} WHERE {total} = -1"

    def begin(self) -> list[str]:
        return ["START TRANSACTION"]

    def commit(self) -> list[str]:
        return ["COMMIT"]

    def rollback(self) -> list[str]:
        return ["ROLLBACK"]

    def session_isolation(self, level: str) -> list[str]:
        self.insist_on_level(level)
        return [f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level.upper()}"]

    def session_read_only(self) -> list[str]:
        return ["SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"]

    def sets_session(self, statement: str) -> bool:
        """SET, of whatever is not the whole server's."""
        return _SETS.match(statement) is not None and _OF_SERVER.search(statement) is None

    def begin_at(self, level: str) -> list[str]:
        if not level:
            return self.begin()
        self.insist_on_level(level)
        return [f"START TRANSACTION ISOLATION LEVEL {level.upper()}"]

    def update_statistics(self, tables: Sequence[Table]) -> list[str]:
        return [f"ANALYZE {self.identifier(table.name)}" for table in tables]

    def after_load(self, tables: Sequence[Table]) -> list[str]:
        return self.update_statistics(tables) if self.keeps_statistics else []

    def literal(self, text: str | None) -> str:
        """Quotes doubled; a backslash is a plain character."""
        if text is None:
            return "NULL"
        doubled = text.replace("'", "''")
        return f"'{doubled}'"

    def _column(self, column: Column) -> str:
        default = "" if column.default is None else f" DEFAULT {self.default(column)}"
        ending = default + (" NOT NULL" if column.not_null else "")
        return f"{self.identifier(column.name)} {self.type_of(column)}{ending}"

    def type_of(self, column: Column) -> str:
        if column.element is not None:
            return self.array_of(column.element)
        if column.type == "json":
            return self.type_words.get("json", self.type_words["text"])
        family, parenthesis, rest = column.type.partition("(")
        word = self.type_words[family]
        if "{n}" in word:
            return word.replace("{n}", rest.removesuffix(")"))
        return f"{word}{parenthesis}{rest}"

    def array_of(self, element: str) -> str:
        """The type of an array; without one of the dialect's own it is kept as JSON."""
        del element
        return self.type_of(Column("", "json"))

    def default(self, column: Column) -> str:
        """The column's default as a literal: numbers and truth values stand bare."""
        word = column.default or ""
        if column.family == "bool":
            return self.truth_words[word]
        return self.literal(word) if column.family in _QUOTED else word.upper()


def may_be_long(column: Column) -> bool:
    """Whether values of the column may be longer than an index entry of bounded size can hold."""
    return column.wide or column.has_any_length


def script_words(own: Mapping[str, str]) -> Mapping[str, str]:
    """Those of standard SQL, but for these."""
    return {**StandardSql.script_words, **own}


def type_words(own: Mapping[str, str]) -> Mapping[str, str]:
    """Those of standard SQL, but for these."""
    return {**StandardSql.type_words, **own}


def codes(table: Mapping[str, str]) -> Mapping[str, str]:
    """Code → class, of class → codes with blanks between."""
    return {code: found for found, several in table.items() for code in several.split()}


def words(text: str) -> frozenset[str]:
    """Reserved words, in lower case."""
    return frozenset(text.split())


TRUTH_AS_NUMBERS: Mapping[str, str] = {"true": "1", "false": "0"}
"""Words of truth where a column of them holds numbers."""


class InsertingSql(StandardSql):
    """Of systems whose rows are inserted, whose transactions begin with the first statement, and in
    which no session can be made to read alone."""

    begins_implicitly = True

    def session_read_only(self) -> list[str]:
        return []

    def only_reads(self, statement: str) -> bool:
        return statements.only_reads(statement)

    def bulk_statement(self, table: Table) -> str:
        return self.insert(table)

    def multi_row_statement(self, table: Table) -> str | None:
        return self.insert(table)


class OnlyStandardSql(InsertingSql):
    """No statement is standard that brings statistics up to date; few databases know the standard's
    for sessions that only read."""

    name = "standard"
    has_if_exists = False
    error_phrases: Mapping[str, str] = {
        "no such table": "unknown object",
        "table not found": "unknown object",
        "table unknown": "unknown object",
        "unknown table": "unknown object",
        "table or view does not exist": "unknown object",
    }
    keeps_statistics = False


ONLY_STANDARD = OnlyStandardSql()
