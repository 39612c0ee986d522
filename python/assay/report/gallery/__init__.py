"""Takes an experiment's record; returns what it measured, where and how, in a few lines for
readers of its capsule, its report as a page, and the page that lists many capsules."""

from __future__ import annotations

import io
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.recorded import Build, Machine
from assay.experiment import Scalar
from assay.judge.statistics.samples import UNREACHED
from assay.record import ExperimentRecord, Run, machines
from assay.record.capsule import capsule_file
from assay.record.metrics import catalogue
from assay.report.build import build
from assay.report.cell_runs import CellRuns
from assay.report.declared import published
from assay.report.for_people import html_escaped
from assay.report.page import render
from assay.report.papers.claim_cases import JudgedClaim
from assay.report.papers.published_measured import claims
from assay.report.sections import storages
from assay.text import units
from assay.text.secrets import without_secrets
from assay.workload import ad_hoc_script


class ListedCapsule(Struct, frozen=True):
    """A capsule on the site; the names are those of its files beside the page."""

    facts: Facts
    report: str
    capsule: str
    size_bytes: int
    sha256: str


_MOST_TESTS = 3


def _workload(facts: Facts) -> str:
    """With the tests that were run, as several are in one workload."""
    own = [one for one in facts.tests if one not in (facts.workload, ad_hoc_script.TEST)]
    more = [f"{len(own) - _MOST_TESTS} more"] if len(own) > _MOST_TESTS else []
    tests = ", ".join([*own[:_MOST_TESTS], *more])
    return f"{facts.workload}: {tests}" if tests else facts.workload


def _listed_systems(facts: Facts) -> str:
    return ", ".join(f"{one.system} ({one.version})" for one in facts.systems)


def _listed_storages(facts: Facts) -> str:
    return ", ".join(one.storage for one in facts.storages)


def _machine(facts: Facts) -> str:
    return machines.machine_name(facts.machine)


def _date(facts: Facts) -> str:
    """By UTC, as readers are anywhere."""
    return datetime.fromtimestamp(facts.begun_unix_ns / 1e9, UTC).strftime("%Y-%m-%d")


def _main_number(facts: Facts) -> str:
    """The best of its cells, by the metric of the first one."""
    best = _best(facts.cells)
    if best is None or best.number is None:
        return "none"
    number = best.number
    shown = units.shown(number.median, number.unit)
    where = f" ({best.system_label}, {best.storage})" if len(facts.cells) > 1 else ""
    return f"{number.metric} {shown}{where}"


def _best(cells: Sequence[CellFacts]) -> CellFacts | None:
    measured = [one for one in cells if one.number is not None and one.verdict != "invalid"]
    if not measured or measured[0].number is None:
        return None
    metric = measured[0].number.metric
    alike = [one for one in measured if one.number and one.number.metric == metric]
    known = catalogue.METRICS.get(metric)
    choose = max if known is not None and known.is_more_better else min
    return choose(alike, key=lambda cell: cell.number.median if cell.number else 0)


def _verdict(facts: Facts) -> str:
    """Of its claims; without any, of its cells."""
    of_claims = outcomes(facts.claims)
    of_cells = Counter(cell.verdict or "not measured" for cell in facts.cells)
    what, counts = ("claims", of_claims) if of_claims else ("cells", of_cells)
    return f"{what}: " + ", ".join(f"{number} {word}" for word, number in counts.items())


_COLUMNS: Final[Mapping[str, Callable[[Facts], str]]] = {
    "workload": _workload,
    "systems": _listed_systems,
    "storage": _listed_storages,
    "machine": _machine,
    "date": _date,
    "main number": _main_number,
    "verdict": _verdict,
}
"""Behind the title of each experiment."""
_FILTERS: Final[Mapping[str, Callable[[Facts], Iterable[str]]]] = {
    "workload": lambda facts: [facts.workload],
    "system": lambda facts: [one.system.partition(" ")[0] for one in facts.systems],
    "storage": lambda facts: [one.storage for one in facts.storages],
    "machine": lambda facts: [_machine(facts)],
}
"""Of which a reader chooses one."""


