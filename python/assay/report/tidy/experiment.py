"""Takes an experiment's record; returns its tidy tables: a row per cell, run, transaction type …,
and a column per factor and number, each with a stable name and a unit, numbers as measured.

A parameter of the workload is the column ``parameter_NAME``, if any run has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from assay.record import ExperimentRecord
from assay.report.tidy.tables import TABLES
from assay.report.values import MadeWhenAsked, TidyExperiment, TidyRow


def facts(experiment: ExperimentRecord) -> TidyExperiment:
    """What was run, when, on what."""
    return {
        "id": experiment.id,
        "experiments": [one.id for one in experiment.each],
        "title": experiment.title,
        "reproduces": experiment.reproduces or None,
        "workload": str(experiment.workload.get("name", "")),
        "workload_fingerprint": str(experiment.workload.get("fingerprint", "")),
        "seed": str(experiment.seed),
        "begun_unix_ns": experiment.begun_unix_ns,
        "ended_unix_ns": experiment.ended_unix_ns,
        "is_under_way": experiment.is_under_way,
        "runs_planned": experiment.runs_planned,
        "runs_ended": experiment.runs_ended,
        "continued_by": experiment.continued_by or None,
        "record": str(experiment.path),
        "machine": experiment.machine,
        "machines": {run.machine_shown: run.machine for run in experiment.runs},
        "build": experiment.build,
    }


def tables(experiment: ExperimentRecord) -> MadeWhenAsked[Sequence[TidyRow]]:
    """Each is made when a form asks for it."""
    return MadeWhenAsked({name: partial(table.rows, experiment) for name, table in TABLES.items()})
