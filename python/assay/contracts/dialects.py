"""Neutral tables, and the contract of a dialect, which returns statements as text.
`assay.dialects.minimal` has defaults for everything optional.

One protocol, with all members that a dialect may have, so the file is long.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Protocol, runtime_checkable

from msgspec import Struct, field

from assay.contracts.documents import TextStyle
from assay.contracts.plugins import protocols_of
from assay.text.keys import TEXT, in_file, named

ELEMENTS = ("smallint", "int", "bigint", "double", "text", "bool")
"""The types of the elements of arrays."""


class Column(Struct, frozen=True):
    """A column in neutral terms. ``type``: smallint, int, bigint, decimal(p,s), float, double,
    char(n), varchar(n), text, date, timestamp, bool, bytes, json; or an array of one of
    `ELEMENTS`: int[]."""

    name: str
    type: str
    not_null: bool = False
    wide: bool = False
    """Values may be longer than an index entry can be: a dialect indexes a prefix."""
    default: str | None = None
    """The default value, as text without quotes; that of a bool is ``true`` or ``false``. None:
    NULL."""

    @property
    def family(self) -> str:
        """The type without its parentheses: ``decimal``."""
        return self.type.partition("(")[0]

    @property
    def element(self) -> str | None:
        """The type of the elements of an array; None: it is no array."""
        return self.type.removesuffix("[]") if self.type.endswith("[]") else None

    @property
    def is_document(self) -> bool:
        """Whether its values are JSON: documents, or arrays, which not every system has."""
        return self.type == "json" or self.element is not None

    @property
    def has_any_length(self) -> bool:
        """Whether its type sets no length."""
        return self.is_document or self.type in ("text", "bytes")


class Index(Struct, frozen=True):
    name: str
    columns: tuple[str, ...]
    unique: bool = False
    descending: frozenset[str] = frozenset()
    """The columns in descending order."""


class ForeignKey(Struct, frozen=True):
    """Values of ``columns`` are values that ``references`` has in some row of ``table``."""

    name: str
    columns: tuple[str, ...]
    table: str
    references: tuple[str, ...]


class Partitioning(Struct, frozen=True):
    """How systems that spread a table over nodes keep it. Other systems ignore it."""

    by: tuple[str, ...]
    """Rows with the same values of these columns are kept together: a partition."""
    order: tuple[str, ...] = ()
    """Columns that tell the rows of a partition apart, in the order in which they are kept."""
    descending: frozenset[str] = frozenset()
    """The columns of ``order`` in descending order."""


class View(Struct, frozen=True):
    """A query that is read like a table."""

    name: Annotated[str, in_file(TEXT, "The name of the view.")]
    query: Annotated[str, in_file(TEXT, "Its query, without variables.")]
    overrides: Annotated[Mapping[str, str], in_file(
        (), "Dialect → its query, where that is spelled otherwise.", below=named(TEXT)
    )] = field(default_factory=dict)  # fmt: skip


class Table(Struct, frozen=True):
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    """Column lists that a dialect declares UNIQUE where it can hold such values whole."""
    indexes: tuple[Index, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    partitioning: Partitioning | None = None
    """None: by the first column of the primary key, in the order of the others."""
    views: tuple[View, ...] = ()
    """Those that are made once this table and those before it are filled, and dropped before it."""

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


ISOLATION_LEVELS = ("read uncommitted", "read committed", "repeatable read", "serializable")
"""Those of ISO/IEC 9075-2, from the weakest to the strongest."""


class Dialect(Protocol):
    """The statements of one family of systems, in whatever language these take: SQL, CQL,
    documents. Rooms ask for a statement by what it does and write none themselves."""

    name: str
    """As overrides of workloads name it."""
    text_style: TextStyle
    """How its literals, names and comments are written; by it scripts are cut into statements."""
    bulk_form: str
    """``native`` or ``multi-row``: the engine's `BulkForm`."""
    has_if_exists: bool
    """Whether `drop_table` does nothing where there is no table; without it Assay looks first."""
    isolation_levels: tuple[str, ...]
    """Those of `ISOLATION_LEVELS` that can be asked for; none where there are no transactions."""
    own_isolation: str
    """Of `ISOLATION_LEVELS`, the one that each transaction has where none can be asked for; empty:
    none is known."""
    language: str
    """Of its statements: ``sql``, ``cql`` or ``json``; by it scripts are cut into statements."""
    unknown_statements: Mapping[str, str]
    """Statements of other systems, in upper case, that this one does not know, and the fix."""
    read_only_codes: tuple[str, ...]
    """The codes by which a system refuses to write after `session_read_only`."""
    error_fixes: Mapping[str, str]
    """What a user can do about errors that only this system has, by their code."""

    def identifier(self, name: str) -> str:
        """The name, quoted only where the dialect reserves it."""
        ...

    # Tables.

    @abstractmethod
    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        """Statements that make the empty table, as it is best filled; ``options`` are the system's
        own (``engine``)."""
        ...

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        """`create_table`, with a mark on the table that `marks_query` finds again. Without one
        where a table can carry none."""
        ...

    def marks_query(self, database: str) -> str | None:
        """A statement whose rows are (name, mark) of every table of the session's ``database`` that
        may have one; None where a table can carry no mark."""
        ...

    def create_indexes(self, table: Table) -> list[str]:
        """Statements for a table that is filled: its indexes, and keys that it was made without."""
        ...

    def add_foreign_keys(self, table: Table, options: Mapping[str, str]) -> list[str]:
        """Statements that declare the foreign keys once all tables are filled and indexed; none
        where ``create_table`` has done so, or where tables of these options have none."""
        ...

    def after_load(self, tables: Sequence[Table]) -> list[str]:
        """Statements that bring statistics up to date after a load."""
        ...

    @abstractmethod
    def drop_table(self, table: Table) -> list[str]:
        """Statements that leave no such table, also where there is none: then a refusal as
        ``unknown object`` is no error."""
        ...

    # Rows.

    @abstractmethod
    def bulk_statement(self, table: Table) -> str:
        """What `Request::Bulk` sends for ``bulk_form``: columns in the table's order."""
        ...

    def multi_row_statement(self, table: Table) -> str | None:
        """What it sends for the fallback ``multi-row``, up to the rows; None where there is none to
        need."""
        ...

    @abstractmethod
    def exists(self, table: str) -> str:
        """A statement that reads nothing of the table, and is refused as ``unknown object`` where
        there is no such table."""
        ...

    @abstractmethod
    def count(self, table: str) -> str | None:
        """A statement whose one cell is the number of rows; None where it cannot be asked: then the
        rows of `read_all` are counted."""
        ...

    @abstractmethod
    def read_all(self, table: str, columns: Sequence[str]) -> str:
        """A statement that gives these columns of every row, in any order of rows."""
        ...

    @abstractmethod
    def read_by_key(self, table: str, columns: Sequence[str], key: str, value: str) -> str:
        """A statement that gives these columns of the rows whose column ``key`` holds ``value``: a
        value as scripts spell it, ``:id``."""
        ...

    def delete_all(self, table: str) -> list[str]:
        """Statements that leave no row of the table; they can be part of a transaction."""
        ...

    def delete_where(self, table: str, column: str, texts: Sequence[str]) -> list[str]:
        """Statements that delete the rows whose column holds one of the texts."""
        ...

    # Transactions and sessions.

    def begin(self) -> list[str]:
        """Statements that begin a transaction; none where there are no transactions, as in the next
        two."""
        ...

    def begin_at(self, level: str) -> list[str]:
        """Statements that begin one transaction of this isolation level; of the session's own for
        an empty word. Raises `ArgumentError` for one that is not in `isolation_levels`."""
        ...

    def commit(self) -> list[str]:
        """Statements that end the transaction with its changes."""
        ...

    def rollback(self) -> list[str]:
        """Statements that end the transaction without its changes."""
        ...

    def session_isolation(self, level: str) -> list[str]:
        """Statements after which each transaction of the session has this isolation level.

        Raises `ArgumentError` for one that is not in `isolation_levels`.
        """
        ...

    def session_read_only(self) -> list[str]:
        """Statements after which the server refuses whatever the session would change; none where
        it cannot be asked to."""
        ...


