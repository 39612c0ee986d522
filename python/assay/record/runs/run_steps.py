"""Takes how a step of a run begins and ends, and its seconds as they pass; keeps each at once,
where another process can read it; returns all that is kept of each step."""

from __future__ import annotations

import json
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import msgspec
from msgspec.structs import replace

from assay import registry
from assay.contracts.documents import convert
from assay.contracts.engine import ClientsSoFar
from assay.contracts.observation import (
    GeneratorReport,
    Interval,
    MachineSecond,
    Observed,
    decode_observed,
)
from assay.judge.run import ScriptRecord, StepRecord
from assay.load.dataset import Dataset
from assay.record.file import kept_texts, record_file
from assay.record.file.kept_texts import LongTexts, storable
from assay.record.file.record_file import insert
from assay.record.runs import run_rows, typed
from assay.record.runs.records import EndState
from assay.record.runs.run_rows import RUNS, Row
from assay.text.secrets import without_secrets

StepState = Literal[EndState, "skipped"]
RUNNING = "running"
COLUMNS = (
    "position", "do", "name", "state", "reason", "begun_unix_ns", "ended_unix_ns",
)  # fmt: skip
"""Of the table ``steps``; the first fields of a `StepRecord`."""
Place = tuple[int, int]
"""The number of a run, and the position of its step."""
_RUN_STATES = {
    "load": "loading",
    "ddl": "loading",
    "update": "loading",
    "restart": "provisioning",
    "check": "checking",
    "compare": "checking",
    "dump": "checking",
}
"""Kind of step → state of its run meanwhile; other kinds: driving."""


def run_state(do: str) -> str:
    return _RUN_STATES.get(do, "driving")


def begin_step(
    connection: sqlite3.Connection, run_id: int, position: int, do: str, name: str, now_ns: int
) -> None:
    insert(
        connection,
        "steps",
        run_id=run_id,
        position=position,
        do=do,
        name=storable(name),
        state=RUNNING,
        begun_unix_ns=now_ns,
    )


def end_step(
    connection: sqlite3.Connection, run_id: int, position: int, state: str, reason: str, now_ns: int
) -> None:
    connection.execute(
        "UPDATE steps SET state = ?, reason = ?, ended_unix_ns = ? "
        "WHERE run_id = ? AND position = ?",
        (state, storable(without_secrets(reason)), now_ns, run_id, position),
    )


class SentScript(TypedDict):
    """Of a drive document: the text of a transaction type."""

    name: str
    path: str
    text: str
    weight: NotRequired[int]


def keep_drive(
    connection: sqlite3.Connection,
    run_id: int,
    position: int,
    document: str,
    scripts: Iterable[SentScript],
) -> None:
    """The drive document, and the text of each script, a long one apart."""
    insert(connection, "drives", run_id=run_id, step=position, document=document)
    for place, script in enumerate(scripts):
        text = storable(script["text"])
        is_long = len(text) >= kept_texts.LEAST_CHARACTERS
        digest = kept_texts.digest_of(text) if is_long else None
        if digest is not None:
            kept_texts.keep_texts(connection, {digest: text})
        insert(
            connection,
            "scripts",
            run_id=run_id,
            step=position,
            position=place,
            name=script["name"],
            path=storable(script["path"]),
            text="" if is_long else text,
            digest=digest,
            weight=script.get("weight", 1),
        )


def steps_of_runs(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[int, tuple[StepRecord, ...]]:
    """The steps of each of these runs, in order; a run that began none is not in it."""
    found = run_rows.rows_by_run(
        connection,
        runs,
        f"SELECT run_id, {', '.join(COLUMNS)} FROM steps WHERE run_id IN {RUNS} ORDER BY position",
    )
    kept = _Kept(connection, runs)
    return {
        run_id: tuple(_step(kept, run_id, *values) for values in rows)
        for run_id, rows in found.items()
    }


class _Kept:
    """All that is kept of the steps of these runs, by run and step."""

    def __init__(self, connection: sqlite3.Connection, runs: Sequence[int]) -> None:
        def read(columns: str, table: str, order: str = "rowid") -> dict[Place, list[Row]]:
            question = (
                f"SELECT run_id, step, {columns} FROM {table} WHERE run_id IN {RUNS} "
                f"ORDER BY {order}"
            )
            return run_rows.rows_by_step(connection, runs, question)

        self.datasets = read("document", "datasets")
        self.drives = read("document", "drives")
        self.checks = read("document", "checks")
        self.scripts = read("name, path, text, weight, digest", "scripts", "position")
        self.texts = LongTexts(connection)
        self.observations = read("document", "observations")
        self.samples = run_rows.samples(connection, runs)
        self.open_files = run_rows.open_files(connection, runs)
        self.storage_requests = run_rows.storage_requests_of_runs(connection, runs)
        self.seconds = live_seconds_of_runs(connection, runs)


def _step(kept: _Kept, run_id: int, *columns: Any) -> StepRecord:
    step = StepRecord(*columns)
    place = (run_id, step.position)
    return replace(
        step,
        dataset=_dataset(kept, place),
        drive=_document(kept.drives, place),
        scripts=tuple(_script(kept.texts, *values) for values in kept.scripts.get(place, ())),
        observation=_observed(kept, place),
        samples=kept.samples.get(place, ()),
        open_files=kept.open_files.get(place, ()),
        storage_requests=kept.storage_requests.get(place, ()),
        seconds=kept.seconds.get(place, ()),
        checks=typed.checks(_document(kept.checks, place) or (), f"run {run_id}: checks"),
    )


def _dataset(kept: _Kept, place: Place) -> Dataset | None:
    if (document := _document(kept.datasets, place)) is None:
        return None
    return Dataset.of_record(document, f"run {place[0]}: data set")


def _observed(kept: _Kept, place: Place) -> Observed | None:
    """None where the step ended before it reported something."""
    if not (found := kept.observations.get(place)):
        return None
    text = kept.texts.whole(found[0][0])
    return decode_observed(text, registry.step_reports(), f"run {place[0]}: observation")


def _script(
    texts: LongTexts, name: str, path: str, text: str, weight: int, digest: str | None
) -> ScriptRecord:
    return ScriptRecord(name, path, text if digest is None else texts.text(digest), weight)


def _document(rows: Mapping[Place, Sequence[Row]], place: Place) -> Any:
    """None where the step ended before there was one."""
    found = rows.get(place)
    return json.loads(found[0][0]) if found else None


LIVE_TABLES = ("seconds", "generators_at_work")
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
                    _keep_live(connection, left)
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


def live_seconds_of_runs(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[tuple[int, int], tuple[Interval, ...]]:
    """By run and step; of steps that have no observation."""
    found = run_rows.rows_by_step(
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


def forget_live_progress(connection: sqlite3.Connection, run_id: int, step: int) -> None:
    """What was observed says the same."""
    for table in LIVE_TABLES:
        connection.execute(f"DELETE FROM {table} WHERE run_id = ? AND step = ?", (run_id, step))


def _opened(path: Path) -> sqlite3.Connection:
    connection = record_file.connect(path, "rw", timeout_s=_LOCK_S)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
    return connection


def _keep_live(connection: sqlite3.Connection, rows: Iterable[_Row]) -> None:
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
