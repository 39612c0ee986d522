"""Takes a record that is being written; returns what the live page says of its last experiment: the
plan, the run under way, the cells that have ended, and the warnings."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.contracts.driving import ARRIVALS
from assay.contracts.events import NOT_KNOWN, TimeNeeded
from assay.contracts.storage_facts import NOT_SEEN
from assay.experiment import Scalar
from assay.judge.run import RunSummary
from assay.judge.warning_kinds import texts
from assay.plan import cell_names
from assay.plan.forecast import CellTimes
from assay.record import under_way
from assay.record.runs.records import END_STATES
from assay.record.under_way import Connection, ExperimentUnderWay, KeptWarning, Place
from assay.text.phrases import reason_sentence
from assay.text.secrets import without_secrets
from assay.text.terminal import visible

_MOST_CELLS = 300
"""These go to each reader whenever anything changes."""


class Stage(msgspec.Struct, frozen=True):
    """The run that was begun last."""

    run: int
    """Its number in the record."""
    number: int
    """Its 1-based place in the plan."""
    name: str
    """Of its cell."""
    repetition: int
    state: str
    step: str
    """What it does now: ``drive``, ``load`` …; empty: it has ended, or prepares."""
    begun_unix_ns: int | None
    clients: int
    has_schedule: bool
    """An open loop: what lags behind its schedule is shown."""
    duration_s: float | None
    """Of the measurement of its step; None: counts end it, or no clients work."""
    unmeasured_s: float
    reason: str


class CellLine(msgspec.Struct, frozen=True):
    name: str
    repetitions: int
    ended: int
    verdict: str
    reason: str
    throughput_per_s: float | None
    """The median of its repetitions, as the next one."""
    latency_p99_ns: float | None


class Status(msgspec.Struct, frozen=True):
    experiment: int
    """0: there is none yet."""
    begun_ms: int
    """Another record has an experiment of the same number, begun at another time."""
    title: str
    is_under_way: bool
    is_over: bool
    """Nothing more comes: it has ended, or its process has."""
    planned: int
    ended: int
    states: tuple[str, ...]
    """Of each planned run, in order: its verdict, or else its state."""
    left_s: float
    """Of all that is to be done."""
    is_left_known: bool
    """False: it takes at least that long."""
    as_of_unix_ns: int
    stage: Stage | None
    cells: tuple[CellLine, ...]
    """Those of which a run has ended; of many, the last ones of the plan."""
    more_cells: int
    """How many are left out."""
    problem: str = ""
    """Why the record cannot be read now."""


NOTHING = Status(0, 0, "", False, False, 0, 0, (), 0.0, False, 0, None, (), 0)


def status(
    connection: Connection,
    experiment: ExperimentUnderWay,
    every_run: Sequence[RunSummary],
    now_ns: int,
) -> tuple[Status, Place | None]:
    """And the step whose seconds are shown: the last one that drove clients."""
    runs = [run for run in every_run if not run.is_superseded]
    is_under_way = experiment.is_under_way
    current = under_way.current_run(connection, experiment.id)
    names = _names(runs)
    stage, place = None, None
    for run in runs:
        if run.id == current:
            stage, place = _stage(connection, run, names[run.cell_fingerprint])
    known = under_way.times_taken(connection, dict.fromkeys(run.cell_fingerprint for run in runs))
    left = _left(runs, known, now_ns) if is_under_way else NOT_KNOWN
    cells = _cells(connection, experiment.id, runs, names)
    made = Status(
        experiment=experiment.id,
        begun_ms=experiment.begun_unix_ns // 1_000_000,
        title=visible(experiment.title) or (runs[0].full_test_name if runs else ""),
        is_under_way=is_under_way,
        is_over=not is_under_way,
        planned=len(runs),
        ended=sum(run.state in END_STATES for run in runs),
        states=tuple(_shown_state(run) for run in runs),
        left_s=left.seconds,
        is_left_known=left.is_known,
        as_of_unix_ns=now_ns,
        stage=stage,
        cells=cells[-_MOST_CELLS:],
        more_cells=max(0, len(cells) - _MOST_CELLS),
    )
    return made, place


def _shown_state(run: RunSummary) -> str:
    return run.verdict if run.state == "done" and run.verdict else run.state


def _stage(connection: Connection, run: RunSummary, name: str) -> tuple[Stage, Place | None]:
    steps = under_way.steps(connection, run.id)
    at_work = next((one for one in reversed(steps) if one.state == "running"), None)
    pace = under_way.last_drive(connection, run.id)
    drives = pace is not None and (at_work is None or at_work.position == pace.step)
    has_ended = run.state in END_STATES
    made = Stage(
        run=run.id,
        number=run.position + 1,
        name=name,
        repetition=run.repetition,
        state=run.state,
        step="" if at_work is None or has_ended else visible(at_work.name or at_work.do),
        begun_unix_ns=run.begun_unix_ns,
        clients=run.clients,
        has_schedule=pace is not None and pace.arrival in ARRIVALS[1:],
        duration_s=pace.duration_s if pace is not None and drives else None,
        unmeasured_s=pace.unmeasured_s if pace is not None and drives else 0.0,
        reason=shown_line(run.reason),
    )
    return made, None if pace is None else (run.id, pace.step)


def _cells(
    connection: Connection, experiment_id: int, runs: Sequence[RunSummary], names: Mapping[str, str]
) -> tuple[CellLine, ...]:
    """Those of which a run has ended, in planned order."""
    judged = under_way.cells(connection, experiment_id)
    measured = under_way.measured(connection, experiment_id)
    by_cell: dict[str, list[RunSummary]] = {}
    for run in runs:
        by_cell.setdefault(run.cell_fingerprint, []).append(run)
    lines = []
    for cell, repetitions in by_cell.items():
        ended = [run for run in repetitions if run.state in END_STATES]
        if not ended:
            continue
        last = ended[-1]
        word, reason = judged.get(cell, (last.verdict or last.state, last.verdict_reason))
        values = [measured[run.id] for run in ended if run.id in measured]
        lines.append(
            CellLine(
                name=names[cell],
                repetitions=len(repetitions),
                ended=len(ended),
                verdict=word or last.state,
                reason=shown_line(reason or last.reason),
                throughput_per_s=_median(one.throughput_per_s for one in values),
                latency_p99_ns=_median(one.latency_p99_ns for one in values),
            )
        )
    return tuple(lines)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _names(runs: Sequence[RunSummary]) -> dict[str, str]:
    """Of each cell, by its fingerprint; with the test where there are several."""
    of_tests: dict[str, list[RunSummary]] = {}
    for run in {run.cell_fingerprint: run for run in runs}.values():
        of_tests.setdefault(run.full_test_name, []).append(run)
    names = {}
    for test, cells in of_tests.items():
        named = cell_names.cell_names([_levels(cell) for cell in cells])
        for cell, name in zip(cells, named, strict=True):
            shown = f"{test}: {name}" if len(of_tests) > 1 else name
            names[cell.cell_fingerprint] = visible(shown)
    return names


def _levels(run: RunSummary) -> dict[str, Scalar]:
    offered = run.driving.offered_rate_per_s
    found: dict[str, Scalar | None] = {
        "system": run.system_label,
        "storage": run.storage or NOT_SEEN,
        "clients": run.clients,
        **{f"{cell_names.OF_GROUP}{group}": number for group, number in run.group_clients.items()},
        cell_names.OFFERED_RATE: offered,
        **{name: level for name, level in run.levels.items() if name != cell_names.OFFERED_RATE},
        **cell_names.named_parameters(run.parameters),
    }
    return {name: level for name, level in found.items() if level is not None}


def _left(runs: Sequence[RunSummary], known: Mapping[str, CellTimes], now_ns: int) -> TimeNeeded:
    """Of the runs that have not ended: as others of their cells took, here or in an earlier
    experiment; else what their clients work by the clock, and what the ended runs took besides."""
    besides = [
        (run.ended_unix_ns - run.begun_unix_ns) / 1e9 - planned_s
        for run in runs
        if run.state == "done" and run.ended_unix_ns and run.begun_unix_ns
        if (planned_s := _planned_s(run)) is not None
    ]
    beside_s = max(0.0, statistics.median(besides)) if besides else None
    needed = TimeNeeded(0.0, is_known=True)
    for run in runs:
        if run.state in END_STATES:
            continue
        one = _time_of(run, known.get(run.cell_fingerprint), beside_s)
        if run.begun_unix_ns is not None:
            passed_s = (now_ns - run.begun_unix_ns) / 1e9
            one = TimeNeeded(max(0.0, one.seconds - passed_s), one.is_known)
        needed += one
    return needed


def _time_of(run: RunSummary, known: CellTimes | None, beside_s: float | None) -> TimeNeeded:
    planned_s = _planned_s(run)
    if known is not None:
        whole_s = known.first_s if run.repetition == 1 else known.later_s
        if whole_s is not None:
            return TimeNeeded(whole_s, is_known=True)
        return TimeNeeded(known.driven_s)
    if planned_s is None:
        return NOT_KNOWN
    return TimeNeeded(planned_s + (beside_s or 0.0), is_known=beside_s is not None)


def _planned_s(run: RunSummary) -> float | None:
    return run.driving.planned_s


_MOST_DETAILS = 4
"""Of a warning; the report has all."""


class WarningLine(msgspec.Struct, frozen=True):
    """Of all runs that have it."""

    name: str
    cause: str
    runs: tuple[int, ...]
    """The 1-based places of its runs in the plan."""
    details: tuple[str, ...]
    """Of the last runs."""
    is_under_way: bool
    """Whether the last of them is: what it says is of the seconds so far."""


def warning_lines(kept: Iterable[KeptWarning], arising: Iterable[KeptWarning]) -> list[WarningLine]:
    known = texts()
    found: dict[str, list[KeptWarning]] = {}
    under_way = list(arising)
    for one in [*kept, *under_way]:
        found.setdefault(one.name, []).append(one)
    ordered = [name for name in known if name in found]
    names = {one.name for one in under_way}
    return [
        WarningLine(
            name,
            known[name].cause if name in known else "",
            tuple(dict.fromkeys(one.position + 1 for one in found[name])),
            tuple(dict.fromkeys(shown_line(one.detail) for one in found[name][-_MOST_DETAILS:])),
            name in names,
        )
        for name in [*ordered, *(name for name in found if name not in known)]
    ]


def shown_line(text: str) -> str:
    return visible(without_secrets(reason_sentence(text)))
