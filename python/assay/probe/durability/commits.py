"""Takes a deployment; commits transactions on it, one at a time: each adds rows with a text that
does not compress."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from random import Random
from string import ascii_letters, digits

from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Column, Dialect, SingleRows, Table
from assay.contracts.durability import SessionSettings
from assay.errors import Bug
from assay.provision.engine.engine_calls import Session
from assay.provision.engine.session import session

PAYLOAD_BYTES = 1500
"""Of each row: every system has a ``varchar`` of this length, and none moves it out of the row."""
ROWS_FOLLOWED = 64
"""Of a transaction that is followed until it is flushed: more bytes than a system at rest writes
without clients."""
_ROWS_BEFORE = 400
"""In the table before commits are watched. Some engines flush the file of a table each time that it
grows: by a page until it has 512 KiB, then by 1 MiB, which holds all rows that are watched."""
_TABLE = Table(
    name="assay_durability",
    columns=(
        Column("id", "int", not_null=True),
        Column("payload", f"varchar({PAYLOAD_BYTES})"),
    ),
    primary_key=("id",),
)


class Committing:
    """One session. `commit` returns when the system has answered that the row is committed."""

    def __init__(
        self, opened: Session, dialect: Dialect, rows: SingleRows, settings: SessionSettings
    ) -> None:
        self._session = opened
        self._settings = settings
        self._dialect = dialect
        self._rows = rows
        self._random = Random(1)
        self._ready: list[str] = []
        self._number = 0

    def prepare(self, rows: int = 1) -> None:
        """Spells the next transaction, so that `commit` only sends it."""
        inserted = [self._row() for _ in range(rows)]
        self._ready = [
            *self._settings.before_begin,
            *self._dialect.begin(),
            *self._settings.after_begin,
            *inserted,
            *self._dialect.commit(),
        ]

    def _row(self) -> str:
        self._number += 1
        payload = "".join(self._random.choices(ascii_letters + digits, k=PAYLOAD_BYTES))
        return self._rows.insert_row(_TABLE, [str(self._number), self._rows.literal(payload)])

    def commit(self) -> None:
        for statement in self._ready:
            self._session.execute(statement)


def why_not(dialect: Dialect, capabilities: frozenset[str]) -> str | None:
    """Why rows cannot be committed one by one; None: they can."""
    if "stored rows" not in capabilities:
        return "the system keeps no rows"
    if not isinstance(dialect, SingleRows):
        return "rows of the system are only loaded in bulk"
    return None


@contextlib.contextmanager
def committing(
    deployment: Deployment, dialect: Dialect, settings: SessionSettings
) -> Iterator[Committing]:
    """A session and a table, which is dropped at the end. Raises `SystemUnderTestError` and
    `RunFailed` where the system does not take them."""
    if not isinstance(dialect, SingleRows):
        raise Bug(f"the dialect {dialect.name} inserts no single rows")
    with session(deployment.address) as opened:
        for statement in settings.before_begin:  # they may name the schema of the table
            opened.execute(statement)
        for statement in dialect.create_table(_TABLE, deployment.options):
            opened.execute(statement)
        for statement in dialect.create_indexes(_TABLE):
            opened.execute(statement)
        client = Committing(opened, dialect, rows=dialect, settings=settings)
        client.prepare(_ROWS_BEFORE)
        client.commit()
        yield client
        for statement in dialect.drop_table(_TABLE):
            opened.execute(statement)
