"""A system that takes JSON documents instead of SQL and has no transactions."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.experiment import SystemChoice
from assay.dialects.null import NullDocumentsDialect
from assay.provision.engine.engine_calls import session
from assay.systems import OptionSpec, ServerDirectory


class DocumentDialect(NullDocumentsDialect):
    name = "documents"


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
        address = Address(self.driver, options={"deployment": secrets.token_hex(8)})
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


DOCUMENTS = Documents()
