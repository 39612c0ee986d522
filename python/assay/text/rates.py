"""Takes an offered rate as plans and records have it; says how many transactions it makes due, and
how it is handed to the engine."""

from __future__ import annotations

Rate = float | str
"""Transactions per second. A text is the name of a parameter, until `assay.plan` inserts its
value."""


def due(rate: Rate, seconds: float) -> float:
    """How many transactions are due, on average, in the first ``seconds`` of a measurement."""
    return float(rate) * seconds


def mean_per_s(rate: Rate, seconds: float) -> float:
    """Over the first ``seconds`` of a measurement."""
    del seconds  # The rate is even.
    return float(rate)


def for_engine(rate: Rate) -> object:
    """As a drive document has it."""
    return rate


def shown(rate: Rate) -> str:
    """As it is written where it is asked for: ``800`` also where a rate is kept as 800.0."""
    return rate if isinstance(rate, str) else f"{rate:.15g}"
