"""Takes an observation and the answers that are right; returns one check per statement that
answers.

Each check compares three things: whether every client got the same rows every time, whether their
number is the expected one, and whether the other systems of this experiment returned the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from assay.observation import Observation


class Check(TypedDict):
    """One answer compared. ``ok`` is None where the right one is unknown; where ``found`` is None
    as well, nothing was asked (`is_not_run`), and ``note`` says why."""

    id: str
    title: str
    expected: int | None
    found: int | None
    ok: bool | None
    note: str


def not_run(id_: str, title: str, why: str) -> Check:
    """The check of a query that was not run: neither right nor wrong."""
    return Check(id=id_, title=title, expected=0, found=None, ok=None, note=f"not run: {why}")


def is_not_run(check: Check) -> bool:
    return check["found"] is None and check["ok"] is None


@dataclass
class Agreement:
    """The first answer to each statement in this experiment on equal data, and its system."""

    _first: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def differs_from(self, data: str, statement: str, digest: str, label: str) -> str | None:
        """The label of the system with the first answer if that was different, otherwise None."""
        first_digest, first_label = self._first.setdefault((data, statement), (digest, label))
        return first_label if digest != first_digest else None


def check_answers(
    observation: Observation,
    expected: Mapping[str, int | None],
    titles: Mapping[str, str],
    agreement: Agreement | None,
    data: str,
    label: str,
) -> list[Check]:
    """Checks every result of ``observation``; ``data`` identifies the data set.

    ``agreement`` None: clients change the data, so that answers may differ, and only the expected
    number of rows is checked.
    """
    checks = []
    for result in observation.results:
        name = result.transaction
        rows, known = result.rows, expected.get(name)
        statement = f"{name}/{result.statement}"
        other = None
        if agreement is not None:
            other = agreement.differs_from(data, statement, result.digest or "", label)
        elif known is None:
            continue
        notes = []
        if result.differing and agreement is not None:
            notes.append(
                f"{result.differing} of {result.answers} answers differ: {result.first_difference}"
            )
        if known is not None and rows != known:
            notes.append(f"{known} {'row' if known == 1 else 'rows'} expected")
        if other is not None:
            notes.append(f"other rows than {other}")
        checks.append(
            Check(
                id=name,
                title=titles.get(name, ""),
                expected=known,
                found=rows,
                ok=False if notes else (True if known is not None else None),
                note="; ".join(notes),
            )
        )
    answered = {check["id"] for check in checks}
    checks += [
        Check(
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
