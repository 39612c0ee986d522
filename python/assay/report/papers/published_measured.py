"""Takes the record of an experiment that reproduces a paper; returns the section "Published and
measured": what was scaled down, each published table with our values between its rows, and the
paper's claims with their judgements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from assay.record import ExperimentRecord
from assay.report.declared import published, selection
from assay.report.papers import paper_figure as published_figures
from assay.report.papers import paper_table, published_table
from assay.report.papers.claims import judged_claims, published_columns
from assay.report.papers.claims.claim_case import JudgedClaim
from assay.report.papers.claims.claimed_ratios import ByRatio, by_ratio
from assay.report.papers.claims.comparability import MODELLED
from assay.report.papers.claims.judgement import ALIKE, Outcome
from assay.report.sections import conditions
from assay.report.values import CLAIMS, ReportColumn, ReportTable, Row, Section, text
from assay.text import units

TITLE = "Published and measured"


def section(experiment: ExperimentRecord) -> Section | None:
    """None where the experiment reproduces no paper."""
    if not experiment.reproduces:
        return None
    claims = judged_claims.judged(experiment)
    tables = list(_published_tables(experiment, by_ratio(claims)))
    figures = [figure for one in tables for figure in published_figures.of_pairs(one)]
    if (of_paper := paper_table.section(experiment, claims)) is not None:
        figures = [*of_paper.figures, *figures]
        tables = [*of_paper.tables, *tables]
    if claims:
        tables.append(_claims_table(claims))
    if shrunk := _scaled_table(experiment):
        tables.insert(0, shrunk)
    if not tables:
        return None
    lines = (_summary(claims), *_contradicted(claims)) if claims else ()
    return Section(TITLE, lines, tuple(tables), tuple(figures))


def shown(section: Section | None) -> set[str]:
    """The tests and series whose published rows stand in that section."""
    return (
        {one.name.removeprefix(published_table.PREFIX) for one in section.tables}
        if section
        else set()
    )


def _published_tables(experiment: ExperimentRecord, of_claims: ByRatio) -> Iterator[ReportTable]:
    """Those of measured tests that are not in the paper's own shape."""
    found = selection.all_cells(experiment)
    tests = {cell.runs[0].test for cell in found}
    for name in experiment.workload.get("published", {}):
        beside = published.of_record(experiment.workload, name)
        if beside is None or beside.layout is not None:
            continue
        columns = published_columns.of_table(experiment.workload, name, beside)
        if {column.test for column in columns} & tests:
            made = published_table.table(experiment, name, beside, columns, found, of_claims)
            yield from () if made is None else (made,)


def _scaled_table(experiment: ExperimentRecord) -> ReportTable | None:
    """What the quick version has in place of the full one, and what cannot be had here; the same of
    several tests once."""
    by_change: dict[tuple[str, str, str], list[str]] = {}
    for one in conditions.scaled(experiment):
        here = f"left out: {one.reason}" if one.reason else one.quick
        by_change.setdefault((one.name, one.full, here), []).append(one.test)
    if not by_change:
        return None
    return ReportTable(
        name="scaled_down",
        title="Scaled down",
        columns=(
            ReportColumn("what"),
            ReportColumn("full size"),
            ReportColumn("here"),
            ReportColumn("tests"),
        ),
        rows=tuple(
            Row((text(name), text(full or "-"), text(quick or "-"), text(", ".join(tests))))
            for (name, full, quick), tests in by_change.items()
        ),
    )


def _claims_table(claims: Sequence[JudgedClaim]) -> ReportTable:
    rows = []
    for one in claims:
        block = {"": one.claim.shown}
        cells = (one.of, one.published, one.measured, one.sentence)
        rows.append(Row(tuple(text(cell) for cell in cells), block))
    is_alike = any(ALIKE in one.measured for one in claims)
    return ReportTable(
        name=CLAIMS,
        title="Claims of the paper",
        columns=(
            ReportColumn("of"),
            ReportColumn("published"),
            ReportColumn("measured"),
            ReportColumn("judged"),
        ),
        rows=tuple(rows),
        notes=(
            "x: the last of an order ÷ the first; ratios are of the geometric means of the "
            "repetitions (tables of each test have medians)",
            "in parentheses the interval in which the ratio or exponent lies with 95 % confidence, "
            "from the repetitions; an order is judged where 1 is not in it, and a printed ratio is "
            "confirmed where the interval holds it and is narrow enough",
            *([f"{ALIKE}: they do not differ in the digits shown"] if is_alike else []),
            *_modelled(claims),
        ),
    )


def _modelled(claims: Sequence[JudgedClaim]) -> tuple[str, ...]:
    if not any(one.remark == MODELLED for one in claims):
        return ()
    return (
        "modelled storage: the times of its requests are those of a model; the order is the one on "
        "such a model, and was not measured on the storage itself",
    )


_MOST_CONTRADICTED = 8
"""Claims that are named at the end of a run; the table has all."""
_MOST_REASONS = 2
"""Of open claims; the table has all."""


def _summary(claims: Sequence[JudgedClaim]) -> str:
    """``7 judgements: 3 confirmed, 1 contradicted, 3 open (2: one repetition; 1: no value)``."""
    outcomes = Counter(one.outcome for one in claims)
    counts = ", ".join(f"{outcomes[one]} {one}" for one in Outcome if outcomes[one])
    why = Counter(one.reason for one in claims if one.outcome is Outcome.OPEN).most_common()
    reasons = [f"{number}: {reason}" for reason, number in why[:_MOST_REASONS]]
    if others := sum(number for _, number in why[_MOST_REASONS:]):
        reasons.append(f"{others}: other reasons")
    behind = f" ({'; '.join(reasons)})" if reasons else ""
    return f"{units.counted(len(claims), 'judgement')}: {counts}{behind}"


def _contradicted(claims: Sequence[JudgedClaim]) -> Iterator[str]:
    """``contradicted:  CLAIM; measured x 0.63 (0.58 to 0.69): reversed``: a line for each claim
    that these measurements contradict; of many the first."""
    against = [one for one in claims if one.outcome is Outcome.CONTRADICTED]
    for one in against[:_MOST_CONTRADICTED]:
        of = f", {one.of}" if one.of else ""
        yield f"{one.outcome}:  {one.claim.shown}{of}; measured {one.measured}: {one.reason}"
    if len(against) > _MOST_CONTRADICTED:
        yield f"and {len(against) - _MOST_CONTRADICTED} more"
