"""The columns of the tidy tables of a paper: its claims as judged, and what was scaled down."""

from __future__ import annotations

from assay.record import ExperimentRecord
from assay.report.papers.claims import judged_claims
from assay.report.papers.claims.claim_case import JudgedClaim
from assay.report.tidy.columns import TidyColumn, path


def _text(name: str, meaning: str, *key: str) -> TidyColumn:
    return TidyColumn(name, "string", meaning, path(*(key or (name,))))


def _number(name: str, meaning: str, *key: str) -> TidyColumn:
    return TidyColumn(name, "number", meaning, path(*key))


CLAIMS = [
    _text("claim", "what the paper says", "claim", "text"),
    _text("source", "table or section of the paper", "claim", "source"),
    _text("kind", "order, equal, times, growth, equals, at_least, at_most", "claim", "kind"),
    _text("of", "levels of other factors for which it was judged; null: none vary"),
    _number(
        "published",
        "ratio, or exponent of the printed values in the range that was run; null: not printed, or "
        "a range of ratios is",
        "expected",
    ),
    _number("published_low", "from here: all ratios that are printed so", "claim", "ratio", "low"),
    _number("published_high", "to here", "claim", "ratio", "high"),
    _number("measured", "ratio or exponent", "number", "value"),
    _number("measured_low", "from here, with 95 % confidence", "number", "low"),
    _number("measured_high", "to here", "number", "high"),
    _text("outcome", "confirmed, direction confirmed, contradicted or open"),
    _text("judged", "same order, same ratio, reversed, no order seen, not comparable …", "word"),
    _text("why", "reason of the judgement, beside that word"),
    _text("remark", "what it was measured on, where that is a model: no reason"),
]

SCALED = [
    _text("test", "of the workload"),
    _text("name", "of a parameter, or what else was changed"),
    _text("full", "levels in the full size"),
    _text("here", "levels in this experiment", "quick"),
    _text(
        "reason", "why it was left out: it is optional, and cannot be had here; null: it was not"
    ),
]


def claims(experiment: ExperimentRecord) -> list[JudgedClaim]:
    """Of an experiment that reproduces a paper."""
    return judged_claims.judged(experiment) if experiment.reproduces else []
