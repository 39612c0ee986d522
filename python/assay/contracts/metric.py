"""What is shown of runs under a name of its own: a column of tables, which is a metric where it is
measured of runs; and a warning, its cause and its fix."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from enum import Enum
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from assay.text.phrases import phrase


class DifferenceWords(NamedTuple):
    """What a metric's difference is called."""

    better: str
    worse: str


SPEED = DifferenceWords("faster", "slower")
SIZE = DifferenceWords("smaller", "larger")
WAIT = DifferenceWords("shorter", "longer")
COUNT = DifferenceWords("fewer", "more")
GREATNESS = DifferenceWords("greater", "smaller")
USE = DifferenceWords("less", "more")


class Over(Enum):
    """How the values of a cell's repetitions make one."""

    SPREAD = "median, least and greatest"
    MEDIAN = "median"
    LEAST = "least"
    GREATEST = "greatest"
    SUM = "sum"


_UNITS = {
    "_ns": "ns", "_bytes": "bytes", "_per_s": "per_s", "_per_min": "per_min", "_ratio": "ratio",
}  # fmt: skip


def unit_of(name: str) -> str:
    """Names end in their unit; others are counts."""
    return next((unit for end, unit in _UNITS.items() if name.endswith(end)), "count")


Value = int | float | None
Read = Callable[[Any], Value]


def no_value(_: Any) -> None:
    """What a column is read by that programs do not get."""


