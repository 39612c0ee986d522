"""Takes an observation and expected answers; returns result checks, and why a run failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NotRequired, TypedDict

from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Dialect
from assay.contracts.observation import ErrorReport, Observation, Observed, Outcomes, StepReport
from assay.drive.query import Row, StatementAnswer
from assay.errors import (
    RESOURCES,
    ExperimentError,
    SystemDied,
    SystemRefused,
    SystemUnderTestError,
    readable,
    says_disk_is_full,
)
from assay.experiment import Scalar
from assay.text import units
from assay.workload.values import Script

if TYPE_CHECKING:
    from assay.drive import query


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


def chosen_rules(checks: Iterable[Script], names: Collection[str]) -> list[Script]:
    """The checks of these names."""
    return [check for check in checks if check.name in names]


def check_consistency(
    deployment: Deployment,
    checks: Iterable[Script],
    variables: Mapping[str, Scalar],
    identifiers: Mapping[str, list[str]],
    dialect: Dialect,
    folder: Path,
) -> list[Check]:
    """Runs every query; a query that fails is a failed check. Where the system is lost, the check
    was not run.

    Raises `ExperimentError` for a query that writes; ``folder`` is the workload's.
    """
    return [
        _rule_check(deployment, script, variables, identifiers, dialect, folder)
        for script in checks
    ]


def _rule_check(
    deployment: Deployment,
    script: Script,
    variables: Mapping[str, Scalar],
    identifiers: Mapping[str, list[str]],
    dialect: Dialect,
    folder: Path,
) -> Check:
    id_ = Path(script.path).stem
    found: int | None
    try:
        from assay.drive import query

        answers = query.ask_each(
            deployment, script, variables, identifiers, dialect.session_read_only()
        )
    except SystemRefused as error:
        if error.code in dialect.read_only_codes:
            raise ExperimentError(
                f"a check must only read, but this one writes: {error.message}",
                file=folder / script.path,
                hint="a check is a query that selects the rows which break a rule",
            ) from error
        found, note = None, error.message
    except SystemDied as error:
        return not_run(id_, script.title, error.message)
    except SystemUnderTestError as error:
        found, note = None, error.message
    else:
        found, note = _counted(answers)
    return Check(id=id_, title=script.title, expected=0, found=found, ok=found == 0, note=note)


def _counted(answers: Sequence[query.StatementAnswer]) -> tuple[int | None, str]:
    """The rows of all statements, and the first of them; None where no statement is a query."""
    if not any(answer.is_query for answer in answers):
        return None, "expected a query, found none"
    broken = [answer for answer in answers if answer.rows]
    if not broken:
        return 0, ""
    first = _shown_columns(broken[0].columns, broken[0].rows[0])
    return sum(len(answer.rows) for answer in broken), f"expected none; the first: {first}"


def _shown_columns(columns: Iterable[str], row: query.Row) -> str:
    """``branches = 5, tellers = 6``."""
    return ", ".join(
        f"{column} = {'NULL' if cell is None else cell.rstrip()}"
        for column, cell in zip(columns, row, strict=True)
    )


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
        _dumps_check(f"{label} {number}", title, dumps, own_pair)
        for number, (dumps, own_pair) in enumerate(
            zip(zip(expected, answers, strict=True), own_or_none, strict=True)
        )
    ]


def _dumps_check(
    id_: str,
    title: str,
    dumps: tuple[StatementAnswer, StatementAnswer],
    own: tuple[StatementAnswer, StatementAnswer] | None,
) -> Check:
    expected, found = (answer.rows for answer in dumps)
    ok: bool | None = expected == found
    note = "" if ok else _first_difference(expected, found)
    if not ok and own is not None:
        own_expected, own_found = (answer.rows for answer in own)
        if own_expected == own_found:
            ok, note = None, f"clients overtook one another: {note}"
        else:
            note = f"{_first_difference(own_expected, own_found)}; {_DOUBT}"
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


def _first_difference(expected: tuple[Row, ...], rows: tuple[Row, ...]) -> str:
    """The first row that is not as expected."""
    pairs = enumerate(zip_longest(expected, rows), start=1)
    number, (expected_row, row) = next(pair for pair in pairs if pair[1][0] != pair[1][1])
    return f"row {number} is {shown_row(row)}, expected {shown_row(expected_row)}"


def shown_row(row: Sequence[str | None] | None) -> str:
    if row is None:
        return "missing"
    return "(" + ", ".join("NULL" if cell is None else cell.rstrip() for cell in row) + ")"


_ENDED = {
    "refused": "not every client could connect",
    "lost": "the server disconnected during the run",
    "all clients failed": "every client failed",
    "interrupted": "interrupted",
}
_NO_FIXES: Mapping[str, str] = MappingProxyType({})


LOSSES = frozenset({"lost connection", "connection refused"})
"""Classes of errors of a server that cannot be reached."""
CONFLICTS = frozenset({"serialization", "deadlock"})
"""Classes of errors of concurrent transactions."""
STATEMENT_LIMIT = "statement_limit"
"""The engine's code of the error of a statement that took longer than its limit, and was
cancelled."""
_CONFLICT = "serialization or deadlock"
# Kept in the record, which Python programs read too: in words, not as options are spelled.
_FIXES: Mapping[str, str] = {
    **dict.fromkeys(
        CONFLICTS,
        "more retries of each transaction (1000, say), fewer clients, or a setting of the system "
        "by which fewer of them are refused",
    ),
    "too many connections": "fewer clients, or a higher limit of connections in the server",
    "permission": "grant this user what the statement needs, or name another user in the URL, or "
    "a server that takes writes",
}
"""Class of errors → its fix, where the dialect knows none of the code."""
MOST_CONFLICTS = 0.10
"""Share of the transactions that may end by conflicts where these are counted, as in pgbench: with
more of them the throughput is not that of the script."""


def why_failed(
    observation: Observed,
    checks: Sequence[Check],
    died: str | None,
    *,
    counted: Set[str] = frozenset(),
    reconnect_timeout_s: float | None = None,
    fixes: Mapping[str, str] = _NO_FIXES,
) -> str | None:
    """One sentence with the most direct cause; ``died`` is the system's own reason for its end.

    ``counted``: classes of errors that are counted and do not fail the run: losses where clients
    reconnect, conflicts of an ad hoc script, as in pgbench. ``reconnect_timeout_s``: for how long
    clients that lost their sessions tried to reconnect; None: they did not.
    ``fixes``: those that the dialect knows, by the error's code.
    """
    if died is not None:
        return died
    if isinstance(observation, StepReport):
        return observation.why_failed()
    if observation.lost_generators and (
        observation.ended_by != "stop" or not observation.is_bound_known
    ):
        return ", ".join(observation.lost_generators)
    first = _first_error(observation, counted, fixes)
    if (ended := _ended(observation, reconnect_timeout_s)) is not None:
        return f"{ended}{first}"
    wrong = [check for check in checks if check["ok"] is False]
    if wrong:
        return f"wrong answers: {wrong_answers(wrong)}"
    outcomes = observation.observed_outcomes
    is_counted = all(
        error.class_ in counted or error.code == STATEMENT_LIMIT for error in observation.errors
    )
    if outcomes.lost and (not is_counted or outcomes.lost == outcomes.scheduled):
        classes = errors_by_class(observation.errors)
        return f"{_lost(outcomes)}{f' ({classes})' if ', ' in classes else ''}{first}"
    classes_found = {error.class_ for error in observation.errors}
    conflicts = classes_found <= CONFLICTS and outcomes.lost > MOST_CONFLICTS * outcomes.scheduled
    if outcomes.lost and conflicts:
        share = units.percent(outcomes.lost / outcomes.scheduled)
        return f"{_lost(outcomes)}, {share} of all{first}"
    return None


def cancelled_types(observation: Observation) -> set[str]:
    """The transaction types of which a statement was cancelled at its limit."""
    of_limit = (error for error in observation.errors if error.code == STATEMENT_LIMIT)
    return {error.transaction for error in of_limit if error.transaction is not None}


def errors_by_class(errors: Sequence[ErrorReport]) -> str:
    """``419 serialization or deadlock, 185 data``: the errors after which a transaction was not
    tried again, the most frequent first; empty: there are none."""
    both = {error.class_ for error in errors} >= CONFLICTS
    ended: Counter[str] = Counter()
    for error in errors:
        is_one_of_two = both and error.class_ in CONFLICTS
        ended[_CONFLICT if is_one_of_two else error.class_] += error.count - error.retried
    return ", ".join(f"{count} {name}" for name, count in ended.most_common() if count > 0)


def _lost(outcomes: Outcomes) -> str:
    """``9 transactions failed, 1 unknown``: each under the word of its outcome."""
    failed, unknown = outcomes.failed, outcomes.unknown
    if not failed:
        return f"the outcome of {units.counted(unknown, 'transaction')} is unknown"
    return f"{units.counted(failed, 'transaction')} failed" + (
        f", {unknown} unknown" if unknown else ""
    )


def _ended(observation: Observation, reconnect_timeout_s: float | None) -> str | None:
    """How the run ended; None where it ended as planned."""
    ended = _ENDED.get(observation.ended_by)
    if observation.ended_by == "lost" and reconnect_timeout_s is not None:
        tried_s = observation.outages[-1].lasted_ns / 1e9 if observation.outages else 0
        times = observation.reconnects
        before = f" after {units.counted(times, 'reconnect')}" if times else ""
        again = " again" if times else ""
        return (
            f"{ended}{before}, and no client reconnected{again} in {tried_s:.1f} s (they try until "
            f"the end of the run, for at most {reconnect_timeout_s:g} s)"
        )
    unfinished = observation.unfinished
    if (
        observation.ended_by != "all clients failed"
        or unfinished is None
        or unfinished.transactions < len(observation.client_ends)
    ):
        return ended
    if unfinished.is_deaf:
        return "the server does not answer, and it opens no session"
    return "the last transaction of every client did not end"


def is_out_of_space(observation: Observed, died: str | None) -> bool:
    """Whether the reason is a full disk or another resource that ran out, which is neither the
    system's fault nor the workload's. What is known of a death counts alone: a disk that is gone
    gives the same errors as a full one."""
    if died is not None:
        return says_disk_is_full(died)
    errors = observation.errors if isinstance(observation, Observation) else ()
    return any(error.class_ == RESOURCES for error in errors)


def wrong_answers(wrong: Sequence[Check]) -> str:
    """The first three, each with the rows it returned."""
    named = ", ".join(f"{_answer(check)} ({check['note']})" for check in wrong[:3])
    return named + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "")


def _answer(check: Check) -> str:
    """``a returned 2 rows``; of a query that was refused ``a failed``."""
    found = check["found"]
    if found is None:
        return f"{check['id']} failed"
    return f"{check['id']} returned {found} {'row' if found == 1 else 'rows'}"


def _first_error(observation: Observation, counted: Set[str], fixes: Mapping[str, str]) -> str:
    every = observation.errors
    errors = [error for error in every if error.class_ not in counted] or every
    losses = [error for error in every if error.class_ in LOSSES]
    if observation.ended_by == "lost":
        errors = losses or errors
    elif any(error in losses for error in errors):
        errors = [error for error in errors if error.class_ not in CONFLICTS]
    if not errors:
        return ""
    first = errors[0]
    fix = fixes.get(first.code) or _FIXES.get(first.class_)
    return f": {first.class_}: {readable(first.message)}" + (f"; fix: {fix}" if fix else "")
