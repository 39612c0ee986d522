"""Takes what the factors of a grid change; returns their table: a row for each factor, and for each
two that may change each other's effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.comparison.conclusions.effects import Effect, SettingEffects
from assay.comparison.ratios.verdicts import NO_DIFFERENCE, NOT_DECIDED
from assay.judge.statistics.estimate import CONFIDENCE
from assay.judge.statistics.factorial import ERROR_OF_POOLED
from assay.plan import cell_names
from assay.report import columns
from assay.report.columns import numbers, words
from assay.report.values import Number, ReportCell, ReportColumn, ReportTable, Section, absent, text
from assay.text import units


def section(setting_effects: SettingEffects, name: str) -> Section:
    """``name``: of the test, as tables begin with it."""
    return Section("Effects of settings", (), (_table(setting_effects, name),))


def _table(setting_effects: SettingEffects, name: str) -> ReportTable:
    return columns.table(
        f"{name}_effects",
        f"What each factor changes over all of the grid: {setting_effects.metric.label}, "
        f"{units.counted(setting_effects.runs, 'run')} of "
        f"{units.counted(setting_effects.cells, 'cell')}",
        (
            words("effect", _factors, is_label=True),
            words("levels", _levels, is_label=True),
            numbers("ratio", _ratio),
            numbers(f"{CONFIDENCE:.0%} interval", _interval),
            numbers("p", _p),
            ReportColumn("verdict", cell=_verdict),
        ),
        setting_effects.effects,
        notes=tuple(_notes(setting_effects)),
    )


def _factors(effect: Effect) -> str:
    return " and ".join(change.factor for change in effect.of)


def _levels(effect: Effect) -> str:
    return " and ".join(
        f"{cell_names.level_text(one.level)} / {cell_names.level_text(one.compared_with)}"
        for one in effect.of
    )


def _ratio(effect: Effect) -> ReportCell:
    made = Number(effect.ratio, "ratio", effect.combinations, effect.low, effect.high)
    return ReportCell(units.digits(effect.ratio), made)


def _interval(effect: Effect) -> ReportCell:
    if effect.low is None or effect.high is None:
        return absent("-")
    return text(f"{units.digits(effect.low)} to {units.digits(effect.high)}")


def _p(effect: Effect) -> ReportCell:
    value = effect.adjusted_p
    if value is None:
        return absent("-")
    return text("<0.001" if value < 0.001 else f"{value:.3f}")


def _verdict(effect: Effect) -> ReportCell:
    if not effect.is_decided:
        return ReportCell(NOT_DECIDED, note=effect.reason)
    if not effect.is_seen:
        return text(NO_DIFFERENCE)
    word = "interact" if effect.is_interaction else "matters"
    if effect.durability == ("", ""):
        return text(word)
    (change,) = effect.of
    at = zip((change.level, change.compared_with), effect.durability, strict=True)
    named = ", ".join(f"{cell_names.level_text(level)}: {name}" for level, name in at)
    return ReportCell(word, note=f"commits are not equally durable: {named}")


def _notes(setting_effects: SettingEffects) -> Iterator[str]:
    yield (
        "ratio: at the first level, divided by that at the second; the geometric mean over all "
        "combinations of the other factors"
    )
    if any(one.is_interaction for one in setting_effects.effects):
        yield (
            "A and B: the ratio of A at the first level of B, divided by that at its second; 1: A "
            "has the same effect at both"
        )
    yield f"p: adjusted for {len(setting_effects.effects)} effects (Holm)"
    if setting_effects.is_pooled:
        yield ERROR_OF_POOLED
    if setting_effects.left_out:
        yield (
            f"left out, with the combinations that need them: {_listed(setting_effects.left_out)}"
        )


def _listed(names: Sequence[str], most: int = 3) -> str:
    more = f"; and {len(names) - most} more" if len(names) > most else ""
    return "; ".join(names[:most]) + more
