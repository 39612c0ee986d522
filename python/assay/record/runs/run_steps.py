"""Takes how a step of a run begins and ends, and keeps it; returns all that is kept of each step.

A run that begins no step has a single one, ``drive``, which begins with the first row of the run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from msgspec.structs import replace

from assay import registry
from assay.contracts.observation import Observed, decode_observed
from assay.judge.run import ScriptRecord, StepRecord
from assay.record.file import long_texts, rows_of_runs
from assay.record.file.json_text import storable
from assay.record.file.long_texts import LongTexts
from assay.record.file.record_file import insert
from assay.record.file.rows_of_runs import RUNS, Row
from assay.record.runs import live_progress, run_samples, storage_requests, typed
from assay.record.runs.run_ends import EndState
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


def begin(
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


def end(
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
        is_long = len(text) >= long_texts.LEAST_CHARACTERS
        digest = long_texts.digest_of(text) if is_long else None
        if digest is not None:
            long_texts.keep(connection, {digest: text})
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


def of_runs(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[int, tuple[StepRecord, ...]]:
    """The steps of each of these runs, in order; a run that began none is not in it."""
    found = rows_of_runs.by_run(
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
            return rows_of_runs.by_step(connection, runs, question)

        self.datasets = read("document", "datasets")
        self.drives = read("document", "drives")
        self.checks = read("document", "checks")
        self.scripts = read("name, path, text, weight, digest", "scripts", "position")
        self.texts = LongTexts(connection)
        self.observations = read("document", "observations")
        self.samples = run_samples.samples(connection, runs)
        self.open_files = run_samples.open_files(connection, runs)
        self.storage_requests = storage_requests.of_runs(connection, runs)
        self.seconds = live_progress.of_runs(connection, runs)


def _step(kept: _Kept, run_id: int, *columns: Any) -> StepRecord:
    step = StepRecord(*columns)
    place = (run_id, step.position)
    return replace(
        step,
        dataset=_document(kept.datasets, place),
        drive=_document(kept.drives, place),
        scripts=tuple(_script(kept.texts, *values) for values in kept.scripts.get(place, ())),
        observation=_observed(kept, place),
        samples=kept.samples.get(place, ()),
        open_files=kept.open_files.get(place, ()),
        storage_requests=kept.storage_requests.get(place, ()),
        seconds=kept.seconds.get(place, ()),
        checks=typed.checks(_document(kept.checks, place) or (), f"run {run_id}: checks"),
    )


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
