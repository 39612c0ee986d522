"""Takes two sets of dumps, such as what one client left and what many did; returns a check for each
pair: are they the same rows in the same order?

Where clients overtook one another, rows differ although none is lost: then only what each of them
left, regardless of the client before it, is compared, and the rest is unknown. All rows that differ
are kept with the check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from assay.drive.query import Row, StatementAnswer
from assay.judge.check.answers import Check, DifferingRows

_DOUBT = "rows were lost or doubled, or clients overlapped: start them further apart to find out"


def check_dumps(
    expected: Sequence[StatementAnswer],
    answers: Sequence[StatementAnswer],
    own: Sequence[tuple[StatementAnswer, StatementAnswer]],
    label: str,
    title: str,
) -> list[Check]:
    """A check for each pair of answers. ``label`` names the kind of dump (``set``), ``title`` its
    content; ``own``: the pairs that do not depend on the order of clients, or none."""
    own_or_none: Sequence[tuple[StatementAnswer, StatementAnswer] | None] = own or [None] * len(
        answers
    )
    return [
        _check(f"{label} {number}", title, dumps, own_pair)
        for number, (dumps, own_pair) in enumerate(
            zip(zip(expected, answers, strict=True), own_or_none, strict=True)
        )
    ]


def _check(
    id_: str,
    title: str,
    dumps: tuple[StatementAnswer, StatementAnswer],
    own: tuple[StatementAnswer, StatementAnswer] | None,
) -> Check:
    expected, found = (answer.rows for answer in dumps)
    ok: bool | None = expected == found
    note = "" if ok else _difference(expected, found)
    if not ok and own is not None:
        own_expected, own_found = (answer.rows for answer in own)
        if own_expected == own_found:
            ok, note = None, f"clients overtook one another: {note}"
        else:
            note = f"{_difference(own_expected, own_found)}; {_DOUBT}"
    check = Check(id=id_, title=title, expected=len(expected), found=len(found), ok=ok, note=note)
    if not ok:
        check["differing_rows"] = _differing_rows(*dumps)
    return check


def _differing_rows(expected: StatementAnswer, statement_answer: StatementAnswer) -> DifferingRows:
    return DifferingRows(
        columns=list(expected.columns),
        missing=[list(row) for row in _without(expected.rows, statement_answer.rows)],
        unexpected=[list(row) for row in _without(statement_answer.rows, expected.rows)],
    )


def _without(rows: Sequence[Row], others: Sequence[Row]) -> Iterator[Row]:
    """The rows, each as often as it is not among the others."""
    left = Counter(others)
    for row in rows:
        if left[row]:
            left[row] -= 1
        else:
            yield row


def _difference(expected: tuple[Row, ...], rows: tuple[Row, ...]) -> str:
    """The first row that is not as expected."""
    pairs = enumerate(zip_longest(expected, rows), start=1)
    number, (expected_row, row) = next(pair for pair in pairs if pair[1][0] != pair[1][1])
    return f"row {number} is {shown_row(row)}, expected {shown_row(expected_row)}"


def shown_row(row: Sequence[str | None] | None) -> str:
    if row is None:
        return "missing"
    return "(" + ", ".join("NULL" if cell is None else cell.rstrip() for cell in row) + ")"
