"""Takes an experiment's record; returns its `Report`, from which every format is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.judge import RunWarning, kinds
from assay.judge.kinds import Kind
from assay.judge.spread import spread
from assay.record import ExperimentRecord, shapes
from assay.report import (
    answers,
    cell_runs,
    conditions,
    costs,
    declaration,
    footnotes,
    groups,
    joined,
    loads,
    outcomes,
    published,
    results,
    series,
    server,
    service,
    statements,
    tidy,
    timeline,
    times,
    warnings,
)
from assay.report.cell_runs import CellRuns
from assay.report.values import Report, Section
from assay.text import units


def build(experiment: ExperimentRecord) -> Report:
    """The report of the runs in ``experiment``. Raises `ArgumentError` where a document in the
    record does not match its schema."""
    with shapes.checked(experiment):
        return _build(experiment)


def _build(experiment: ExperimentRecord) -> Report:
    sections: list[Section] = []
    noted = [warning for run in experiment.runs for warning in run.warnings]
    cell_count = 0
    sections += _series(experiment)
    for test, runs in cell_runs.tests(experiment.runs).items():
        found = cell_runs.cells(runs)
        cell_count += len(found)
        sections += _test_sections(experiment, test, found)
        noted += _cell_warnings(found)
    sections += [
        section
        for section in (loads.section(experiment.runs), conditions.section(experiment.runs))
        if section is not None
    ]
    return Report(
        title=experiment.title,
        experiment_id=experiment.id,
        record=experiment.path,
        facts=conditions.facts(experiment),
        sections=tuple(
            replace(section, tables=tuple(map(footnotes.numbered, section.tables)))
            for section in sections
        ),
        warnings=warnings.notes(noted),
        cell_count=cell_count,
        tidy={"experiment": tidy.facts(experiment), "tables": tidy.tables(experiment)},
    )


def _series(experiment: ExperimentRecord) -> Iterator[Section]:
    """The tables over several tests, which come first."""
    for declared in series.of_record(experiment.workload):
        beside = published.of_record(experiment.workload, declared.name)
        if (table := joined.table(experiment, declared, beside)) is not None:
            yield Section(f"Series {declared.name}", (), (table,))


def _test_sections(
    experiment: ExperimentRecord, test: str, found: Sequence[CellRuns]
) -> list[Section]:
    declared = declaration.of_record(experiment.workload, test)
    return [
        Section(
            _title(found[0]),
            (),
            (results.table(test, declared, found, published.of_record(experiment.workload, test)),),
        ),
        *(
            section
            for section in (
                groups.section(test, found),
                outcomes.section(test, found),
                service.section(test, found),
                answers.section(test, found),
                times.section(test, found),
                statements.section(test, found),
                timeline.section(test, found),
                costs.section(test, found),
                server.section(test, found),
            )
            if section is not None
        ),
    ]


def _title(cell: CellRuns) -> str:
    """``Test simple-update``; of an ad hoc script ``Script read.sql``."""
    run = cell.runs[0]
    return f"Script {run.workload}" if run.is_ad_hoc else f"Test {run.test}"


def _cell_warnings(found: Sequence[CellRuns]) -> Iterator[RunWarning]:
    """The warnings about repetitions and samples, which need all runs of a cell."""
    timed = [(cell, elapsed) for cell in found if (elapsed := _elapsed(cell))]
    if timed and all(len(cell.runs) == 1 for cell, _ in timed):
        yield RunWarning(Kind.ONE_REPETITION.id, f"{len(timed)} cells" if len(timed) > 1 else "")
    for cell, elapsed in timed:
        over = spread(elapsed)
        if over.relative > kinds.NOISE_LIMIT:
            detail = f"{cell.name}: {units.share(over.relative)} over {over.n} repetitions"
            yield RunWarning(Kind.NOISY_REPETITIONS.id, detail)
    yield from times.few_samples(found)


def _elapsed(cell: CellRuns) -> list[int]:
    observations = [run.observation or {} for run in cell.measured]
    return [
        observation["elapsed_ns"] for observation in observations if "elapsed_ns" in observation
    ]