class ReportColumn(Struct, frozen=True):
    """A value of each row of a table: it has a title where people see it, and a name where programs
    get it. It is read from the source of the row, which all columns of a table share. A *metric* is
    a column of runs (`assay.judge.run.Run`), or of a `StepReport`: what is measured of them. It
    also says how repetitions are summarised, and how sides are compared by it."""

    title: str = ""
    """For people; unique in its table."""
    name: str = ""
    """For programs, with its unit; unique in its table. With ``[TYPE]`` a metric of that
    transaction type."""
    unit: str = ""
    """Of the value: ``ns``, ``bytes``, ``per_s``, ``per_min``, ``ratio`` or ``count``; empty: its
    name says it, it has none, or it is that of a workload's own formula."""
    meaning: str = ""
    """A few words."""
    kind: str = "integer"
    """A type of JSON Schema: integer, number, string, boolean, array (of strings); or scalar."""
    value: Callable[[Any], Any] = no_value
    """What programs get of a source; None: there is none. Of a metric a number, or
    `assay.judge.statistics.samples.UNREACHED` where a time is not reached."""
    null: str = ""
    """When there is none, where neither name nor meaning says so."""
    is_nullable: bool = True
    """Whether a row may have none."""
    cell: Callable[[Any], Any] | None = None
    """What people see of a source (`assay.report.values.ReportCell`); None: the text that `value`
    is."""
    is_number: bool = False
    """Whether people see it aligned to the right."""
    shown_in: str = ""
    """The unit in which people see it, if the cells do not name theirs."""
    is_label: bool = False
    """Whether it identifies a row within its block; such columns are the leading ones."""
    group: str = ""
    """Columns of one group stand side by side where a table that is too wide is split."""
    role: str = ""
    """What charts compare (`assay.report.values.MEASURED` and those beside it); empty: another
    number."""
    where: tuple[tuple[str, Any], ...] = ()
    """Of a pivot: levels that a cell must have in addition to those of the row."""

    of_work: Read | None = None
    """Of a metric, as all below: reads it from a `Work`, so that it is one of groups and
    transaction types as well."""
    words: DifferenceWords | None = None
    """None: no direction is better, so that sides are not compared by it."""
    is_more_better: bool = False
    """Whether the greater value is the better one, as of a throughput."""
    over: Over | None = None
    """In the table of cells; None: it is not there."""
    is_result: Callable[[Any, float], bool] = lambda _run, _value: True
    """Whether the value of a run is one of its test: it is not what was asked for, and not the 0 of
    what was not done or not seen."""
    measured_once: Callable[[Any], Hashable] | None = None
    """What runs share that have one measurement of it together (a load whose data several runs
    use); None: each has its own."""
    relative_resolution: float = 0.0
    """Relative width of a bucket of the histogram: values closer than this are equal."""
    least_samples: int = 1
    """How many transactions it needs."""
    why_null: Callable[[Any], str] = lambda _run: ""
    """What stands in its place in tables, of a run that has none."""
    exported: str = ""
    """What OpenMetrics says of it; empty: it is not exported on its own."""
    transaction: str = ""
    """The type of its transactions; empty: it is of all."""

    def known(self, source: Any) -> Any:
        """The value, or None: a time that is not reached, or an empty text, which says that there
        is nothing, where the column may be null."""
        found = self.value(source)
        return None if found == math.inf or (self.is_nullable and found == "") else found

    @property
    def described(self) -> str:
        """What it means, and when it is null."""
        return f"{self.meaning}; null: {self.null}" if self.null else self.meaning

    @property
    def heading(self) -> str:
        """``here, s``."""
        return f"{self.title}, {self.shown_in}" if self.shown_in else self.title

    def result(self, run: Any) -> float | None:
        """The value by which sides are compared; None where it is no result of the run's test."""
        value = self.value(run)
        return value if value is not None and self.is_result(run, value) else None

    def of_type(self, transaction: str, value: Read) -> ReportColumn:
        """The same of one transaction type."""
        name = f"{self.name}[{transaction}]"
        return replace(self, name=name, value=value, transaction=transaction)

    @property
    def is_compared(self) -> bool:
        return self.words is not None

    @property
    def levels(self) -> tuple[str, ...]:
        """Of what it is one, where it is read from a run."""
        of_work = ("group", "type") if self.of_work else ()
        return ("run", *(("cell",) if self.over else ()), *of_work)

    @property
    def stem(self) -> str:
        """Its name without the unit."""
        whole = self.name.partition("[")[0]
        return whole.removesuffix(f"_{self.unit}") if self.unit else whole

    @property
    def label(self) -> str:
        """In a sentence: ``throughput``, ``p99 latency of insert``, ``elapsed time``, ``size on
        disk``."""
        of = f" of {self.transaction}" if self.transaction else ""
        if self.name.startswith("latency_"):
            return f"{self.meaning}{of}"
        noun = self.stem.replace("_", " ")
        return (f"{noun} time" if self.unit == "ns" else noun) + of

    @property
    def is_speed(self) -> bool:
        """Whether it says how fast the work was done, and not how long a part of it waited."""
        return self.words == SPEED and not self.name.startswith("latency_")

    def least_deviation(self, value: float) -> float:
        """The standard deviation that the logarithm of a value has at least: of a count that of
        rare events (Poisson), else the resolution, since rounding is the same in all
        repetitions."""
        return 1 / math.sqrt(value) if self.unit == "count" else self.relative_resolution

    @property
    def depends_on_machine(self) -> bool:
        """Whether it changes with what else the machine does in the run: its times and rates."""
        return self.unit in ("ns", "per_s", "per_min", "") and self.measured_once is None

    def word(self, ratio: float) -> str:
        """What B is, compared with A; empty where no direction is better."""
        if self.words is None:
            return ""
        return self.words.better if (ratio > 1) == self.is_more_better else self.words.worse


_LONGER = {
    "duration_s": phrase("a longer {--duration}"),
    "transactions": phrase("more {--transactions}"),
    "passes": "more passes",
    "queue": "a longer queue",
}
"""Limit of a run → how to measure for longer."""


class WarningText(Struct, frozen=True):
    """What every report with the warning says of it."""

    cause: str
    """In which way a number may mislead."""
    fix: str
    """A template of `assay.text.phrases`; ``{longer}``: what lets this run measure for longer."""
    limits: bool = False
    """Whether it makes the verdict of its run unreliable."""
    is_of_other_work: bool = False
    """Whether the numbers are of other or less work than was asked for: said before all others."""
    is_unsteady: bool = False
    """Whether its throughput is not the rate of clients at work: nothing is derived from it."""
    forbids_deciding: bool = False
    """Whether no verdict, claim or rank is decided from its run: it measured something else as
    well. What is said in their place is the last part of the detail."""

    def fix_of(self, limits: Iterable[str]) -> str:
        """The fix for runs that end by these limits (fields of `Driving`)."""
        ways = dict.fromkeys(_LONGER[limit] for limit in limits if limit in _LONGER)
        longer = phrase(" or ".join("{}" for _ in ways), *ways) if ways else "a longer run"
        return phrase(self.fix, longer=longer)
