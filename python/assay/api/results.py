"""Takes an experiment's record; returns its `Result`: typed values, tables of rows, a report as
text.

A time is in nanoseconds and says so in its name; what is not known is None.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from assay import registry
from assay.api import asked
from assay.comparison.effects import SettingEffects
from assay.contracts.factors import COLUMNS
from assay.contracts.observation import Observation, Observed, Outcomes, PassTime, StepReport
from assay.contracts.recorded import Machine
from assay.errors import ArgumentError
from assay.experiment import Scalar
from assay.experiment.settings_validation import spelled_in_python
from assay.judge.result_checks import expected_rows
from assay.judge.run import Run as KeptRun
from assay.judge.statistics import samples
from assay.record import ExperimentRecord
from assay.record.metrics.catalogue import METRICS
from assay.record.runs.records import ENDED, end_of, exit_status
from assay.report.build import build
from assay.report.program_tables import PARAMETER
from assay.report.tidy.tables import TABLES
from assay.report.values import TidyRow, number_in
from assay.text import phrases

Row = TidyRow


@dataclass(frozen=True)
class Spread:
    """A number over the repetitions of a cell."""

    median: float
    least: float
    greatest: float


@dataclass(frozen=True)
class Percentiles:
    """Latency of the transactions that ended ok, from their intended start. A percentile is None
    where there are too few samples for it, and in an open loop where it is not reached, because too
    many transactions that were due had no answer."""

    min_ns: int | None
    mean_ns: float | None
    p50_ns: int | None
    p90_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    p99_9_ns: int | None
    max_ns: int | None


@dataclass(frozen=True)
class Check:
    """An answer, or a rule of the data, and whether it was as it must be."""

    name: str
    expected: int | None
    found: int | None
    is_right: bool | None
    """None: what is right is not known for these data, the rows were only counted, or it was not
    run (``note`` says why)."""
    note: str


@dataclass(frozen=True)
class WarningNote:
    """A way in which the numbers can mislead: its name, what it is, what it says here, the fix."""

    name: str
    cause: str
    details: tuple[str, ...]
    fix: str


@dataclass(frozen=True)
class _Measured:
    workload: str
    test: str
    system: str
    """Its name, options and settings."""
    storage: str
    machine: str
    """Its name; without one, by its processors and memory."""
    memory_bytes: int | None
    """Of the server, page cache included; None: not limited."""
    cpus: float | None
    """Processors of the server; None: not limited."""
    rtt_s: float
    """Round-trip time that was added between clients and server."""
    clients: int
    protocol: str
    arrival: str
    cache: str
    """as-is, warm, cold or cold-machine."""
    client_program: str
    """engine or native."""
    offered_rate_per_s: float | None
    levels: Mapping[str, Scalar | None]
    """By the columns of the output for programs: those above, ``threads``, ``log_storage``, and of
    any other factor that Assay has itself."""
    parameters: Mapping[str, Scalar]
    """Of the workload."""
    fingerprint: str
    """Equal cells have equal ones, in all records."""
    verdict: str
    """valid, unreliable, invalid; empty: there is no number. Of a run alone; that of its cell
    considers the number of repetitions, too."""
    verdict_reason: str
    latency: Percentiles
    """Of a cell, percentiles and mean: medians of the repetitions; least and greatest: of all of
    them."""


@dataclass(frozen=True)
class Cell(_Measured):
    """One combination of factors, over its repetitions."""

    repetitions: int
    measured: int
    """How many of them were measured."""
    throughput_per_s: Spread | None
    """Transactions that ended ok, per second of the measurement."""
    elapsed_ns: Spread | None


@dataclass(frozen=True)
class Run(_Measured):
    """One execution of one cell."""

    number: int
    """In its record."""
    repetition: int
    seed: int
    state: str
    """done, failed, exceeded, interrupted, refused …"""
    reason: str
    """Why it failed, was ended early or refused."""
    warnings: tuple[str, ...]
    """Names."""
    durability_class: str | None
    """D3 to D0, as it was measured for its system on its storage; None: it was not."""
    throughput_per_s: float | None
    elapsed_ns: int | None
    passes: Percentiles | None
    """Times of the passes (every script once, in order) of which each transaction ended ok; None:
    its clients made none."""
    checks: tuple[Check, ...]
    metrics: Mapping[str, int | float | None] = field(repr=False)
    """Every metric by its name (docs/reference/metrics.md): ``device_written_bytes``,
    ``server_cpu_per_transaction_ns`` …; None: it has no such number."""
    observed: Observed | None = field(repr=False)
    """All that its test observed, of clients or of what it did in their place."""
    reports: tuple[StepReport, ...] = field(repr=False)
    """Of its steps that drove no clients, in order. One whose package is not installed is an
    `assay.contracts.observation.UnreadReport`, with its ``content`` as it is kept."""

    @property
    def observation(self) -> Observation | None:
        """Where clients were driven: outcomes, times, intervals, errors; None: nothing was."""
        return self.observed if isinstance(self.observed, Observation) else None

    @property
    def pass_times(self) -> tuple[PassTime, ...]:
        """Each pass of which every transaction ended ok, as they ended: the first 10,000. Of groups
        with several scripts, or that end after a number of passes."""
        return () if self.observation is None else self.observation.pass_times

    @property
    def document(self) -> Mapping[str, Any] | None:
        """All that was observed, as plain data."""
        return None if self.observed is None else self.observed.document

    @property
    def outcomes(self) -> Outcomes | None:
        """How many transactions ended how."""
        return None if self.observation is None else self.observation.outcomes


class Result:
    """What an experiment found."""

    def __init__(self, record: ExperimentRecord) -> None:
        self._record = record
        self._report = build(record)

    def __repr__(self) -> str:
        return f"<assay.Result: experiment {self.number} of {self.record}, {len(self.runs)} runs>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from assay.report.page import summary_html  # here: it imports the charts

        return summary_html(self._report)

    @property
    def number(self) -> int:
        """Of the experiment in its record."""
        return self._record.id

    @property
    def title(self) -> str:
        return self._record.title

    @property
    def seed(self) -> int:
        return self._record.seed

    @property
    def record(self) -> Path:
        """The record file."""
        return self._record.path

    @property
    def machine(self) -> Machine:
        """On which the clients ran."""
        return self._record.machine

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """In the order in which they were run."""
        return tuple(map(_cell, self.table("cells")))

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """In their order."""
        rows = {row["run"]: row for row in self.table("runs")}
        return tuple(_run(run, rows[run.id]) for run in self._record.runs)

    @property
    def effects(self) -> tuple[SettingEffects, ...]:
        """Of each test in which settings vary in a full grid: what each factor changes over all of
        it, and which two change each other's effect (docs/concepts/statistics.md)."""
        return self._report.effects

    @cached_property
    def warnings(self) -> tuple[WarningNote, ...]:
        return tuple(
            WarningNote(
                warning.name,
                warning.cause,
                tuple(warning.details),
                phrases.spelled(warning.fix, spelled_in_python),
            )
            for warning in self._report.warnings
        )

    @property
    def is_ok(self) -> bool:
        """Whether the exit status of ``assay run`` is 0: every run that was executed is done, or
        was refused beside others because its system lacks a capability, and no answer is wrong.
        Runs that ``only`` left out do not count; see `runs_ended`."""
        runs = [run for run in self._record.runs if run.state != "planned"]
        if self._record.ended_unix_ns is None or any(run.state not in ENDED for run in runs):
            return False
        return exit_status(map(end_of, runs)) == 0

    @property
    def runs_planned(self) -> int:
        """Runs of the experiment, with those that ``only`` left out."""
        return self._record.runs_planned

    @property
    def runs_ended(self) -> int:
        """Those that are done, failed or refused; fewer than planned: the experiment is unfinished,
        and its file, run again, continues it."""
        return self._record.runs_ended

    def table(self, name: str = "runs") -> list[Row]:
        """The rows of a tidy table, with stable names, units and plain values: ``cells``, ``runs``,
        ``transactions``, ``intervals``, ``errors`` … They are those of ``--format json``, which
        ``assay schema report`` describes."""
        return [*self._report.tidy["tables"][asked.one_of("table", name, TABLES)]]

    def to_pandas(self, table: str = "runs") -> Any:
        """A tidy table as a ``pandas.DataFrame``. Raises `ArgumentError` where pandas is not
        installed."""
        return data_frame(self.table(table))

    def report(self, form: str = "table", *, detail: bool | None = None) -> str:
        """The report as ``assay report --format`` prints it: table, markdown, csv, json."""
        stream = io.StringIO()
        made = registry.report_form(asked.one_of("format", form, registry.report_forms()))
        made(self._report, stream, detail=detail)
        return stream.getvalue()