@runtime_checkable
class SqlText(Protocol):
    """A dialect whose rows and schema can also be written as a script of SQL for the system's own
    client."""

    name: str
    """That of `Dialect`."""
    server_names: tuple[str, ...]
    """Names by which people call its servers, the proper one first; none where the system has no
    client."""
    text_style: TextStyle
    """That of `Dialect`."""
    has_braced_arrays: bool
    """Whether the literal of an array is in braces: ``'{1,2}'``."""
    carriage_return: str | None
    """An expression for a carriage return, where the system's own client drops those that stand
    before a line feed within literals."""

    def insert(self, table: Table) -> str:
        """An INSERT statement up to its rows, which follow in parentheses."""
        ...

    def literal(self, text: str | None) -> str:
        """The value as a literal."""
        ...

    def script_prologue(self, database: str, create: bool) -> list[str]:
        """What the script says before anything else (drop and create the database, choose it, set
        the literal style)."""
        ...

    def distinct(self, table: str, column: str) -> str:
        """A query for the different values of a column."""
        ...

    def delete_others(self, table: str, column: str, texts: Sequence[str]) -> list[str]:
        """Statements that delete the rows whose column holds none of the texts."""
        ...

    def refuse_others(
        self, table: str, column: str, texts: Sequence[str], into: Table
    ) -> list[str]:
        """Statements that fail where a row of the table holds none of the texts, and do nothing
        elsewhere; ``into`` is a table with a column that is not NULL."""
        ...


