"""A null system and a storage that log what happens to them, and fail at a given event.

``EVENTS`` has a word for each event, in order: ``storage+`` when it is up, ``storage-`` when it is
taken down, ``load!`` when that fails.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Table
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.storages.protocol import PreparedStorage, values
from assay.dialects.null import NullDialect
from assay.errors import SystemRefused
from assay.storages.here import HERE
from assay.systems import OptionSpec, ServerDirectory
from assay.systems.null.system import NULL


@dataclass
class EventLog:
    words: list[str] = field(default_factory=list)
    fails_in: str = ""
    """The first event of this name fails; the next one succeeds."""
    error: BaseException = field(default_factory=lambda: SystemRefused("a failure of the test"))

    def add(self, event: str, sign: str = "") -> None:
        if self.fails_in == event + sign:
            self.fails_in = ""
            self.words.append(f"{event}{sign}!")
            raise self.error
        self.words.append(event + sign)

    def __str__(self) -> str:
        return " ".join(self.words)


EVENTS = EventLog()


class TracedDialect(NullDialect):
    name = "traced"

    def bulk_statement(self, table: Table) -> str:
        EVENTS.add("load")
        return super().bulk_statement(table)

    def session_read_only(self) -> list[str]:
        """Used by the consistency checks: after a load, and after the last step."""
        EVENTS.add("check")
        return []


class Traced:
    name = "traced"
    dialect = TracedDialect()
    driver = NULL.driver
    capabilities = NULL.capabilities
    option_specs: tuple[OptionSpec, ...] = ()

    def check(self, choice: SystemChoice) -> None:
        del choice

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        EVENTS.add("system", "+")
        try:
            with NULL.provision(choice, directory, connections=connections) as made:
                yield replace(made, system=self.name)
        finally:
            EVENTS.add("system", "-")


class TracedStorage:
    name = "traced"
    option_specs: tuple[OptionSpec, ...] = ()

    def check(self, choice: StorageChoice) -> None:
        values(self, choice)

    @contextlib.contextmanager
    def prepare(self, choice: StorageChoice) -> Iterator[PreparedStorage]:
        EVENTS.add("storage", "+")
        with tempfile.TemporaryDirectory(prefix="assay-traced-", dir="/var/tmp") as folder:
            Path(folder).chmod(0o755)
            with HERE.prepare(StorageChoice(directory=folder)) as made:
                try:
                    facts = structs.replace(made.facts, name=choice.name, kind=self.name)
                    yield PreparedStorage(facts)
                finally:
                    EVENTS.add("storage", "-")


TRACED = Traced()
TRACED_STORAGE = TracedStorage()
