"""Takes runs; says whether a number made of them is valid, indicative or invalid, and why.

*Invalid*: the run did not do what was asked, or answers were wrong. *Indicative*: the number was
measured, and something about how it was measured limits what may be concluded from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from assay.check.verdict import CONFLICTS
from assay.record import RunRecord
from assay.report import units, warnings
from assay.report.spread import Spread

WORDS = ("valid", "indicative", "invalid")
"""From good to bad."""
_LIMITING = {kind.id for kind in warnings.Kind if kind.value.limits}


class Verdict(NamedTuple):
    word: str
    reason: str = ""
    """The reasons, the nearest first; empty for ``valid``."""


VALID = Verdict("valid")


def of_run(run: RunRecord, machine: Mapping[str, Any]) -> Verdict:
    """What can be said of one run by itself."""
    if run.state in ("failed", "interrupted"):
        return Verdict("invalid", run.reason or run.state)
    wrong = [check["id"] for check in run.checks if check["ok"] is False]
    if wrong:
        return Verdict("invalid", f"wrong answers: {', '.join(wrong)}")
    observation = run.observation or {}
    outcomes = observation.get("outcomes", {})
    lost = outcomes.get("failed", 0) + outcomes.get("unknown", 0)
    is_ridden_through = run.driving.get("reconnect_patience_s") and observation.get("outages")
    reasons = []
    if lost and not is_ridden_through:
        scheduled = outcomes["scheduled"]
        share = units.percent(lost / scheduled)
        words = f"{lost} of {scheduled} transactions ({share}) failed"
        if not _are_conflicts(observation):
            return Verdict("invalid", words)
        reasons.append(f"{words}, for serialization failures and deadlocks")
    limits = [name for name, _ in warnings.of_run(run, machine) if name in _LIMITING]
    return _indicative([*reasons, *(name.replace("-", " ") for name in dict.fromkeys(limits))])


def _are_conflicts(observation: Mapping[str, Any]) -> bool:
    """Whether all errors come of other transactions at the same time: they are counted, and what
    was measured beside them holds. (Where a workload forbids them its run has failed.)"""
    errors = observation.get("errors") or ()
    return bool(errors) and all(error["class"] in CONFLICTS for error in errors)


def of_number(
    measured: Sequence[RunRecord], asked: int, spread: Spread, machine: Mapping[str, Any]
) -> Verdict:
    """Of the median of repetitions; ``asked`` is how many were planned."""
    verdicts = [of_run(run, machine) for run in measured]
    reasons = []
    if len(measured) < asked:
        reasons.append(f"{len(measured)} of {asked} repetitions ended")
    elif len(measured) == 1:
        reasons.append("one repetition")
    if spread.relative > warnings.NOISE_LIMIT:
        reasons.append(f"repetitions differ by {units.share(spread.relative)}")
    return worst([*verdicts, _indicative(reasons)])


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst word, with every reason for it."""
    found = list(verdicts)
    word = max((one.word for one in found), key=WORDS.index, default="valid")
    reasons = dict.fromkeys(one.reason for one in found if one.word == word and one.reason)
    return Verdict(word, "; ".join(reasons))


def _indicative(reasons: Iterable[str]) -> Verdict:
    joined = "; ".join(reasons)
    return Verdict("indicative", joined) if joined else VALID
