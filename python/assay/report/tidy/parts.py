"""The tidy tables of what only programs get of a run: its transactions by outcome, passes, seconds,
checks and fields; and of what is beside the runs: published numbers, continuations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from assay.contracts.metric import unit_of
from assay.contracts.observation import MOST_PASS_TIMES, Passes, PassTime, TransactionReport
from assay.judge.result_checks import expected_rows
from assay.record import ExperimentRecord, Run
from assay.record.metrics.clients import OF_SECONDS, UNANSWERED
from assay.report import cell_runs
from assay.report.columns import (
    COUNT,
    SERVICE_TIME,
    integer,
    never_null,
    nullable,
    number,
    of,
    path,
    string,
    times,
    why_null,
)
from assay.report.declared import aggregates, declaration, published
from assay.report.declared.published import Published, PublishedRow
from assay.report.program_tables import PARAMETER, RUN, ProgramTable, RunPart, of_part, parts
from assay.report.values import TidyValue
from assay.workload.declared_reports import Field

_GROUP = never_null("group", "string", "of clients; empty: the only one")


class TransactionRow(NamedTuple):
    group: str
    transaction: TransactionReport
    elapsed_ns: int
    """Of the group."""

    @property
    def per_s(self) -> float | None:
        return self.transaction.count / (self.elapsed_ns / 1e9) if self.elapsed_ns else None


def _transactions(run: Run) -> Iterator[TransactionRow]:
    """Those of each group; of a single one, those of the whole."""
    if run.driven is None:
        return
    if len(run.driven.groups) < 2:
        elapsed_ns = run.driven.elapsed_ns
        yield from (TransactionRow("", one, elapsed_ns) for one in run.driven.transactions)
    for group in run.driven.groups if len(run.driven.groups) > 1 else ():
        for one in group.transactions:
            yield TransactionRow(group.name, one, group.elapsed_ns)


TRANSACTIONS = ProgramTable(
    "One row per run, group, transaction type and outcome, of those that were timed: without what "
    "lost generators did.",
    of_part(
        [
            _GROUP,
            *of(
                path("transaction"),
                [
                    string("transaction", "type", path("name")),
                    string("outcome", "ok, aborted, failed, unknown"),
                    COUNT,
                ],
            ),
            number("throughput_per_s", "of these per second", path("per_s")),
            *of(
                path("transaction"),
                [
                    *times("latency", "latency", "latency"),
                    replace(UNANSWERED, value=path("latency", "unanswered")),
                    why_null(path("latency")),
                    *SERVICE_TIME,
                    *times("schedule_lag", "schedule_lag", "schedule lag"),
                ],
            ),
        ]
    ),
    parts(_transactions),
    is_detail=True,
)


class PassesRow(NamedTuple):
    group: str
    passes: Passes


def _passes(run: Run) -> Iterator[PassesRow]:
    """Those of each group; of a single one, those of the whole."""
    driven = run.driven
    if driven is not None and len(driven.groups) < 2 and driven.passes is not None:
        yield PassesRow("", driven.passes)
    for group in driven.groups if driven and len(driven.groups) > 1 else ():
        if group.passes is not None:
            yield PassesRow(group.name, group.passes)


PASSES = ProgramTable(
    "One row per run and group of clients that makes passes: every script once, in order.",
    of_part(
        [
            _GROUP,
            *of(
                path("passes"),
                [
                    COUNT,
                    *times(
                        "latency", "latency", "time of a pass of which every transaction ended ok"
                    ),
                ],
            ),
        ]
    ),
    parts(_passes),
)


class PassTimeRow(NamedTuple):
    group: str
    pass_time: PassTime


def _pass_times(run: Run) -> Iterator[PassTimeRow]:
    """In the order of their ends."""
    driven = run.driven
    if driven is not None:
        has_groups = len(driven.groups) > 1
        groups = {end.client: end.group if has_groups else "" for end in driven.client_ends}
        yield from (PassTimeRow(groups[one.client], one) for one in driven.pass_times)


PASS_TIMES = ProgramTable(
    "One row per pass of which every transaction ended ok, as they ended: the first "
    f"{MOST_PASS_TIMES:,} of a run. Of groups with several scripts, or that end after a number of "
    "passes.",
    of_part(
        [
            _GROUP,
            *of(
                path("pass_time"),
                [
                    integer("client", "its number, from 0"),
                    integer("end_ns", "since the start of the measurement"),
                    integer("latency_ns", "of the whole pass"),
                ],
            ),
        ]
    ),
    parts(_pass_times),
    is_detail=True,
)


def _length_s(part: RunPart) -> float:
    left_s: float = part.run.driven.elapsed_ns / 1e9 - part.part.second if part.run.driven else 1.0
    return round(min(1.0, max(0.0, left_s)), 9)


INTERVALS = ProgramTable(
    "One row per run, second and group.",
    [
        *of_part([integer("second", "of the measurement, from 0")]),
        number(
            "length_s", "of the interval: the last one may be a part of a second", _length_s
        ),
        *of(path("part"), [_GROUP, *OF_SECONDS]),
    ],
    parts(lambda run: run.seconds),
    is_detail=True,
)  # fmt: skip
CHECKS = ProgramTable(
    "One row per run and result check.",
    of_part(
        [
            string("check", "its name", path("id")),
            string("title", "what it looks for"),
            integer(
                "expected", "rows; null: not known for these data, or only counted", expected_rows
            ),
            integer("found", "rows"),
            nullable(
                "is_right",
                "boolean",
                "null: only counted, not decided, not run, or no expected result",
                path("ok"),
            ),
            string("note", "why it is wrong or was not run"),
        ]
    ),
    parts(lambda run: run.checks),
    is_detail=True,
)


class DeclaredField(NamedTuple):
    """A field of a workload's report, of a run; the source of a row."""

    run: Run
    field: Field


