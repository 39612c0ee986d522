"""Takes two record files; adds the experiments of one to the other.

An experiment is the same one in both where the same process began it at the same instant. Of a run
that both know, the one that has ended counts, or else the longer one: so a rescue file (see
`writer`) completes the runs that are missing from the record. Merging twice changes nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from assay.errors import ArgumentError
from assay.judge.verdict import of_cell
from assay.record import planned_runs
from assay.record.file import faults, kept_texts, record_file
from assay.record.file.record_file import SqlValue, insert, open_for_reading, reading_errors
from assay.record.runs import reading, run_steps
from assay.record.writer import OnMessage, Writer
from assay.text import paths
from assay.text.phrases import phrase

_SAME_EXPERIMENT = ("begun_unix_ns", "process_id", "process_started", "boot_id", "seed")
_SAME_CALIBRATION = ("begun_unix_ns", "driver", "clients", "threads", "observation")
_HOW_IT_ENDED = (
    "state", "reason", "verdict", "verdict_reason", "begun_unix_ns", "ended_unix_ns",
    "continuation", "exit_status",
)  # fmt: skip
_OTHER_SOURCE = "name another file to merge"
_SAME_RUN = ("experiment_id", "cell_fingerprint", "repetition", "seed", "content_fingerprint")

Row = dict[str, SqlValue]
"""Of any table, by column."""
OnProgress = Callable[[str, int, int], None]


class Merged(Struct):
    experiments: list[int]
    """Their numbers in the record."""
    runs: int
    """New runs, and runs that are complete now."""


def merge(
    source: Path, target: Path, *, waiting: OnMessage, progress: OnProgress = lambda *_: None
) -> Merged:
    """Brings what ``source`` holds into ``target``, all or nothing; only reads ``source``.
    ``progress`` gets what is done (reading, adding), the number of the experiment, and of how many.

    Raises `ArgumentError` where one of them cannot be used.
    """
    if paths.exists(target) and paths.exists(source) and source.samefile(target):
        raise ArgumentError(
            f"{source} is the record itself",
            hint=phrase("name the record to merge into with {--records}"),
        )
    with _hints_of_the_source():
        reader = open_for_reading(source)
    try:
        with _hints_of_the_source():
            _insist_on_an_intact_file(reader, source, progress)  # before a new target is created
        writer = Writer(target, waiting=waiting, warning=waiting)
        try:
            return writer.change(lambda connection: _merged(reader, connection, progress))
        finally:
            writer.close()
    finally:
        reader.close()


@contextmanager
def _hints_of_the_source() -> Iterator[None]:
    """It is an argument; --records names the other file."""
    try:
        yield
    except ArgumentError as error:
        hint = error.hint and error.hint.replace(faults.OTHER_FILE, _OTHER_SOURCE)
        raise ArgumentError(str(error), hint=hint) from error


def _insist_on_an_intact_file(
    connection: sqlite3.Connection, path: Path, progress: OnProgress
) -> None:
    """Raises `ArgumentError` for a file that is not all readable, down to the documents of runs:
    what is merged from it may be incomplete, and the file is the only other copy."""
    with reading_errors(path):
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise ValueError(" ".join(str(found).rpartition("***")[2].split()))
        record_file.insist_on_whole(connection, path)
        numbers = connection.execute("SELECT id FROM experiments").fetchall()
        for number, (experiment_id,) in enumerate(numbers, 1):
            progress("reading", number, len(numbers))
            reading.experiment(connection, path, experiment_id)
        for (text,) in connection.execute(
            "SELECT content FROM experiments UNION ALL "
            "SELECT command FROM experiments WHERE command IS NOT NULL"
        ):
            json.loads(text)  # no report reads them
        superseded = connection.execute("SELECT id FROM runs WHERE superseded").fetchall()
        for (run_id,) in superseded:  # no part of their experiments
            reading.run(connection, run_id)


def _merged(source: sqlite3.Connection, target: sqlite3.Connection, progress: OnProgress) -> Merged:
    merged = Merged([], 0)
    kept_texts.add_texts(source, target)
    of_runs = reading.tables_of_runs(target)
    # What the target has is looked up in memory: its indexes do not begin with these columns.
    known = _known(target, "experiments", _SAME_EXPERIMENT)
    experiments = list(_rows(source, "SELECT * FROM experiments ORDER BY id"))
    for number, experiment in enumerate(experiments, 1):
        progress("adding", number, len(experiments))
        own_id = experiment.pop("id")
        here_id = known.get(_key(experiment, _SAME_EXPERIMENT))
        if here_id is None:
            here_id = insert(target, "experiments", **experiment)
            known[_key(experiment, _SAME_EXPERIMENT)] = here_id
        else:
            target.execute(
                "UPDATE experiments SET ended_unix_ns = coalesce(ended_unix_ns, ?) WHERE id = ?",
                (experiment["ended_unix_ns"], here_id),
            )
        _add_continuations(source, target, own_id, here_id)
        runs = _rows(source, "SELECT * FROM runs WHERE experiment_id = ? ORDER BY position", own_id)
        known_runs = _known(target, "runs", _SAME_RUN, "WHERE experiment_id = ?", here_id)
        added = [
            (run["cell_fingerprint"], run_id)
            for run in runs
            if (run_id := _add_run(source, target, run, here_id, of_runs, known_runs)) is not None
        ]
        for run_id in dict(added).values():  # each cell once, with all of its repetitions
            # Where the record has malformed repetitions of the same cell, it gets no verdict.
            with suppress(KeyError, TypeError, AttributeError, ValueError):
                judge_cell(target, run_id)
        if added:
            merged.experiments.append(here_id)
            merged.runs += len(added)
    known_calibrations = _known(target, "calibrations", _SAME_CALIBRATION)
    for calibration in _rows(source, "SELECT * FROM calibrations ORDER BY id"):
        del calibration["id"]
        if _key(calibration, _SAME_CALIBRATION) not in known_calibrations:
            insert(target, "calibrations", **calibration)
    return merged


def judge_cell(connection: sqlite3.Connection, run_id: int) -> None:
    """Of the cell of this run: two files may each have some of its repetitions, so that they are
    read back. Does nothing while one has not ended."""
    place = connection.execute(
        "SELECT experiment_id, cell_fingerprint FROM runs WHERE id = ?", (run_id,)
    ).fetchone()
    rows = connection.execute(
        "SELECT id, ended_unix_ns FROM runs WHERE experiment_id = ? AND cell_fingerprint = ? "
        "AND superseded = 0 ORDER BY repetition",
        place,
    ).fetchall()
    if all(ended_unix_ns is not None for _, ended_unix_ns in rows):
        runs = [reading.run(connection, id_) for id_, _ in rows]
        planned_runs.keep_cell_verdicts(connection, place[0], {place[1]: of_cell(runs)})


def _add_run(
    source: sqlite3.Connection,
    target: sqlite3.Connection,
    run: Row,
    experiment_id: int,
    of_runs: list[str],
    known: dict[tuple[object, ...], int],
) -> int | None:
    """Adds or completes a run; returns its number in ``target``, or None where that lacked nothing
    of it. ``known``: the runs of the experiment that ``target`` had."""
    own_id = run.pop("id")
    run["experiment_id"] = experiment_id
    here_id = known.get(_key(run, _SAME_RUN))
    if here_id is None:
        run["position"] = _free_position(target, experiment_id, run["position"])
        here_id = insert(target, "runs", **run)
        known[_key(run, _SAME_RUN)] = here_id
    else:
        found = next(_rows(target, "SELECT * FROM runs WHERE id = ?", here_id))
        if found["ended_unix_ns"] is not None or run["begun_unix_ns"] is None:
            return None
        # Of two copies that never ended, as of a process that was killed, the longer one counts.
        if run["ended_unix_ns"] is None and _written(source, own_id, of_runs) <= _written(
            target, here_id, of_runs
        ):
            return None
        changes = ", ".join(f"{column} = ?" for column in _HOW_IT_ENDED)
        values = [run[column] for column in _HOW_IT_ENDED]
        target.execute(f"UPDATE runs SET {changes} WHERE id = ?", (*values, here_id))
    for table in of_runs:
        target.execute(f"DELETE FROM {table} WHERE run_id = ?", (here_id,))
        for row in _rows(source, f"SELECT * FROM {table} WHERE run_id = ? ORDER BY rowid", own_id):
            row.pop("id", None)  # of a step: its rows refer to it by position
            insert(target, table, **{**row, "run_id": here_id})
    return here_id


def _add_continuations(
    source: sqlite3.Connection, target: sqlite3.Connection, own_id: SqlValue, here_id: int
) -> None:
    """Those that ``target`` lacks."""
    own = "SELECT * FROM continuations WHERE experiment_id = ? ORDER BY position"
    for row in _rows(source, own, own_id):
        row["experiment_id"] = here_id
        if (
            _the_same(target, "continuations", row, ("experiment_id", "position"), "position")
            is None
        ):
            insert(target, "continuations", **row)


def _free_position(target: sqlite3.Connection, experiment_id: int, position: SqlValue) -> SqlValue:
    """The position, or one behind all others where that is another run's."""
    (last, is_taken) = target.execute(
        "SELECT coalesce(max(position), -1), max(position = ?2) FROM runs WHERE experiment_id = ?1",
        (experiment_id, position),
    ).fetchone()
    return int(last) + 1 if is_taken else position


