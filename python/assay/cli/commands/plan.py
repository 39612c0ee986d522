"""``assay plan``: prints the runs that ``assay run`` would execute."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct, field

from assay.cli.commands.run import with_system
from assay.cli.options.shared_options import (
    detail_option,
    format_option,
    is_typed,
    no_repeat_option,
    progress_option,
    records_option,
    refuse_unused_loading,
    refuse_unused_probe,
    run_options,
)
from assay.cli.options.usage_errors import Grouped
from assay.cli.output import rows
from assay.cli.output.rows import Row, shown
from assay.cli.process import say
from assay.comparison.goals import CONFIRMED
from assay.contracts.factors import PROTOCOL, VARIED_LEVELS, Scalar
from assay.contracts.recorded import Command
from assay.errors import AssayError, NotOnThisMachine, SystemMissing, YouError
from assay.experiment import Experiment, SystemChoice, from_command_line, quick
from assay.experiment.origin import command_of, patterns
from assay.lab.goal_search import first_trials, level_of
from assay.lab.preflight import Preflight, one_line, preflight
from assay.lab.refusal import DataSize, data_sizes, plan_here, size_bytes_of
from assay.load.dataset import Loading
from assay.plan import Plan, PlannedRun
from assay.plan.forecast import Forecast
from assay.probe.measure import FirstUse
from assay.provision.copying import RESERVE_BYTES
from assay.record import Store
from assay.record.file.faults import no_folder
from assay.record.under_way import UnfinishedExperiment
from assay.systems.urls import URL
from assay.text import paths, rates
from assay.text.units import binary, counted, duration, ended_runs, percent, size
from assay.workload.values import Workload

COLUMNS = (
    "position",
    "repetition",
    "test",
    "system",
    "storage",
    "clients",
    "group_clients",
    *VARIED_LEVELS,
    "parameters",
    "driving",
    "about_s",
    "state",
)
_ONLY_IF_SAID = ("group_clients", *VARIED_LEVELS, "state")
"""Columns of the table that are left out where they say nothing."""


@click.command("plan", cls=Grouped)
@run_options
@no_repeat_option
@format_option(tuple(rows.FORMS))
@detail_option
@progress_option
@records_option
def command(
    words: from_command_line.Words,
    is_new: bool,
    loading: Loading,
    first_use: FirstUse,
    form: str,
    records: Path,
    **_of_output: Any,
) -> int:
    """Print the runs of an experiment in order, without starting them.

    Takes the options of `assay run`. The table has the parameters and the driving in
    which runs differ; what all runs, or all of a test, have alike is said once below.
    Names, numbers, files and scripts are checked as it checks them; no system is
    started and nothing is written. about_s: what
    earlier runs of the same cell in the record file took on average; without any,
    ramp-up, warm-up and measurement of a run that ends by time, not counting
    provision and load.
    state: `refused` (the system lacks what the test needs, or cannot have the
    storage, memory, processors, distance or caches asked for; the others are run),
    `not installed` or `unavailable` (this machine lacks the system, the storage or
    room for it, the memory or the processors: `assay run` ends before the first
    run; the total has these runs, too), or that of
    a run which has ended in the experiment of FILE.toml that `assay run` would
    continue.

    \b
    Example:
      assay plan bibsql.parallel --on sqlite,mariadb --repetitions 3
      assay plan mine.sql --on sqlite --offered-rate 100,200 --duration 30
      assay plan experiment.toml
    """
    words = with_system(words)
    experiment, workload = from_command_line.asked(words)
    from_command_line.insist_on_systems(words)
    refuse_unused_loading(loading, experiment, workload)
    refuse_unused_probe(experiment, first_use)
    whole = plan_here(experiment, workload)
    experiment = whole.experiment
    checked = preflight(workload, whole, patterns(words))
    for warning in checked.warnings:
        say(f"warning: {warning}")
    before = _before(records, None if is_new else command_of(words), whole)
    planned = _planned(experiment, checked, before)
    _write(planned, workload, before, form)
    for line in _remarks(experiment, checked, before, len(whole.runs)):
        say(line)
    sizes = data_sizes(workload, planned.to_run, experiment.input_paths, before.sizes)
    for line in (
        *_repeated(experiment),
        *_searched(experiment, checked.runs),
        *_time(planned.asked, before),
        *_space(sizes, loading.datasets),
    ):
        say(line)
    absent = checked.available.storages.values()
    is_refused = any(map(_is_too_small, sizes)) or any(
        isinstance(one, NotOnThisMachine) for one in absent
    )
    return YouError.exit_code if is_refused else 0


class _Planned(Struct, frozen=True):
    """The runs that are listed, and why some of them would not be executed."""

    runs: Sequence[PlannedRun]
    refusals: Mapping[int, str]
    missing: Mapping[int, AssayError]
    """Position of each run for which this machine lacks something."""
    ended: Mapping[int, str]
    """Position of each run that has ended → its state."""

    @property
    def to_run(self) -> list[PlannedRun]:
        return [run for run in self.asked if run.position not in self.missing]

    @property
    def asked(self) -> list[PlannedRun]:
        """With those for which this machine lacks something."""
        not_run = {*self.refusals, *self.ended}
        return [run for run in self.runs if run.position not in not_run]

    def state(self, position: int) -> rows.Row:
        """The state of a run; None for one that would be executed."""
        if (refusal := self.refusals.get(position)) is not None:
            return {"state": "refused", "reason": refusal, "about_s": None}
        if (ended := self.ended.get(position)) is not None:
            return {"state": ended, "reason": None}
        if (missing := self.missing.get(position)) is not None:
            reason = one_line(missing)
            return {"state": _state_without(missing), "reason": reason, "about_s": None}
        return {"state": None, "reason": None}


def _planned(experiment: Experiment, checked: Preflight, before: _Before) -> _Planned:
    ended = before.unfinished.states if before.unfinished else {}
    first = first_trials(checked.runs, experiment) if experiment.goal else None
    return _Planned(
        [
            run
            for run in checked.runs
            if (first is None or run.position in first or run.position in ended)
            if run.repetition <= _certain(experiment, run) or run.position in ended
        ],
        checked.refusals,
        {
            run.position: error
            for run in checked.expressible
            if (error := checked.available.why_missing(run))
        },
        ended,
    )


def _write(planned: _Planned, workload: Workload, before: _Before, form: str) -> None:
    """The list of runs, in the format that was asked for."""
    found = [
        {
            "position": run.position + 1,  # as `assay run` counts them
            "repetition": run.repetition,
            "test": workload.full_name(run.cell.test),
            "system": run.cell.system_label,
            "storage": run.cell.storage_name,
            "clients": run.cell.clients,
            "group_clients": dict(run.cell.group_clients) or None,
            **{
                name: _said(run.cell.levels[name], factor.default)
                for name, factor in VARIED_LEVELS.items()
            },
            "parameters": dict(run.cell.parameters),
            "protocol": run.cell.level(PROTOCOL),
            "driving": run.cell.driving.not_default,
            "about_s": before.about_s(run),
            "seed": str(run.seed),  # a reader of JSON may round a number of 64 bits
            "fingerprint": run.cell.fingerprint,
            "url": run.cell.system.url_without_password,
            "url_origins": dict(run.cell.system.url_origins),
            **planned.state(run.position),
        }
        for run in planned.runs
    ]
    left_out = [one for one in _ONLY_IF_SAID if not any(row[one] for row in found)]
    if form != "table":
        rows.write(found, COLUMNS, form, sys.stdout)
        return
    varying, emptied, lines = said_once(found, ("parameters", "driving"))
    shown = tuple(one for one in COLUMNS if one not in (*left_out, *emptied))
    rows.write(varying, shown, form, sys.stdout)
    for line in lines:
        click.echo(line)


def _remarks(
    experiment: Experiment, checked: Preflight, before: _Before, run_count: int
) -> Iterator[str]:
    """What the list does not show: what is smaller, where servers are, and what would not run."""
    if experiment.scaled and (experiment.is_quick or any(one.reason for one in experiment.scaled)):
        yield quick.described(experiment.scaled)
    for system in experiment.systems:
        if elsewhere := _from_elsewhere(system):
            yield f"{system.label}: {system.url_without_password}; {elsewhere}"
    for reason in dict.fromkeys(checked.refusals.values()):
        yield f"refused: {reason}"
    for label, error in checked.available.by_name().items():
        state = _state_without(error)
        yield f"{label} is {state}, so `assay run` would not begin: {one_line(error)}"
    if before.unfinished:
        yield _continues(before.unfinished, run_count)


def _certain(experiment: Experiment, run: PlannedRun) -> int:
    """Repetitions of the run's cell that take place in any case: with a budget alone the first."""
    return experiment.for_test(run.cell.test).least_repetitions


