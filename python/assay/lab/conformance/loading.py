"""Loads are complete, of every type, and leave nothing where they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from assay.contracts.dialects.protocol import Column
from assay.lab.conformance.failures import NotMet
from assay.lab.conformance.requirement import requirement
from assay.lab.conformance.subject import RefusedStatement, Row, Subject, insist_on_class
from assay.load.fill import fill

_STORED = ("tables", "stored rows")
_MANY = 5000
_TYPES: Mapping[str, Callable[[int], object]] = {
    "smallint": lambda n: n % 1000,
    "int": lambda n: -n,
    "bigint": lambda n: n << 40,
    "decimal(12,3)": lambda n: f"{n}.{n % 1000:03}",
    "float": lambda n: n / 4,
    "double": lambda n: n / 8,
    "char(6)": lambda n: f"c{n:05}",
    "varchar(20)": lambda n: f"é{n}",
    "text": lambda n: "☃" * (n % 7),
    "date": lambda n: f"{1900 + n % 200}-0{1 + n % 9}-1{n % 10}",
    "timestamp": lambda n: f"2026-0{1 + n % 9}-11 1{n % 10}:00:00.{n % 1000:03}",
    "bool": lambda n: n % 2 == 0,
    "bytes": lambda n: bytes([n % 256]) * (n % 5),
}
"""A value of each neutral type for every row number."""


def _row(number: int) -> Row:
    """Every seventh value is NULL, of each column in another row."""
    cells = [
        None if (number + place) % 7 == 0 else value(number)
        for place, value in enumerate(_TYPES.values())
    ]
    return (number, *cells)


@requirement(*_STORED)
def thousands_of_rows_of_every_type_are_loaded(subject: Subject) -> None:
    columns = [Column(f"c{place}", word) for place, word in enumerate(_TYPES)]
    subject.load(subject.made("every_type", *columns), [_row(number) for number in range(_MANY)])


class _SourceEnds(Exception):
    """What the source of the rows raises."""


def _breaking(rows: int) -> Iterator[Row]:
    for number in range(rows):
        yield (number, 0)
    raise _SourceEnds


@requirement(*_STORED, "transactions")
def a_load_whose_source_breaks_leaves_nothing(subject: Subject) -> None:
    table = subject.made("broken", Column("value", "int"))
    try:
        fill(subject.deployment, subject.dialect, [table], lambda: {table.name: _breaking(_MANY)})
    except _SourceEnds:
        subject.insist_on_count(table, 0)
        subject.load(table, [(1, 1)])
    else:
        raise NotMet("expected the error of the source, and the load has ended without")


@requirement(*_STORED, "transactions", "unique keys")
def a_load_with_a_refused_row_leaves_nothing(subject: Subject) -> None:
    table = subject.made("refused", Column("value", "int"))
    rows: list[Row] = [(number, 0) for number in range(_MANY)]
    error = subject.refusal_of_load(
        table, [*rows, (_MANY // 2, 1), *((n + _MANY, 0) for n in range(9))]
    )
    insist_on_class(RefusedStatement.of(error), "constraint")
    subject.insist_on_count(table, 0)
    subject.load(table, [(1, 1)])


REQUIREMENTS = (
    thousands_of_rows_of_every_type_are_loaded,
    a_load_whose_source_breaks_leaves_nothing,
    a_load_with_a_refused_row_leaves_nothing,
)
