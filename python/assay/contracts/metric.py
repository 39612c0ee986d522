"""What is shown of runs under a name of its own: a metric, its unit and how repetitions are
summarised; and a warning, its cause and its fix."""

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


Value = int | float | None
Read = Callable[[Any], Value]


class Metric(Struct, frozen=True, kw_only=True):
    """A value is None where there is none."""

    name: str
    """That of its column, with its unit; with ``[TYPE]`` that of a transaction type."""
    unit: str
    """``ns``, ``bytes``, ``per_s``, ``per_min``, ``ratio`` or ``count``; empty: that of a
    workload's own formula."""
    meaning: str
    """A few words."""
    value: Read
    """Reads it from a run (`assay.judge.run.Run`), one of a `StepReport` from that;
    `assay.judge.statistics.samples.UNREACHED` where a time is not reached."""
    of_work: Read | None = None
    """Reads it from a `Work`, so that it is one of groups and transaction types as well."""
    null: str = ""
    """When there is none, where its name does not say so."""
    is_whole: bool = True
    """Whether its values are whole numbers."""
    is_never_null: bool = False
    """Whether every run has it."""
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
    column: str = ""
    """Its title in the table of costs; empty: it is not there."""
    why_none: Callable[[Any], str] = lambda _run: ""
    """What stands in its place in tables, of a run that has none."""
    exported: str = ""
    """What OpenMetrics says of it; empty: it is not exported on its own."""
    transaction: str = ""
    """The type of its transactions; empty: it is of all."""

    def result(self, run: Any) -> float | None:
        """The value by which sides are compared; None where it is no result of the run's test."""
        value = self.value(run)
        return value if value is not None and self.is_result(run, value) else None

    def of_type(self, transaction: str, value: Read) -> Metric:
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
    def kind(self) -> str:
        """Its type in JSON Schema."""
        return "integer" if self.is_whole else "number"

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
    """Whether it makes the verdict of its run indicative."""
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
