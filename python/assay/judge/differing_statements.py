"""Takes the observations of two sides whose clients ran the same scripts; returns the statements
whose answers differ.

With one seed the first transactions of a client ask the same on both sides: their answers are
equal. What depends on the time, on chance or on concurrent writes is known by its rows per answer
alone, which must agree within what chance explains.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from assay.contracts.observation import AnswerReport, FirstAnswersReport, Observation
from assay.text import units
from assay.text.cut import beginning

_SIGMAS = 3.9
"""Means that are farther apart, in standard errors, differ: by chance one of 10,000 pairs is."""
_LEAST_SHARE = 0.01
"""Means that are no farther apart do the same work: which client got most of the time is chance."""
_LEAST_SHARE_WHERE_EQUAL = 0.05
"""The same, where the first answers were compared and are equal."""
_ROUNDED_EACH, _ROUNDED_SHARE = 1e-4, 1e-9
"""Numbers with a fraction are printed with other digits by other systems: sums differ by so much
for each of them, and by this share."""
_CHANGING = re.compile(
    r"\b(now|sysdate|systimestamp|getdate|current_(time|date|timestamp)|local(time|timestamp)|"
    r"(clock|statement|transaction)_timestamp|unix_timestamp|curdate|curtime|utc_\w+|julianday|"
    r"datetime|rand(om\w*)?|newid|\w*uuid\w*|nextval|last_insert_\w+|connection_id|\w*backend_pid|"
    r"txid_\w+|pg_current_\w+|tablesample)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(r"\b(limit|fetch\s+(first|next)|top|rownum)\b", re.IGNORECASE)
_ORDERS = re.compile(r"\border\s+by\b", re.IGNORECASE)
_MOST_OF_A_TEXT = 40
_LEAST_DIGITS, _MOST_DIGITS = 4, 16
"""Of rows per answer."""


class AnsweringRun(NamedTuple):
    """A run: its seed, and what it observed."""

    seed: int
    observation: Observation


class DifferingStatement(NamedTuple):
    """A statement whose answers differ."""

    statement: str
    """``read.sql:3 (select abalance from …)``."""
    a: str
    """``1 row per answer``."""
    b: str

    @property
    def sentence(self) -> str:
        return f"{self.statement}: {self.a} → {self.b}"


def differing_statements(
    a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]
) -> tuple[DifferingStatement, ...]:
    """The statements whose answers differ, in the order of the scripts."""
    return tuple(
        found
        for of_a, of_b in _shared(a, b)
        if (found := _compared(of_a, of_b, is_of_reads=_is_of_reads(a, b))) is not None
    )


def agreement(a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]) -> str:
    """How far they agree, where nothing differs: ``2 statements, first 64 transactions of each of
    8 clients, by values``; empty: no answers are known."""
    shared = _shared(a, b)
    if not shared:
        return ""
    stages = [_stage(*one) for one in shared if _is_by_values(*one, _is_of_reads(a, b))]
    known = [stage for stage in stages if stage is not None]
    how = "rows per answer"
    if len(known) == len(shared):
        least = min(known, key=attrgetter("transactions"))
        how = f"first {units.counted(least.transactions, 'transaction')}{_whose(least)}, by values"
    elif known:
        how = f"{len(known)} of them by values, all by rows per answer"
    return f"{units.counted(len(shared), 'statement')}, {how}"


def _whose(stage: FirstAnswersReport) -> str:
    match stage.clients:
        case 0:
            return ""
        case 1:
            return " of 1 client"
        case clients:
            return f" of each of {clients} clients"


_OfSide = Sequence[tuple[int, AnswerReport]]
"""The answers to one statement in each run, with the run's seed."""


def _shared(a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]) -> list[tuple[_OfSide, _OfSide]]:
    of_a, of_b = _by_statement(a), _by_statement(b)
    return [(of_a[key], of_b[key]) for key in of_a if key in of_b]


def _by_statement(
    runs: Sequence[AnsweringRun],
) -> dict[tuple[str, int, str], list[tuple[int, AnswerReport]]]:
    found: dict[tuple[str, int, str], list[tuple[int, AnswerReport]]] = {}
    for seed, observation in runs:
        for one in observation.answers:
            key = one.transaction, one.statement, one.text
            found.setdefault(key, []).append((seed, one))
    return found


def _is_of_reads(a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]) -> bool:
    """Whether no client changed data: what one has written, another reads."""
    return all(one.observation.commits == 0 for one in (*a, *b))


