"""Takes an experiment's plan and how it was asked for; begins it in the record, or continues the
last one of its file, and returns the runs that are to be executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from assay import registry
from assay.contracts.events import Events
from assay.contracts.recorded import Command
from assay.contracts.systems.abilities import ReachedByUrl
from assay.errors import AssayError
from assay.judge.agreement import Questions
from assay.judge.ended_runs import Cells
from assay.plan import Plan, PlannedRun
from assay.plan.values import Patterns, chosen_plan
from assay.record import Store
from assay.record.continuing import Continued
from assay.record.planned_runs import ExperimentFacts
from assay.record.runs.records import RunEnd
from assay.text import paths
from assay.text.units import counted, ended_runs


class Request(Struct, frozen=True):
    """Which of an experiment's runs are executed now, and whether an earlier one is continued."""

    command: Command | None = None
    """`assay.experiment.origin.command_of`; None: nothing is continued."""
    is_new: bool = False
    """Whether a new experiment begins in any case."""
    only: Patterns = ()
    ways: Mapping[str, Any] = field(default_factory=dict)
    """Options of how storages are probed and data are loaded."""
    repeats_disturbed: bool = True
    """Whether runs that other programs disturbed are measured again, if the environment has it."""

    @property
    def kept_command(self) -> Command | None:
        """For the record: with what is no part of the question, so that the command that continues
        it can be named."""
        if self.command is None:
            return None
        only = [",".join(patterns) for patterns in self.only]
        besides: Command = {"only": only, "ways": dict(self.ways)}
        return {**self.command, **{name: value for name, value in besides.items() if value}}


class Begun(Struct, frozen=True):
    """An experiment that is under way in this process."""

    experiment_id: int
    runs: tuple[PlannedRun, ...]
    """Those that are to be executed, in order."""
    ended: dict[int, RunEnd] = field(default_factory=dict)
    """Position of each run that had ended → how."""
    questions: Questions = field(default_factory=Questions)
    """With the answers of the runs that had ended."""
    cells: Cells = field(default_factory=Cells)
    """With the runs that had ended."""
    added: tuple[PlannedRun, ...] = ()
    """Those of them that a process before had added to the plan."""


def begin(
    store: Store, plan: Plan, request: Request, facts: ExperimentFacts, events: Events
) -> Begun:
    """``facts``: machine, workload, build and content, for the record.

    Raises `ArgumentError` where another process is at work on the file's experiment.
    """
    runs = chosen_plan(plan, request.only)
    if request.kept_command is not None and not request.is_new:
        is_unfinished = store.unfinished(request.kept_command, plan) is not None
        versions = _versions_by_url(runs) if is_unfinished else {}
        found = store.continue_experiment(
            plan, runs, request.kept_command, facts, versions, request.only
        )
        if found is not None:
            return _continued(store, found, plan, runs, events)
    experiment_id = store.begin_experiment(
        plan.experiment, plan, facts, command=request.kept_command, only=request.only
    )
    return Begun(experiment_id, runs, cells=Cells(plan.runs))


def continued_runs(records: Path, plan: Plan, request: Request) -> Mapping[int, bool] | None:
    """Number of each run of the experiment that `begin` will continue → whether it has ended; None:
    it will begin another, or refuse to."""
    if request.kept_command is None or request.is_new or not paths.exists(records):
        return None
    with Store(records, must_exist=True) as store:
        last = store.unfinished(request.kept_command, plan)
    return last.runs if last is not None and last.under_way_in is None else None


def _versions_by_url(runs: Sequence[PlannedRun]) -> dict[str, str]:
    """Label → version now, of the servers by URL that answer; programs of this machine are part of
    the runs' content. One that does not answer has no other version for that."""
    choices = {run.cell.system.label: run.cell.system for run in runs if run.cell.system.url}
    found = {}
    for label, choice in choices.items():
        system = registry.system(choice.name)
        if isinstance(system, ReachedByUrl):
            with suppress(AssayError), system.attach(choice) as deployment:
                found[label] = deployment.version
    return found


def _continued(
    store: Store, continued: Continued, plan: Plan, runs: Sequence[PlannedRun], events: Events
) -> Begun:
    left = tuple(run for run in runs if run.position not in continued.kept)
    begun = Begun(
        continued.experiment_id,
        left,
        {position: kept.end for position, kept in continued.kept.items()},
        cells=Cells((*plan.runs, *continued.added)),
        added=continued.added,
    )
    for position, run in store.ended_before(continued.kept).items():
        begun.cells.ended(position, run)
    store.judged(begun.cells.judged(continued.changed_cells))
    for position, kept in sorted(continued.kept.items()):
        begun.questions.recall(position, kept.answers, kept.reason)
    state = f"; it was interrupted while {continued.interrupted}" if continued.interrupted else ""
    events.stage(
        f"continue experiment {continued.experiment_id}{state}: "
        f"{ended_runs(len(continued.kept), len(plan.runs) + len(continued.added))}, "
        f"{len(left)} to do"
    )
    changed = continued.superseded - continued.no_longer_planned
    for number, why in (
        (continued.no_longer_planned, "no longer planned"),
        (changed, "done again, because scripts, data or versions have changed"),
    ):
        if number:
            events.warning(
                f"of experiment {continued.experiment_id}, {counted(number, 'run')} had ended and "
                f"{'is' if number == 1 else 'are'} {why}; the record keeps what was measured, no "
                "report shows it"
            )
    for name, (before, now) in continued.changes.items():
        events.warning(f"changed since the experiment began: {name} was {before}, is {now}")
    return begun
