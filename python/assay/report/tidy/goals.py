"""The columns of the tidy table of goal searches: between which offered rates the highest lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay.comparison.goal_bracket import SearchSoFar
from assay.comparison.goals import Trial
from assay.record import ExperimentRecord
from assay.report.cells import cell_runs
from assay.report.sections import goals
from assay.report.sections.goals import Searched
from assay.report.tidy.columns import TidyColumn, Value, attribute, never_null


def _of(read: Callable[[SearchSoFar], Value]) -> Callable[[Searched], Value]:
    return lambda searched: read(searched.so_far)


def _decided(read: Callable[[SearchSoFar], Value]) -> Callable[[Searched], Value]:
    """Null where the search decides nothing."""
    return _of(lambda search: None if search.not_decided else read(search))


def _rate(trial: Trial | None) -> Value:
    return None if trial is None or trial.over else trial.level


def _level(trial: Trial | None) -> Value:
    return trial.level if trial is not None and trial.over else None


GOALS = [
    never_null("goal", "string", "condition", _of(lambda search: search.condition.text)),
    TidyColumn(
        "met_at_per_s",
        "number",
        "highest offered rate that met it; null: none did, or a parameter was searched",
        _decided(lambda search: _rate(search.met)),
    ),
    TidyColumn(
        "not_met_at_per_s",
        "number",
        "lowest offered rate that did not, or could not be judged; null: every one that was tried "
        "met it, or a parameter was searched",
        _decided(lambda search: _rate(search.missed)),
    ),
    TidyColumn(
        "met_at",
        "number",
        "highest level of the parameter that met it (`--goal-over`)",
        _decided(lambda search: _level(search.met)),
    ),
    TidyColumn(
        "not_met_at",
        "number",
        "lowest level of the parameter that did not, or could not be judged",
        _decided(lambda search: _level(search.missed)),
    ),
    TidyColumn(
        "at_limit",
        "number",
        "level of the parameter at which the metric would be at the limit, between the two, if it "
        "is a power of the level",
        _decided(lambda search: search.at_limit if search.missed and search.missed.over else None),
    ),
    TidyColumn(
        "found_bytes",
        "number",
        "data at the limit, else at the highest level that met it, as the workload counts them; "
        "null: it does not say, or a rate was searched",
        attribute("found_bytes"),
    ),
    TidyColumn(
        "price_per_unit",
        "number",
        "of the whole system, divided by what was found: transactions per second, or units of the "
        "parameter; null: no price was given (`--price`), or nothing was found",
        attribute("price_per_unit"),
    ),
    TidyColumn(
        "price_per_mb",
        "number",
        "of the whole system, for each 1,000,000 bytes of `found_bytes`",
        attribute("price_per_mb"),
    ),
    TidyColumn(
        "why_not_met",
        "string",
        "why not, at that rate",
        _decided(lambda search: search.missed.reason if search.missed else None),
    ),
    TidyColumn(
        "not_decided",
        "string",
        "why the search decides nothing, so that the levels above are null; null: it decides",
        _of(lambda search: search.not_decided or None),
    ),
    TidyColumn(
        "other_programs",
        "number",
        "share of the CPUs that other programs used at a level that decides, where that leaves it "
        "open",
        _of(lambda search: search.others),
    ),
    TidyColumn(
        "met_runs",
        "integer",
        "runs at the highest level that met it, all of which did",
        _decided(lambda search: search.met.counted if search.met else None),
    ),
    TidyColumn(
        "not_met_runs",
        "integer",
        "runs at the lowest level that did not, none of which did",
        _decided(lambda search: search.missed.counted if search.missed else None),
    ),
    never_null(
        "trials", "integer", "rates that were tried", _of(lambda search: len(search.trials))
    ),
    never_null("found", "string", "the same in words", _of(lambda search: search.words)),
]


def searches(experiment: ExperimentRecord) -> Iterator[Searched]:
    """Of all tests."""
    for runs in cell_runs.tests(experiment).values():
        yield from goals.searches(experiment, cell_runs.cells(experiment, runs))
