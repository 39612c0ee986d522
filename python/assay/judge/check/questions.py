"""Takes what the statements of each run were answered; says which runs of an experiment asked the
same and were answered otherwise.

Which of the systems is right is not known: the numbers of every run that asked the question are
invalid, also of those that had ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from msgspec import Struct, field

from assay.contracts.observation import AnswerSumReport, Observation
from assay.judge.check.answers import CANCELLED, Check, not_run
from assay.plan import PlannedRun

_DIFFER = "results differ: "
_MOST = 3
"""Names in a list; of more the number is said."""


class ComparedAnswer(NamedTuple):
    """An answer, and the question it was given to."""

    asked: str
    name: str
    """Of the transaction."""
    statement: int
    label: str
    """Of the system."""
    rows: int
    digest: str


class _Answer(Struct, frozen=True):
    position: int
    """Of the run in its experiment."""
    label: str
    rows: int
    digest: str

    @property
    def value(self) -> tuple[int, str]:
        return self.rows, self.digest


class Dispute(Struct, frozen=True):
    """Why the numbers of a run are invalid: others were answered otherwise."""

    reason: str
    """``results differ: day (a = b; c)``."""
    before: str
    """The reason that was given for the run when fewer had answered; empty: none."""
    notes: Mapping[str, str]
    """Name of a check → its note."""

    def reason_of(self, word: str, said: str) -> str:
        """Why the run is invalid, whose verdict was this word for the reason that was ``said``;
        what an earlier dispute said is replaced."""
        if self.before and self.before in said:
            return said.replace(self.before, self.reason)
        return f"{said}; {self.reason}" if word == "invalid" else self.reason

    def of_check(self, check: Check) -> Check:
        """The check, wrong where its answer is disputed."""
        note = self.notes.get(check["id"])
        if note is None:
            return check
        own = check["note"].partition("results differ")[0].removesuffix("; ")
        return {**check, "ok": False, "note": f"{own}; {note}" if own else note}


class Questions(Struct):
    """Every question of the experiment so far, with all that answered it."""

    _answers: dict[tuple[str, str, int], list[_Answer]] = field(default_factory=dict)
    """By what was asked, transaction and statement."""
    _values: dict[tuple[str, str, int], set[tuple[int, str]]] = field(default_factory=dict)
    """The different answers to each."""
    _given: dict[int, list[ComparedAnswer]] = field(default_factory=dict)
    """By the position of the run."""
    _disputed: dict[int, dict[str, str]] = field(default_factory=dict)
    """Position of a run → name of a transaction → who agrees with whom."""
    _said: dict[int, str] = field(default_factory=dict)

    def answered(
        self, position: int, asked: str, label: str, name: str, rows: int, digest: str,
        statement: int = 0,
    ) -> bool:  # fmt: skip
        """Keeps an answer; returns whether there was one to the same question before."""
        answers = self._answers.setdefault((asked, name, statement), [])
        answers.append(_Answer(position, label, rows, digest))
        self._given.setdefault(position, []).append(
            ComparedAnswer(asked, name, statement, label, rows, digest)
        )
        values = self._values.setdefault((asked, name, statement), set())
        values.add((rows, digest))
        if len(values) > 1:
            words = _groups(answers)
            for answer in answers:
                self._disputed.setdefault(answer.position, {})[name] = words
        return len(answers) > 1

    def given_by(self, position: int) -> list[ComparedAnswer]:
        """All that the run at this position answered, for the record."""
        return list(self._given.get(position, ()))

    def recall(self, position: int, answers: Iterable[ComparedAnswer], said: str) -> None:
        """Takes up what a run answered in a process before; ``said``: the reason of its verdict."""
        for one in answers:
            self.answered(
                position, one.asked, one.label, one.name, one.rows, one.digest, one.statement
            )
        _, differs, rest = said.partition(_DIFFER)
        if differs:
            self._said[position] = differs + rest

    def take_disputes(self) -> dict[int, Dispute]:
        """Position of each run whose reason is new or has changed → that."""
        found = {}
        for position, names in self._disputed.items():
            by_words: dict[str, list[str]] = {}
            for name, words in names.items():
                by_words.setdefault(words, []).append(name)
            reason = "; ".join(
                f"{_DIFFER}{_listed(those)} ({words})" for words, those in by_words.items()
            )
            before = self._said.get(position, "")
            if reason != before:
                notes = {name: f"results differ ({words})" for name, words in names.items()}
                found[position] = Dispute(reason, before, notes)
                self._said[position] = reason
        return found

    def differences(self) -> list[str]:
        """Every dispute once, as it is known now."""
        return list(dict.fromkeys(self._said.values()))


def compare(
    questions: Questions,
    run: PlannedRun,
    asked: str,
    label: str,
    sums: Sequence[AnswerSumReport],
    titles: Mapping[str, str],
    digests: Mapping[str, str],
    cancelled: Set[str] = frozenset(),
) -> list[Check]:
    """A check for each script of ``run``, right as far as no other run was answered otherwise, and
    wrong where the right answer is known and another one. ``asked``: `what_is_asked`; ``label``
    names its system; ``digests``: name of a script → that of the right answer to one
    transaction; ``cancelled``: scripts whose statements were, so that there is no whole answer."""
    checks = []
    for one in sums:
        name = one.transaction
        if name in cancelled:
            checks.append(not_run(name, titles.get(name, ""), CANCELLED))
            continue
        was_compared = questions.answered(run.position, asked, label, name, one.rows, one.digest)
        known = digests.get(name) if one.transactions == 1 else None
        is_right = None if known is None else one.digest == known
        checks.append(
            Check(
                id=name,
                title=titles.get(name, ""),
                expected=one.rows if is_right else None,
                found=one.rows,
                ok=False if is_right is False else (is_right or was_compared or None),
                note="not the answer that is known" if is_right is False else "",
            )
        )
    return checks


def compare_results(
    questions: Questions,
    run: PlannedRun,
    asked: Mapping[str, str],
    label: str,
    observation: Observation,
) -> None:
    """The same for the answers to each statement. ``asked``: name of a transaction → what is equal
    where its data and the values of its parameters are."""
    for result in observation.results:
        questions.answered(
            run.position,
            asked[result.transaction],
            label,
            result.transaction,
            result.rows,
            result.digest or "",
            result.statement,
        )


def what_is_asked(run: PlannedRun, stop: Mapping[str, float], order: str) -> str:
    """Equal for steps whose clients ask the same questions: of the same test with the same
    parameters, clients and random numbers (the seed depends on all three)."""
    cell = run.cell
    parts = [cell.test, sorted(cell.parameters.items()), run.seed, dict(stop), order]
    return json.dumps(parts, sort_keys=True)


def _groups(answers: Sequence[_Answer]) -> str:
    """``a = b; c``; with the numbers of rows where they differ: ``a = b: 5 rows; c: 4 rows``. A
    system that is in several groups is named with its run."""
    groups: dict[tuple[int, str], list[_Answer]] = {}
    for answer in answers:
        groups.setdefault(answer.value, []).append(answer)
    labels = [{answer.label for answer in group} for group in groups.values()]
    said = []
    for (rows, _), group in groups.items():
        names = dict.fromkeys(
            f"{one.label}, run {one.position + 1}"
            if sum(one.label in of_group for of_group in labels) > 1
            else one.label
            for one in group
        )
        said.append((_listed(names, " = "), rows))
    has_counts = len({rows for rows, _ in groups}) > 1
    return "; ".join(f"{names}: {rows} rows" if has_counts else names for names, rows in said)


def _listed(names: Iterable[str], between: str = ", ") -> str:
    shown = list(names)
    more = len(shown) - _MOST
    if more <= 1:  # the last one takes no more room than the count
        return between.join(shown)
    return f"{between.join(shown[:_MOST])} and {more} more"
