"""A system that takes JSON documents instead of SQL and has no transactions."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.dialects.minimal import MinimalDialect
from assay.dialects.protocol import Table
from assay.experiment.values import SystemChoice
from assay.provision.deployment import Address, Deployment, Node
from assay.provision.session import session
from assay.systems import OptionSpec, ServerDirectory


class DocumentDialect(MinimalDialect):
    name = "documents"
    language = "json"

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        del options
        return [_document(create=table.name)]

    def drop_table(self, table: Table) -> list[str]:
        return [_document(drop=table.name)]

    def bulk_statement(self, table: Table) -> str:
        return _document(insert=table.name, fields=[column.name for column in table.columns])

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
    driver = "null_documents"
    capabilities = frozenset({"tables", "prepared statements", "bulk load"})
    option_specs: tuple[OptionSpec, ...] = ()

    def check(self, choice: SystemChoice) -> None:
        del choice

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        del connections
        address = Address(self.driver, options={"site": secrets.token_hex(8)})
        with session(address) as opened:
            version = opened.server_version
        yield Deployment(
            system=self.name,
            label=choice.label,
            nodes=(Node(self.name, directory.storage),),
            endpoints=(address,),
            version=version,
            options={},
            settings_asked={},
            settings={},
            is_embedded=True,
        )


def _document(**names: Any) -> str:
    return json.dumps(names)


DOCUMENTS = Documents()
