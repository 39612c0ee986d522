"""Returns the names that users see: options, columns of reports and records, keys of JSON."""

from __future__ import annotations

import lzma
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from glossary import ROOT
from names_in_code import Name

from assay.cli.commands.schema import DOCUMENTS
from assay.cli.program import COMMANDS, command_of, group
from assay.record import Store
from assay.record.file import schema
from assay.report.build import build

KEPT_RECORD = ROOT / "tests" / "data" / "records" / "version-25.sqlite.xz"
"""It has an experiment of every kind."""


def names(folder: Path) -> Iterator[Name]:
    """All of them; ``folder`` is for a record."""
    yield from _options("assay", group)
    for command in COMMANDS:
        yield from _options(f"assay {command}", command_of(command))
    for page in ("report", "comparison", "trend", "observation"):
        yield from _keys(DOCUMENTS[page](), f"assay schema {page}")
    yield from _tables()
    yield from _reports(folder / "records.sqlite")


def _options(path: str, command: click.Command) -> Iterator[Name]:
    yield Name(path, path.rsplit(" ", 1)[-1])
    for parameter in command.params:
        for spelled in (*parameter.opts, *parameter.secondary_opts, parameter.human_readable_name):
            yield Name(path, spelled.lstrip("-"))
    if isinstance(command, click.Group) and path != "assay":
        for name, below in command.commands.items():
            yield from _options(f"{path} {name}", below)


def _keys(value: Any, place: str) -> Iterator[Name]:
    if isinstance(value, dict):
        for key, below in value.items():
            if key in {"properties", "$defs"}:
                yield from (Name(f"{place} {key}", str(name)) for name in below)
            yield from _keys(below, place)
    elif isinstance(value, list):
        for below in value:
            yield from _keys(below, place)


def _tables() -> Iterator[Name]:
    """Tables, views and columns of a new record file."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        schema.prepare(connection, Path(":memory:"), schema.migrations())
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        ).fetchall()
        for (table,) in tables:
            yield Name("record", table)
            for column in connection.execute(f'PRAGMA table_info("{table}")'):
                yield Name(f"record {table}", column[1])


def _reports(file: Path) -> Iterator[Name]:
    """Titles, headings and row labels of the reports of every experiment of a record."""
    file.write_bytes(lzma.decompress(KEPT_RECORD.read_bytes()))
    with Store(file, must_exist=True) as store:
        for experiment in sorted({run.experiment_id for run in store.runs()}):
            for section in build(store.experiment(experiment)).sections:
                yield Name("report", section.title)
                for table in section.tables:
                    yield from (
                        Name(f"report {section.title}", one.heading) for one in table.columns
                    )
