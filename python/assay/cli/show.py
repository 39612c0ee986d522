"""``assay show``: prints everything recorded about one run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from assay.cli import rows
from assay.cli.options import format_option, records_option
from assay.errors import ArgumentError

_LONGEST_NUMBER = 30
_OF_A_STEP = ("dataset", "drive", "scripts", "observation", "samples", "checks")
LONG = 100
"""Longest value in a table, in characters."""


@click.command("show")
@click.argument("run", metavar="RUN")
@format_option(tuple(rows.FORMS))
@records_option
def command(run: str, form: str, records: Path) -> None:
    """Show everything recorded about one run.

    RUN is a number from `assay list runs`, or `latest`. A table shortens long
    texts and histograms; --format json has everything.

    \b
    Example:
      assay show latest
      assay show 17 --format json
    """
    from assay.record import Store

    with Store(records, must_exist=True) as store:
        record = _without_copies(msgspec.to_builtins(store.run(_number(run, store))))
    if form == "json":
        rows.write_json(record, sys.stdout)
        return
    found = [{"what": name, "value": value} for name, value in _flat(record)]
    if form == "table":
        found = [{**row, "value": _cut(row["value"])} for row in found]
    rows.write(found, ("what", "value"), form, sys.stdout)


def _number(run: str, store: Any) -> int:
    run = run.removeprefix("run ").strip()
    if run == "latest":
        begun = [run.id for run in store.runs() if run.begun_unix_ns is not None]
        if not begun:
            raise ArgumentError("no run has begun yet", hint="start one with `assay run`")
        return int(max(begun))
    if not run.isdecimal() or len(run) > _LONGEST_NUMBER:
        raise ArgumentError(
            f"expected the number of a run or latest, found {run!r}",
            hint="`assay list runs` shows the numbers",
        )
    return int(run)


def _without_copies(record: dict[str, Any]) -> dict[str, Any]:
    """The record without those values of its steps that equal the run's own."""
    steps = [
        {
            name: value
            for name, value in step.items()
            if name not in _OF_A_STEP or value != record[name]
        }
        for step in record["steps"]
    ]
    shown = {name: value for name, value in record.items() if name != "facts"}
    return {**shown, "steps": steps}


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its dotted name; a list of plain values is one leaf."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(item, dict | list) for item in value):
        for number, item in enumerate(value):
            yield from _flat(item, f"{name}[{number}]")
    else:
        yield name, value


def _cut(value: Any) -> Any:
    text = str(value)
    return f"{text[:LONG]}…" if len(text) > LONG else value
