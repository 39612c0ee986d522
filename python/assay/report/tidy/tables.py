"""The tables of tidy output, each by its name, in their order."""

from __future__ import annotations

from collections.abc import Mapping

from assay.report.papers.published_measured import CLAIMS, SCALED
from assay.report.program_tables import ProgramTable
from assay.report.sections.derived import DERIVED
from assay.report.sections.endpoints import SERVERS, STALENESS
from assay.report.sections.goals import GOALS
from assay.report.sections.groups import GROUPS, STEPS
from assay.report.sections.headline import RESPONSE_LIMITS
from assay.report.sections.outcomes import ERRORS
from assay.report.sections.statements import STATEMENTS
from assay.report.sections.storages import STORAGES
from assay.report.storage_tables.probes import PROBES
from assay.report.tidy.cells import CELLS, TRANSACTION_TYPES
from assay.report.tidy.parts import (
    CHECKS,
    CONTINUATIONS,
    INTERVALS,
    PASS_TIMES,
    PASSES,
    PUBLISHED,
    TRANSACTIONS,
    VALUES,
)
from assay.report.tidy.runs import RUNS

TABLES: Mapping[str, ProgramTable] = {
    "cells": CELLS,
    "runs": RUNS,
    "groups": GROUPS,
    "servers": SERVERS,
    "staleness": STALENESS,
    "transactions": TRANSACTIONS,
    "transaction_types": TRANSACTION_TYPES,
    "passes": PASSES,
    "pass_times": PASS_TIMES,
    "statements": STATEMENTS,
    "intervals": INTERVALS,
    "errors": ERRORS,
    "checks": CHECKS,
    "response_limits": RESPONSE_LIMITS,
    "derived": DERIVED,
    "steps": STEPS,
    "values": VALUES,
    "published": PUBLISHED,
    "claims": CLAIMS,
    "scaled": SCALED,
    "goals": GOALS,
    "storages": STORAGES,
    "storage_probes": PROBES,
    "continuations": CONTINUATIONS,
}
DETAILS = tuple(name for name, table in TABLES.items() if table.is_detail)
"""Those that ``--no-detail`` leaves out."""
