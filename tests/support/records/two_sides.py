"""Two invented sides of a comparison: what is shown of them, how conditions are judged."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import invented_records as invented
from assay import comparison
from assay.comparison import conditions
from assay.comparison.conditions import ConditionAnswer, ConditionResult
from assay.comparison.sides import Comparison
from assay.record import ExperimentRecord
from assay.report import comparison_report
from assay.report.forms import table

FAST = (1.00, 1.02, 0.99, 1.01, 1.00)
SLOW = (1.21, 1.19, 1.20, 1.22, 1.18)
MET, NOT_MET, UNKNOWN = ConditionAnswer.MET, ConditionAnswer.NOT_MET, ConditionAnswer.UNKNOWN
SLOWER = "throughput_per_s < 0.95x"
HERE, SSD = ("postgresql", "here", 8), ("postgresql", "ssd", 8)
NOTHING: dict[str, Any] = {"observation": None, "deployment": None, "data": None}
"""Of a run that did not come so far."""
_KEPT: dict[tuple[str, tuple[float, ...]], ExperimentRecord] = {}


def measured(name: str, seconds: tuple[float, ...] = FAST, **changes: Any) -> ExperimentRecord:
    """Runs of one cell, one after the other, in a file of this name in the working directory; the
    same ones as before where nothing is changed."""
    is_plain = not changes
    if is_plain and (name, seconds) in _KEPT:
        return _KEPT[name, seconds]
    systems = changes.pop("systems", [invented.POSTGRESQL])
    clients = changes.pop("clients", (8,))
    planned = invented.plan(systems, clients=clients, repetitions=len(seconds))
    elapsed = {(one.name, "here", count): seconds for one in systems for count in clients}
    made = invented.experiment(Path(name).absolute(), planned, elapsed, **changes)
    if is_plain:
        _KEPT[name, seconds] = made
    return made


def on_storages(
    name: str, here: tuple[float, ...], ssd: tuple[float, ...], others: float = 0.0
) -> ExperimentRecord:
    """Interleaved repetitions on two storages; ``others``: the share of the processors that other
    programs used."""
    storages = [invented.HERE, invented.SSD]
    planned = invented.plan([invented.POSTGRESQL], storages, repetitions=len(here))
    found = invented.experiment(Path(name).absolute(), planned, {HERE: here, SSD: ssd})
    return invented.each_run(found, lambda run: invented.disturbed(run, others) if others else run)


def compared(a: ExperimentRecord, b: ExperimentRecord, **given: Any) -> Comparison:
    return of_sides([a], [b], **given)


def of_sides(a: list[ExperimentRecord], b: list[ExperimentRecord], **given: Any) -> Comparison:
    return comparison.compare(comparison.side("A", "", a), comparison.side("B", "", b), **given)


def within(record: ExperimentRecord, between: str, **given: Any) -> Comparison:
    return comparison.compare(comparison.side("A", "", [record]), None, between=between, **given)


def shown(made: Comparison, **given: Any) -> str:
    stream = io.StringIO()
    table.render(comparison_report.build(made), stream, **{"detail": False, **given})
    return stream.getvalue()


def in_words(made: Comparison) -> str:
    """Without the ends of lines."""
    return " ".join(shown(made).split())


def answers(made: Comparison, *texts: str, **given: Any) -> list[ConditionAnswer]:
    asked = [conditions.condition(text) for text in texts]
    return [one.answer for one in conditions.judge_conditions(made, asked, **given)]


def judged(made: Comparison, text: str) -> ConditionResult:
    (found,) = conditions.judge_conditions(made, [conditions.condition(text)])
    return found
