"""Takes the runs of two sides; gives what one writes, flushes or checks otherwise than the other
for the same work, and in which tables of existing data they did not find the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.comparison.sides import NOT_KNOWN, Difference, joined
from assay.contracts.durability import KINDS, Safeguard
from assay.judge import evidence
from assay.load.existing_data import ExistingTable
from assay.record import Run
from assay.text import pattern

SAFEGUARD, INDEXES = "safeguard", "indexes"
"""Kinds of differences that change the work, and leave a verdict."""
_NOTHING = pattern(r"(?P<verb>\w+) no (?P<thing>.+)")
"""What a system does not do at all."""
OF_INDEXES = "indexes of "
"""Begins the name of such a difference; the table follows."""


def differing_safeguards(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Difference]:
    """In what they differ, with the settings that say so (``log_bin = ON``)."""
    for kind, left, right in _of_both(a, b):
        if {one.does for one in left} != {one.does for one in right}:
            yield Difference(SAFEGUARD, kind, _with_settings(left), _with_settings(right))


def known_safeguards(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Difference]:
    """All that is known of both, also what is the same, in words alone."""
    for kind, left, right in _of_both(a, b):
        yield Difference(SAFEGUARD, kind, *(joined(one.does for one in of) for of in (left, right)))


def _of_both(
    a: Iterable[Run], b: Iterable[Run]
) -> Iterator[tuple[str, list[Safeguard], list[Safeguard]]]:
    of_a, of_b = _by_kind(a), _by_kind(b)
    for kind in sorted((kind for kind in of_a if kind in of_b), key=_place):
        yield kind, of_a[kind], of_b[kind]


def _place(kind: str) -> int:
    """Those that another package has come last."""
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def index_words(difference: Difference) -> tuple[Sequence[str], Sequence[str]]:
    """The indexes that A alone has, and those that B alone has."""
    of_a, of_b = (side.split("; ") for side in (difference.a, difference.b))
    return _alone(of_a, of_b), _alone(of_b, of_a)


def _alone(own: Sequence[str], other: Sequence[str]) -> list[str]:
    return [one for one in own if one not in other and one != "none"]


def _owned(table: str, index: str) -> str:
    """``the index btree (price) of goods``, ``the trigger on goods (audit AFTER INSERT …)``."""
    trigger = index.removeprefix("trigger ")
    if trigger != index:
        return f"the trigger on {table} ({trigger})"
    return f"the index {index} of {table}"


def safeguard_clauses(named: Iterable[tuple[str, str, Difference]]) -> list[str]:
    """``A writes and flushes a binary log, B writes none``: a clause for each kind in which not all
    are the same. ``named``: what the sides are called, and what is known of both."""
    by_kind: dict[str, dict[str, str]] = {}
    of_indexes: dict[str, None] = {}
    for name_a, name_b, one in named:
        if one.what == INDEXES:
            table = one.name.removeprefix(OF_INDEXES)
            if unknown := next((side for side in (one.a, one.b) if NOT_KNOWN in side), ""):
                of_indexes |= {f"the indexes of {table} are {unknown}": None}
                continue
            of_a, of_b = index_words(one)
            for name, other, alone in ((name_a, name_b, of_a), (name_b, name_a, of_b)):
                of_indexes |= dict.fromkeys(
                    f"{name} has {_owned(table, index)}, {other} does not" for index in alone
                )
        else:
            by_kind.setdefault(one.name, {}).update({name_a: one.a, name_b: one.b})
    several = (by_kind[kind] for kind in sorted(by_kind, key=_place))
    return [*filter(None, map(_safeguard_clause, several)), *of_indexes]


def _safeguard_clause(by_name: Mapping[str, str]) -> str:
    """What is done first, then what is not: ``A writes pages twice, B writes pages once``; of more
    than two, ``writes pages twice (A, C), writes pages once (B)``. Empty: all are the same."""
    names: dict[str, list[str]] = {}
    for name, does in by_name.items():
        names.setdefault(does, []).append(name)
    if len(names) < 2:
        return ""
    in_order = sorted(names, key=lambda does: bool(_NOTHING.fullmatch(does)))
    said = {does: _beside(does, in_order) for does in in_order}
    if len(by_name) == len(names) == 2:
        return ", ".join(f"{names[does][0]} {said[does]}" for does in in_order)
    return ", ".join(f"{said[does]} ({', '.join(names[does])})" for does in in_order)


def _beside(does: str, others: Sequence[str]) -> str:
    """``writes none``, where another one writes that thing."""
    found = _NOTHING.fullmatch(does)
    if found and any(found["thing"] in other for other in others if other != does):
        return f"{found['verb']} none"
    return does


def _by_kind(runs: Iterable[Run]) -> dict[str, list[Safeguard]]:
    """Those of the system, then those of the storages that it is on."""
    found: dict[str, list[Safeguard]] = {}
    for deployment in filter(None, (run.deployment for run in runs)):
        storages = (one for storage in deployment.all_storages for one in storage.safeguards)
        for one in (*deployment.safeguards, *storages):
            if one not in found.setdefault(one.kind, []):
                found[one.kind].append(one)
    return found


def _with_settings(safeguards: Iterable[Safeguard]) -> str:
    return joined(
        f"{one.does} ({', '.join(one.settings)})" if one.settings else one.does
        for one in safeguards
    )


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
        if left and right and (left != right or left.startswith(NOT_KNOWN)):
            yield Difference(INDEXES, f"{OF_INDEXES}{name}", left, right)


def _indexes(run: Run) -> dict[str, str]:
    """By table, as they were before the run, of those that are known."""
    before = run.existing_data.before if run.existing_data else ()
    return {one.name: one.indexes for one in before if one.indexes}


def differences_of_existing_data(
    a: Sequence[Run], b: Sequence[Run], *, are_other_scripts: bool
) -> Iterator[Difference]:
    """What is not known on either side is a difference. Of two systems the numbers of rows are
    compared alone, as they spell values otherwise; so are those of tables that a run changed
    itself. Tables to which rows are only added are not compared.

    A table that a side does not name was not counted there. ``are_other_scripts``: it is other
    scripts that are compared, which may name other tables, so that this leaves a verdict."""
    if not any(run.existing_data for run in (*a, *b)):
        return
    unknown = _unknown(a), _unknown(b)
    if any(unknown):
        yield Difference("data", "data of the tables", *(why or "known" for why in unknown))
        return
    is_written = any(evidence.writes(run) for run in (*a, *b))
    is_one_system = len({run.system for run in (*a, *b)}) == 1
    for name in dict.fromkeys(name for run in (*a, *b) for name in _tables(run)):
        left, right = ([_tables(run).get(name) for run in side] for side in (a, b))
        if are_other_scripts and not (any(left) and any(right)):
            yield Difference("tables", f"rows of {name}", _rows(left), _rows(right))
            continue
        rows = [one.rows or 0 for one in (*left, *right) if one is not None]
        is_of_all = len(rows) == len(a) + len(b)
        is_same = is_of_all and evidence.is_same_number(rows, is_written=is_written)
        is_by_values = is_one_system and (not is_written or _is_left_alone(name, (*a, *b)))
        if not is_same:
            yield Difference("data", f"rows of {name}", _rows(left), _rows(right))
        elif is_by_values and len(_digests([*left, *right])) > 1:
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


def _is_left_alone(name: str, runs: Iterable[Run]) -> bool:
    """Whether the table is known to have held the same after each of them as before it."""
    for held in (run.existing_data for run in runs):
        found = (*held.before, *held.after) if held and held.after else ()
        if len({(one.rows, one.digest) for one in found if one.name == name}) != 1:
            return False
    return True


def _rows(tables: Sequence[ExistingTable | None]) -> str:
    """Each number once, as they were found."""
    return " and ".join(dict.fromkeys(str(one.rows) if one else "not counted" for one in tables))


def _digests(tables: Sequence[ExistingTable | None]) -> set[str]:
    return {one.digest for one in tables if one is not None and one.digest}


def _values(tables: Sequence[ExistingTable | None]) -> str:
    return " and ".join(sorted(one[:_DIGITS] for one in _digests(tables)))
