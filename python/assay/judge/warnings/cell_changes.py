"""Takes the runs of a cell; returns the differences between them that were not asked for: the
version of the system, its settings in effect, the rows of a server that Assay did not fill.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.contracts.observation import ServerReport
from assay.judge.run import Run
from assay.load.existing_data import ExistingTable
from assay.provision.undo import ledger
from assay.text import units

SAME_ROWS = 0.01
"""Runs that write change the number of rows themselves: by this share it is the same data."""
_DIGITS = 8
"""Of a digest, as it is shown."""
_MOST_VALUES = 3
_MOST_SETTINGS = 3

Values = Sequence[tuple[int, str]]
"""Number of the run → what was found there."""


def changes(runs: Sequence[Run]) -> str:
    """``version 15.18 in runs 1-2, 18.6 in runs 3-4``; empty where all found the same. ``runs``:
    those that were measured."""
    return "; ".join(_changes(runs))


def changed_while_reading(run: Run) -> str:
    """The tables that did not hold the same after the run as before, though it committed
    nothing; empty: there are none, it may have changed them itself, or several servers answer at
    that address (which is said), so that two looks at one table may be at two."""
    if run.existing_data is None or writes(run):
        return ""
    if run.driven is not None and len({one.described for one in run.driven.servers}) > 1:
        return ""
    after = {one.name: one for one in run.existing_data.after}
    return ", ".join(
        f"{before.name} had {_shown(before)} before and {_shown(later)} after"
        if before.rows != later.rows
        else f"{before.name} has other values"
        for before in run.existing_data.before
        if (later := after.get(before.name)) is not None
        and not (before.unknown or later.unknown)
        and held(before) != held(later)
    )


def writes(run: Run) -> bool:
    """Whether its clients may have changed data; what those of a lost load generator committed is
    not known."""
    if run.driven is None or any(one.is_lost for one in run.driven.generators):
        return True
    return run.driven.commits != 0


def held(table: ExistingTable) -> tuple[int | None, str]:
    return table.rows, table.digest


def is_same_number(rows: Sequence[int], *, is_written: bool) -> bool:
    """Whether tables with so many rows may hold the same data; ``is_written``: the runs write."""
    allowed = SAME_ROWS if is_written else 0
    return not rows or max(rows) - min(rows) <= allowed * max(rows)


def _changes(runs: Sequence[Run]) -> Iterator[str]:
    versions = [(run.id, run.deployment.version) for run in runs if run.deployment]
    if len({value for _, value in versions}) > 1:
        yield f"version {_in_runs(versions)}"
    roles = [(run.id, run.deployment.role) for run in runs if run.deployment]
    said = [(number, role.described) for number, role in roles if role]
    if len({value for _, value in said}) > 1:
        yield f"role {_in_runs(said)}"
    servers = [(run.id, run.driven.servers) for run in runs if run.driven and run.driven.servers]
    places = [(number, _places(found)) for number, found in servers]
    if len({value for _, value in places}) > 1:
        yield f"server {_in_runs(places)}"
    yield from _changed_settings(runs)
    yield from _changed_tables(runs)


def _places(servers: Sequence[ServerReport]) -> str:
    return " and ".join(sorted({one.address or one.version for one in servers}))


def _changed_settings(runs: Sequence[Run]) -> Iterator[str]:
    known = [
        (run.id, run.deployment.settings)
        for run in runs
        if run.deployment and run.deployment.settings and not run.deployment.settings_unknown
    ]
    names = dict.fromkeys(name for _, settings in known for name in settings if name != "port")
    changed = []
    for name in names:
        values = [(number, str(settings.get(name, "default"))) for number, settings in known]
        different = {value for _, value in values}
        if len(different) > 1 and not any(map(ledger.is_path_of_a_run, different)):
            changed.append(f"{name} {_in_runs(values)}")
    yield from changed[:_MOST_SETTINGS]
    if left := len(changed[_MOST_SETTINGS:]):
        yield f"and {units.counted(left, 'further setting')}"


def _changed_tables(runs: Sequence[Run]) -> Iterator[str]:
    """Before each run. Rows that runs only add are their own work, and so are values that they
    change."""
    tables = [
        (run.id, table)
        for run in runs
        if run.existing_data
        for table in run.existing_data.before
        if not table.is_only_added_to and not table.unknown
    ]
    for name in dict.fromkeys(table.name for _, table in tables if table.indexes):
        indexes = [(number, table.indexes) for number, table in tables if table.name == name]
        if len({known for _, known in indexes if known}) > 1:
            yield f"indexes of {name} {_in_runs(indexes)}"
    by_writers = any(map(writes, runs))
    for name in dict.fromkeys(table.name for _, table in tables):
        here = [(number, table) for number, table in tables if table.name == name]
        rows = [table.rows or 0 for _, table in here]
        if not is_same_number(rows, is_written=by_writers):
            yield f"rows of {name} {_in_runs([(number, str(one.rows)) for number, one in here])}"
        elif not by_writers and len({table.digest for _, table in here if table.digest}) > 1:
            digests = [(number, one.digest[:_DIGITS]) for number, one in here]
            yield f"values of {name} {_in_runs(digests)}"


def _in_runs(values: Values) -> str:
    """``15.18 in runs 1-2, 18.6 in run 3``."""
    runs_of: dict[str, list[int]] = {}
    for number, value in values:
        runs_of.setdefault(value, []).append(number)
    shown = [
        f"{value or 'empty'} in {_runs(numbers)}"
        for value, numbers in list(runs_of.items())[:_MOST_VALUES]
    ]
    if left := len(runs_of) - _MOST_VALUES:
        shown += [f"and {left} others"] if left > 0 else []
    return ", ".join(shown)


def _runs(numbers: Sequence[int]) -> str:
    """``run 3``, ``runs 1-2 and 5``: runs in a row are a range."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], number]
        else:
            spans.append([number])
    words = ["-".join(map(str, span)) for span in spans]
    return f"{'run' if len(numbers) == 1 else 'runs'} {' and '.join(words)}"


def _shown(table: ExistingTable) -> str:
    return units.counted(table.rows or 0, "row")
