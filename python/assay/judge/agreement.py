"""Takes the runs of an experiment or of two sides that asked the same; says which were answered
otherwise, and by which statements."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct, field

from assay.contracts.observation import (
    AnswerReport,
    AnswerSumReport,
    FirstAnswersReport,
    Observation,
)
from assay.judge.result_checks import CANCELLED, Check, not_run
from assay.judge.run import Run
from assay.plan import PlannedRun
from assay.text import pattern, units
from assay.text.terminal import shortened

_SIGMAS = 3.9
"""Means that are farther apart, in standard errors, differ: by chance one of 10,000 pairs is."""
_LEAST_SHARE = 0.01
"""Means that are no farther apart do the same work: which client got most of the time is chance."""
_LEAST_SHARE_WHERE_EQUAL = 0.05
"""The same, where the first answers were compared and are equal."""
_ROUNDED_EACH, _ROUNDED_SHARE = 1e-4, 1e-9
"""Numbers with a fraction are printed with other digits by other systems: sums differ by so much
for each of them, and by this share."""
_CHANGING = pattern(
    r"(?i)\b(now|sysdate|systimestamp|getdate|current_(time|date|timestamp)|local(time|timestamp)|"
    r"(clock|statement|transaction)_timestamp|unix_timestamp|curdate|curtime|utc_\w+|julianday|"
    r"datetime|rand(om\w*)?|newid|\w*uuid\w*|nextval|last_insert_\w+|connection_id|\w*backend_pid|"
    r"txid_\w+|pg_current_\w+|tablesample)\b"
)
_LIMITS = pattern(r"(?i)\b(limit|fetch\s+(first|next)|top|rownum)\b")
_ORDERS = pattern(r"(?i)\border\s+by\b")
_MOST_OF_A_TEXT = 40
_LEAST_DIGITS, _MOST_DIGITS = 4, 16
"""Of rows per answer."""


class AnsweringRun(NamedTuple):
    """A run: its seed, and what it observed."""

    seed: int
    observation: Observation


def asked(runs: Iterable[Run]) -> list[AnsweringRun]:
    """The runs of which answers are known."""
    return [AnsweringRun(run.seed, run.driven) for run in runs if run.driven and run.driven.answers]


class DifferingStatement(NamedTuple):
    """A statement whose answers differ."""

    statement: str
    """``read.sql:3 (select abalance from …)``."""
    a: str
    """``1 row per answer``."""
    b: str

    @property
    def sentence(self) -> str:
        return f"{self.statement}: {self.a} → {self.b}"


def differing_statements(
    a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]
) -> tuple[DifferingStatement, ...]:
    """The statements whose answers differ, in the order of the scripts."""
    return tuple(
        found
        for of_a, of_b in _shared(a, b)
        if (found := _compared(of_a, of_b, is_of_reads=_is_of_reads(a, b))) is not None
    )


def agreement_of_statements(a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]) -> str:
    """How far they agree, where nothing differs: ``2 statements, first 64 transactions of each of
    8 clients, by values``; empty: no answers are known."""
    shared = _shared(a, b)
    if not shared:
        return ""
    stages = [_stage(*one) for one in shared if _is_by_values(*one, _is_of_reads(a, b))]
    known = [stage for stage in stages if stage is not None]
    how = "rows per answer, not their values"
    if len(known) == len(shared):
        least = min(known, key=attrgetter("transactions"))
        how = f"first {units.counted(least.transactions, 'transaction')}{_whose(least)}, by values"
    elif known:
        how = f"{len(known)} of them by values, all by rows per answer"
    return f"{units.counted(len(shared), 'statement')}, {how}"


def _whose(stage: FirstAnswersReport) -> str:
    match stage.clients:
        case 0:
            return ""
        case 1:
            return " of 1 client"
        case clients:
            return f" of each of {clients} clients"


_OfSide = Sequence[tuple[int, AnswerReport]]
"""The answers to one statement in each run, with the run's seed."""


def _shared(a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]) -> list[tuple[_OfSide, _OfSide]]:
    of_a, of_b = _by_statement(a), _by_statement(b)
    return [(of_a[key], of_b[key]) for key in of_a if key in of_b]


def _by_statement(
    runs: Sequence[AnsweringRun],
) -> dict[tuple[str, int, str], list[tuple[int, AnswerReport]]]:
    found: dict[tuple[str, int, str], list[tuple[int, AnswerReport]]] = {}
    for seed, observation in runs:
        for one in observation.answers:
            key = one.transaction, one.statement, one.text
            found.setdefault(key, []).append((seed, one))
    return found


def _is_of_reads(a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]) -> bool:
    """Whether no client changed data: what one has written, another reads."""
    return all(one.observation.commits == 0 for one in (*a, *b))


def _is_by_values(a: _OfSide, b: _OfSide, is_of_reads: bool) -> bool:
    """Whether the values of its answers depend on the data and the question alone."""
    if not is_of_reads or any(one.varies for _, one in (*a, *b)):
        return False
    text = a[0][1].text
    is_any_of_many = _LIMITS.search(text) and not _ORDERS.search(text)
    return not is_any_of_many and not _CHANGING.search(text)


def _pairs(a: _OfSide, b: _OfSide) -> Iterator[tuple[FirstAnswersReport, FirstAnswersReport]]:
    """Of runs with the same seed, at the last stage that both reached with as many clients."""
    of_b = dict(b)
    for seed, one in a:
        other = of_b.get(seed)
        if other is None:
            continue
        there = {(part.transactions, part.clients): part for part in other.first}
        both = [
            (part, there[part.transactions, part.clients])
            for part in one.first
            if (part.transactions, part.clients) in there
        ]
        if both:
            yield both[-1]


