"""Takes what the transactions of each run were answered; says which runs of an experiment asked the
same and were answered otherwise.

Which of two systems is right is not known: the numbers of every run that asked the question are
invalid, also of those that had ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.check.answers import Check
from assay.observation import AnswerSumReport
from assay.plan import PlannedRun


@dataclass(frozen=True)
class _Answer:
    position: int
    """Of the run in its experiment."""
    label: str
    rows: int
    digest: str


@dataclass
class Questions:
    """Every question of the experiment so far, with all that answered it."""

    _answers: dict[tuple[str, str], list[_Answer]] = field(default_factory=dict)
    _disputed: dict[int, dict[str, None]] = field(default_factory=dict)
    """Position of an earlier run → the reasons why its numbers are invalid."""

    def check(
        self,
        run: PlannedRun,
        asked: str,
        label: str,
        sums: Sequence[AnswerSumReport],
        titles: Mapping[str, str],
    ) -> list[Check]:
        """A check for each script of ``run``. ``asked``: `what_is_asked`; ``label`` names its
        system."""
        return [self._check(run, asked, label, one, titles) for one in sums]

    def _check(
        self,
        run: PlannedRun,
        asked: str,
        label: str,
        found: AnswerSumReport,
        titles: Mapping[str, str],
    ) -> Check:
        name = found.transaction
        answers = self._answers.setdefault((asked, name), [])
        new = _Answer(run.position, label, found.rows, found.digest)
        others = [one for one in answers if (one.rows, one.digest) != (new.rows, new.digest)]
        is_known = bool(answers)
        answers.append(new)
        if others:
            for one in answers:
                if one.position != run.position:
                    other = new if one in others else others[0]
                    self._dispute(one, name, other)
        note = f"results differ: {_other(new, others[0])}" if others else ""
        return Check(
            id=name,
            title=titles.get(name, ""),
            expected=None,
            found=found.rows,
            ok=False if others else (True if is_known else None),
            note=note,
        )

    def _dispute(self, one: _Answer, name: str, other: _Answer) -> None:
        reason = f"results differ: {name}: {_other(one, other)}"
        self._disputed.setdefault(one.position, {})[reason] = None

    def take_disputed(self) -> dict[int, str]:
        """Position of an ended run → why its numbers are invalid; each run once."""
        found = {position: "; ".join(reasons) for position, reasons in self._disputed.items()}
        self._disputed.clear()
        return found


def what_is_asked(run: PlannedRun, stop: Mapping[str, Any], order: str) -> str:
    """Equal for steps whose clients ask the same questions: of the same test with the same
    parameters, clients and random numbers (the seed depends on all three)."""
    cell = run.cell
    parts = [cell.test, sorted(cell.parameters.items()), run.seed, dict(stop), order]
    return json.dumps(parts, sort_keys=True)


def _other(one: _Answer, other: _Answer) -> str:
    if one.label == other.label:
        found = f"other rows in another pass or run of {other.label}"
    else:
        found = f"other rows than {other.label}"
    return found if one.rows == other.rows else f"{found} ({one.rows} and {other.rows} rows)"