def _searched(experiment: Experiment, runs: Sequence[PlannedRun]) -> Iterator[str]:
    """How the highest rate, or level of a parameter, is searched for."""
    if not experiment.goal or not runs:
        return
    over = experiment.goal_over
    levels = {level_of(run, over) for run in runs}
    usual = min(experiment.goal_trials, len(levels).bit_length())
    again = "the two that decide are measured again"
    if over:
        yield (
            f"goal {experiment.goal}: usually {counted(usual, 'trial')} of each cell, with {over} "
            f"from {min(levels):.15g} to {max(levels):.15g}; {again}; the list has the first of "
            "each"
        )
        return
    further = 2 * max(0, CONFIRMED - experiment.repetitions)
    timed_s = max(run.timed_s for run in runs) * (usual * experiment.repetitions + further)
    yield (
        f"goal {experiment.goal}: usually {counted(usual, 'trial')} of each cell, at offered rates "
        f"from {rates.shown(min(levels))}/s to {rates.shown(max(levels))}/s; {again}, "
        f"which takes {duration(timed_s)} of ramp-up and measurement together; the list has the "
        "first of each"
    )


def _repeated(experiment: Experiment) -> Iterator[str]:
    """What decides how often a cell is repeated."""
    if not experiment.is_repeated_as_needed:
        return
    least, most = experiment.least_repetitions, experiment.most_repetitions
    until = []
    if experiment.precision is not None:
        until.append(f"its mean is known within ±{percent(experiment.precision)} (95 %)")
    if experiment.budget_s is not None:
        until.append(f"{duration(experiment.budget_s)} have passed (the first one in any case)")
    if least == most:
        yield f"{counted(least, 'repetition')} of each cell"
        return
    yield (
        f"{least} to {most} repetitions of each cell, until {' or '.join(until)}; the list and the "
        f"sums have the first {least}"
    )


