"""The tables of tidy output: name, meaning and columns of each."""

from __future__ import annotations

from collections.abc import Mapping

from assay.contracts.observation import MOST_PASS_TIMES
from assay.report.tidy.cells import CELLS, TRANSACTION_TYPES
from assay.report.tidy.claims import CLAIMS, SCALED
from assay.report.tidy.columns import TidyColumn
from assay.report.tidy.continuations import CONTINUATIONS
from assay.report.tidy.factors import FACTORS
from assay.report.tidy.goals import GOALS
from assay.report.tidy.parts import (
    CHECKS,
    DERIVED,
    ERRORS,
    GROUPS,
    INTERVALS,
    PASS_TIMES,
    PASSES,
    PUBLISHED,
    RESPONSE_LIMITS,
    STATEMENTS,
    STEPS,
    TRANSACTIONS,
    VALUES,
)
from assay.report.tidy.probes import PROBES
from assay.report.tidy.runs import RUNS
from assay.report.tidy.servers import SERVERS, STALENESS
from assay.report.tidy.storages import STORAGES

TABLES: Mapping[str, tuple[str, list[TidyColumn]]] = {
    "cells": ("One row per cell, in the order in which they were run.", [*FACTORS, *CELLS]),
    "runs": ("One row per run.", [*FACTORS, *RUNS]),
    "groups": (
        "One row per run and group of clients. Of several, without what lost generators did.",
        GROUPS,
    ),
    "servers": ("One row per run, group and server, where a run had several.", SERVERS),
    "staleness": ("One row per run and replica of which it was measured.", STALENESS),
    "transactions": (
        "One row per run, group, transaction type and outcome, of those that were timed: without "
        "what lost generators did.",
        TRANSACTIONS,
    ),
    "transaction_types": (
        "One row per cell and transaction type, over the repetitions.",
        TRANSACTION_TYPES,
    ),
    "passes": (
        "One row per run and group of clients that makes passes: every script once, in order.",
        PASSES,
    ),
    "pass_times": (
        "One row per pass of which every transaction ended ok, as they ended: the first "
        f"{MOST_PASS_TIMES:,} of a run. Of groups with several scripts, or that end after a number "
        "of passes.",
        PASS_TIMES,
    ),
    "statements": ("One row per statement, of runs that timed them.", STATEMENTS),
    "intervals": ("One row per run, second and group.", INTERVALS),
    "errors": ("One row per run and kind of error.", ERRORS),
    "checks": ("One row per run and result check.", CHECKS),
    "response_limits": (
        "One row per run and response limit that its test declares.",
        RESPONSE_LIMITS,
    ),
    "derived": (
        "One row per run and metric that its workload derives for its test; and one per metric "
        "that is derived from several tests, and each combination of cells that differ in their "
        "test.",
        DERIVED,
    ),
    "steps": ("One row per step of a run.", STEPS),
    "values": ("One row per run and field that the workload's report declares.", VALUES),
    "published": ("One row per number that was published of this test.", PUBLISHED),
    "claims": ("One row per claim of a paper that was judged, and what it was judged for.", CLAIMS),
    "scaled": ("One row per test and setting that differs from the full size.", SCALED),
    "goals": (
        "One row per search for the highest offered rate that meets a goal (`--goal`).",
        [*FACTORS, *GOALS],
    ),
    "storages": ("One row per storage as runs found it.", STORAGES),
    "storage_probes": (
        "One row per probe of a storage that a run uses: before its first use, and again when the "
        "experiment was continued.",
        PROBES,
    ),
    "continuations": (
        "One row per process that went on with the experiment after another one had ended.",
        CONTINUATIONS,
    ),
}
HAVE_PARAMETERS = ("cells", "runs", "published")
"""Tables that also have a column per parameter of the workload."""
