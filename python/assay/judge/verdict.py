"""Takes runs; returns whether their number is valid, indicative or invalid, and why.

*Invalid*: the run did not do the planned work, or answers were wrong. *Indicative*: the number was
measured, but the conditions limit what may be concluded from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.contracts.observation import Observation, Outcomes
from assay.judge.check.verdict import CONFLICTS, LOSSES, STATEMENT_LIMIT, by_class
from assay.judge.run import (
    DIFFER,
    EXCEEDED,
    NONE,
    VALID,
    WORDS,
    Reason,
    Run,
    Verdict,
)
from assay.judge.statistics.spread import Spread
from assay.judge.warnings import kinds, run_warnings
from assay.text import units
from assay.text.reasons import sentence


def of_run(run: Run) -> Verdict:
    """The verdict on a single run."""
    if run.state in ("refused", EXCEEDED):
        return NONE
    if run.state in ("failed", "interrupted"):
        return Verdict.because("invalid", sentence(run.reason) if run.reason else run.state)
    wrong = [check["id"] for check in run.checks if check["ok"] is False]
    if wrong:
        return Verdict.because("invalid", f"wrong answers: {', '.join(wrong)}")
    driven = run.driven
    reconnects = run.driving.reconnect_timeout_s is not None
    reasons = []
    observed = None if driven is None else driven.observed_outcomes
    if driven and observed and observed.lost and not (reconnects and driven.outages):
        words, classes = _lost(observed), by_class(driven.errors)
        words += f": {classes}" if ", " in classes else ""
        why = _why_counted(driven, reconnects)
        if why is None or observed.lost == observed.scheduled:
            return Verdict.because("invalid", words)
        reasons.append(f"{words}, for {why}")
    limits = [
        warning.name for warning in run_warnings.of_run(run) if warning.name in kinds.limiting()
    ]
    reasons += [name.replace("-", " ") for name in dict.fromkeys(limits)]
    return _indicative([Reason(text) for text in reasons])


def _lost(outcomes: Outcomes) -> str:
    """``2 of 100 transactions (2 %) failed``; an unknown outcome has its own word."""
    share = units.percent(outcomes.lost / outcomes.scheduled)
    if not outcomes.unknown:
        return f"{outcomes.failed} of {outcomes.scheduled} transactions ({share}) failed"
    if not outcomes.failed:
        return (
            f"the outcome of {outcomes.unknown} of {outcomes.scheduled} transactions ({share}) "
            "is unknown"
        )
    return (
        f"{outcomes.failed} of {outcomes.scheduled} transactions failed, {outcomes.unknown} "
        f"unknown (together {share})"
    )


def _why_counted(observation: Observation, reconnects: bool) -> str | None:
    """Why failed transactions limit the number and do not make it invalid, if not all failed: all
    errors are conflicts of concurrent transactions, statements over their limit, or lost
    connections of clients that reconnect. (Where they are not expected, the run itself has
    failed.)"""
    of_limit = [error for error in observation.errors if error.code == STATEMENT_LIMIT]
    classes = {error.class_ for error in observation.errors if error not in of_limit}
    words = ["the limit of a statement"] if of_limit else []
    if classes & CONFLICTS:
        words.append("serialization failures and deadlocks")
    if reconnects and classes & LOSSES:
        words.append("lost connections")
    is_explained = classes <= (CONFLICTS | LOSSES if reconnects else CONFLICTS)
    return " and ".join(words) if is_explained and words else None


def of_number(verdicts: Iterable[Verdict], measured: int, asked: int, spread: Spread) -> Verdict:
    """The verdict on the median of repetitions; ``verdicts`` are those of its runs, ``asked`` is
    the number of planned runs."""
    reasons = []
    if measured < asked:
        reasons.append(Reason(f"{measured} of {asked} repetitions ended"))
    elif measured == 1:
        reasons.append(Reason("one repetition"))
    if spread.relative > kinds.NOISE_LIMIT:
        reasons.append(Reason(f"{DIFFER}{units.share(spread.relative)}", spread.relative))
    return worst([*verdicts, _indicative(reasons)])


def shared(verdicts: Iterable[Verdict]) -> Verdict | None:
    """What two or more verdicts have in common, which is said once: their word, and the reasons
    that each of them has. None where that is nothing, or they are valid."""
    found = list(verdicts)
    if len(found) < 2 or len({one.word for one in found}) > 1 or found[0].word == VALID.word:
        return None
    reasons = [one for one in found[0].reasons if all(one in other.reasons for other in found)]
    return Verdict(found[0].word, tuple(reasons)) if found[0].word and reasons else None


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst word, with every reason for it once."""
    found = [verdict for verdict in verdicts if verdict.word]
    word = max((verdict.word for verdict in found), key=WORDS.index, default="valid")
    given = [reason for verdict in found if verdict.word == word for reason in verdict.reasons]
    return Verdict(word, tuple({one.text: one for one in _with_greatest_spread(given)}.values()))


def _with_greatest_spread(reasons: Sequence[Reason]) -> list[Reason]:
    """Of two cells, by how much the repetitions differ is said once."""
    greatest = max((one.spread for one in reasons if one.spread is not None), default=None)
    return [one for one in reasons if one.spread in (None, greatest)]


def _indicative(reasons: Sequence[Reason]) -> Verdict:
    return Verdict("indicative", tuple(reasons)) if reasons else VALID
