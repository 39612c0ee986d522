"""Takes a run, or all runs of a cell; returns whether its number is valid, unreliable or
invalid, and why; and whether it keeps a rate that is required."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from msgspec import Struct

from assay.contracts.observation import Observation, Outcomes
from assay.experiment import Driving
from assay.judge import evidence, machine_load, run_warnings, warning_kinds
from assay.judge.result_checks import CONFLICTS, LOSSES, STATEMENT_LIMIT, errors_by_class
from assay.judge.run import (
    DIFFER,
    EXCEEDED,
    NONE,
    ONE_REPETITION,
    VALID,
    WORDS,
    Reason,
    Run,
    RunWarning,
    Verdict,
)
from assay.judge.statistics import samples
from assay.judge.statistics.samples import Spread, judged_number, median_and_spread
from assay.text import units
from assay.text.phrases import reason_sentence


def of_run(run: Run) -> Verdict:
    """The verdict on a single run."""
    if run.state in ("refused", EXCEEDED):
        return NONE
    if run.state in ("failed", "interrupted"):
        return Verdict.because("invalid", reason_sentence(run.reason) if run.reason else run.state)
    wrong = [check["id"] for check in run.checks if check["ok"] is False]
    if wrong:
        return Verdict.because("invalid", f"wrong answers: {', '.join(wrong)}")
    driven = run.driven
    reconnects = run.driving.reconnect_timeout_s is not None
    reasons = []
    observed = None if driven is None else driven.observed_outcomes
    if driven and observed and observed.lost and not (reconnects and driven.outages):
        words, classes = _lost(observed), errors_by_class(driven.errors)
        words += f": {classes}" if ", " in classes else ""
        why = _why_counted(driven, reconnects)
        if why is None or observed.lost == observed.scheduled:
            return Verdict.because("invalid", words)
        reasons.append(f"{words}, for {why}")
    limits = [
        warning.name
        for warning in run_warnings.of_run(run)
        if warning.name in warning_kinds.limiting()
    ]
    reasons += [name.replace("-", " ") for name in dict.fromkeys(limits)]
    return _unreliable([Reason(text) for text in reasons])


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
    asked_for: tuple[Reason, ...] = ()
    if measured < asked:
        reasons.append(Reason(f"{measured} of {asked} repetitions ended"))
    elif measured == 1:
        asked_for = (Reason(ONE_REPETITION),)
    if spread.relative > warning_kinds.NOISE_LIMIT:
        reasons.append(Reason(f"{DIFFER}{units.share(spread.relative)}", spread.relative))
    return worst([*verdicts, _unreliable(reasons), Verdict(VALID.word, asked_for)])


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


def _unreliable(reasons: Sequence[Reason]) -> Verdict:
    return Verdict("unreliable", tuple(reasons)) if reasons else VALID


LEAST_REPETITIONS = 4
"""Of three values one always lies at least as far off as the other two lie apart."""


class CellVerdict(Struct, frozen=True):
    verdict: Verdict
    warnings: tuple[RunWarning, ...]
    repetitions: int
    """As planned."""
    measured: int
    """Of them, those that were measured to their end."""


def of_cell(runs: Sequence[Run]) -> CellVerdict:
    """``runs``: every repetition that was asked for, and those that were measured again in the
    place of a disturbed one, each with its own verdict. The number that is judged is the
    throughput; where there are no transactions, the elapsed time."""
    measured = [run for run in runs if run.is_measured]
    over = _spread(measured)
    if over is None:
        judged = (
            worst([run.judged for run in runs])
            if any(run.state in ("failed", "interrupted") for run in runs)
            else NONE
        )
        return CellVerdict(judged, (), len(runs), len(measured))
    counted = machine_load.undisturbed_runs(
        measured, lambda run: run, lambda run: run.of_repetition
    )
    over = _spread(counted) or over
    verdicts = [run.judged for run in counted]
    if evidence.unasked_changes(measured):
        verdicts.append(
            Verdict.because("unreliable", _warning_name(warning_kinds.WarningKind.CELL_CHANGED))
        )
    left_out = len(measured) - len(counted)
    judged = of_number(verdicts, len(counted), len(runs) - left_out, over)
    warnings = tuple(_cell_warnings(over, counted))
    return CellVerdict(judged, warnings, len(runs), len(measured))


def _cell_warnings(over: Spread, measured: Sequence[Run]) -> Iterator[RunWarning]:
    if over.relative > warning_kinds.NOISE_LIMIT:
        share = units.share_beyond(over.relative, warning_kinds.NOISE_LIMIT)
        detail = f"{share} over {over.n} repetitions"
        yield RunWarning(warning_kinds.WarningKind.NOISY_REPETITIONS.id, detail)
    if changes := evidence.unasked_changes(measured):
        yield RunWarning(warning_kinds.WarningKind.CELL_CHANGED.id, changes)
    yield from _outlying(measured)
    timed = [run.driven for run in measured if run.driven and {*run.driving.stop} != {"passes"}]
    if detail := samples.few_samples(timed):
        yield RunWarning(warning_kinds.WarningKind.FEW_SAMPLES.id, detail)


def _outlying(measured: Sequence[Run]) -> Iterator[RunWarning]:
    """The repetition that is unlike all others."""
    numbers = [judged_number(run) for run in measured]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers) or len(known) < LEAST_REPETITIONS:
        return
    import numpy as np  # here, as in `assay.judge.seconds`

    from assay.judge.statistics.series import outlying_repetitions

    is_rate = isinstance(measured[0].observation, Observation)
    scale, unit = (1.0, "/s") if is_rate else (1e9, " s")
    outlier = outlying_repetitions(np.asarray(known, dtype=np.float64) / scale)
    if outlier is not None:
        run = measured[outlier.at].id
        named = f"run {run}: " if run else ""
        from assay.judge.seconds import deviation

        yield RunWarning(
            warning_kinds.WarningKind.OUTLYING_REPETITION.id, f"{named}{deviation(outlier, unit)}"
        )


def _warning_name(kind: warning_kinds.WarningKind) -> str:
    """As reasons of verdicts say it."""
    return kind.id.replace("-", " ")


def _spread(measured: Sequence[Run]) -> Spread | None:
    values = [value for one in measured if (value := judged_number(one)) is not None]
    return median_and_spread(values) if values else None


_REACHED_OF_REQUIRED = 0.95
"""Share of the offered rate that the throughput has at least, where a rate was kept."""


class RateKept(Enum):
    YES = "yes"
    NO = "no"
    OPEN = "not decided"


def rate_kept(
    runs: Sequence[tuple[Driving | None, Observation]], verdict: Verdict, required_per_s: float
) -> tuple[RateKept, str]:
    """With the reason, where it is not decided. ``runs``: those that were measured; ``verdict``: of
    their number, which decides nothing where it is invalid."""
    if not runs or verdict.word not in ("valid", "unreliable"):
        return RateKept.OPEN, "no valid number"
    offered = [
        rate
        for driving, _ in runs
        if driving
        and driving.is_open
        and isinstance(rate := driving.offered_rate_per_s, int | float)
    ]
    if offered and min(offered) < required_per_s:
        return RateKept.OPEN, f"only {units.digits(min(offered))}/s were offered"
    each = [
        _is_kept(observation, required_per_s, is_offered=bool(offered)) for _, observation in runs
    ]
    if len(set(each)) > 1:
        return RateKept.OPEN, f"in {sum(each)} of {len(each)} repetitions"
    return (RateKept.YES if each[0] else RateKept.NO), ""


def _is_kept(observation: Observation, required_per_s: float, *, is_offered: bool) -> bool:
    """With random arrivals, and while the last transactions end, a little less than the offered
    rate is reached."""
    needed = required_per_s * (_REACHED_OF_REQUIRED if is_offered else 1)
    return (observation.throughput_per_s or 0.0) >= needed
