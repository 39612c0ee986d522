"""``assay merge``: adds the experiments of another record file to the record."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import click

from assay.cli.options.shared_options import records_option
from assay.cli.process import say

_EVERY_S = 3.0
"""Between two lines that say how far it is."""


@click.command("merge")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@records_option
def command(file: Path, records: Path) -> None:
    """Add the experiments of another record file to the record.

    FILE is a record from another machine, or the rescue file of a run that found
    the record locked, moved or deleted. Runs that the record holds only in part are completed. FILE
    is not changed, and merging it again changes nothing. `assay report 3 5` reports
    what two machines measured together.

    \b
    Example:
      assay merge other-machine.sqlite
      assay merge assay-records.sqlite.rescue-4711-1
    """
    from assay.record.merging import merge

    merged = merge(file, records, waiting=say, progress=_now_and_then())
    if not merged.runs:
        say(f"{records} has everything that {file} holds")
        return
    numbers = _numbers(merged.experiments)
    runs = "1 run" if merged.runs == 1 else f"{merged.runs} runs"
    say(f"added {runs} to {records}, {numbers}; {file} can be removed")


def _now_and_then() -> Callable[[str, int, int], None]:
    """Says how far a long merge is."""
    said_s = time.monotonic()

    def progress(doing: str, number: int, of: int) -> None:
        nonlocal said_s
        if time.monotonic() - said_s >= _EVERY_S:
            said_s = time.monotonic()
            say(f"{doing} experiment {number} of {of}")

    return progress


def _numbers(experiments: list[int]) -> str:
    """``experiment 3``, ``experiments 1 to 32``, ``experiments 1, 3, 4``."""
    first, last = experiments[0], experiments[-1]
    if len(experiments) == 1:
        return f"experiment {first}"
    if experiments == list(range(first, last + 1)):
        return f"experiments {first} to {last}"
    return f"experiments {', '.join(map(str, experiments))}"
