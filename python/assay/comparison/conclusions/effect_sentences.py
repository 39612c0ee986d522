"""Takes what the factors of a grid change; gives one sentence for each test: which matter, how
much, for which no difference was seen, and which two change each other's effect."""

from __future__ import annotations

from collections.abc import Sequence

from assay.comparison.conclusions import clauses
from assay.comparison.conclusions.effects import Effect, SettingEffects
from assay.comparison.conclusions.sentences import Line
from assay.comparison.ratios.verdicts import NO_DIFFERENCE, NOT_DECIDED
from assay.plan import cell_names
from assay.text import units

TITLE = "settings"
_MOST = 4
"""Effects and interactions that a sentence names, of each kind; of more the rest is counted."""


def lines(of_tests: Sequence[SettingEffects]) -> list[Line]:
    return [Line(TITLE, one.test if len(of_tests) > 1 else "", _said(one)) for one in of_tests]


def sentence(setting_effects: SettingEffects) -> str:
    """On one line."""
    return _said(setting_effects).replace(clauses.TOGETHER, " ")


def _said(setting_effects: SettingEffects) -> str:
    """``synchronous_commit matters: off is 3.1 times (2.9 to 3.3) as fast as on; shared_buffers: no
    difference seen (0.98 to 1.03); no interaction seen``."""
    single = [one for one in setting_effects.effects if not one.is_interaction]
    parts = _best(setting_effects)
    parts += _counted([_of_one(setting_effects, one) for one in single], "more factor")
    parts += _interactions([one for one in setting_effects.effects if one.is_interaction])
    if setting_effects.reason:
        parts.append(f"{NOT_DECIDED}: {setting_effects.reason}")
    elif setting_effects.runs_verdict == "indicative":
        parts.append("the runs are indicative")
    if setting_effects.left_out:
        parts.append(
            f"{len(setting_effects.left_out)} of {units.counted(setting_effects.cells, 'cell')} "
            "left out"
        )
    return "; ".join(parts)


def _best(setting_effects: SettingEffects) -> list[str]:
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
    left = len(said) - _MOST
    return [*said[:_MOST], *([f"and {units.counted(left, what)}"] if left > 0 else [])]


def _of_one(setting_effects: SettingEffects, effect: Effect) -> str:
    (change,) = effect.of
    durable = "" if effect.durability == ("", "") else " (unequal durability)"
    if effect.is_seen:
        return f"{change.factor} matters: {_ratio(setting_effects, effect, 'is')}{durable}"
    if effect.is_decided:
        return f"{change.factor}: {NO_DIFFERENCE}{_interval(effect)}"
    why = f" ({effect.reason})" if effect.reason and effect.reason != setting_effects.reason else ""
    return f"{_ratio(setting_effects, effect, 'was')}{durable}{why}"


def _ratio(setting_effects: SettingEffects, effect: Effect, verb: str) -> str:
    (change,) = effect.of
    # The factor is said before, unless nothing is decided.
    level, other = cell_names.level_text(change.level), cell_names.level_text(change.compared_with)
    if verb == "was":
        level = f"{change.factor} {level}"
    times = clauses.times(effect.ratio, effect.low, effect.high)
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
        f"{clauses.times(effect.ratio, effect.low, effect.high)} as large at {second.factor} "
        f"{cell_names.level_text(second.level)} as at {cell_names.level_text(second.compared_with)}"
    )


def _interval(effect: Effect) -> str:
    if effect.low is None or effect.high is None:
        return ""
    return f" ({clauses.number(effect.low)} to {clauses.number(effect.high)})"