def _written(
    connection: sqlite3.Connection, run_id: SqlValue, tables: list[str]
) -> tuple[int, int]:
    """How much has been written of a run: rows, and those of a step under way, which an
    observation takes the place of."""

    def counted(some: Iterable[str]) -> str:
        return " + ".join(f"(SELECT count(*) FROM {table} WHERE run_id = ?1)" for table in some)

    lasting = [table for table in tables if table not in run_steps.LIVE_TABLES]
    question = f"SELECT {counted(lasting)}, {counted(run_steps.LIVE_TABLES)}"
    rows, seconds = connection.execute(question, (run_id,)).fetchone()
    return int(rows), int(seconds)


def _the_same(
    target: sqlite3.Connection, table: str, row: Row, columns: tuple[str, ...], key: str = "id"
) -> int | None:
    """The key of the row with equal values in these columns."""
    equal = " AND ".join(f"{column} = ?" for column in columns)
    found = target.execute(
        f"SELECT {key} FROM {table} WHERE {equal}", [row[column] for column in columns]
    ).fetchone()
    return None if found is None else int(found[0])


def _known(
    target: sqlite3.Connection, table: str, columns: tuple[str, ...], where: str = "", *values: int
) -> dict[tuple[object, ...], int]:
    """The number of each row, by these columns; of equal ones the first."""
    question = f"SELECT {', '.join(columns)}, id FROM {table} {where} ORDER BY id DESC"
    return {tuple(key): int(number) for *key, number in target.execute(question, values)}


def _key(row: Row, columns: tuple[str, ...]) -> tuple[object, ...]:
    return tuple(row[column] for column in columns)


def _rows(connection: sqlite3.Connection, question: str, *values: SqlValue) -> Iterator[Row]:
    cursor = connection.execute(question, values)
    names = [column[0] for column in cursor.description]
    for row in cursor.fetchall():
        yield dict(zip(names, row, strict=True))