def _continues(unfinished: UnfinishedExperiment, runs: int) -> str:
    """What `assay run` does with the unfinished experiment of the file."""
    if unfinished.under_way_in is not None:
        return (
            f"`assay run` would be refused now: experiment {unfinished.experiment_id} of this file "
            f"is under way in process {unfinished.under_way_in} (--new begins another)"
        )
    added = sum(position >= runs for position in unfinished.states)
    repeats = (
        "; it repeats those whose scripts, data or versions have changed"
        if unfinished.states
        else ""
    )
    return (
        f"`assay run` would continue experiment {unfinished.experiment_id}, in which "
        f"{ended_runs(len(unfinished.states), runs + added)}{repeats} (--new begins another)"
    )


class _Before(Struct, frozen=True):
    """What the record file says of the plan's cells."""

    forecast: Forecast
    sizes: Mapping[int, int] = field(default_factory=dict)
    unfinished: UnfinishedExperiment | None = None

    def about_s(self, run: PlannedRun) -> float | None:
        """How long the run takes, as far as it is known."""
        needed = self.forecast.run(run)
        is_of_use = needed.is_known or run.ends_by_time
        return round(needed.seconds, 1) if is_of_use else None


def _before(records: Path, command: Command | None, whole: Plan) -> _Before:
    """``command``: the one whose experiment would be continued; None: a new one begins."""
    if not paths.exists(records):
        if (error := no_folder(records)) is not None:
            raise error
        if is_typed("records"):
            say(f"{records} does not exist yet: what earlier runs took is not known")
        return _Before(Forecast(whole.runs))
    with Store(records, must_exist=True) as store:
        return _Before(
            Forecast(whole.runs, store.times(run.cell.fingerprint for run in whole.runs)),
            store.sizes_on_disk(whole.runs),
            store.unfinished(command, whole) if command else None,
        )


def _time(left: Sequence[PlannedRun], before: _Before) -> Iterator[str]:
    """How many runs there are, how long they take, and where that is known from."""
    if not left:
        return
    needed = before.forecast.runs(left)
    measured = sum(before.forecast.has_run(run) for run in left)
    by_counts = sum(not before.forecast.has_run(run) and not run.ends_by_time for run in left)
    said = counted(len(left), "run")
    if needed.seconds:
        bound = "about" if needed.is_known else "at least"
        said += f", {bound} {duration(needed.seconds)}"
    if not measured:
        said += " of ramp-up and measurement" if needed.seconds else ""
    elif measured < len(left):
        said += f": {measured} as earlier runs took"
        said += "" if by_counts == len(left) - measured else ", others without provision and load"
    if by_counts:
        of_all = "it takes" if len(left) == 1 else "they take"
        how_long = of_all if by_counts == len(left) else f"{by_counts} of them take"
        said += f"; how long {how_long} is not known before the first run"
    yield said


