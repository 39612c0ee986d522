"""Takes neutral tables; returns the commands of MongoDB for them, as documents of JSON: a table is
a collection, a row a document, a column a field.

A collection has no columns, no types, no maximum lengths and no NOT NULL. Types that BSON lacks are
stored as the nearest one: smallint as a 32-bit number, float as a 64-bit one, date as a time at
midnight UTC, timestamp in whole milliseconds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Index, NamedTables, Table
from assay.dialects.minimal import MinimalDialect

_PRIMARY = "primary_key"
"""The index of a declared primary key. The field ``_id``, which every document has besides, is the
server's own."""

_READS = re.compile(r'\s*\{\s*"(aggregate|count|distinct|find)"\s*:')
_WRITING_STAGE = re.compile(r'\\|"\$(out|merge)"')
"""The stages of a pipeline that write; and a backslash, by which their names can be spelled too."""


_COMMAND = re.compile(r'\s*\{\s*"(?P<command>\w+)"\s*:\s*"(?P<collection>[^"]+)"')
_JOINED = re.compile(r'"from"\s*:\s*"([^"]+)"')


class MongodbDialect(MinimalDialect):
    name = "mongodb"
    language = "json"

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        del options
        return [_text({"create": table.name})]

    def create_indexes(self, table: Table) -> list[str]:
        """All of them by one command, so that the server reads the collection once. `_id` is no
        column of a workload, so that the primary key is an index like another."""
        unique = [
            Index("_".join(("unique", *columns)), columns, unique=True) for columns in table.unique
        ]
        primary = [Index(_PRIMARY, table.primary_key, unique=True)] if table.primary_key else []
        indexes = [_index(one) for one in (*primary, *unique, *table.indexes)]
        return [_text({"createIndexes": table.name, "indexes": indexes})] if indexes else []

    def drop_table(self, table: Table) -> list[str]:
        return [_text({"drop": table.name})]

    def bulk_statement(self, table: Table) -> str:
        return _text({"insert": table.name, "fields": [column.name for column in table.columns]})

    def exists(self, table: str) -> str:
        """The list of its indexes, which a collection that is not there has not."""
        return _text({"listIndexes": table})

    def count(self, table: str) -> str:
        """By a pipeline, which counts documents and not what the catalogue says; within a facet,
        because counting nothing gives no document."""
        return _aggregate(
            table,
            _text({"$facet": {"counted": [{"$count": "n"}]}}),
            _text({"$project": {"n": {"$ifNull": [{"$first": "$counted.n"}, 0]}}}),
        )

    def tables_named(self, statement: str) -> NamedTables:
        found = _COMMAND.match(statement)
        if found is None:
            return NamedTables()
        joined = frozenset(_JOINED.findall(statement))
        named = frozenset({found["collection"]})
        if found["command"] == "insert":
            return NamedTables(joined, named)
        return NamedTables(named | joined)

    def rows_of(self, table: str) -> str:
        return self.count(table)

    def whole_rows(self, table: str) -> str:
        return _aggregate(table)

    def limit_statements(self, longest_s: float) -> list[str]:
        """Nothing: the limit is a part of each command."""
        del longest_s
        return []

    def read_all(self, table: str, columns: Sequence[str]) -> str:
        return _aggregate(table, _text({"$replaceWith": _fields(columns)}))

    def read_by_key(self, table: str, columns: Sequence[str], key: str, value: str) -> str:
        return _aggregate(
            table,
            f'{{"$match": {{{json.dumps(key)}: {value}}}}}',
            _text({"$replaceWith": _fields(columns)}),
        )

    def insert_row(self, table: Table, values: Sequence[str]) -> str:
        fields = ", ".join(
            f"{json.dumps(column.name)}: {value}"
            for column, value in zip(table.columns, values, strict=True)
        )
        return f'{{"insert": {json.dumps(table.name)}, "documents": [{{{fields}}}]}}'

    def literal(self, text: str) -> str:
        return json.dumps(text)

    def update_row(self, table: Table, column: str, value: str, key: str, key_value: str) -> str:
        change = f'{{"$set": {{{json.dumps(column)}: {value}}}}}'
        update = f'{{"q": {{{json.dumps(key)}: {key_value}}}, "u": {change}}}'
        return f'{{"update": {json.dumps(table.name)}, "updates": [{update}]}}'

    def delete_all(self, table: str) -> list[str]:
        return [_text({"delete": table, "deletes": [{"q": {}, "limit": 0}]})]

    def delete_where(self, table: str, column: str, texts: Sequence[str]) -> list[str]:
        if not texts:
            return []
        chosen = {column: {"$in": list(texts)}}
        return [_text({"delete": table, "deletes": [{"q": chosen, "limit": 0}]})]

    def only_reads(self, statement: str) -> bool:
        """Values (``:name``) cannot bring a stage into a pipeline."""
        return _READS.match(statement) is not None and not _WRITING_STAGE.search(statement)


def _fields(columns: Sequence[str]) -> object:
    """A new document of the columns in this order, whatever the order in a document is; null where
    it has no such field."""
    return {name: {"$ifNull": [f"${name}", None]} for name in columns}


def _aggregate(table: str, *stages: str) -> str:
    pipeline = ", ".join(stages)
    return f'{{"aggregate": {json.dumps(table)}, "pipeline": [{pipeline}], "cursor": {{}}}}'


def _index(index: Index) -> object:
    key = {name: -1 if name in index.descending else 1 for name in index.columns}
    return {"key": key, "name": index.name, **({"unique": True} if index.unique else {})}


def _text(document: object) -> str:
    return json.dumps(document, ensure_ascii=False)


MONGODB = MongodbDialect()
