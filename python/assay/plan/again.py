"""Takes a planned run that has ended; returns one more run of its cell, which the plan did not
have: a further repetition, or a disturbed repetition that is measured again."""

from __future__ import annotations

from dataclasses import replace

from assay.plan.layout import seed_of
from assay.plan.values import PlannedRun


def further(run: PlannedRun, experiment_seed: int, repetition: int, position: int) -> PlannedRun:
    """Another repetition, with random choices of its own."""
    seed = seed_of(experiment_seed, run.cell, repetition)
    return replace(run, repetition=repetition, position=position, seed=seed, in_place_of=None)


def in_place(run: PlannedRun, repetition: int, position: int) -> PlannedRun:
    """The same work as the run, with the same random choices."""
    return replace(
        run,
        repetition=repetition,
        position=position,
        in_place_of=run.repetition if run.in_place_of is None else run.in_place_of,
    )