def _space(sizes: Sequence[DataSize], datasets: Path | None) -> Iterator[str]:
    """Of each storage, the data of its systems. ``datasets``: where copies of them are made; None:
    beside them."""
    are_copied = False
    of_storages: dict[str, list[DataSize]] = {}
    for one in sizes:
        of_storages.setdefault(one.storage.name, []).append(one)
    for storage, found in of_storages.items():
        listed = ", ".join(_size_of(one) for one in found)
        whole_bytes = size_bytes_of(found[0].storage)
        if whole_bytes is not None:
            said = f"space on {storage}: {size(whole_bytes)} for each system; data: {listed}"
            beyond = [one for one in found if one.bytes > whole_bytes]
            if any(map(_is_too_small, beyond)):
                yield f"{said}; that is too small, so `assay run` would not begin"
            else:
                yield f"{said}; that may be too small" if beyond else said
        else:
            yield f"space on {storage}: about {size(sum(one.bytes for one in found))}: {listed}"
        crowded = [] if datasets else [one for one in found if _has_no_room_for_a_copy(one)]
        if crowded:
            yield (
                f"{storage} has no room for a copy of the data of "
                f"{', '.join(one.system for one in crowded)} and the {binary(RESERVE_BYTES)} that "
                "it leaves free: data that a test changes are loaded again for each run"
            )
        are_copied = are_copied or len(crowded) < len(found)
    if are_copied:
        where = (
            f" in {datasets}"
            if datasets
            else f"; {binary(RESERVE_BYTES)} of each storage stay free"
        )
        yield f"copies of data that a test changes take as much space again{where}"


def _is_too_small(data_size: DataSize) -> bool:
    """Whether the storage is smaller than what the same data took in an earlier run."""
    whole_bytes = size_bytes_of(data_size.storage)
    return data_size.is_measured and whole_bytes is not None and data_size.bytes > whole_bytes


def _has_no_room_for_a_copy(data_size: DataSize) -> bool:
    """Where the size of the data was measured, as that of the rows is less."""
    whole_bytes = size_bytes_of(data_size.storage)
    with_copy_bytes = 2 * data_size.bytes + RESERVE_BYTES
    return data_size.is_measured and whole_bytes is not None and with_copy_bytes > whole_bytes


def _size_of(data_size: DataSize) -> str:
    how = "as in an earlier run" if data_size.is_measured else "text of its rows, without indexes"
    return f"{data_size.system} {size(data_size.bytes)} ({how})"


def _state_without(error: AssayError) -> str:
    return "not installed" if isinstance(error, SystemMissing) else "unavailable"


def _said(level: Scalar, default: Scalar) -> Scalar | None:
    return None if level == default else level


def _from_elsewhere(system: SystemChoice) -> str:
    """``host: PGHOST, port: default``: the origin of each part that is not in the URL."""
    return ", ".join(
        f"{name.removesuffix('_from')}: {origin}"
        for name, origin in system.url_origins.items()
        if origin != URL
    )


# Takes the rows of a list, and columns of it that hold named values; returns rows that have there
# what varies, and lines that say the rest once.
#
# A name whose value is the same in all rows that have it varies in none: in which rows it is,
# their test says.

Values = Mapping[str, Scalar | Sequence[str] | None]
_LABEL = "test"
"""The column that says of what rows a value is, where not all have it."""


def said_once(
    rows: Sequence[Row], columns: Sequence[str]
) -> tuple[list[Row], list[str], list[str]]:
    """The rows, the columns in which none has anything left, and the lines; a single row stays as
    it is."""
    if len(rows) < 2:
        return list(rows), [], []
    found = list(rows)
    emptied: list[str] = []
    lines: list[str] = []
    for column in columns:
        varying = _varying(rows, column)
        lines += _lines(rows, column, varying)
        found = [
            {
                **row,
                column: {name: one for name, one in _of(row, column).items() if name in varying},
            }
            for row in found
        ]
        if not varying:
            emptied.append(column)
    return found, emptied, lines


def _of(row: Row, column: str) -> Values:
    value = row.get(column)
    return value if isinstance(value, Mapping) else {}


def _varying(rows: Sequence[Row], column: str) -> set[str]:
    """Names with several values, and those that only some runs of a test have."""
    values: dict[str, set[str]] = {}
    tests: dict[str, set[object]] = {}
    for row in rows:
        for name, value in _of(row, column).items():
            values.setdefault(name, set()).add(shown(value))
            tests.setdefault(name, set()).add(row.get(_LABEL))
    return {
        name
        for name, found in values.items()
        if len(found) > 1
        or any(name not in _of(row, column) for row in rows if row.get(_LABEL) in tests[name])
    }


def _lines(rows: Sequence[Row], column: str, varying: set[str]) -> Iterator[str]:
    """``parameters of all runs: scale=1 pace=0.1``; of some tests with their names."""
    every = list(dict.fromkeys(str(row.get(_LABEL)) for row in rows))
    tests_of: dict[str, dict[str, None]] = {}
    values: dict[str, object] = {}
    for row in rows:
        for name, value in _of(row, column).items():
            if name not in varying:
                tests_of.setdefault(name, {})[str(row.get(_LABEL))] = None
                values[name] = value
    by_tests: dict[tuple[str, ...], list[str]] = {}
    for name, tests in tests_of.items():
        by_tests.setdefault(tuple(tests), []).append(name)
    for those, names in by_tests.items():
        whose = "all runs" if len(those) == len(every) else ", ".join(those)
        yield f"{column} of {whose}: {shown({name: values[name] for name in names})}"
