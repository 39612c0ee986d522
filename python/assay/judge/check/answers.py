"""Takes an observation and the answers that are right; returns one check per statement that
answers.

Each check compares two things: whether every client got the same rows every time, and whether
their number is the expected one. `assay.judge.check.questions` compares them with other runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import NotRequired, TypedDict

from assay.contracts.observation import Observation

CANCELLED = "cancelled at the limit of a statement"
"""Why a transaction has no answer."""
NOT_APPLICABLE = "not applicable"
"""Begins the note of a check whose known answer is that of other values of parameters."""


class DifferingRows(TypedDict):
    """All rows in which a dump differs from the expected one, in the order of the dumps, each with
    a text or NULL per column. Both are empty where the same rows are in another order."""

    columns: list[str]
    missing: list[list[str | None]]
    """Expected and not found, as often as they are missing."""
    unexpected: list[list[str | None]]
    """Found and not expected."""


class Check(TypedDict):
    """One answer compared. ``ok`` is None where the right one is unknown, where the rows are only
    counted (`is_counted`), where it depends on the order of clients which one is right (``note``
    says so), and where nothing was asked (`is_not_run`; ``note`` says why)."""

    id: str
    title: str
    expected: int | None
    found: int | None
    ok: bool | None
    note: str
    differing_rows: NotRequired[DifferingRows]
    """Of two dumps that differ."""


def not_run(id_: str, title: str, why: str) -> Check:
    """The check of a query that was not run: neither right nor wrong."""
    return Check(id=id_, title=title, expected=0, found=None, ok=None, note=f"not run: {why}")


def is_not_run(check: Check) -> bool:
    return check["found"] is None and check["ok"] is None


def is_counted(check: Check) -> bool:
    """Whether the rows that break the rule are a measurement, neither right nor wrong."""
    return check["ok"] is None and check["found"] is not None and check["expected"] == 0


def not_applicable(checks: Iterable[Check]) -> tuple[str, ...]:
    """Why the rows that are known are not those expected here: ``S05: not applicable for …``. Runs
    of which it is the same were asked the same."""
    return tuple(
        f"{check['id']}: {check['note']}"
        for check in checks
        if check["expected"] is None and check["note"].startswith(NOT_APPLICABLE)
    )


def expected_rows(check: Check) -> int | None:
    """None where no number of rows is the right one: it is unknown, or they are only counted."""
    return None if is_counted(check) else check["expected"]


def check_answers(
    observation: Observation,
    expected: Mapping[str, int | None],
    titles: Mapping[str, str],
    why_unknown: Mapping[str, str] | None = None,
    *,
    may_differ: bool,
    cancelled: Set[str] = frozenset(),
) -> list[Check]:
    """Checks every result of ``observation``. ``may_differ``: clients change the data, and only the
    expected number of rows is checked. ``why_unknown``: name of a script → for which
    parameters it is asked, and for which its number of rows is known, where these differ.
    ``cancelled``: scripts whose statements were: where none was answered, it was not run."""
    checks = []
    for result in observation.results:
        name = result.transaction
        rows, known = result.rows, expected.get(name)
        if may_differ and known is None:
            continue
        notes = []
        if result.differing and not may_differ:
            notes.append(
                f"{result.differing} of {result.answers} answers differ: {result.first_difference}"
            )
        if known is not None and rows != known:
            notes.append(f"{known} {'row' if known == 1 else 'rows'} expected")
        why = (why_unknown or {}).get(name, "")
        checks.append(
            Check(
                id=name,
                title=titles.get(name, ""),
                expected=known,
                found=rows,
                ok=False if notes else (True if known is not None else None),
                note="; ".join([*([f"{NOT_APPLICABLE} {why}"] if why else []), *notes]),
            )
        )
    answered = {check["id"] for check in checks}
    checks += [
        not_run(name, titles.get(name, ""), CANCELLED)
        if name in cancelled
        else Check(
            id=name,
            title=titles.get(name, ""),
            expected=known,
            found=None,
            ok=False,
            note="no answer",
        )
        for name, known in expected.items()
        if name not in answered and known is not None
    ]
    return checks
