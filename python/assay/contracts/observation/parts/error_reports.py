"""Errors of transactions, by class and code."""

from __future__ import annotations

from typing import Literal

from assay.contracts.observation.parts.shape import Shape

Certainty = Literal["undone", "unknown"]
"""``undone``: the transaction is known to have had no effect."""


class ErrorReport(Shape, frozen=True, rename={"class_": "class"}):
    """All errors of one class, code and certainty in one transaction type."""

    class_: str
    code: str
    certainty: Certainty
    message: str
    count: int
    retried: int
    transaction: str | None
    first_at_ns: int