def _is_by_values(a: _OfSide, b: _OfSide, is_of_reads: bool) -> bool:
    """Whether the values of its answers depend on the data and the question alone."""
    if not is_of_reads or any(one.varies for _, one in (*a, *b)):
        return False
    text = a[0][1].text
    is_any_of_many = _LIMITS.search(text) and not _ORDERS.search(text)
    return not is_any_of_many and not _CHANGING.search(text)


def _pairs(a: _OfSide, b: _OfSide) -> Iterator[tuple[FirstAnswersReport, FirstAnswersReport]]:
    """Of runs with the same seed, at the last stage that both reached with as many clients."""
    of_b = dict(b)
    for seed, one in a:
        other = of_b.get(seed)
        if other is None:
            continue
        there = {(part.transactions, part.clients): part for part in other.first}
        both = [
            (part, there[part.transactions, part.clients])
            for part in one.first
            if (part.transactions, part.clients) in there
        ]
        if both:
            yield both[-1]


def _stage(a: _OfSide, b: _OfSide) -> FirstAnswersReport | None:
    """As far as all runs were compared; None: not at all."""
    compared = (one for one, _ in _pairs(a, b))
    return min(compared, key=attrgetter("transactions"), default=None)


def _compared(a: _OfSide, b: _OfSide, *, is_of_reads: bool) -> DifferingStatement | None:
    name = _name(a[0][1])
    pairs = list(_pairs(a, b)) if _is_by_values(a, b, is_of_reads) else []
    rows = _per_answer(a), _per_answer(b)
    for one, other in pairs:
        if (one.answers, one.rows) != (other.answers, other.rows):
            is_seen_in_all = _shown(rows[0]) != _shown(rows[1])
            return DifferingStatement(
                name, *_apart(*(rows if is_seen_in_all else (_ratio(one), _ratio(other))))
            )
        if not _is_same(one, other):
            return DifferingStatement(name, _shown(_ratio(one)), "as many rows with other values")
    least = _LEAST_SHARE_WHERE_EQUAL if pairs else _LEAST_SHARE
    if _differ(a, b) and abs(rows[0] - rows[1]) > least * max(rows):
        return DifferingStatement(name, *_apart(*rows))
    return None


def _is_same(report: FirstAnswersReport, other: FirstAnswersReport) -> bool:
    if (report.digest, report.fractions) != (other.digest, other.fractions):
        return False
    near = _ROUNDED_EACH * report.fractions + _ROUNDED_SHARE * abs(report.fraction_sum)
    return abs(report.fraction_sum - other.fraction_sum) <= near


def _differ(a: _OfSide, b: _OfSide) -> bool:
    """Whether the interval of the difference between the mean rows per answer excludes 0. If both
    sides answer alike, their answers have one variance; that of whole runs counts where it is
    greater."""
    answers, rows, squares = (
        [sum(getattr(one, name) for _, one in side) for side in (a, b)]
        for name in ("answers", "rows", "rows_squared")
    )
    if not all(answers):
        return False
    mean = sum(rows) / sum(answers)
    variance = max(0.0, sum(squares) / sum(answers) - mean**2)
    error = math.sqrt(variance * sum(1 / number for number in answers))
    over_runs = math.hypot(_error_of_runs(a), _error_of_runs(b))
    difference = abs(rows[0] / answers[0] - rows[1] / answers[1])
    return bool(difference > _SIGMAS * max(error, over_runs))


def _error_of_runs(side: _OfSide) -> float:
    means = [one.rows / one.answers for _, one in side if one.answers]
    return statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 2 else 0.0


def _per_answer(side: _OfSide) -> float:
    answers = sum(one.answers for _, one in side)
    return sum(one.rows for _, one in side) / answers if answers else 0.0


def _ratio(first: FirstAnswersReport) -> float:
    return first.rows / first.answers if first.answers else 0.0


def _apart(rows: float, others: float) -> tuple[str, str]:
    """Both, with as many digits as it takes to tell them apart."""
    digits = range(_LEAST_DIGITS, _MOST_DIGITS)
    enough = (one for one in digits if _shown(rows, one) != _shown(others, one))
    needed = next(enough, _LEAST_DIGITS)
    return _shown(rows, needed), _shown(others, needed)


def _shown(rows: float, digits: int = _LEAST_DIGITS) -> str:
    number = float(f"{rows:.{digits}g}")
    return f"{number:.15g} {'row' if number == 1 else 'rows'} per answer"


def _name(report: AnswerReport) -> str:
    return f"{report.transaction}:{report.line} ({beginning(report.text, _MOST_OF_A_TEXT)})"
