"""Takes the runs of two sides on systems that Assay filled; gives in what their data differ.

Systems of another language may have other tables of the same content: then the sides have other
rows, and are compared by what the workload declares for all languages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.comparison.sides import run_by_run
from assay.comparison.sides.values import Difference
from assay.record import RunRecord

_DIGITS = 12
"""Of a digest, as it is shown."""


def are_in_other_languages(a: Sequence[RunRecord], b: Sequence[RunRecord]) -> bool:
    """Whether the sides have the rows of one declaration, in the tables of several languages."""
    data = [run.data for run in (*a, *b)]
    if not all(one is not None and one.declared_fingerprint for one in data):
        return False
    is_one = not list(run_by_run.differing("data", "declared data", a, b, _declared))
    return is_one and len({one.fingerprint for one in data if one is not None}) > 1


def differences(a: Sequence[RunRecord], b: Sequence[RunRecord]) -> Iterator[Difference]:
    is_translated = are_in_other_languages(a, b)
    if not is_translated:
        yield from run_by_run.differing("data", "input of the data", a, b, _input)
    tables: list[set[str]] = [set(run.data.rows) for run in (*a, *b) if run.data]
    every = set[str]().union(*tables)
    named = every.intersection(*tables) if is_translated else every

    def rows(run: RunRecord) -> str:
        counts = run.data.rows if run.data else {}
        return ", ".join(f"{name} {counts[name]}" for name in sorted(named & set(counts)))

    yield from run_by_run.differing("data", "rows", a, b, rows)


def _declared(run: RunRecord) -> str:
    return run.data.declared_fingerprint if run.data else ""


def _input(run: RunRecord) -> str:
    return run.data.fingerprint[:_DIGITS] if run.data else ""