def gallery_page(title: str, entries: Sequence[ListedCapsule]) -> str:
    style, script = _own("report.page", "style.css"), _own("report.page", "script.js")
    filters = "".join(_filter(name, of, entries) for name, of in _FILTERS.items())
    headings = "".join(
        f'<th scope="col">{name}</th>' for name in ("experiment", *_COLUMNS, "again")
    )
    rows = "".join(map(_row, entries))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
        f"<title>{html_escaped(title)}</title><style>{style}{_own('report.gallery', 'gallery.css')}"
        f"</style></head>\n<body>\n<header><h1>{html_escaped(title)}</h1></header>\n<main>\n"
        "<p>Each result is a file that you can run again: <code>assay capsule rerun FILE</code> "
        "verifies it, does the experiment on your machine and compares both.</p>\n"
        f'<form class="filters" role="search"><label>Search <input type="search" id="search">'
        f"</label>{filters}</form>\n"
        f'<p id="shown" aria-live="polite">{units.counted(len(entries), "result")}</p>\n'
        f'<div class="box"><table class="sortable cards"><thead><tr>{headings}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>\n</main>\n"
        f"<script>{script}{_own('report.gallery', 'gallery.js')}</script>\n</body></html>\n"
    )


def _own(folder: str, file: str) -> str:
    return (files(f"assay.{folder}") / file).read_text(encoding="utf-8")


def _filter(
    name: str, values_of: Callable[[Facts], Iterable[str]], entries: Sequence[ListedCapsule]
) -> str:
    values = sorted({value for one in entries for value in values_of(one.facts)})
    options = "".join(f"<option>{html_escaped(value)}</option>" for value in values)
    return (
        f'<label>{name} <select data-filter="{name}"><option value="">any</option>{options}'
        "</select></label>"
    )


def _row(entry: ListedCapsule) -> str:
    facts = entry.facts
    title = facts.title or facts.workload_title or facts.workload
    version = " (quick version)" if facts.is_quick and "quick" not in title else ""
    chosen = "".join(
        f' data-of-{name}="{html_escaped(chr(10).join(values_of(facts)))}"'
        for name, values_of in _FILTERS.items()
    )
    cells = "".join(
        f'<td data-label="{name}">{html_escaped(of(facts))}</td>' for name, of in _COLUMNS.items()
    )
    command = f"assay capsule rerun {shlex.quote(str(entry.capsule))}"
    return (
        f'<tr{chosen}><th scope="row"><a href="{quote(entry.report)}">{html_escaped(title)}</a>'
        f"{version}</th>{cells}"
        f'<td class="again" data-label="again"><a href="{quote(entry.capsule)}" download>capsule'
        "</a>, "
        f"{units.size(entry.size_bytes)}<br><code>{html_escaped(command)}</code>"
        f"<details><summary>SHA-256</summary><code>{entry.sha256}</code></details></td></tr>\n"
    )


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
        workload=experiment.workload.name,
        workload_title=experiment.workload.title,
        workload_sha256=experiment.workload.fingerprint,
        reproduces=experiment.reproduces,
        is_quick=experiment.experiment.is_quick,
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
        cells=[_cell(cell) for cell in published.all_cells(experiment)],
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
    if run.cell.system.url:
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
    found = {run.data.request.fingerprint: run.data for run in runs if run.data is not None}
    for fingerprint, one in found.items():
        yield DataFacts(one.request.description, fingerprint, dict(one.rows))


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


def report_page(record: ExperimentRecord) -> bytes:
    text = io.StringIO()
    render(build(replace(record, path=Path(capsule_file.RECORD))), text)
    return text.getvalue().encode("utf-8", "backslashreplace")
