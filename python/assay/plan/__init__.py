"""Takes an `Experiment`; returns a `Plan`: every run, its seed, its order. Starts nothing."""

from assay.plan.layout import plan
from assay.plan.values import Cell, Plan, PlannedRun

__all__ = ["Cell", "Plan", "PlannedRun", "plan"]
