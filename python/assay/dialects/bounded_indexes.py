"""What dialects share whose indexes hold only values of bounded length, and whose statement for
foreign keys adds one at a time."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from assay.contracts.dialects.protocol import Column, Index, Table
from assay.dialects import reads
from assay.dialects.standard import StandardSql, may_be_long


class BoundedIndexes(StandardSql):
    """No statement of theirs begins a transaction that their drivers would know of."""

    has_if_exists = False
    begins_implicitly = True
    needs_not_null_in_keys = False
    """Whether the columns of a key must be declared NOT NULL."""

    short_text = "varchar(400)"
    """What a text is kept as that an index holds whole: at most 1600 bytes, for which an index of
    each of these systems has room."""

    def kept(self, table: Table) -> Table:
        """A text that an index holds whole is short, and could neither be indexed nor, in most of
        these systems, be compared or sorted as a large object."""
        indexed = {name for index in table.indexes for name in index.columns}
        columns = (
            replace(column, type=self.short_text)
            if column.type == "text" and column.name in indexed and not column.wide
            else column
            for column in table.columns
        )
        return replace(table, columns=tuple(columns))

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        return super().create_table(self.kept(table), options)

    def can_be_unique(self, column: Column) -> bool:
        return not may_be_long(column) and (column.not_null or not self.needs_not_null_in_keys)

    def columns(self, table: Table) -> list[str]:
        if not self.needs_not_null_in_keys:
            return super().columns(table)
        return [
            self._column(
                Column(
                    column.name,
                    column.type,
                    not_null=column.not_null or column.name in table.primary_key,
                    wide=column.wide,
                    default=column.default,
                )
            )
            for column in table.columns
        ]

    def create_indexes(self, table: Table) -> list[str]:
        """None over a column that an index cannot hold, and none that a key of the table is
        already."""
        table = self.kept(table)
        unique = [
            columns
            for columns in table.unique
            if all(self.can_be_unique(table.column(name)) for name in columns)
        ]
        keys = (table.primary_key, *unique)
        on = f" ON {self.identifier(table.name)}"
        return [
            f"CREATE {self.index(table, index, on)}"
            for index in table.indexes
            if self._fits(table, index) and index.columns not in keys
        ]

    def _fits(self, table: Table, index: Index) -> bool:
        return not any(may_be_long(table.column(name)) for name in index.columns)

    def add_foreign_keys(self, table: Table, options: Mapping[str, str]) -> list[str]:
        del options
        return [
            f"ALTER TABLE {self.identifier(table.name)} "
            f"ADD CONSTRAINT {self.identifier(key.name)} {self.foreign_key(key)}"
            for key in table.foreign_keys
        ]

    def bulk_statement(self, table: Table) -> str:
        return self.insert(table)

    def multi_row_statement(self, table: Table) -> str | None:
        return self.insert(table)

    def session_read_only(self) -> list[str]:
        """None that would hold for the whole session."""
        return []

    def only_reads(self, statement: str) -> bool:
        return reads.only_reads(statement)

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        comment = f"COMMENT ON TABLE {self.identifier(table.name)} IS {self.literal(mark)}"
        return [*self.create_table(table, options), comment]

    def begin_at(self, level: str) -> list[str]:
        """The level is the first statement of the transaction."""
        if not level:
            return self.begin()
        self.insist_on_level(level)
        return [*self.begin(), f"SET TRANSACTION ISOLATION LEVEL {level.upper()}"]


def codes(table: Mapping[str, str]) -> dict[str, str]:
    """Code → class, of class → codes with blanks between."""
    return {code: found for found, several in table.items() for code in several.split()}


def words(text: str) -> frozenset[str]:
    """Reserved words, in lower case."""
    return frozenset(text.split())


def type_words(own: Mapping[str, str]) -> Mapping[str, str]:
    """Those of the standard, but for these."""
    return {**StandardSql.type_words, **own}
