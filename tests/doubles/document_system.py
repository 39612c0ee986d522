"""A system that takes JSON documents instead of SQL and has no transactions, on the null system."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.dialects.minimal import MinimalDialect
from assay.dialects.protocol import Table
from assay.experiment.values import SystemChoice
from assay.provision.deployment import Deployment
from assay.systems import OptionSpec, ServerDirectory
from assay.systems.null import NULL


class DocumentDialect(MinimalDialect):
    name = "documents"
    language = "json"

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        del options
        return [_document(create=table.name)]

    def drop_table(self, table: Table) -> list[str]:
        return [_document(drop=table.name)]

    def bulk_statement(self, table: Table) -> str:
        return _document(load=table.name, fields=[column.name for column in table.columns])

    def exists(self, table: str) -> str:
        return _document(find=table, limit=1)

    def count(self, table: str) -> str:
        return _document(count=table)

    def read_all(self, table: str, columns: Sequence[str]) -> str:
        return _document(find=table, fields=list(columns))

    def read_by_key(self, table: str, columns: Sequence[str], key: str, value: str) -> str:
        return _document(find=table, fields=list(columns), filter={key: value})


class Documents:
    """Has the required members of a system, and no other."""

    name = "documents"
    dialect = DocumentDialect()
    driver = "null"
    capabilities = frozenset({"tables", "prepared statements", "bulk load"})
    option_specs: tuple[OptionSpec, ...] = ()

    def check(self, choice: SystemChoice) -> None:
        del choice

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        with NULL.provision(choice, directory, connections=connections) as made:
            yield replace(made, system=self.name)


def _document(**names: Any) -> str:
    return json.dumps(names)


DOCUMENTS = Documents()
