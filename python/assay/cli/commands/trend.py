"""``assay trend``: shows how a cell changed over the experiments of record files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from string import hexdigits
from typing import TYPE_CHECKING

import click

from assay import env_vars
from assay.cli.options import completers
from assay.cli.options.shared_options import COMPARISON_FORMS, NumberType, format_option
from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.process import raise_all, say
from assay.errors import ArgumentError, YouError
from assay.experiment.settings_catalogue import DEFAULT_FILE_NAME
from assay.text import quantities
from assay.text.phrases import did_you_mean
from assay.text.units import counted

if TYPE_CHECKING:
    from assay.record import Run, RunSummary

_LEAST_OF_A_FINGERPRINT = 6
"""Characters by which a cell may be named."""


@click.command("trend")
@click.argument(
    "cells", metavar="[TEST|CELL]...", nargs=-1, shell_complete=completers.recorded_test
)
@click.option(
    "--metric",
    metavar="NAME",
    shell_complete=completers.metric,
    help="Metric that is shown. [default: the primary one of the test]",
)
@click.option(
    "--last",
    metavar="N",
    type=NumberType(quantities.EXPERIMENTS),
    help="Only the last N experiments that have one of these cells. [default: all]",
)
@format_option(COMPARISON_FORMS)
@click.option(
    "--charts",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder in which a chart of each cell is written as SVG and PNG.",
)
@click.option("--force", cls=DestroyingOption, is_flag=True, help="Replace charts that exist.")
@click.option(
    "--records",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    multiple=True,
    default=[DEFAULT_FILE_NAME],
    envvar=env_vars.RECORDS.name,
    help="Record file; may be repeated: the experiments of all of them, in the order of time.",
)
def command(
    cells: tuple[str, ...],
    metric: str | None,
    last: int | None,
    form: str,
    charts: Path | None,
    force: bool,
    records: tuple[Path, ...],
) -> None:
    """Show how the numbers of a cell changed from experiment to experiment.

    TEST is a test as reports name it (`tpcb.simple-update`) or a workload, of which
    all cells are shown; CELL is the beginning of a fingerprint, at least 6
    characters. Without arguments, shows every cell that several experiments have.
    A change point is where, by a permutation test, the level shifts and stays.

    \b
    Example:
      assay trend tpcb.simple-update
      assay trend tpcb --last 20 --charts pictures/
      assay trend --records monday.sqlite --records tuesday.sqlite --format csv
    """
    if force and charts is None:
        raise ArgumentError("--force needs --charts", hint="--charts DIR")
    from assay import registry
    from assay.cli.output.report_output import write_charts
    from assay.comparison.trend import trends
    from assay.report import trend

    damage: list[YouError] = []
    found = trends(_runs(cells, records, last, damage), metric)
    found = [one for one in found if one.points and (cells or len(one.points) > 1)]
    if not found:
        raise_all(damage)
        raise ArgumentError(
            "no cell has a value to show"
            if cells
            else "there is no cell that several experiments measured",
            hint="`assay list runs` shows what is recorded",
        )
    if charts is not None:
        count = write_charts(trend.build(found, records), charts, force=force)
        say(f"{counted(count, 'chart')} in {charts}")
    if form == "json":
        trend.write_json(found, sys.stdout)
    elif form == "csv":
        trend.write_csv(found, sys.stdout)
    else:
        registry.report_form(form)(trend.build(found, records), sys.stdout, detail=True)
    raise_all(damage)


def _runs(
    cells: Sequence[str], records: Sequence[Path], last: int | None, damage: list[YouError]
) -> list[tuple[str, Run]]:
    """Those of the cells that are asked for, each with its record file; of the ``last`` experiments
    that have one. ``damage``: is given an error for each one that cannot be read."""
    from assay.record import Store

    chosen = _last(_named(cells, records, damage), last)
    found = []
    for path, runs in chosen.items():
        with Store(path, must_exist=True) as store:
            for run in runs:
                try:
                    found.append((str(path), store.run(run.id)))
                except ArgumentError as error:
                    damage.append(error)
    return found


def _named(
    cells: Sequence[str], records: Sequence[Path], damage: list[YouError]
) -> dict[Path, list[RunSummary]]:
    """The runs of these cells, or of all; `ArgumentError` where there are none of one of them."""
    from assay.record import Store

    found: dict[Path, list[RunSummary]] = {}
    known: dict[str, None] = {}
    missing = dict.fromkeys(cells)
    for path in records:
        with Store(path, must_exist=True) as store:
            runs = store.runs(damage=damage)
        begun = [run for run in runs if run.begun_unix_ns and not run.is_superseded]
        known |= dict.fromkeys(run.full_test_name for run in begun)
        for run in begun:
            words = [word for word in cells if _is_named(run, word)]
            for word in words:
                missing.pop(word, None)
            if words or not cells:
                found.setdefault(path, []).append(run)
    for word in missing:
        raise_all(damage)
        raise ArgumentError(
            f"these records have no test and no cell {word!r}", hint=_hint(word, known)
        )
    return found


def _last(
    runs_by_record: dict[Path, list[RunSummary]], last: int | None
) -> dict[Path, list[RunSummary]]:
    """Those of the experiments that were begun last."""
    if last is None:
        return runs_by_record
    begun = {
        (path, run.experiment_id): run.begun_unix_ns or 0
        for path, runs in runs_by_record.items()
        for run in reversed(runs)  # so that the instant is that of the first
    }
    chosen = set(sorted(begun, key=lambda experiment: begun[experiment])[-last:])
    return {
        path: [run for run in runs if (path, run.experiment_id) in chosen]
        for path, runs in runs_by_record.items()
    }


def _hint(word: str, tests: Iterable[str]) -> str:
    if len(word) < _LEAST_OF_A_FINGERPRINT and set(word.lower()) <= set(hexdigits):
        return f"a cell is named by {_LEAST_OF_A_FINGERPRINT} or more characters of its fingerprint"
    return did_you_mean(word, tests)


def _is_named(run: RunSummary, word: str) -> bool:
    is_cell = len(word) >= _LEAST_OF_A_FINGERPRINT and run.cell_fingerprint.startswith(word.lower())
    return is_cell or word in _names(run)


def _names(run: RunSummary) -> Iterator[str]:
    yield run.full_test_name
    yield Path(run.workload).name