def _stage(a: _OfSide, b: _OfSide) -> FirstAnswersReport | None:
    """As far as all runs were compared; None: not at all."""
    compared = (one for one, _ in _pairs(a, b))
    return min(compared, key=attrgetter("transactions"), default=None)


def _compared(a: _OfSide, b: _OfSide, *, is_of_reads: bool) -> DifferingStatement | None:
    name = f"{a[0][1].transaction}:{a[0][1].line} ({shortened(a[0][1].text, _MOST_OF_A_TEXT)})"
    pairs = list(_pairs(a, b)) if _is_by_values(a, b, is_of_reads) else []
    rows = _per_answer(a), _per_answer(b)
    for one, other in pairs:
        if (one.answers, one.rows) != (other.answers, other.rows):
            is_seen_in_all = _shown_rows(rows[0]) != _shown_rows(rows[1])
            return DifferingStatement(
                name, *_apart(*(rows if is_seen_in_all else (_ratio(one), _ratio(other))))
            )
        if not _is_same(one, other):
            return DifferingStatement(
                name, _shown_rows(_ratio(one)), "as many rows with other values"
            )
    least = _LEAST_SHARE_WHERE_EQUAL if pairs else _LEAST_SHARE
    if _differ(a, b) and abs(rows[0] - rows[1]) > least * max(rows):
        return DifferingStatement(name, *_apart(*rows))
    return None


def _is_same(report: FirstAnswersReport, other: FirstAnswersReport) -> bool:
    if (report.digest, report.fractions) != (other.digest, other.fractions):
        return False
    near = _ROUNDED_EACH * report.fractions + _ROUNDED_SHARE * abs(report.fraction_sum)
    return abs(report.fraction_sum - other.fraction_sum) <= near


def _differ(a: _OfSide, b: _OfSide) -> bool:
    """Whether the interval of the difference between the mean rows per answer excludes 0. If both
    sides answer alike, their answers have one variance; that of whole runs counts where it is
    greater."""
    answers, rows, squares = (
        [sum(getattr(one, name) for _, one in side) for side in (a, b)]
        for name in ("answers", "rows", "rows_squared")
    )
    if not all(answers):
        return False
    mean = sum(rows) / sum(answers)
    variance = max(0.0, sum(squares) / sum(answers) - mean**2)
    error = math.sqrt(variance * sum(1 / number for number in answers))
    over_runs = math.hypot(_error_of_runs(a), _error_of_runs(b))
    difference = abs(rows[0] / answers[0] - rows[1] / answers[1])
    return bool(difference > _SIGMAS * max(error, over_runs))


def _error_of_runs(side: _OfSide) -> float:
    means = [one.rows / one.answers for _, one in side if one.answers]
    return statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 2 else 0.0


def _per_answer(side: _OfSide) -> float:
    answers = sum(one.answers for _, one in side)
    return sum(one.rows for _, one in side) / answers if answers else 0.0


def _ratio(first: FirstAnswersReport) -> float:
    return first.rows / first.answers if first.answers else 0.0


def _apart(rows: float, others: float) -> tuple[str, str]:
    """Both, with as many digits as it takes to tell them apart."""
    digits = range(_LEAST_DIGITS, _MOST_DIGITS)
    enough = (one for one in digits if _shown_rows(rows, one) != _shown_rows(others, one))
    needed = next(enough, _LEAST_DIGITS)
    return _shown_rows(rows, needed), _shown_rows(others, needed)


def _shown_rows(rows: float, digits: int = _LEAST_DIGITS) -> str:
    number = float(f"{rows:.{digits}g}")
    return f"{number:.15g} {'row' if number == 1 else 'rows'} per answer"


_DIGITS_OF_SUMS = 8
"""Of a digest, as it is shown."""


def differing_sums(
    a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]
) -> tuple[DifferingStatement, ...]:
    """Each type once, by the first pair of runs that differ."""
    found: dict[str, DifferingStatement] = {}
    for one, other in _pairs_of_sums(a, b):
        if (one.rows, one.digest) != (other.rows, other.digest):
            shown = _shown_sum(one), _shown_sum(other)
            found.setdefault(one.transaction, DifferingStatement(one.transaction, *shown))
    return tuple(found.values())


def agreement_of_sums(a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]) -> str:
    """How far they agree, where nothing differs: ``all answers of 2 scripts``; empty: no answers
    were compared."""
    compared = {one.transaction for one, _ in _pairs_of_sums(a, b)}
    return f"all answers of {units.counted(len(compared), 'script')}" if compared else ""


def _pairs_of_sums(
    a: Sequence[AnsweringRun], b: Sequence[AnsweringRun]
) -> Iterator[tuple[AnswerSumReport, AnswerSumReport]]:
    there = {
        (run.seed, one.transaction, one.transactions): one
        for run in b
        for one in run.observation.answer_sums
    }
    for run in a:
        for one in run.observation.answer_sums:
            if (other := there.get((run.seed, one.transaction, one.transactions))) is not None:
                yield one, other


def _shown_sum(summed: AnswerSumReport) -> str:
    return f"{units.counted(summed.rows, 'row')} ({summed.digest[:_DIGITS_OF_SUMS]})"


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


def compare_digests(
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
