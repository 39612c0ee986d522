"""What a system must do that has certain capabilities and abilities, the system under test as
requirements use it (tables, statements, clients), and what came of trying each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal

from msgspec import Struct, structs

from assay import _engine
from assay.contracts.capabilities import missing_capabilities
from assay.contracts.deployment import Address, Deployment
from assay.contracts.dialects import Column, Dialect, LongStatement, SingleRows, Table
from assay.contracts.documents import ScriptDocument
from assay.contracts.engine import DriveDocument, StopDocument
from assay.contracts.experiment import SystemChoice
from assay.contracts.observation import Observation
from assay.contracts.systems.abilities import (
    BufferSize,
    CrashReport,
    Restartable,
    Sampled,
    Sized,
    capabilities_of,
)
from assay.contracts.systems.protocol import System
from assay.drive.observe import observe
from assay.load.load import fill
from assay.load.tables import count, drop, refuse_foreign_tables, schema, table_digest
from assay.provision.engine.engine_calls import Session, query, session
from assay.provision.running_system import RunningSystem

_WITHOUT: Mapping[type, str] = {
    BufferSize: "does not report the size of its buffer",
    CrashReport: "does not report that it has ended",
    Restartable: "cannot be stopped and started again on its data",
    Sampled: "has no processes that can be observed",
    Sized: "does not report the size of its data",
    LongStatement: "has no statement that takes as long as is wanted",
    SingleRows: "has no statements for single rows",
}
"""What is said of a system without an ability."""


class Requirement(Struct, frozen=True):
    """One sentence about every system that has what it needs, and the function that tries it."""

    name: str
    """The sentence."""
    capabilities: tuple[str, ...]
    """Names out of `assay.contracts.capabilities.CAPABILITIES`."""
    abilities: tuple[type, ...]
    """Protocols of `assay.contracts.systems.abilities`, of which the system must have all."""
    spellings: tuple[type, ...]
    """Protocols of `assay.contracts.dialects`, of which the dialect must have all."""
    isolation_level: str
    """Of `assay.contracts.dialects.ISOLATION_LEVELS`, one that the dialect must have;
    empty: any."""
    needs_url: bool
    """Whether it is about a server by URL."""
    attempt: Callable[[Subject], None]
    """Returns where the requirement is met. Raises `NotMet`, `CannotBeTried`, or whatever the
    system raises."""

    def why_not_applicable(self, system: System, choice: SystemChoice) -> str | None:
        """Why it is no requirement of this system as it is chosen; None: it is one. Starts
        nothing."""
        if self.needs_url and choice.url is None:
            return "tried only on a server by URL: a private one asks for no password"
        had = capabilities_of(system, choice)
        if lacking := missing_capabilities(self.capabilities, system.name, had):
            return lacking
        if "transactions" in self.capabilities and not system.dialect.begin():
            return f"{system.name} has no statement that begins a transaction"
        for ability in self.abilities:
            if not isinstance(system, ability):
                return f"{system.name} {_WITHOUT[ability]}"
        for spelling in self.spellings:
            if not isinstance(system.dialect, spelling):
                return f"{system.name} {_WITHOUT[spelling]}"
        levels = system.dialect.isolation_levels
        if self.isolation_level and self.isolation_level not in levels:
            return f"the isolation levels of {system.name} are: {', '.join(levels)}"
        return None


class Finding(Struct, frozen=True):
    """What came of a requirement on a system."""

    requirement: Requirement
    result: Literal["met", "not met", "not applicable"]
    reason: str = ""
    """Why it is not met, or not applicable."""


Attempt = Callable[["Subject"], None]


def requirement(
    *capabilities: str,
    abilities: tuple[type, ...] = (),
    spellings: tuple[type, ...] = (),
    isolation_level: str = "",
    needs_url: bool = False,
) -> Callable[[Attempt], Requirement]:
    """Makes a function a requirement; its name is the sentence."""

    def made(attempt: Attempt) -> Requirement:
        name = attempt.__name__.replace("_", " ")
        return Requirement(
            name, capabilities, abilities, spellings, isolation_level, needs_url, attempt
        )

    return made


Row = Sequence[object]

TIMEOUT_S = 60.0
"""The limit after which an answer counts as never given."""


class RefusedStatement(Struct, frozen=True):
    """What a system answers to a statement that it does not execute."""

    error_class: str
    code: str
    message: str
    certainty: str
    """``undone`` or ``unknown``."""

    @classmethod
    def of(cls, error: _engine.EngineError) -> RefusedStatement:
        return cls(error.error_class, error.code, error.message, error.certainty)


class Subject:
    """A system that is up. Tables that a requirement makes are dropped behind it."""

    def __init__(self, running: RunningSystem) -> None:
        self.running = running
        self._made: list[Table] = []

    @property
    def system(self) -> System:
        return self.running.system

    @property
    def dialect(self) -> Dialect:
        return self.system.dialect

    @property
    def deployment(self) -> Deployment:
        """As it is up now."""
        return self.running.deployment

    @property
    def address(self) -> Address:
        """For sessions that do not wait for ever."""
        return structs.replace(self.deployment.address, answer_timeout_s=TIMEOUT_S)

    def insist_on_a_private_server(self) -> None:
        """Raises `CannotBeTried` for a server that Assay did not start to stop."""
        if not self.running.can_restart:
            is_private = self.deployment.is_private
            raise CannotBeTried(
                "it keeps nothing in files" if is_private else "a server by URL is not stopped"
            )

    # Tables and rows.

    def made(self, name: str, *columns: Column) -> Table:
        """An empty table with these columns behind the whole number ``id``, its key."""
        table = Table(
            name=f"verify_{name}",
            columns=(Column("id", "int", not_null=True), *columns),
            primary_key=("id",),
        )
        return self.make(table)

    def make(self, table: Table) -> Table:
        """Makes the table with its indexes, in place of an earlier one of its name."""
        if not self.deployment.is_private and table not in self._made:
            refuse_foreign_tables(self.deployment, self.dialect, [table])
        self._made.append(table)
        drop(self.deployment, self.dialect, [table])
        made = schema(self.dialect, [table], self.deployment)
        self.execute(*made, *self.dialect.create_indexes(table))
        return table

    def drop_all(self) -> None:
        """Drops the tables that were made."""
        drop(self.deployment, self.dialect, self._made)
        self._made.clear()

    def load(self, table: Table, rows: Sequence[Row]) -> None:
        """Loads the rows, and insists that the same ones are read back, each value in the form that
        all systems have in common."""
        report = fill(
            self.deployment, self.dialect, [table], lambda: {table.name: rows}, with_checksums=True
        )
        [sent] = report.tables
        number, found = table_digest(self.deployment, self.dialect, table)
        if (number, found) != (len(rows), sent.checksum):
            raise NotMet(self._difference(table, rows))

    def refusal_of_load(self, table: Table, rows: Sequence[Row]) -> _engine.EngineError:
        """Loads rows of which the system must refuse one."""
        try:
            fill(self.deployment, self.dialect, [table], lambda: {table.name: rows})
        except Exception as error:
            if isinstance(error.__cause__, _engine.EngineError):
                return error.__cause__
            raise
        raise NotMet(f"expected that it refuses a row of {table.name}, and it took all of them")

    def rows(self, table: Table) -> list[tuple[str | None, ...]]:
        """All rows, as texts, in the order of their keys."""
        [found] = self.execute(self.question(table))
        return sorted(found, key=lambda row: int(row[0] or 0))

    def count(self, table: Table) -> int:
        return count(self.deployment, self.dialect, [table])[table.name]

    def question(self, table: Table) -> str:
        """A statement that reads the table."""
        return self.dialect.read_all(table.name, [column.name for column in table.columns])

    def insist_on_count(self, table: Table, expected: int) -> None:
        """Raises `NotMet` where the table holds another number of rows."""
        if (found := self.count(table)) != expected:
            raise NotMet(f"expected {expected} rows in {table.name}, found {found}")

    def _difference(self, table: Table, rows: Sequence[Row]) -> str:
        sent = {str(row[0]): tuple(row) for row in rows}
        found = {str(row[0]): tuple(row) for row in self.rows(table)}
        shown = [
            f"sent {_shown(sent.get(key))}, found {_shown(found.get(key))}"
            for key in dict.fromkeys([*sent, *found])
            if _texts(sent.get(key)) != _texts(found.get(key))
        ]
        return f"{len(shown)} rows are read back otherwise: {'; '.join(shown[:3])}"

    # Statements.

    def session(self) -> AbstractContextManager[Session]:
        """A session whose answers are not waited for without end."""
        return session(self.address)

    def execute(self, *statements: str) -> list[list[tuple[str | None, ...]]]:
        """The rows of each statement, in one session."""
        with self.session() as opened:
            return [opened.execute(one).rows for one in statements]

    def refusal(self, *statements: str) -> RefusedStatement:
        """What the last statement is refused with; the others must succeed, and the session must be
        usable afterwards."""
        with self.session() as opened:
            for statement in statements[:-1]:
                opened.execute(statement)
            refusal = refused(opened, statements[-1])
            try:
                opened.execute(statements[0])
            except _engine.EngineError as error:
                if len(statements) > 1 or error.error_class != refusal.error_class:
                    raise NotMet(f"behind the error the session is over: {error}") from error
        return refusal

    # Clients.

    def ask(
        self, text: str, variables: Mapping[str, Any], protocol: str = "prepared"
    ) -> list[tuple[str | None, ...]]:
        """The rows of the last statement of a script, its values bound."""
        document = self._document(
            [text],
            deployment=self.address.for_engine(),
            protocol=protocol,
            variables=dict(variables),
        )
        return query(document)[-1][1].rows

    def refusal_of_value(self, text: str, variables: Mapping[str, Any]) -> RefusedStatement:
        """What a script is refused with, its values bound."""
        try:
            self.ask(text, variables)
        except _engine.EngineError as error:
            return RefusedStatement.of(error)
        raise NotMet(f"expected an error, and this succeeded: {text} with {dict(variables)}")

    def drive(self, texts: Sequence[str], **more: Any) -> Observation:
        """Drives one client, or more, with scripts of these texts."""
        return observe(self.deployment, self._document(texts, **more))

    def _document(self, texts: Sequence[str], **more: Any) -> DriveDocument:
        scripts = (
            ScriptDocument(name=f"script {number}", path=f"script {number}", text=f"{text};\n")
            for number, text in enumerate(texts, 1)
        )
        alone = DriveDocument(
            scripts=tuple(scripts),
            lexer=self.dialect.language,
            text_style=self.dialect.text_style,
            order="sequence",
            clients=1,
            stop=StopDocument(passes=1),
            seed=1,
        )
        return structs.replace(alone, **more)


def refused(opened: Session, statement: str) -> RefusedStatement:
    """What the statement is refused with. Raises `NotMet` where it succeeds."""
    try:
        opened.execute(statement)
    except _engine.EngineError as error:
        return RefusedStatement.of(error)
    raise NotMet(f"expected an error, and this succeeded: {statement}")


def insist_on_class(refusal: RefusedStatement, *expected: str) -> None:
    """Raises `NotMet` for another class of error, or for one whose effect is unknown."""
    if refusal.error_class not in expected or refusal.certainty != "undone":
        wanted = " or ".join(expected)
        raise NotMet(
            f"expected an error of the class {wanted} without effect, found {refusal.error_class}, "
            f"effect {refusal.certainty}: {refusal.message} ({refusal.code})"
        )


def _texts(row: Row | None) -> tuple[str | None, ...]:
    return tuple(None if cell is None else str(cell) for cell in row or ())


def _shown(row: Row | None) -> str:
    if row is None:
        return "nothing"
    cells = [repr(cell) for cell in row]
    return f"({', '.join(one if len(one) < 60 else f'{one[:60]}…' for one in cells)})"


class NotMet(Exception):
    """The system does something else than the requirement says: what was expected, what was
    found."""


class CannotBeTried(Exception):
    """This deployment has not what the requirement is about (a server by URL, without a
    restart)."""
