"""Takes the questions of an experiment with their conclusions, or what the factors of a grid
change; gives a sentence for each: how many times as fast, or what is not decided, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from assay.comparison import unequal_work
from assay.comparison.conclusions import Conclusion, Question
from assay.comparison.effects import Effect, SettingEffects
from assay.comparison.measured_cells import IN_MEMORY, Levels
from assay.comparison.ratios import NO_DIFFERENCE, NOT_COMPARABLE, NOT_DECIDED
from assay.contracts import factors
from assay.contracts.durability import MEANINGS, NOT_MEASURED
from assay.experiment import Scalar
from assay.judge.storage_checks import HIGHEST_DURABILITY, MEMORY
from assay.plan import cell_names
from assay.text import units

MOST_PLACES = 3
"""Combinations of the other factors that are named; of more the rest is counted."""
_WIDE = 1000
"""An interval whose upper bound is so many times the lower one says nothing."""
_CLARITY = ("", NO_DIFFERENCE, NOT_DECIDED, NOT_COMPARABLE)
"""What begins a clause, from the clearest; what is decided begins with nothing."""
TOGETHER = "\u00a0"
"""A blank at which no line is broken."""


def conclusions_said(question: Question, most_places: int) -> str:
    """``SYSTEM is 4.6 times (4.1 to 5.2) as fast as OTHER at 8 clients; …``."""
    if not (shown := _shown_conclusions(question, most_places)):
        return f"{NOT_COMPARABLE}: {_listed_levels(question)}"
    parts = [*_clauses(question, shown)]
    if rest := _in_order(question)[len(shown) :]:
        parts.append(_others(question, shown[0], rest))
    if question.knees:
        parts.append(_knees(question, most_places))
    return "; ".join(parts)


def _knees(question: Question, most_places: int) -> str:
    """``it no longer rises from 8 clients on``; of combinations of the other factors that differ
    in it ``knee at 8 clients on SYSTEM, at 16 clients on OTHER``."""
    found = question.knees
    places = {tuple(one.at.items()) for one in question.conclusions}
    if len({knee.words for _, knee in found}) == 1:
        some = f" in {len(found)} of {len(places)}" if len(found) < len(places) else ""
        return f"it {found[0][1].words}{some}"
    named = ", ".join(f"{knee.place}{where(at)}" for at, knee in found[:most_places])
    left_out = len(found) - most_places
    return f"knee {named}{f', and {left_out} more' if left_out > 0 else ''}"


def quoted(question: Question, most_places: int) -> list[Conclusion]:
    """Those whose ratios `said` has."""
    return [one for place in _shown_conclusions(question, most_places) for one in place]


def _shown_conclusions(question: Question, most_places: int) -> list[list[Conclusion]]:
    """By combination of the other factors; none where nothing was compared, for one reason."""
    if all(one.ratio is None for one in question.conclusions) and shared_reason(question):
        return []
    places = _in_order(question)
    return [place for place in places if _clarity(place) == _clarity(places[0])][:most_places]


def first_said(question: Question) -> Conclusion:
    """The one with which it begins."""
    return min(_in_order(question)[0], key=lambda conclusion: _CLARITY.index(_status(conclusion)))


def _in_order(question: Question) -> list[list[Conclusion]]:
    """Those of each combination of the other factors: what is decided first."""
    by_place: dict[tuple[tuple[str, Scalar], ...], list[Conclusion]] = {}
    for conclusion in question.conclusions:
        by_place.setdefault(tuple(conclusion.at.items()), []).append(conclusion)
    # The most clients are where systems differ, and stand first.
    places = [*by_place.values()] if question.is_numeric else [*reversed(by_place.values())]
    return sorted(places, key=_clarity)


def _clarity(conclusions: Sequence[Conclusion]) -> int:
    """What is decided stands first, then what was compared."""
    return min(_CLARITY.index(_status(conclusion)) for conclusion in conclusions)


def _status(conclusion: Conclusion) -> str:
    """What begins a clause about it; empty: it is decided."""
    if conclusion.ratio is None:
        return NOT_COMPARABLE
    if conclusion.is_decided:
        return ""
    return NOT_DECIDED if conclusion.reason else NO_DIFFERENCE


def shared_reason(question: Question) -> str:
    """Why nothing at all is decided; empty where something is, or for several reasons."""
    reasons = {conclusion.reason for conclusion in question.conclusions}
    return reasons.pop() if len(reasons) == 1 else ""


def other_work(question: Question) -> str:
    """What the levels write, flush or check otherwise for the same work: ``SYSTEM writes and
    flushes a binary log, OTHER writes none``; where that is not so everywhere, with the places."""
    found: dict[str, list[Levels]] = {}
    places = _in_order(question)
    for place in places:
        named = (
            (
                level_name(question.factor, one.compared_with),
                level_name(question.factor, one.level),
                differs,
            )
            for one in place
            for differs in one.other_work
        )
        for clause in unequal_work.safeguard_clauses(named):
            found.setdefault(clause, []).append(place[0].at)
    return "; ".join(
        clause if len(at) == len(places) else clause + " and".join(map(where, at))
        for clause, at in found.items()
    )


def _listed_levels(question: Question) -> str:
    every = (level for one in question.conclusions for level in (one.level, one.compared_with))
    return _apart([level_name(question.factor, level) for level in dict.fromkeys(every)])


def _apart(names: Sequence[str]) -> str:
    """``A with B``; of more ``A with B and C``."""
    return f"{names[0]} with {' and '.join(names[1:])}"


def _clauses(question: Question, places: Sequence[Sequence[Conclusion]]) -> Iterator[str]:
    """Of each place what is decided, then what is not; names that were just said are not
    repeated."""
    is_shared = bool(shared_reason(question))
    before: tuple[object, ...] = ()
    said_before = ""
    clause = ""
    for conclusions in places:
        for status in _CLARITY:
            of_status = [one for one in conclusions if _status(one) == status]
            if not of_status:
                continue
            of_status = [_turned_as(before, status, one) for one in of_status]
            names = (status, *((one.level, one.compared_with) for one in of_status))
            is_short = names == before and status != NOT_COMPARABLE
            text = _seen(question, of_status, is_short=is_short) + where(of_status[0].at)
            why = dict.fromkeys(one.reason for one in of_status if one.reason and not is_shared)
            text += f" ({'; '.join(why)})" if why else ""
            before = names
            if is_short:
                clause += f", {text}"
                continue
            if clause:
                yield clause
            clause = f"{status}: {text}" if status not in ("", said_before) else text
            said_before = status
    yield clause


def _turned_as(before: tuple[object, ...], status: str, conclusion: Conclusion) -> Conclusion:
    """What is not decided has no best level: it is said in the direction of the clause before."""
    if (
        not status
        or conclusion.ratio is None
        or before != (status, (conclusion.compared_with, conclusion.level))
    ):
        return conclusion
    low, high = conclusion.low, conclusion.high
    return replace(
        conclusion,
        level=conclusion.compared_with,
        compared_with=conclusion.level,
        ratio=1 / conclusion.ratio,
        low=high and 1 / high,
        high=low and 1 / low,
    )


def _seen(question: Question, conclusions: Sequence[Conclusion], *, is_short: bool) -> str:
    """Conclusions of one place and status: ``SYSTEM is 4.6 times (4.1 to 5.2) as fast as OTHER``;
    what is not decided, in the past."""
    factor, first = question.factor, conclusions[0]
    level = level_name(factor, first.level)
    others = [level_name(factor, one.compared_with) for one in conclusions]
    if first.ratio is None:
        return _apart([level, *others])
    verb = "is" if first.is_decided else "was"
    if question.is_numeric:
        said_times = times_words(first.ratio, first.low, first.high)
        if is_short:
            return said_times
        return f"{first.metric.label} at {level} {verb} {said_times} that at {others[0]}"
    beside = [
        (times_words(*_advantage(one)), name) for one, name in zip(conclusions, others, strict=True)
    ]
    if is_short:
        return ", ".join(often for often, _ in beside)
    if first.metric.is_speed:
        return f"{level} {verb} " + ", ".join(f"{often} as fast as {one}" for often, one in beside)
    as_much = (f"{one} {verb} {often} that of {level}" for often, one in beside)
    return f"the {first.metric.label} of {', '.join(as_much)}"


def _others(
    question: Question, first: Sequence[Conclusion], rest: Sequence[Sequence[Conclusion]]
) -> str:
    """What is known of the other combinations, beside the first one's answer: ``likewise at
    2 clients, no difference seen at 1 client``; ``likewise in 5 of 7 other combinations, not
    decided in 2``."""
    by_word: dict[str, list[Levels]] = {}
    for conclusions in rest:
        word = _beside(question, first, conclusions)
        by_word.setdefault(word, []).append(conclusions[0].at)
    is_named = len(rest) <= MOST_PLACES and all(
        len(at) == 1 or len(rest) == 1 for places in by_word.values() for at in places
    )
    if is_named:
        return ", ".join(
            word + " and".join(where(at) for at in places) for word, places in by_word.items()
        )
    of = f" of {units.counted(len(rest), 'other combination')}"
    listed = [f"{word} in {len(places)}" for word, places in by_word.items()]
    return ", ".join([listed[0] + of, *listed[1:]])


def _beside(
    question: Question, first: Sequence[Conclusion], conclusions: Sequence[Conclusion]
) -> str:
    """What is known of a combination, beside the first one."""
    statuses = {_status(one) for one in conclusions}
    if "" not in statuses:
        return min(statuses, key=_CLARITY.index)
    if len(statuses) > 1:
        return "decided in part"
    is_alike = all(one.direction is first[0].direction for one in conclusions) and (
        question.is_numeric or conclusions[0].level == first[0].level
    )
    return "likewise" if is_alike else "in another order"


def _advantage(conclusion: Conclusion) -> tuple[float, float | None, float | None]:
    """The ratio with its bounds, so that more than 1 says that the level is better."""
    assert conclusion.ratio is not None
    if conclusion.metric.is_more_better:
        return conclusion.ratio, conclusion.low, conclusion.high
    low, high = conclusion.low, conclusion.high
    return 1 / conclusion.ratio, high and 1 / high, low and 1 / low


def times_words(ratio: float, low: float | None, high: float | None) -> str:
    """``2.2 times (1.8 to 2.7)``; no interval where there is none."""
    shown = f"{ratio_words(ratio)}{TOGETHER}times"
    if low is None or high is None:
        return shown
    if high >= _WIDE * low:
        return f"{shown} (interval too wide to use)"
    return f"{shown} ({TOGETHER.join((ratio_words(low), 'to', ratio_words(high)))})"


def ratio_words(ratio: float) -> str:
    """Two digits, three around 1: ``0.97``, ``1.04``, ``4.6``, ``120``; ``many`` where the
    repetitions set no limit."""
    if ratio > 1e4:
        return "many"
    if ratio < 1e-4:
        return "0"
    for limit, places in ((0.0995, 3), (1.995, 2), (9.95, 1)):
        if ratio < limit:
            return f"{ratio:.{places}f}"
    return f"{float(f'{ratio:.2g}'):.0f}"


def level_name(factor: str, level: Scalar) -> str:
    """As the subject of a sentence: ``storage tmpfs``, since one may be called ``here``."""
    name = cell_names.level_name(factor, level)
    return (f"{factor} {name}" if factor == "storage" else name).replace(" ", TOGETHER)


def where(at: Levels) -> str:
    """`` at 8 clients on tmpfs``."""
    return "".join(f" {_placed(factor, level)}" for factor, level in at.items())


def _placed(factor: str, level: Scalar) -> str:
    name = cell_names.level_name(factor, level).replace(" ", TOGETHER)
    return f"{factors.placed(factor)} {name}"


_LONGEST_TITLE = 11
"""Characters beside which a sentence begins in the same column as others."""


class Answer(Struct, frozen=True):
    """A question of an experiment, answered in words."""

    question: Question
    test: str
    """Empty where all questions are about one test."""
    factor: str
    """As it is said."""
    said: str
    """Which level is better, and how much; or what was seen that is not decided."""
    limits: tuple[str, ...]
    """Why nothing is decided; what limits the conclusion: how durable the commits are, whether the
    runs are unreliable."""
    other_work: str
    """What the levels write, flush or check otherwise for the same work, and the indexes that one
    alone has; empty: nothing is known."""

    @property
    def sentence(self) -> str:
        """With the limits; on one line."""
        return _joined(self.said, self.limits).replace(TOGETHER, " ")


DIFFERS = "differs"
"""In place of a factor: the line is what its levels do otherwise for the same work."""


class Line(NamedTuple):
    """An answer as it stands among others."""

    factor: str
    """Or `DIFFERS`, under the answer that it explains."""
    test: str
    """Empty where all answers are about one test."""
    text: str
    """With `TOGETHER` between the words at which no line is broken."""


def answers(questions: Sequence[Question], most_places: int = MOST_PLACES) -> tuple[Answer, ...]:
    """In their order. ``most_places``: combinations of the other factors that a sentence names; of
    more it counts the rest."""
    has_tests = len({question.test for question in questions}) > 1
    return tuple(
        Answer(
            question,
            question.test if has_tests else "",
            _title(question.factor),
            conclusions_said(question, most_places),
            tuple(_limits(question)),
            other_work(question),
        )
        for question in questions
    )


def lines(questions: Sequence[Question], most_places: int = MOST_PLACES) -> list[Line]:
    """The answers, each with what explains it in a line of its own, and nothing twice: a sentence
    that answers all questions stands once, and limits of all behind the last one."""
    found = answers(questions, most_places)
    if len(found) > 1 and len({answer.sentence for answer in found}) == 1:
        other_work = dict.fromkeys(answer.other_work for answer in found if answer.other_work)
        said = [Line(_ANSWER, "", found[0].sentence)]
        return [*said, *(Line(DIFFERS, "", one) for one in other_work)]
    is_shared = len({answer.limits for answer in found}) == 1
    shown = []
    for place, answer in enumerate(found, 1):
        has_no_limits = is_shared and place < len(found)
        text = answer.said if has_no_limits else _joined(answer.said, answer.limits)
        shown.append(Line(answer.factor, answer.test, text))
        alike = [one for one in found if one.other_work == answer.other_work]
        if answer.other_work and answer is alike[-1]:
            test = answer.test if len(alike) == 1 else ""
            shown.append(Line(DIFFERS, test, answer.other_work))
    return shown


def _joined(said: str, limits: Sequence[str]) -> str:
    return "; ".join((said, *limits))


def _limits(question: Question) -> Iterator[str]:
    """Why nothing is decided; that scripts do not do the same; how durable the commits are, and
    whether the runs are unreliable, of what is divided."""
    if question.factor == factors.SCRIPT.name:
        yield _OF_SCRIPTS
    if reason := shared_reason(question):
        yield reason
    divided = [one for one in question.conclusions if one.ratio is not None]
    classes = {name for one in divided for name in one.durability}
    if any(one.is_decided for one in divided) and classes - {""}:
        yield _durability(question, divided, classes)
    answered = [one for one in divided if _status(one) in ("", NO_DIFFERENCE)]
    if any(one.runs_verdict == "unreliable" for one in answered):
        yield "the runs are unreliable"


def _durability(question: Question, divided: Sequence[Conclusion], classes: set[str]) -> str:
    levels = {level for one in divided for level in (one.level, one.compared_with)}
    subject = "both" if len(levels) == 2 and not question.is_numeric else "all"
    if classes == {HIGHEST_DURABILITY}:
        return f"{subject} flush every commit ({HIGHEST_DURABILITY})"
    if classes == {IN_MEMORY}:
        return f"{subject} in {MEMORY}"
    if len(classes) == 1:
        (name,) = classes
        meaning = f" ({MEANINGS[name]})" if name in MEANINGS else ""
        return f"durability {name}{meaning}"
    if IN_MEMORY in classes and question.factor == "storage":
        names = [
            level_name("storage", level)
            for one in divided
            for level, found in zip((one.level, one.compared_with), one.durability, strict=True)
            if found == IN_MEMORY
        ]
        return f"{', '.join(dict.fromkeys(names))}: {MEMORY}"
    known = sorted(classes - {"", IN_MEMORY})
    return f"durability {' or '.join(known)}" if known else f"durability {NOT_MEASURED}"


def _title(factor: str) -> str:
    """A name that is too long stands in the sentence alone."""
    title = factors.word(factor)
    return title if len(title) <= _LONGEST_TITLE else _ANSWER


_ANSWER = "answer"
_OF_SCRIPTS = "the scripts do different work, and their answers are not compared"


EFFECTS_TITLE = "settings"
_MOST_EFFECTS = 4
"""Effects and interactions that a sentence names, of each kind; of more the rest is counted."""


def effect_lines(of_tests: Sequence[SettingEffects]) -> list[Line]:
    return [
        Line(EFFECTS_TITLE, one.test if len(of_tests) > 1 else "", _effects_said(one))
        for one in of_tests
    ]


def effects_sentence(setting_effects: SettingEffects) -> str:
    """On one line."""
    return _effects_said(setting_effects).replace(TOGETHER, " ")


def _effects_said(setting_effects: SettingEffects) -> str:
    """``synchronous_commit matters: off is 3.1 times (2.9 to 3.3) as fast as on; shared_buffers: no
    difference seen (0.98 to 1.03); no interaction seen``."""
    single = [one for one in setting_effects.effects if not one.is_interaction]
    parts = _best_settings(setting_effects)
    parts += _counted([_effect_said(setting_effects, one) for one in single], "more factor")
    parts += _interactions([one for one in setting_effects.effects if one.is_interaction])
    if setting_effects.reason:
        parts.append(f"{NOT_DECIDED}: {setting_effects.reason}")
    elif setting_effects.runs_verdict == "unreliable":
        parts.append("the runs are unreliable")
    if setting_effects.left_out:
        parts.append(
            f"{len(setting_effects.left_out)} of {units.counted(setting_effects.cells, 'cell')} "
            "left out"
        )
    return "; ".join(parts)


def _best_settings(setting_effects: SettingEffects) -> list[str]:
    """``fastest: jit off, work_mem 64MB``."""
    if not setting_effects.best:
        return []
    metric = setting_effects.metric
    named = [
        ", ".join(f"{factor} {cell_names.level_text(level)}" for factor, level in levels.items())
        for levels in setting_effects.best
    ]
    if metric.is_speed:
        word = "fastest"
    else:
        word = f"{'highest' if metric.is_more_better else 'lowest'} {metric.label}"
    return [f"{word}: {' or '.join(named)}"]


def _counted(said: list[str], what: str) -> list[str]:
    left = len(said) - _MOST_EFFECTS
    return [*said[:_MOST_EFFECTS], *([f"and {units.counted(left, what)}"] if left > 0 else [])]


def _effect_said(setting_effects: SettingEffects, effect: Effect) -> str:
    (change,) = effect.of
    durable = "" if effect.durability == ("", "") else " (unequal durability)"
    if effect.is_seen:
        return f"{change.factor} matters: {_ratio(setting_effects, effect, 'is')}{durable}"
    if effect.is_decided:
        return f"{change.factor}: {NO_DIFFERENCE}{_effect_interval(effect)}"
    why = f" ({effect.reason})" if effect.reason and effect.reason != setting_effects.reason else ""
    return f"{_ratio(setting_effects, effect, 'was')}{durable}{why}"


def _ratio(setting_effects: SettingEffects, effect: Effect, verb: str) -> str:
    (change,) = effect.of
    # The factor is said before, unless nothing is decided.
    level, other = cell_names.level_text(change.level), cell_names.level_text(change.compared_with)
    if verb == "was":
        level = f"{change.factor} {level}"
    times = times_words(effect.ratio, effect.low, effect.high)
    if setting_effects.metric.is_speed:
        return f"{level} {verb} {times} as fast as {other}"
    return f"{setting_effects.metric.label} at {level} {verb} {times} that at {other}"


def _interactions(effects: Sequence[Effect]) -> list[str]:
    seen = [_interaction(one) for one in effects if one.is_seen]
    if seen:
        return _counted(seen, "more interaction")
    if effects and all(one.is_decided for one in effects):
        return ["no interaction seen"]
    return []


def _interaction(effect: Effect) -> str:
    """The ratio of the first factor at both levels of the second."""
    first, second = effect.of
    return (
        f"{first.factor} and {second.factor} interact: the ratio of {first.factor} is "
        f"{times_words(effect.ratio, effect.low, effect.high)} as large at {second.factor} "
        f"{cell_names.level_text(second.level)} as at {cell_names.level_text(second.compared_with)}"
    )


def _effect_interval(effect: Effect) -> str:
    if effect.low is None or effect.high is None:
        return ""
    return f" ({ratio_words(effect.low)} to {ratio_words(effect.high)})"
