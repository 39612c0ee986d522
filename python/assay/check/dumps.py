"""Takes two sets of dumps, such as what one client left and what many did; returns a check for each
pair: are they the same rows in the same order?

Where clients overtook one another, rows differ although none is lost: then only what each of them
left, regardless of the client before it, is compared, and the rest is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from assay.check.answers import Check
from assay.drive.query import Answer, Row

_DOUBT = "rows were lost or doubled, or clients met: start them further apart to know which"


def check_dumps(
    expected: Sequence[Answer],
    found: Sequence[Answer],
    own: Sequence[tuple[Answer, Answer]],
    label: str,
    title: str,
) -> list[Check]:
    """A check for each pair of answers. ``label`` names what a dump is of (``set``), ``title`` says
    what is dumped; ``own``: pairs of what does not depend on who came first, or none."""
    own_or_none: Sequence[tuple[Answer, Answer] | None] = own or [None] * len(found)
    return [
        _check(f"{label} {number}", title, dumps, others)
        for number, (dumps, others) in enumerate(
            zip(zip(expected, found, strict=True), own_or_none, strict=True)
        )
    ]


def _check(
    id_: str, title: str, dumps: tuple[Answer, Answer], own: tuple[Answer, Answer] | None
) -> Check:
    expected, found = (one.rows for one in dumps)
    ok: bool | None = expected == found
    note = "" if ok else _difference(expected, found)
    if not ok and own is not None:
        wanted, there = (one.rows for one in own)
        if wanted == there:
            ok, note = None, f"others overtook: {note}"
        else:
            note = f"{_difference(wanted, there)}; {_DOUBT}"
    return Check(id=id_, title=title, expected=len(expected), found=len(found), ok=ok, note=note)


def _difference(expected: tuple[Row, ...], found: tuple[Row, ...]) -> str:
    """The first row that is not as expected."""
    pairs = enumerate(zip_longest(expected, found), start=1)
    number, (wanted, row) = next(pair for pair in pairs if pair[1][0] != pair[1][1])
    return f"row {number} is {_shown(row)}, expected {_shown(wanted)}"


def _shown(row: Row | None) -> str:
    if row is None:
        return "not there"
    return "(" + ", ".join("NULL" if cell is None else cell.rstrip() for cell in row) + ")"
