"""Takes a server or file that Assay did not fill, and the statements of a run; returns what the
tables that these name hold: their numbers of rows, a digest of the smaller ones, and their indexes.

It is read outside the measured time, before and after each run, in a session of its own. The cost
is bounded: the server ends a statement after `LONGEST_S`, no statement begins later than that, and
values are read of tables of at most `MOST_DIGESTED` rows.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec import Struct, structs

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import (
    Dialect,
    HasUnflushedTables,
    ListsFunctions,
    ListsIndexes,
    NamedTables,
    NamesTables,
)
from assay.errors import AssayError
from assay.provision.engine.engine_calls import LOST, Session, session
from assay.text import pattern

LONGEST_S = 5.0
"""Of one look at all tables of a run."""
MOST_DIGESTED = 100_000
"""Rows."""
_PLACE = pattern(r"; at character \d+")
_PLAINLY_QUOTED = pattern(r"`(\w+)`")
_LONGEST = 160
"""Characters of a definition that are kept."""
_GRACE_S = 2.0
"""How much later than `LONGEST_S` a server may answer that it has ended a statement."""


class ExistingTable(NamedTuple):
    """A table as it was found."""

    name: str
    """As a script spells it; empty: what is not known is of no single table."""
    rows: int | None
    digest: str
    """Of all values in any order, 16 hex digits; empty: not read."""
    is_only_added_to: bool
    """Whether the run adds rows to it and does nothing else with it, or reads it through a view
    alone: what it holds is not compared, and need not be known."""
    unknown: str
    """Why it is not known what it holds; empty: it is."""
    indexes: str = ""
    """In the system's words, without their names: ``btree (price); unique btree (id)``; with
    triggers, which have names: ``trigger audit AFTER INSERT ON orders …``; ``none``;
    empty: not known. ``not known (…)``: the tables that a view reads are not."""


class ExistingData(Struct, frozen=True):
    """What the tables of a run held. Each is empty where the run did not get so far."""

    before: tuple[ExistingTable, ...] = ()
    after: tuple[ExistingTable, ...] = ()

    @property
    def unknown(self) -> str:
        """What is not known of it, and why; empty: all is known."""
        found = (
            f"{one.name}: {one.unknown}" if one.name else one.unknown
            for one in (*self.before, *self.after)
            if one.unknown
        )
        return "; ".join(dict.fromkeys(found))


def look(
    deployment: Deployment, dialect: Dialect, statements: Iterable[str]
) -> tuple[tuple[ExistingTable, ...], frozenset[str]]:
    """What the tables that the statements name hold now, in the order of their names; and which
    functions of the server's users they call: these may read and change any table."""
    none: frozenset[str] = frozenset()
    if not isinstance(dialect, NamesTables):
        why = f"statements of {dialect.name} do not say which tables they read"
        return (_unknown("", why),), none
    named = [dialect.tables_named(statement) for statement in statements]
    hidden = tuple(_unknown("", why) for why in dict.fromkeys(one.hidden for one in named) if why)
    tables, called = _tables(named), none.union(*(one.called for one in named))
    if not tables and not (called and isinstance(dialect, ListsFunctions)):
        return hidden, none
    address = structs.replace(deployment.address, answer_timeout_s=LONGEST_S + _GRACE_S)
    try:
        with session(address) as opened:
            functions = _functions(opened, dialect, called)
            whys = (f"{name}() does not say which tables it reads" for name in sorted(functions))
            hidden += tuple(_unknown("", why) for why in whys)
            return (*hidden, *_looked_at(opened, dialect, tables)), functions
    except AssayError as error:
        return (*hidden, _unknown("", _line(error.message))), none


def unflushed(
    deployment: Deployment, dialect: Dialect, statements: Iterable[str]
) -> dict[str, str]:
    """Of the tables that the statements change, those whose commits are not flushed, whatever the
    settings are: ``orders: unlogged`` → the statement that makes it durable. Empty where
    there are none, or where the server does not say."""
    if not (isinstance(dialect, NamesTables) and isinstance(dialect, HasUnflushedTables)):
        return {}
    named = [dialect.tables_named(statement) for statement in statements]
    tables = sorted({name for one in named for name in one.changed if not name.startswith(":")})
    found: dict[str, str] = {}
    if not tables:
        return found
    address = structs.replace(deployment.address, answer_timeout_s=LONGEST_S + _GRACE_S)
    with suppress(AssayError, _engine.EngineError), session(address) as opened:
        for table in tables:
            for row in opened.execute(dialect.unflushed_query(table)).rows:
                found[f"{table}: {row[0]}"] = dialect.flushed_table(table)
    return found


