"""Takes a cell, or what determines the results of an experiment's runs; returns the fingerprint of
it: equal cells have equal fingerprints, and runs of equal content need not be repeated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import Struct, field, structs

from assay.contracts.experiment import OF_SCRIPTS
from assay.contracts.factors import OF_LEVELS
from assay.errors import ScriptError
from assay.experiment import Driving, Experiment, ScriptFile, StorageChoice, SystemChoice
from assay.experiment.choices import identity
from assay.experiment.choices.identity import not_default, plain_value
from assay.plan.values import Cell, Plan, PlannedRun
from assay.text import paths
from assay.workload.ad_hoc_script import TEST
from assay.workload.values import Workload

ScriptFields = Mapping[str, str | int]
"""Those of a `ScriptFile`, as plain data."""


def fingerprint_of_cell(cell: Cell) -> str:
    fields = identifying_fields(cell)
    if fields.pop("workload_content", ""):
        fields["workload"] = cell.workload_content
        if cell.workload_content == OF_SCRIPTS:
            fields["test"] = TEST  # also where each of several scripts has one of its own
    if fields.pop("feed_content", ""):
        fields["feed"] = cell.feed_content
    fields["scripts"] = scripts_by_content(fields.get("scripts") or [])
    return _digest(_not_default(fields))


def cell_by_paths(cell: Cell) -> str:
    """Equal for cells that are equal but for what the files at their paths held: an edited script
    stays the script that it was. As an Assay that knew no contents had it."""
    return fingerprint_of_cell(
        replace(
            cell,
            test=TEST if cell.workload_content == OF_SCRIPTS else cell.test,
            system=replace(cell.system, dialect_content=""),
            scripts=tuple(replace(script, content="") for script in cell.scripts),
            workload_content="",
            feed_content="",
        )
    )


def scripts_by_content(scripts: Iterable[ScriptFields]) -> list[dict[str, str | int]]:
    """Without the paths of those of which the content is known. The weight of one alone says
    nothing."""
    known = [
        {
            name: value
            for name, value in script.items()
            if name != ("path" if script.get("content") else "content")
        }
        for script in scripts
    ]
    if len(known) == 1 and known[0].get("content"):
        known[0].pop("weight", None)
    return known


def _digest(fields: Mapping[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def identifying_fields(cell: Cell) -> dict[str, Any]:
    """What identifies a cell, as plain data, with the paths by which it is shown."""
    fields = cell.for_record()
    del fields["fingerprint"]
    system = identity.identifying(cell.system)
    del system["stands_on"]
    fields["system"] = not_default(SystemChoice, system)
    fields["storage"] = not_default(StorageChoice, identity.identifying_storage(cell.storage))
    fields["driving"] = not_default(Driving, fields["driving"])
    fields["scripts"] = [not_default(ScriptFile, script) for script in fields["scripts"]]
    return _not_default(fields)


def _not_default(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields and levels of a cell that are not at their defaults."""
    found = not_default(Cell, fields)
    return {name: value for name, value in found.items() if value != _DEFAULTS.get(name)}


_DEFAULTS = {name: plain_value(factor.default) for name, factor in OF_LEVELS.items()}


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

    def of_run(self, run: PlannedRun) -> str:
        """The fingerprint of the run's content."""
        cell = run.cell
        parts = {
            **structs.asdict(self),
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
    statements = "" if feed is None else paths.read_text(Path(feed), ScriptError)
    return Content(
        workload=workload.fingerprint,
        statements=hashlib.sha256(statements.encode()).hexdigest() if feed is not None else "",
        input=input_fingerprint,
        assay=assay,
        load_sessions=load_sessions,
        systems=dict(versions),
    )
