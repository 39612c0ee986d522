"""Takes what determines the results of an experiment's runs; returns the plan with a fingerprint of
it in each run: runs of equal content need not be repeated.

The content of a run is its cell (test, system with its options and settings, its memory,
processors and round-trip time, storage with its options, clients, cache, client program,
parameters, protocol, driving), its repetition and its seed, the text of all scripts and files of
the workload, the files that rows are read from, the sessions that load them, the version of the
system's programs, and that of Assay. Not part of it are the machine, whose changes are said
instead, and the probe of a storage. The version of a server that is named by its URL is asked for
when an experiment is continued (`assay.lab.continuation`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import Struct, field, structs

from assay.contracts.recorded import Document
from assay.errors import ScriptError
from assay.experiment import Experiment
from assay.plan.values import Plan, PlannedRun
from assay.text.files import text_file
from assay.workload.values import Workload


class Content(Struct, frozen=True):
    """What determines the results of all runs of an experiment, besides their cells and seeds."""

    workload: str
    """Fingerprint of all texts of the workload, with the scripts that are run in its place."""
    statements: str
    """Digest of the file of plain statements (``--feed``); empty: none."""
    input: str
    """Digest of the files that rows are read from; empty: none are read."""
    assay: str
    """Version of Assay."""
    load_sessions: int | None = None
    """As ``--load-sessions`` says; None: as many as Assay chooses."""
    systems: Mapping[str, str] = field(default_factory=dict)
    """Label of each system → version of its programs, where they are on this machine."""

    def for_record(self) -> Document:
        return Document({**structs.asdict(self), "systems": dict(self.systems)})

    def of_run(self, run: PlannedRun) -> str:
        """The fingerprint of the run's content."""
        cell = run.cell
        parts = {
            **self.for_record(),
            "systems": self.systems.get(cell.system.label, ""),
            "cell": cell.fingerprint,
            "repetition": run.repetition,
            "seed": run.seed,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def in_plan(self, plan: Plan) -> Plan:
        """The plan, with the content of each run."""
        return replace(
            plan, runs=tuple(replace(run, content=self.of_run(run)) for run in plan.runs)
        )


def content_of(
    experiment: Experiment,
    workload: Workload,
    input_fingerprint: str,
    versions: Mapping[str, str],
    assay: str,
    load_sessions: int | None = None,
) -> Content:
    """``versions``: of the systems, by their labels; ``assay``: of this program."""
    feed = experiment.feed
    statements = "" if feed is None else text_file.read(Path(feed), ScriptError)
    return Content(
        workload=workload.fingerprint,
        statements=hashlib.sha256(statements.encode()).hexdigest() if feed is not None else "",
        input=input_fingerprint,
        assay=assay,
        load_sessions=load_sessions,
        systems=dict(versions),
    )
