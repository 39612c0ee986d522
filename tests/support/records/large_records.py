"""Takes numbers of experiments, cells and runs; writes a record of them within seconds: a few runs
go through the store, and the others are copies of their rows."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import invented_records as invented
from assay.record.merging import judge_cell
from assay.record.runs import reading

_THROUGH_THE_STORE = 4
"""Runs of the first experiment that are not copies; their times differ."""


def experiment(path: Path, *, cells: int = 1, repetitions: int = 1) -> int:
    """An experiment of so many cells, each with so many ended runs; returns its number."""
    planned = invented.plan(
        [invented.POSTGRESQL], clients=range(1, cells + 1), repetitions=repetitions
    )
    with invented.at_once(path) as store:
        number = invented.begin(store, planned)
        templates = [
            invented.write_run(store, run, (10 + place) * invented.S)
            for place, run in enumerate(planned.runs[:_THROUGH_THE_STORE])
        ]
        store.end_experiment()
    connection = sqlite3.connect(path)
    with connection:
        rest = connection.execute(
            "SELECT id FROM runs WHERE experiment_id = ? AND state = 'planned' ORDER BY position",
            (number,),
        ).fetchall()
        for place, (run_id,) in enumerate(rest):
            _copy_run(connection, templates[place % len(templates)], run_id)
        _judge(connection, number)
    connection.close()
    return number


def experiments(path: Path, count: int) -> None:
    """A record of ``count`` experiments, of one run each, begun one after the other."""
    first = experiment(path)
    connection = sqlite3.connect(path)
    with connection:
        (template,) = connection.execute(
            "SELECT id FROM runs WHERE experiment_id = ?", (first,)
        ).fetchone()
        for place in range(1, count):
            number = _copy_row(connection, "experiments", first, begun_unix_ns=place)
            run_id = _copy_row(connection, "runs", template, experiment_id=number)
            _copy_run(connection, template, run_id)
            connection.execute(
                "INSERT INTO cells SELECT ?, " + _columns(connection, "cells", "experiment_id")
                + " FROM cells WHERE experiment_id = ?",
                (number, first),
            )  # fmt: skip
    connection.close()


def _copy_row(connection: sqlite3.Connection, table: str, number: int, **changes: int) -> int:
    names = _columns(connection, table, "id", *changes)
    cursor = connection.execute(
        f"INSERT INTO {table} ({', '.join(changes)}, {names}) "
        f"SELECT {', '.join('?' * len(changes))}, {names} FROM {table} WHERE id = ?",
        (*changes.values(), number),
    )
    return int(cursor.lastrowid or 0)


def _copy_run(connection: sqlite3.Connection, template: int, run_id: int) -> None:
    """All that is kept of the run ``template`` is also of the other one, and how it ended."""
    for table in reading.tables_of_runs(connection):
        names = _columns(connection, table, "id", "run_id")
        connection.execute(
            f"INSERT INTO {table} (run_id, {names}) SELECT ?, {names} FROM {table} "
            "WHERE run_id = ?",
            (run_id, template),
        )
    connection.execute(
        "UPDATE runs SET (state, reason, verdict, verdict_reason, begun_unix_ns, ended_unix_ns) = "
        "(SELECT state, reason, verdict, verdict_reason, begun_unix_ns, ended_unix_ns FROM runs "
        "WHERE id = ?) WHERE id = ?",
        (template, run_id),
    )


def _judge(connection: sqlite3.Connection, number: int) -> None:
    """Keeps the verdicts of its cells."""
    question = "SELECT min(id) FROM runs WHERE experiment_id = ? GROUP BY cell_fingerprint"
    for (run_id,) in connection.execute(question, (number,)).fetchall():
        judge_cell(connection, run_id)


def _columns(connection: sqlite3.Connection, table: str, *without: str) -> str:
    found = connection.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchall()
    return ", ".join(name for (name,) in found if name not in without)
