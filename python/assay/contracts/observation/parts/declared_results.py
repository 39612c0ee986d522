"""What a test declares of its transactions; kept with the observation, by whose counts and
distributions it is read."""

from __future__ import annotations

from assay.contracts.observation.parts.shape import Shape

PERCENTILES = ("p50", "p90", "p95", "p99", "p99.9")


class Headline(Shape, frozen=True):
    """The rate by which a test is known: so many transactions of these types per minute, whether
    they committed or were rolled back as the workload asked."""

    title: str
    """What is counted: ``new orders``."""
    transactions: tuple[str, ...]


class DerivedValue(Shape, frozen=True):
    """A metric that the workload derives from what was measured."""

    name: str
    title: str
    value: float | None = None
    why_none: str = ""
    """Empty: there is a value."""
    is_more_better: bool = True


class ResponseLimit(Shape, frozen=True):
    """How long a transaction type may take: a percentile of its latencies, those that were rolled
    back as the workload asked included, is below the limit."""

    transaction: str
    percentile: str
    """One of `PERCENTILES`."""
    limit_ns: int
