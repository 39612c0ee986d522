"""Takes the seconds of a step that is under way, and what its clients and load generators have done
so far; keeps each at once, where another process can read it. What the step observed takes their
place when it ends.

The clients are at work meanwhile, perhaps on the same disk. So a thread with a connection of its
own writes them, which no client waits for; nothing is flushed (a power cut may take the last
seconds, a kill does not); and where another process has locked the file, they come with a later
one, or never.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from assay.contracts.engine.drive import ClientsSoFar
from assay.contracts.observation import GeneratorReport, Interval, MachineSecond
from assay.contracts.observation.parts.shape import convert
from assay.record.file import opening, rows_of_runs
from assay.record.file.json_text import storable
from assay.record.file.rows_of_runs import RUNS

TABLES = ("seconds", "generators_at_work")
_LOCK_S = 0.2
"""How long a write waits for a lock."""
_LOG_PAGES = 16_384
"""Of 4 kB: a log of that size is taken over into the file, which flushes it; once in hours."""
_LONGEST_END_S = 5.0
_INSERT = (
    "INSERT OR REPLACE INTO seconds (run_id, step, second, group_name, document, machine) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_INSERT_AT_WORK = (
    "INSERT OR REPLACE INTO generators_at_work (run_id, step, elapsed_ns, document, clients) "
    "VALUES (?, ?, ?, ?, ?)"
)
_Row = tuple[str, tuple[int | str | None, ...]]
"""A statement and its values."""


class LiveProgress:
    """Those of one step."""

    def __init__(self, path: Path, run_id: int, step: int) -> None:
        self._path, self._place = path, (run_id, step)
        self._generators: tuple[float, Sequence[GeneratorReport]] = (0.0, ())
        self._clients: ClientsSoFar | None = None
        self._passed: queue.SimpleQueue[Callable[[], list[_Row]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="seconds", daemon=True)
        self._thread.start()

    def add(self, groups: Sequence[Interval], machine: MachineSecond | None = None) -> None:
        """A second: an interval of each group; the first row has what the machine did."""
        of_machine = (machine, *[None] * len(groups))
        self._passed.put(lambda: list(map(self._row, groups, of_machine)))

    def add_at_work(
        self, elapsed_s: float, generators: Sequence[GeneratorReport], clients: ClientsSoFar | None
    ) -> None:
        """What each generator and all clients have done so far. ``elapsed_s``: since clients began.
        What is empty is as it was said before."""
        if generators:
            self._generators = elapsed_s, generators
        if clients is not None:
            self._clients = clients
        known = (*self._generators, self._clients)
        self._passed.put(lambda: [self._row_at_work(*known)])

    def end(self) -> None:
        """No more is written after this."""
        self._passed.put(None)
        self._thread.join(_LONGEST_END_S)

    def _write(self) -> None:
        with suppress(sqlite3.Error), closing(_opened(self._path)) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            if mode != "wal":  # a file system that has none: each write would be a flush
                return
            left: list[_Row] = []
            while (rows := self._passed.get()) is not None:
                left += rows()
                with suppress(sqlite3.Error):
                    _keep(connection, left)
                    left = []

    def _row(self, interval: Interval, machine: MachineSecond | None) -> _Row:
        text = msgspec.json.encode(interval).decode()
        of_machine = None if machine is None else storable(msgspec.json.encode(machine).decode())
        place = (*self._place, interval.second, storable(interval.group))
        return _INSERT, (*place, text, of_machine)

    def _row_at_work(
        self, elapsed_s: float, generators: Sequence[GeneratorReport], clients: ClientsSoFar | None
    ) -> _Row:
        texts = [storable(msgspec.json.encode(one).decode()) for one in (generators, clients)]
        return _INSERT_AT_WORK, (*self._place, int(elapsed_s * 1e9), *texts)


def of_runs(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[tuple[int, int], tuple[Interval, ...]]:
    """By run and step; of steps that have no observation."""
    found = rows_of_runs.by_step(
        connection,
        runs,
        f"SELECT run_id, step, document FROM seconds WHERE run_id IN {RUNS} ORDER BY second, rowid",
    )
    return {
        place: tuple(
            convert(msgspec.json.decode(text), Interval, f"run {place[0]}: second")
            for (text,) in rows
        )
        for place, rows in found.items()
    }


def forget(connection: sqlite3.Connection, run_id: int, step: int) -> None:
    """What was observed says the same."""
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE run_id = ? AND step = ?", (run_id, step))


def _opened(path: Path) -> sqlite3.Connection:
    connection = opening.connect(path, "rw", timeout_s=_LOCK_S)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
    return connection


def _keep(connection: sqlite3.Connection, rows: Iterable[_Row]) -> None:
    """One transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement, values in rows:
            connection.execute(statement, values)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
