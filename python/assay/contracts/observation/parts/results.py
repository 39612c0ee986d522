"""What statements answered, and whether all clients got the same."""

from __future__ import annotations

from assay.contracts.observation.parts.shape import Shape


class ResultReport(Shape, frozen=True):
    """How far the answers to one statement agree, over all clients and passes."""

    transaction: str
    statement: int
    rows: int
    digest: str | None
    answers: int
    differing: int
    first_difference: str | None


class FirstAnswersReport(Shape, frozen=True):
    """What the first transactions of the first clients, or of the list that they share, were
    answered by one statement."""

    transactions: int
    answers: int
    rows: int
    digest: str
    fractions: int
    fraction_sum: float
    clients: int


class AnswerReport(Shape, frozen=True):
    """The answers to one statement, to be compared with those of other runs."""

    transaction: str
    statement: int
    line: int
    text: str
    answers: int
    rows: int
    rows_squared: float
    varies: bool
    first: tuple[FirstAnswersReport, ...]


class AnswerSumReport(Shape, frozen=True):
    """What all transactions of one type that ended ok were answered."""

    transaction: str
    transactions: int
    rows: int
    """Of all their statements together."""
    digest: str
    """16 hexadecimal digits: equal where every transaction got the same rows."""
