"""Errors of transactions, by class and code."""

from __future__ import annotations

from typing import Annotated, Literal

from assay.contracts.observation.parts.merged import merged, same
from assay.contracts.observation.parts.shape import Shape

Certainty = Literal["undone", "unknown"]
"""``undone``: the transaction is known to have had no effect."""


class ErrorReport(Shape, frozen=True, rename={"class_": "class"}):
    """All errors of one class, code and certainty in one transaction type."""

    class_: Annotated[str, merged(same)]
    code: Annotated[str, merged(same)]
    certainty: Annotated[Certainty, merged(same)]
    message: Annotated[str, merged(same)]
    count: Annotated[int, merged(sum)]
    retried: Annotated[int, merged(sum)]
    transaction: Annotated[str | None, merged(same)]
    first_at_ns: Annotated[int, merged(same)]
