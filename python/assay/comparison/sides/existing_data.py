"""Takes the runs of two sides on servers or files that Assay did not fill; gives in which of their
tables they did not find the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.comparison.sides.safeguards import INDEXES, OF_INDEXES
from assay.comparison.sides.values import NOT_KNOWN, Difference
from assay.judge.warnings import cell_changes
from assay.load.existing_data import ExistingTable
from assay.record import Run

_DIGITS = 12
"""Of a digest, as it is shown."""


def differing_indexes(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Difference]:
    """Of one system: others call theirs otherwise. As a setting does, an index makes a system
    faster at the same work: it leaves a verdict."""
    if len({run.system for run in (*a, *b)}) > 1:
        return
    of_a, of_b = ([_indexes(run) for run in side] for side in (a, b))
    for name in dict.fromkeys(name for known in (*of_a, *of_b) for name in known):
        left, right = (
            " and ".join(dict.fromkeys(known[name] for known in side if name in known))
            for side in (of_a, of_b)
        )
        if left and right and left != right:
            yield Difference(INDEXES, f"{OF_INDEXES}{name}", left, right)


def _indexes(run: Run) -> dict[str, str]:
    """By table, as they were before the run, of those that are known."""
    before = run.existing_data.before if run.existing_data else ()
    return {one.name: one.indexes for one in before if one.indexes}


def differences(
    a: Sequence[Run], b: Sequence[Run], *, are_other_scripts: bool
) -> Iterator[Difference]:
    """What is not known on either side is a difference. Of two systems the numbers of rows are
    compared alone, as they spell values otherwise; so are those of runs that write, which change
    values themselves. Tables to which rows are only added are not compared.

    A table that a side does not name was not counted there. ``are_other_scripts``: it is other
    scripts that are compared, which may name other tables, so that this leaves a verdict."""
    if not any(run.existing_data for run in (*a, *b)):
        return
    unknown = _unknown(a), _unknown(b)
    if any(unknown):
        yield Difference("data", "data of the tables", *(why or "known" for why in unknown))
        return
    is_written = any(cell_changes.writes(run) for run in (*a, *b))
    is_one_system = len({run.system for run in (*a, *b)}) == 1
    for name in dict.fromkeys(name for run in (*a, *b) for name in _tables(run)):
        left, right = ([_tables(run).get(name) for run in side] for side in (a, b))
        if are_other_scripts and not (any(left) and any(right)):
            yield Difference("tables", f"rows of {name}", _rows(left), _rows(right))
            continue
        rows = [one.rows or 0 for one in (*left, *right) if one is not None]
        is_of_all = len(rows) == len(a) + len(b)
        is_same = is_of_all and cell_changes.is_same_number(rows, is_written=is_written)
        if not is_same:
            yield Difference("data", f"rows of {name}", _rows(left), _rows(right))
        elif is_one_system and not is_written and len(_digests([*left, *right])) > 1:
            yield Difference("data", f"values of {name}", _values(left), _values(right))


def _unknown(runs: Sequence[Run]) -> str:
    """What is not known of the data of these runs, of the first of which something is not."""
    for run in runs:
        if run.existing_data is None:
            return f"{NOT_KNOWN} (no rows in the record of run {run.id})"
        if why := run.existing_data.unknown:
            return f"{NOT_KNOWN} ({why})"
    return ""


def _tables(run: Run) -> dict[str, ExistingTable]:
    """By name, as they were before the run."""
    before = run.existing_data.before if run.existing_data else ()
    return {one.name: one for one in before if not one.is_only_added_to}


def _rows(tables: Sequence[ExistingTable | None]) -> str:
    """Each number once, as they were found."""
    return " and ".join(dict.fromkeys(str(one.rows) if one else "not counted" for one in tables))


def _digests(tables: Sequence[ExistingTable | None]) -> set[str]:
    return {one.digest for one in tables if one is not None and one.digest}


def _values(tables: Sequence[ExistingTable | None]) -> str:
    return " and ".join(sorted(one[:_DIGITS] for one in _digests(tables)))
