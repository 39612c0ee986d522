"""What statements answered, and whether all clients got the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Annotated

from msgspec.structs import replace

from assay.contracts.observation.parts.merged import Keyed, merged, same
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


def result_of_all(parts: Sequence[ResultReport]) -> ResultReport:
    """An answer that differs on another machine from the first of all counts as differing, and so
    do all answers of a machine whose first one does."""
    return reduce(_two_results, parts)


def _two_results(first: ResultReport, other: ResultReport) -> ResultReport:
    is_same = (first.rows, first.digest) == (other.rows, other.digest)
    found = f"{other.rows} rows, the first answer {first.rows}"
    if other.rows == first.rows:
        found = f"other values in {other.rows} rows"
    difference = other.first_difference if is_same else found
    return replace(
        first,
        answers=first.answers + other.answers,
        differing=first.differing + (other.differing if is_same else other.answers),
        first_difference=first.first_difference or difference,
    )


def sum_of_digests(digests: Sequence[str]) -> str:
    """Digests of transactions are summed, and wrap around, in the engine too."""
    return f"{sum(int(one, 16) for one in digests) % 2**64:016x}"


class FirstAnswersReport(Shape, frozen=True):
    """What the first transactions of the first clients, or of the list that they share, were
    answered by one statement."""

    transactions: Annotated[int, merged(same)]
    answers: Annotated[int, merged(sum)]
    rows: Annotated[int, merged(sum)]
    digest: Annotated[str, merged(sum_of_digests)]
    fractions: Annotated[int, merged(sum)]
    fraction_sum: Annotated[float, merged(sum)]
    clients: Annotated[int, merged(sum)]


class AnswerReport(Shape, frozen=True):
    """The answers to one statement, to be compared with those of other runs."""

    transaction: Annotated[str, merged(same)]
    statement: Annotated[int, merged(same)]
    line: Annotated[int, merged(same)]
    text: Annotated[str, merged(same)]
    answers: Annotated[int, merged(sum)]
    rows: Annotated[int, merged(sum)]
    rows_squared: Annotated[float, merged(sum)]
    varies: Annotated[bool, merged(any)]
    first: Annotated[tuple[FirstAnswersReport, ...], merged(Keyed(("transactions",), in_all=True))]


class AnswerSumReport(Shape, frozen=True):
    """What all transactions of one type that ended ok were answered."""

    transaction: Annotated[str, merged(same)]
    transactions: Annotated[int, merged(sum)]
    rows: Annotated[int, merged(sum)]
    """Of all their statements together."""
    digest: Annotated[str, merged(sum_of_digests)]
    """16 hexadecimal digits: equal where every transaction got the same rows."""
