"""Takes the record of an experiment that reproduces a paper; returns the section "Published and
measured": what was scaled down, each published table with our values between its rows, and the
paper's claims with their judgements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from assay.record import ExperimentRecord
from assay.report import columns
from assay.report.columns import number, path, string, words
from assay.report.declared import published, selection
from assay.report.papers import paper_figure as published_figures
from assay.report.papers import paper_table, published_table
from assay.report.papers.claims import judged_claims, published_columns
from assay.report.papers.claims.claim_case import JudgedClaim
from assay.report.papers.claims.claimed_ratios import ByRatio, by_ratio
from assay.report.papers.claims.comparability import MODELLED
from assay.report.papers.claims.judgement import ALIKE, Outcome
from assay.report.program_tables import ProgramTable
from assay.report.sections import conditions
from assay.report.values import CLAIMS as OF_CLAIMS
from assay.report.values import ReportCell, ReportTable, Section, text
from assay.text import units

TITLE = "Published and measured"


def _text(name: str) -> Callable[[JudgedClaim], ReportCell]:
    return lambda source: text(getattr(source, name))


def section(experiment: ExperimentRecord) -> Section | None:
    """None where the experiment reproduces no paper."""
    if not experiment.reproduces:
        return None
    judged = claims(experiment)
    tables = list(_published_tables(experiment, by_ratio(judged)))
    figures = [figure for one in tables for figure in published_figures.of_pairs(one)]
    if (of_paper := paper_table.section(experiment, judged)) is not None:
        figures = [*of_paper.figures, *figures]
        tables = [*of_paper.tables, *tables]
    if judged:
        tables.append(_claims_table(judged))
    if shrunk := _scaled_table(experiment):
        tables.insert(0, shrunk)
    if not tables:
        return None
    lines = (_summary(judged), *_contradicted(judged)) if judged else ()
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
        found_columns = published_columns.of_table(experiment.workload, name, beside)
        if {column.test for column in found_columns} & tests:
            made = published_table.table(experiment, name, beside, found_columns, found, of_claims)
            yield from () if made is None else (made,)


SCALED = ProgramTable(
    "One row per test and setting that differs from the full size.",
    [
        string("test", "of the workload"),
        string("name", "of a parameter, or what else was changed"),
        string("full", "levels in the full size"),
        string("here", "levels in this experiment", path("quick")),
        string(
            "reason",
            "why it was left out: it is optional, and cannot be had here; null: it was not",
        ),
    ],
    lambda experiment: iter(experiment.experiment.get("scaled", ())),
)
CLAIMS = ProgramTable(
    "One row per claim of a paper that was judged, and what it was judged for.",
    [
        string("claim", "what the paper says", path("claim", "text")),
        string("source", "table or section of the paper", path("claim", "source")),
        string(
            "kind", "order, equal, times, growth, equals, at_least, at_most", path("claim", "kind")
        ),
        string(
            "of", "levels of other factors for which it was judged; null: none vary", title="of"
        ),
        number(
            "published",
            "ratio, or exponent of the printed values in the range that was run; null: not "
            "printed, or a range of ratios is",
            path("expected"), title="published", is_number=False, cell=_text("published"),
        ),
        number(
            "published_low", "from here: all ratios that are printed so",
            path("claim", "ratio", "low"),
        ),
        number("published_high", "to here", path("claim", "ratio", "high")),
        number(
            "measured", "ratio or exponent", path("number", "value"),
            title="measured", is_number=False, cell=_text("measured"),
        ),
        number(
            "measured_low", "from here, with 95 % confidence", path("number", "low")
        ),
        number("measured_high", "to here", path("number", "high")),
        string("outcome", "confirmed, direction confirmed, contradicted or open"),
        string(
            "judged", "same order, same ratio, reversed, no order seen, not comparable …",
            path("word"), title="judged", cell=_text("sentence"),
        ),
        string("why", "reason of the judgement, beside that word"),
        string("remark", "what it was measured on, where that is a model: no reason"),
    ],
    lambda experiment: iter(claims(experiment)),
)  # fmt: skip


def claims(experiment: ExperimentRecord) -> list[JudgedClaim]:
    """Of an experiment that reproduces a paper."""
    return judged_claims.judged(experiment) if experiment.reproduces else []


def _scaled_table(experiment: ExperimentRecord) -> ReportTable | None:
    """What the quick version has in place of the full one, and what cannot be had here; the same of
    several tests once."""
    by_change: dict[tuple[str, str, str], list[str]] = {}
    for one in conditions.scaled(experiment):
        here = f"left out: {one.reason}" if one.reason else one.quick
        by_change.setdefault((one.name, one.full, here), []).append(one.test)
    if not by_change:
        return None
    return columns.table(
        "scaled_down",
        "Scaled down",
        (
            words("what", lambda change: change[0]),
            words("full size", lambda change: change[1] or "-"),
            words("here", lambda change: change[2] or "-"),
            words("tests", lambda change: ", ".join(by_change[change])),
        ),
        by_change,
    )


def _claims_table(claims: Sequence[JudgedClaim]) -> ReportTable:
    is_alike = any(ALIKE in one.measured for one in claims)
    return columns.table(
        OF_CLAIMS,
        "Claims of the paper",
        CLAIMS.named("of", "published", "measured", "judged"),
        claims,
        block=lambda source: {"": source.claim.shown},
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
