"""Writes a `Report` as one JSON document for programs: each tidy table is a list of objects with
stable names and units, and numbers as measured. Its schema is made by `assay.report.tidy.schema`
and printed by `assay schema report`.
"""

from __future__ import annotations

import json
import math
from typing import Any, TextIO

from msgspec import structs, to_builtins

from assay.comparison import may_say, sentences
from assay.comparison.effects import SettingEffects
from assay.comparison.sentences import TOGETHER
from assay.record.runs.run_names import machine_shown
from assay.report.tidy.schema import VERSION
from assay.report.tidy.tables import DETAILS
from assay.report.values import Report, TidyValue
from assay.text.terminal import visible_lines


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:
    """Writes the report. ``detail`` None: with all details."""
    document = {
        "version": VERSION,
        "experiment": report.tidy["experiment"],
        "answers": [_answer(answer) for answer in sentences.answers(report.questions)],
        "effects": [_of_grid(grid) for grid in report.effects],
        **to_builtins(_sayings(report)),
        "warnings": [
            {**structs.asdict(warning), "details": list(warning.details)}
            for warning in report.warnings
        ],
        "tables": {
            name: rows
            for name, rows in report.tidy["tables"].items()
            if detail is not False or name not in DETAILS
        },
    }
    write_document(document, stream)


def _sayings(report: Report) -> may_say.Sayings:
    tables = report.tidy["tables"]
    runs = [one.run for one in report.runs]
    tests: dict[tuple[TidyValue, TidyValue], str] = {
        (run.workload, run.test_name): run.full_test_name for run in runs
    }
    names: dict[tuple[TidyValue, TidyValue], str] = {
        (one.run.cell_fingerprint, machine_shown(one.run)): one.name for one in report.runs
    }
    return may_say.of_report(
        report.questions,
        [(names[row["cell"], row["machine"]], row) for row in tables["cells"]],
        [(tests[row["workload"], row["test"]], row) for row in tables["goals"]],
    )


def _answer(answer: sentences.Answer) -> dict[str, Any]:
    question = answer.question
    return {
        "test": question.test,
        "factor": question.factor,
        "sentence": answer.sentence,
        "differs": answer.other_work.replace(TOGETHER, " ") or None,
        "conclusions": [
            {
                "at": dict(conclusion.at),
                "level": conclusion.level,
                "compared_with": conclusion.compared_with,
                "metric": conclusion.metric.name,
                "ratio": conclusion.ratio,
                "ratio_low": finite(conclusion.low),
                "ratio_high": finite(conclusion.high),
                "direction": conclusion.direction.value,
                "reason": conclusion.reason,
                "durability": [name or None for name in conclusion.durability],
                "runs_verdict": conclusion.runs_verdict,
                "other_work": [
                    {"kind": one.what, "name": one.name, "level": one.b, "compared_with": one.a}
                    for one in conclusion.other_work
                    if one.a != one.b
                ],
            }
            for conclusion in question.conclusions
        ],
        "knees": [
            {"at": dict(at), "clients": knee.clients, "most": knee.most}
            for at, knee in question.knees
        ],
    }


def _of_grid(grid: SettingEffects) -> dict[str, Any]:
    return {
        "test": grid.test,
        "sentence": sentences.effects_sentence(grid),
        "metric": grid.metric.name,
        "cells": grid.cells,
        "runs": grid.runs,
        "left_out": list(grid.left_out),
        "reason": grid.reason,
        "is_pooled": grid.is_pooled,
        "runs_verdict": grid.runs_verdict,
        "best": [dict(levels) for levels in grid.best],
        "effects": [
            {
                "of": [structs.asdict(change) for change in effect.of],
                "ratio": effect.ratio,
                "ratio_low": finite(effect.low),
                "ratio_high": finite(effect.high),
                "p_value": effect.p_value,
                "adjusted_p": effect.adjusted_p,
                "combinations": effect.combinations,
                "is_seen": effect.is_seen,
                "reason": effect.reason,
                "durability": [name or None for name in effect.durability],
            }
            for effect in grid.effects
        ],
    }


def finite(value: float | None) -> float | None:
    """JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None


def write_document(document: object, stream: TextIO) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    stream.write(visible_lines(text) + "\n")