@runtime_checkable
class QuotesNames(Protocol):
    """A dialect in which any text can be a name, in quotes."""

    def quoted(self, name: str) -> str:
        """The name in quotes, letter by letter."""
        ...


@runtime_checkable
class HasViews(Protocol):
    """A dialect of systems in which a query can have a name and be read like a table."""

    def create_view(self, view: View) -> list[str]:
        """Statements that make the view over tables that are there, of its ``query``."""
        ...

    def drop_view(self, view: View) -> list[str]:
        """Statements that leave no such view, as `Dialect.drop_table`."""
        ...


@runtime_checkable
class HasUsers(Protocol):
    """A dialect whose servers know users and what each of them may do."""

    def user_query(self, user: str) -> str:
        """A statement that has a row in its answer exactly where there is this user; its cell is 1
        where the user may log in."""
        ...

    def write_query(self, user: str, tables: Sequence[str]) -> str:
        """A statement that has a row in its answer where the user may change one of these tables of
        the session's database, which are there."""
        ...

    def create_user(self, user: str, password: str) -> list[str]:
        """Statements that make the user with this password; a user that is there is left as it
        is."""
        ...

    def grant_reading(self, user: str, tables: Sequence[str]) -> list[str]:
        """Statements after which the user may read these tables of the session's database."""
        ...


@runtime_checkable
class LocksTables(Protocol):
    """A dialect of systems where two transactions that delete and insert the same rows at the same
    time would leave both insertions."""

    lock_refused_codes: tuple[str, ...]
    """The codes by which `lock_table` ends without the lock, where the engine's class of the error
    is not ``timeout``."""

    def lock_table(self, table: str) -> list[str]:
        """Statements at the beginning of a transaction, after which no other one that begins so
        changes the table until it, and `unlock_table`, have ended."""
        ...

    def unlock_table(self, table: str) -> list[str]:
        """Statements after the end of the transaction; the end of the session says the same."""
        ...


@runtime_checkable
class LimitsWaiting(Protocol):
    """A dialect of systems where a statement waits until others have given their locks back."""

    def limit_waiting(self, wait_s: float) -> list[str]:
        """Statements after which none of the session waits for a lock much longer than this."""
        ...


class NamedTables(Struct, frozen=True):
    """Of one statement."""

    read: frozenset[str] = frozenset()
    """Whose rows it reads, changes or deletes."""
    added_to: frozenset[str] = frozenset()
    """To which it adds rows."""
    changed: frozenset[str] = frozenset()
    """Those of both to which it commits: it adds rows, changes or deletes them."""
    made: frozenset[str] = frozenset()
    """Which it makes; in statements that follow they are no tables that were there before."""
    hidden: str = ""
    """Why not all that it reads is named in it; empty: it is."""
    called: frozenset[str] = frozenset()
    """Names, in lower case, that a parenthesis follows: each may be that of a function."""