def _values(experiment: ExperimentRecord) -> Iterator[DeclaredField]:
    for run in experiment.runs:
        declared = declaration.of_record(experiment.workload, run.test)
        for field in declared.fields if declared and run.observation else ():
            yield DeclaredField(run, field)


VALUES = ProgramTable(
    "One row per run and field that the workload's report declares.",
    [
        RUN,
        string("test", "of the workload", path("run", "test")),
        string("key", "path through the observation", path("field", "key")),
        string("title", "in the report", path("field", "title")),
        string(
            "unit", "ns, bytes, per_s, count",
            lambda source: unit_of(source.field.key),
        ),
        nullable(
            "value", "scalar", "null: none",
            lambda source: aggregates.result_at(source.run, source.field.key),
        ),
    ],
    _values,
    is_detail=True,
)  # fmt: skip


class PublishedNumber(NamedTuple):
    test: str
    of: Published
    row: PublishedRow
    column: str
    printed: float | str | None
    unit: str

    @property
    def levels(self) -> dict[str, TidyValue]:
        others = (key for key in self.row.factors if key != "clients")
        return {f"{PARAMETER}{key}": self.row.factors[key] for key in others}


def _published(experiment: ExperimentRecord) -> Iterator[PublishedNumber]:
    declared = declaration.series_of_record(experiment.workload)
    for test in (*cell_runs.tests(experiment), *(each.name for each in declared)):
        if (found := published.of_record(experiment.workload, test)) is not None:
            for one in found.rows:
                values = zip(found.columns, one.values, found.units, strict=False)
                for column, value, unit in values:
                    yield PublishedNumber(test, found, one, column, value, unit)


PUBLISHED = ProgramTable(
    "One row per number that was published of this test.",
    [
        string("test", "of the workload, or a series of them"),
        string("source", "where it was published", path("of", "source")),
        string("conditions", "under which it was measured", path("of", "conditions")),
        string("system", "as published", path("row", "system")),
        integer("clients", "null: not published", path("row", "factors", "clients")),
        string("column", "as published"),
        number(
            "value", "in unit; null: in words, or nothing",
            lambda source: None if isinstance(source.printed, str) else source.printed,
        ),
        string(
            "words", "what was published in place of a number; null: a number",
            lambda source: source.printed if isinstance(source.printed, str) else None,
        ),
        string("unit", "as published"),
    ],
    _published,
    levels=lambda source: source.levels,
    has_parameters=True,
)  # fmt: skip
CONTINUATIONS = ProgramTable(
    "One row per process that went on with the experiment after another one had ended.",
    [
        never_null("position", "integer", "from 1"),
        never_null("ended_process_id", "integer", "of the process before"),
        never_null(
            "is_interruption", "boolean",
            "false: that had ended by itself, after the runs that were asked for (--only)",
        ),
        never_null("last_unix_ns", "integer", "when that last entered a stage of a run"),
        integer(
            "run_position",
            "of the run that it was at, from 0, which begins again; null: none, or no longer "
            "planned",
        ),
        string("run_state", "of that run; null: none"),
        never_null(
            "process_id", "integer", "of the process that went on", path("process", "pid")
        ),
        never_null("begun_unix_ns", "integer", "when it began"),
        never_null(
            "changes", "array", "facts of machine, build and content that were others before",
            path("differences"),
        ),
        never_null(
            "is_asked_otherwise", "boolean", "the experiment file or the workload had changed"
        ),
    ],
    lambda experiment: iter(experiment.continuations),
)  # fmt: skip
