"""Takes the rows of a list, and columns of it that hold named values; returns rows that have there
what varies, and lines that say the rest once.

A name whose value is the same in all rows that have it varies in none: in which rows it is, their
test says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.cli.output.rows import Row, shown
from assay.contracts.factors import Scalar

Values = Mapping[str, Scalar | Sequence[str] | None]
_LABEL = "test"
"""The column that says of what rows a value is, where not all have it."""


def said_once(
    rows: Sequence[Row], columns: Sequence[str]
) -> tuple[list[Row], list[str], list[str]]:
    """The rows, the columns in which none has anything left, and the lines; a single row stays as
    it is."""
    if len(rows) < 2:
        return list(rows), [], []
    found = list(rows)
    emptied: list[str] = []
    lines: list[str] = []
    for column in columns:
        varying = _varying(rows, column)
        lines += _lines(rows, column, varying)
        found = [
            {
                **row,
                column: {name: one for name, one in _of(row, column).items() if name in varying},
            }
            for row in found
        ]
        if not varying:
            emptied.append(column)
    return found, emptied, lines


def _of(row: Row, column: str) -> Values:
    value = row.get(column)
    return value if isinstance(value, Mapping) else {}


def _varying(rows: Sequence[Row], column: str) -> set[str]:
    """Names with several values, and those that only some runs of a test have."""
    values: dict[str, set[str]] = {}
    tests: dict[str, set[object]] = {}
    for row in rows:
        for name, value in _of(row, column).items():
            values.setdefault(name, set()).add(shown(value))
            tests.setdefault(name, set()).add(row.get(_LABEL))
    return {
        name
        for name, found in values.items()
        if len(found) > 1
        or any(name not in _of(row, column) for row in rows if row.get(_LABEL) in tests[name])
    }


def _lines(rows: Sequence[Row], column: str, varying: set[str]) -> Iterator[str]:
    """``parameters of all runs: scale=1 pace=0.1``; of some tests with their names."""
    every = list(dict.fromkeys(str(row.get(_LABEL)) for row in rows))
    tests_of: dict[str, dict[str, None]] = {}
    values: dict[str, object] = {}
    for row in rows:
        for name, value in _of(row, column).items():
            if name not in varying:
                tests_of.setdefault(name, {})[str(row.get(_LABEL))] = None
                values[name] = value
    by_tests: dict[tuple[str, ...], list[str]] = {}
    for name, tests in tests_of.items():
        by_tests.setdefault(tuple(tests), []).append(name)
    for those, names in by_tests.items():
        whose = "all runs" if len(those) == len(every) else ", ".join(those)
        yield f"{column} of {whose}: {shown({name: values[name] for name in names})}"