def data_frame(rows: list[Row]) -> Any:
    """The rows as a ``pandas.DataFrame``; a column for each name that any row has."""
    try:
        import pandas  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise ArgumentError(
            "to_pandas() needs pandas, which is not installed", hint="pip install pandas"
        ) from error
    return pandas.DataFrame.from_records([dict(row) for row in rows])


_NONE = {"str": "", "int": 0, "float": 0.0}
"""Type of a field → what it is where a column is null; of others None."""


def _of_columns(kind: type[Cell | Run], row: Row) -> dict[str, Any]:
    """The fields that are columns, by their names."""
    same = {one.name: one.type for one in fields(kind) if one.name in row}
    return {
        **{
            name: _NONE.get(str(type_)) if row[name] is None else row[name]
            for name, type_ in same.items()
        },
        "fingerprint": row["cell"],
        "latency": _latency(row),
        "levels": {name: row[name] for name in COLUMNS if name in row},
        "parameters": {
            name.removeprefix(PARAMETER): value
            for name, value in row.items()
            if name.startswith(PARAMETER)
        },
    }


def _cell(row: Row) -> Cell:
    spreads = {
        "throughput_per_s": _spread(row, "throughput", "_per_s"),
        "elapsed_ns": _spread(row, "elapsed", "_ns"),
    }
    return Cell(**_of_columns(Cell, row) | spreads)


def _run(record: KeptRun, row: Row) -> Run:
    others = {
        "number": record.id,
        "seed": record.seed,
        "warnings": tuple(warning.name for warning in record.warnings),
        "passes": _passes(record),
        "checks": tuple(
            Check(check["id"], expected_rows(check), check["found"], check["ok"], check["note"])
            for check in record.checks
        ),
        "metrics": {name: number_in(row, name) for name in METRICS},
        "observed": record.observation,
        "reports": record.reports,
    }
    return Run(**_of_columns(Run, row) | others)


def _passes(record: KeptRun) -> Percentiles | None:
    if record.driven is None or (passes := record.driven.passes) is None:
        return None
    times = {
        name: samples.known_ns(passes.latency, name.removesuffix("_ns"))
        for name in Percentiles.__annotations__
    }
    return Percentiles(**times)  # type: ignore[arg-type]


def _spread(row: Row, name: str, unit: str) -> Spread | None:
    median, least, greatest = (
        number_in(row, f"{name}{place}{unit}") for place in ("", "_min", "_max")
    )
    if median is None or least is None or greatest is None:
        return None
    return Spread(median, least, greatest)


def _latency(row: Row) -> Percentiles:
    times: dict[str, Any] = {name: row[f"latency_{name}"] for name in Percentiles.__annotations__}
    return Percentiles(**times)
