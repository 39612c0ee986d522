"""Takes the columns of tidy output; returns the JSON Schema of a report in JSON."""

from __future__ import annotations

from typing import Any, cast

from assay.comparison.may_say import MAY_NOT_SAY, MAY_SAY
from assay.contracts.metric import ReportColumn
from assay.report.program_tables import PARAMETER, JsonSchema, ProgramTable
from assay.report.tidy.tables import DETAILS, TABLES

VERSION = 3
"""Incremented when readers of the document have to change. Version 1 was for people."""


def _said(kind: str | list[str], description: str, **more: Any) -> JsonSchema:
    return cast(JsonSchema, {"description": description, "type": kind, **more})


def _list(items: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": items}


def _object(properties: dict[str, JsonSchema]) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_PARAMETER: JsonSchema = _said(["string", "number", "boolean"], "a parameter of the workload")
_TEXT: JsonSchema = {"type": "string"}
_INTEGER: JsonSchema = {"type": "integer"}
_LEVEL: JsonSchema = {"type": ["string", "number", "boolean"]}
_BOUND: JsonSchema = _said(
    ["number", "null"], "a bound of its 98 % confidence interval; null: there is none"
)
_CONCLUSION: dict[str, JsonSchema] = {
    "at": _said("object", "the levels of the other factors that vary", additionalProperties=_LEVEL),
    "level": _LEVEL | {"description": "the best one; of numbers the largest"},
    "compared_with": _LEVEL,
    "metric": _TEXT,
    "ratio": _said(
        ["number", "null"],
        "the metric at level, divided by that at compared_with; null: they are not ranked",
    ),
    "ratio_low": _BOUND,
    "ratio_high": _BOUND,
    "direction": {
        "description": "what level is, compared with the other; none: no difference was seen, or "
        "too few repetitions decide it; unknown: not ranked, or there is no interval",
        "enum": ["better", "worse", "none", "unknown"],
    },
    "reason": _said("string", "why nothing is decided; may be empty"),
    "durability": _said(
        "array",
        "the class of commits at level and at compared_with; null: nothing is committed",
        items={"type": ["string", "null"]},
    ),
    "runs_verdict": {"enum": ["valid", "unreliable", "invalid", None]},
    "other_work": _said(
        "array",
        "what is written, flushed or checked otherwise at one level for the same "
        "work, and its indexes",
        items=_object(
            {
                "kind": {"enum": ["safeguard", "indexes"]},
                "name": _TEXT,
                "level": _TEXT | {"description": "at level"},
                "compared_with": _TEXT | {"description": "at compared_with"},
            }
        ),
    ),
}

_KNEE: dict[str, JsonSchema] = {
    "at": _CONCLUSION["at"],
    "clients": _said(
        ["number", "null"],
        "from which on the throughput no longer rises; null: it still rises at most",
    ),
    "most": _said("number", "the largest number of clients"),
}


_EFFECT: dict[str, JsonSchema] = {
    "of": _said(
        "array",
        "the factor; of an interaction two",
        items=_object(
            {
                "factor": _TEXT,
                "level": _CONCLUSION["level"],
                "compared_with": _CONCLUSION["compared_with"],
            }
        ),
    ),
    "ratio": _said(
        "number",
        "the metric at `level`, divided by that at `compared_with`: the geometric "
        "mean over the combinations of the other factors; of an interaction that ratio of the "
        "first factor at the second one's `level`, divided by the one at its `compared_with`",
    ),
    "ratio_low": _BOUND,
    "ratio_high": _BOUND,
    "p_value": {"type": ["number", "null"]},
    "adjusted_p": _said(["number", "null"], "for all effects of the test (Holm)"),
    "combinations": _said("integer", "of the other factors, in which all levels were measured"),
    "is_seen": _said("boolean", "adjusted_p is 0.02 at most"),
    "reason": _said("string", "why nothing is decided; empty: it is"),
    "durability": _said(
        "array",
        "of commits at `level` and `compared_with`, where they differ",
        items={"type": ["string", "null"]},
    ),
}


def schema() -> JsonSchema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A report of Assay",
        "description": "The output of `assay report` and `assay run` with --format json. Names "
        "end in their unit; null: not known, or not measured.",
        "type": "object",
        "properties": {
            "version": {"const": VERSION},
            "experiment": _object(
                {
                    "id": _INTEGER | {"description": "of several reported together, the first"},
                    "experiments": _said(
                        "array", "the numbers of all that are reported together", items=_INTEGER
                    ),
                    "title": _TEXT,
                    "reproduces": {"type": ["string", "null"]},
                    "workload": _TEXT,
                    "workload_fingerprint": _TEXT,
                    "seed": _TEXT,
                    "begun_unix_ns": _INTEGER,
                    "ended_unix_ns": {"type": ["integer", "null"]},
                    "is_under_way": {"type": "boolean"},
                    "runs_planned": _INTEGER,
                    "runs_ended": _INTEGER,
                    "continued_by": _said(
                        ["string", "null"],
                        "the command that executes the runs that are left; null: "
                        "none are, or none does",
                    ),
                    "record": _TEXT,
                    "machine": {"type": "object"},
                    "machines": _said(
                        "object",
                        "by their names, as the column machine has them",
                        additionalProperties={"type": "object"},
                    ),
                    "build": {"type": "object"},
                }
            ),
            "answers": _said(
                "array",
                "what each factor that varies changes in a test, in a sentence and as numbers",
                items=_object(
                    {
                        "test": _TEXT,
                        "factor": _TEXT,
                        "sentence": _TEXT,
                        "differs": _said(
                            ["string", "null"],
                            "what the levels write, flush or check otherwise for "
                            "the same work, and the indexes that one alone has, in a sentence; "
                            "null: nothing is known",
                        ),
                        "conclusions": _list(_object(_CONCLUSION)),
                        "knees": _said(
                            "array",
                            "of clients, in each combination of the other factors "
                            "in which the repetitions decide it",
                            items=_object(_KNEE),
                        ),
                    }
                ),
            ),
            "effects": _said(
                "array",
                "of each test in which settings vary in a full grid: what each "
                "factor changes over all of it, and which two change each other's effect",
                items=_object(
                    {
                        "test": _TEXT,
                        "sentence": _TEXT,
                        "metric": _TEXT,
                        "cells": _INTEGER,
                        "runs": _INTEGER,
                        "left_out": _said(
                            "array", "cells that do not count, each with the reason", items=_TEXT
                        ),
                        "reason": _said(
                            "string", "why nothing at all is decided; empty: something is"
                        ),
                        "is_pooled": _said(
                            "boolean",
                            "each cell was run once: the error is that of "
                            "interactions of three and more factors",
                        ),
                        "runs_verdict": {"type": ["string", "null"]},
                        "best": _said(
                            "array",
                            "levels of the best cell, or of the best two; empty: none stands apart",
                            items={"type": "object", "additionalProperties": _LEVEL},
                        ),
                        "effects": _list(_object(_EFFECT)),
                    }
                ),
            ),
            "may_say": _said("array", MAY_SAY, items=_TEXT),
            "may_not_say": _said(
                "array", MAY_NOT_SAY, items=_object({"claim": _TEXT, "reason": _TEXT})
            ),
            "warnings": _list(
                _object({"name": _TEXT, "cause": _TEXT, "details": _list(_TEXT), "fix": _TEXT})
            ),
            "tables": {
                "type": "object",
                "properties": {name: _table(table) for name, table in TABLES.items()},
                "required": [name for name in TABLES if name not in DETAILS],
                "additionalProperties": False,
            },
        },
        "required": [
            *("version", "experiment", "answers", "effects", "may_say", "may_not_say"),
            *("warnings", "tables"),
        ],
        "additionalProperties": False,
    }


def _table(table: ProgramTable) -> JsonSchema:
    row = _object({column.name: _column(column) for column in table.every_column})
    if table.has_parameters:
        row["patternProperties"] = {f"^{PARAMETER}": _PARAMETER}
    return {"description": table.meaning, "type": "array", "items": row}


def _column(column: ReportColumn) -> JsonSchema:
    kinds = ["number", "string", "boolean"] if column.kind == "scalar" else [column.kind]
    if column.is_nullable:
        kinds.append("null")
    found: JsonSchema = {"description": column.described, "type": kinds}
    if column.kind == "array":
        found["items"] = _TEXT
    return found