@runtime_checkable
class NamesTables(Protocol):
    """A dialect whose statements say of which tables they are, so that Assay can look at what a
    server that it did not fill holds."""

    def tables_named(self, statement: str) -> NamedTables:
        """The tables of one statement, without the system's own."""
        ...

    def rows_of(self, table: str) -> str:
        """A statement whose one cell is the number of rows of the table, as a script spells it."""
        ...

    def whole_rows(self, table: str) -> str:
        """A statement that gives all columns of every row, in any order of rows."""
        ...

    def limit_statements(self, longest_s: float) -> list[str]:
        """Statements after which the server ends each of the session's that takes longer; one that
        it refuses is passed over."""
        ...


@runtime_checkable
class HasUnflushedTables(Protocol):
    """A dialect of systems in which commits to some tables are not flushed, whatever the settings
    are."""

    def unflushed_query(self, table: str) -> str:
        """A statement whose one cell says in the system's words why commits to the table, as a
        script spells it, are not flushed (``unlogged``); no row where they are."""
        ...

    def flushed_table(self, table: str) -> str:
        """A statement that makes such a table one whose commits are flushed."""
        ...


@runtime_checkable
class Explains(Protocol):
    """The system says how it will execute a statement, without executing it."""

    explain: str
    """What is written before the statement."""


@runtime_checkable
class ListsFunctions(Protocol):
    """A dialect of systems whose users define functions, which may read or change any table."""

    functions_query: str
    """A statement with a row of one cell for each such function: its name in lower case, which is
    one of the list ``{names}``. Those that read no table may be left out."""


@runtime_checkable
class ListsIndexes(Protocol):
    """A dialect of systems that say which indexes and triggers a table has."""

    def indexes_query(self, table: str) -> str:
        """A statement with a row of one cell for each index of the table, as a script spells it:
        what it is in the system's words, without its name (``unique btree (id)``). Of a trigger
        its name and all of its text, behind the word ``trigger``."""
        ...

    def view_query(self, table: str) -> str:
        """A statement with one row, of one cell, if a script spells a view so: the view's own
        statement, empty where the system does not show it."""
        ...


@runtime_checkable
class SingleRows(Protocol):
    """A dialect that can also insert and update one row at a time. Values stand as scripts spell
    them: ``:id``, or a number."""

    def insert_row(self, table: Table, values: Sequence[str]) -> str:
        """A statement that adds one row: a value for each column, in the table's order."""
        ...

    def update_row(self, table: Table, column: str, value: str, key: str, key_value: str) -> str:
        """A statement that gives ``column`` this value where the column ``key`` has
        ``key_value``."""
        ...

    def literal(self, text: str) -> str:
        """The text, as it stands in such a statement."""
        ...


@runtime_checkable
class AsksForGreatest(Protocol):
    """A dialect that can ask for the greatest value of a column."""

    def greatest(self, table: Table, column: str) -> str:
        """A question with one row and one value, which is NULL where there are no rows."""
        ...


@runtime_checkable
class KeepsStatistics(Protocol):
    """A dialect of systems that may keep statistics of tables for their planner."""

    keeps_statistics: bool
    """Whether there is a statement that brings them up to date."""

    def update_statistics(self, tables: Sequence[Table]) -> list[str]:
        """Outside any transaction."""
        ...


@runtime_checkable
class Reclaims(Protocol):
    """A dialect with statements that give the space of deleted rows back."""

    def reclaim(self, tables: Sequence[Table]) -> list[str]:
        """Outside any transaction."""
        ...


@runtime_checkable
class RecognisesReads(Protocol):
    """A dialect without `Dialect.session_read_only` whose statements show whether they write."""

    def only_reads(self, statement: str) -> bool:
        """Whether the statement can change nothing; False where that is not certain."""
        ...


@runtime_checkable
class SetsSessions(Protocol):
    """A dialect with statements that change a setting of the session alone."""

    def sets_session(self, statement: str) -> bool:
        """Whether it does nothing else: neither to the server, nor to data."""
        ...


@runtime_checkable
class LongStatement(Protocol):
    """A dialect in which a statement can take as long as is wanted."""

    def long_statement(self, table: Table, column: str) -> str:
        """A statement that reads, and takes some hours with a thousand rows of numbers in
        ``column``."""
        ...


ABILITIES = tuple(found for found in protocols_of(__name__) if found is not Dialect)
"""What only some dialects can do, or spell."""