def _tables(named: Sequence[NamedTables]) -> dict[str, bool]:
    """Name → whether rows are only added to it. A table that a statement makes is none that was
    there before."""
    made = {name.casefold() for one in named for name in one.made}
    read = {name for one in named for name in one.read}
    found = {name for one in named for name in one.added_to} | read
    return {
        name: name not in read
        for name in sorted(found)
        if name.casefold() not in made and not name.startswith(":")
    }


def _looked_at(
    opened: Session, dialect: NamesTables, tables: dict[str, bool]
) -> list[ExistingTable]:
    for statement in dialect.limit_statements(LONGEST_S):
        with suppress(_engine.EngineError):
            opened.execute(statement)
    ends_s = time.monotonic() + LONGEST_S
    found = []
    for name, is_only_added_to in tables.items():
        try:
            if time.monotonic() > ends_s and not is_only_added_to:
                found.append(_unknown(name, f"not counted within {LONGEST_S:g} s"))
                continue
            rows = int(opened.execute(dialect.rows_of(name)).rows[0][0] or 0)
            digest = ""
            if rows <= MOST_DIGESTED and not is_only_added_to and time.monotonic() < ends_s:
                digest = _digest(opened, dialect.whole_rows(name))
            indexes = _indexes(opened, dialect, name)
            found.append(ExistingTable(name, rows, digest, is_only_added_to, "", indexes))
        except (_engine.EngineError, ValueError, IndexError) as error:
            if isinstance(error, _engine.EngineError) and error.error_class == LOST:
                raise
            message = error.message if isinstance(error, _engine.EngineError) else str(error)
            why = "" if is_only_added_to else _line(message)
            found.append(ExistingTable(name, None, "", is_only_added_to, why))
    return [*found, *_beneath_views(opened, dialect, list(tables))]


def _beneath_views(
    opened: Session, dialect: NamesTables, waiting: list[str]
) -> Iterator[ExistingTable]:
    """The tables that views among these read, also through other views: their indexes alone."""
    known = {name.casefold() for name in waiting}
    while waiting and isinstance(dialect, ListsIndexes):
        name = waiting.pop(0)
        rows = _rows(opened, dialect.view_query(name))
        text = "" if rows is None else "".join(str(row[0] or "") for row in rows)
        if not text and (rows is None or rows):
            why = "not known (the server does not show the statement of this view)"
            yield ExistingTable(f"the tables of {name}", None, "", True, "", why)
        for spelled in sorted(dialect.tables_named(text).read):
            beneath = _PLAINLY_QUOTED.sub(r"\1", spelled)
            if beneath.casefold() not in known:
                known.add(beneath.casefold())
                waiting.append(beneath)
                indexes = _indexes(opened, dialect, beneath)
                yield ExistingTable(beneath, None, "", True, "", indexes)


def _functions(opened: Session, dialect: NamesTables, called: Iterable[str]) -> frozenset[str]:
    """Empty where the system does not say."""
    names = ", ".join("'" + name.replace("'", "''") + "'" for name in called)
    with suppress(_engine.EngineError):
        if names and isinstance(dialect, ListsFunctions):
            rows = opened.execute(dialect.functions_query.format(names=names)).rows
            return frozenset(str(row[0]) for row in rows)
    return frozenset()


def _digest(opened: Session, statement: str) -> str:
    """Empty where the values cannot be read in time; the number of rows is known then."""
    try:
        return opened.digest(statement)[1]
    except _engine.EngineError as error:
        if error.error_class == LOST:
            raise
        return ""


def _indexes(opened: Session, dialect: NamesTables, table: str) -> str:
    """Empty where the system does not say."""
    if not isinstance(dialect, ListsIndexes):
        return ""
    rows = _rows(opened, dialect.indexes_query(table))
    return (
        ""
        if rows is None
        else "; ".join(sorted(_definition(str(row[0])) for row in rows)) or "none"
    )


def _rows(opened: Session, statement: str) -> list[tuple[str | None, ...]] | None:
    """None: the server refuses the statement."""
    try:
        return opened.execute(statement).rows
    except _engine.EngineError as error:
        if error.error_class == LOST:
            raise
        return None


def _definition(text: str) -> str:
    """On one line, in which ``; `` is none; of a long one the beginning, with a digest of all."""
    line = " ".join(text.split()).replace("; ", ";")
    digest = hashlib.sha256(line.encode()).hexdigest()[:8]
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip()}… (digest {digest})"


def _unknown(name: str, why: str) -> ExistingTable:
    return ExistingTable(name, None, "", False, why)


def _line(message: str) -> str:
    """Without the place in the statement, which is Assay's and not the user's."""
    return _PLACE.sub("", message.partition("\n")[0])
