"""Takes an experiment's record; returns what it measured, where and how, in a few lines for readers
of its capsule and for galleries: settings as asked and in effect, versions, machine, seeds, digests
of data, and the main number of each cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import msgspec

from assay.contracts.observation.parts.shape import ShapeError, convert
from assay.contracts.recorded import Build, Machine
from assay.errors import InputError
from assay.experiment import Scalar
from assay.judge.statistics.samples import UNREACHED
from assay.record import ExperimentRecord, Run
from assay.record.metrics import catalogue
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import selection
from assay.report.papers.claims.claim_case import JudgedClaim
from assay.report.papers.published_measured import claims
from assay.report.sections import storages
from assay.text.secrets import without_secrets


class MainNumber(msgspec.Struct, frozen=True):
    """Of a cell, the metric on which its verdict rests."""

    metric: str
    unit: str
    median: int | float
    least: int | float
    greatest: int | float
    repetitions: int


class CellFacts(msgspec.Struct, frozen=True):
    cell: str
    """Its name in the report."""
    full_test_name: str = msgspec.field(name="test")
    system_label: str = msgspec.field(name="system")
    storage: str
    clients: int
    parameters: dict[str, Scalar]
    verdict: str
    reason: str
    warnings: list[str]
    number: MainNumber | None
    """None: nothing was measured."""


class ClaimFacts(msgspec.Struct, frozen=True):
    claim: str
    outcome: str
    """``confirmed``, ``direction confirmed``, ``contradicted`` or ``open``."""
    judged: str
    why: str


class SystemFacts(msgspec.Struct, frozen=True):
    system: str
    version: str
    brought_by: str
    """How its programs came there, as far as the record knows."""
    settings_asked: dict[str, str]
    settings_in_effect: dict[str, str]


class StorageSummary(msgspec.Struct, frozen=True):
    storage: str
    asked: str
    file_system: str
    device: str
    in_effect: dict[str, str]


class DataFacts(msgspec.Struct, frozen=True):
    data: str
    sha256: str
    """Of what determines its rows, as the record has it."""
    rows: dict[str, int]


class Facts(msgspec.Struct, frozen=True):
    title: str
    experiment: int
    """Its number in the record."""
    workload: str
    workload_title: str
    workload_sha256: str
    reproduces: str
    is_quick: bool
    tests: list[str]
    only: list[list[str]]
    """Of each `--only`, its patterns; empty: all runs were to be executed."""
    begun_unix_ns: int
    ended_unix_ns: int | None
    machine: Machine
    build: Build
    seed: str
    """As text: it has 64 bits."""
    run_seeds: list[str]
    systems: list[SystemFacts]
    storages: list[StorageSummary]
    data: list[DataFacts]
    cells: list[CellFacts]
    claims: list[ClaimFacts]


def facts_of(experiment: ExperimentRecord) -> Facts:
    runs = experiment.runs
    return Facts(
        title=experiment.title,
        experiment=experiment.id,
        workload=str(experiment.workload.get("name", "")),
        workload_title=str(experiment.workload.get("title", "")),
        workload_sha256=str(experiment.workload.get("fingerprint", "")),
        reproduces=experiment.reproduces,
        is_quick=bool(experiment.experiment.get("is_quick")),
        tests=list(dict.fromkeys(run.test for run in runs)),
        only=[list(patterns) for patterns in experiment.only],
        begun_unix_ns=experiment.begun_unix_ns,
        ended_unix_ns=experiment.ended_unix_ns,
        machine=experiment.machine,
        build=experiment.build,
        seed=str(experiment.seed),
        run_seeds=[str(run.seed) for run in runs],
        systems=list(_systems(runs)),
        storages=list(_storages(experiment)),
        data=list(_data(runs)),
        cells=[_cell(cell) for cell in selection.all_cells(experiment)],
        claims=[_claim(one) for one in claims(experiment)],
    )


def text_of(facts: Facts) -> bytes:
    """As it stands in a capsule, for people too."""
    plain = msgspec.json.encode(_plain(msgspec.to_builtins(facts)))
    return msgspec.json.format(plain, indent=2) + b"\n"


def _plain(value: Any) -> Any:
    """Each text by itself: a password may end in the middle of it."""
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def read(text: bytes, file: str) -> Facts:
    """Raises `InputError`, with ``file``, where it is not of this form."""
    try:
        return convert(msgspec.json.decode(text), Facts, "facts")
    except (ShapeError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"facts.json: {error}", file=file) from error


def _systems(runs: Sequence[Run]) -> Iterator[SystemFacts]:
    """Each as it was in its first run."""
    seen = set()
    for run in runs:
        found = run.deployment
        if found is None or run.system_label in seen:
            continue
        seen.add(run.system_label)
        yield SystemFacts(
            run.system_label,
            found.version,
            _brought_by(run),
            dict(found.settings_asked),
            dict(found.settings),
        )


def _brought_by(run: Run) -> str:
    found = run.deployment
    assert found is not None
    if run.cell.get("system", {}).get("url"):
        return "a server or file by URL, which Assay did not start"
    if found.is_embedded:
        return "a library in the client's process"
    return "programs of the machine, started by Assay"


def _storages(experiment: ExperimentRecord) -> Iterator[StorageSummary]:
    asked = storages.asked(experiment)
    seen = set()
    for run in experiment.runs:
        if run.deployment is None:
            continue
        for one in run.deployment.all_storages:
            if one.name not in seen:
                seen.add(one.name)
                yield StorageSummary(
                    one.name,
                    asked.get(one.name, ""),
                    one.file_system or "",
                    one.device or "",
                    one.in_force,
                )


def _data(runs: Sequence[Run]) -> Iterator[DataFacts]:
    found = {run.data.fingerprint: run.data for run in runs if run.data is not None}
    for one in found.values():
        yield DataFacts(one.description, one.fingerprint, dict(one.rows))


def _cell(cell: CellRuns) -> CellFacts:
    first = cell.runs[0]
    return CellFacts(
        cell=cell.name,
        full_test_name=first.full_test_name,
        system_label=cell.system_label,
        storage=first.storage,
        clients=first.clients,
        parameters=dict(first.parameters),
        verdict=cell.judged.verdict.word,
        reason=cell.judged.verdict.reason,
        warnings=[warning.name for warning in cell.judged.warnings],
        number=_number(cell),
    )


def _number(cell: CellRuns) -> MainNumber | None:
    if not cell.measured:
        return None
    metric = catalogue.primary(cell.measured)
    found = (metric.value(run) for run in cell.measured)
    values = [value for value in found if value is not None and value != UNREACHED]
    if not values:
        return None
    return MainNumber(
        metric.name, metric.unit, median(values), min(values), max(values), len(values)
    )


def _claim(claim: JudgedClaim) -> ClaimFacts:
    of = f" ({claim.of})" if claim.of else ""
    return ClaimFacts(
        f"{claim.claim.text}{of}", claim.outcome.value, claim.word.value, claim.reason
    )


def outcomes(claims: Sequence[ClaimFacts]) -> Mapping[str, int]:
    """How many of each outcome, those that there are."""
    return Counter(one.outcome for one in claims)
