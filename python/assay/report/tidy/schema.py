"""Takes the columns of tidy output; returns the JSON Schema of a report in JSON."""

from __future__ import annotations

from assay.contracts.metric import Column
from assay.report.program_tables import PARAMETER, JsonSchema, ProgramTable
from assay.report.tidy.tables import DETAILS, TABLES

VERSION = 2
"""Incremented when readers of the document have to change. Version 1 was for people."""
_PARAMETER: JsonSchema = {
    "description": "a parameter of the workload",
    "type": ["string", "number", "boolean"],
}
_TEXT: JsonSchema = {"type": "string"}
_INTEGER: JsonSchema = {"type": "integer"}
_LEVEL: JsonSchema = {"type": ["string", "number", "boolean"]}
_BOUND: JsonSchema = {
    "description": "a bound of its 98 % confidence interval; null: there is none",
    "type": ["number", "null"],
}
_CONCLUSION: dict[str, JsonSchema] = {
    "at": {
        "description": "the levels of the other factors that vary",
        "type": "object",
        "additionalProperties": _LEVEL,
    },
    "level": _LEVEL | {"description": "the best one; of numbers the largest"},
    "compared_with": _LEVEL,
    "metric": _TEXT,
    "ratio": {
        "description": "the metric at level, divided by that at compared_with; null: they are not "
        "ranked",
        "type": ["number", "null"],
    },
    "ratio_low": _BOUND,
    "ratio_high": _BOUND,
    "direction": {
        "description": "what level is, compared with the other; none: no difference was seen, or "
        "too few repetitions decide it; unknown: not ranked, or there is no interval",
        "enum": ["better", "worse", "none", "unknown"],
    },
    "reason": {"description": "why nothing is decided; may be empty", "type": "string"},
    "durability": {
        "description": "the class of commits at level and at compared_with; null: nothing is "
        "committed",
        "type": "array",
        "items": {"type": ["string", "null"]},
    },
    "runs_verdict": {"enum": ["valid", "indicative", "invalid", None]},
    "other_work": {
        "description": "what is written, flushed or checked otherwise at one level for the same "
        "work, and its indexes",
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "kind": {"enum": ["safeguard", "indexes"]},
                "name": _TEXT,
                "level": _TEXT | {"description": "at level"},
                "compared_with": _TEXT | {"description": "at compared_with"},
            },
            "required": ["kind", "name", "level", "compared_with"],
            "additionalProperties": False,
        },
    },
}

_KNEE: dict[str, JsonSchema] = {
    "at": _CONCLUSION["at"],
    "clients": {
        "description": "from which on the throughput no longer rises; null: it still rises at most",
        "type": ["number", "null"],
    },
    "most": {"description": "the largest number of clients", "type": "number"},
}


_EFFECT: dict[str, JsonSchema] = {
    "of": {
        "description": "the factor; of an interaction two",
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "factor": _TEXT,
                "level": _CONCLUSION["level"],
                "compared_with": _CONCLUSION["compared_with"],
            },
            "required": ["factor", "level", "compared_with"],
            "additionalProperties": False,
        },
    },
    "ratio": {
        "description": "the metric at `level`, divided by that at `compared_with`: the geometric "
        "mean over the combinations of the other factors; of an interaction that ratio of the "
        "first factor at the second one's `level`, divided by the one at its `compared_with`",
        "type": "number",
    },
    "ratio_low": _BOUND,
    "ratio_high": _BOUND,
    "p_value": {"type": ["number", "null"]},
    "adjusted_p": {
        "description": "for all effects of the test (Holm)",
        "type": ["number", "null"],
    },
    "combinations": {
        "description": "of the other factors, in which all levels were measured",
        "type": "integer",
    },
    "is_seen": {"description": "adjusted_p is 0.02 at most", "type": "boolean"},
    "reason": {"description": "why nothing is decided; empty: it is", "type": "string"},
    "durability": {
        "description": "of commits at `level` and `compared_with`, where they differ",
        "type": "array",
        "items": {"type": ["string", "null"]},
    },
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
                    "experiments": {
                        "description": "the numbers of all that are reported together",
                        "type": "array",
                        "items": _INTEGER,
                    },
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
                    "continued_by": {
                        "description": "the command that executes the runs that are left; null: "
                        "none are, or none does",
                        "type": ["string", "null"],
                    },
                    "record": _TEXT,
                    "machine": {"type": "object"},
                    "machines": {
                        "description": "by their names, as the column machine has them",
                        "type": "object",
                        "additionalProperties": {"type": "object"},
                    },
                    "build": {"type": "object"},
                }
            ),
            "answers": {
                "description": "what each factor that varies changes in a test, in a sentence and "
                "as numbers",
                "type": "array",
                "items": _object(
                    {
                        "test": _TEXT,
                        "factor": _TEXT,
                        "sentence": _TEXT,
                        "differs": {
                            "description": "what the levels write, flush or check otherwise for "
                            "the same work, and the indexes that one alone has, in a sentence; "
                            "null: nothing is known",
                            "type": ["string", "null"],
                        },
                        "conclusions": {"type": "array", "items": _object(_CONCLUSION)},
                        "knees": {
                            "description": "of clients, in each combination of the other factors "
                            "in which the repetitions decide it",
                            "type": "array",
                            "items": _object(_KNEE),
                        },
                    }
                ),
            },
            "effects": {
                "description": "of each test in which settings vary in a full grid: what each "
                "factor changes over all of it, and which two change each other's effect",
                "type": "array",
                "items": _object(
                    {
                        "test": _TEXT,
                        "sentence": _TEXT,
                        "metric": _TEXT,
                        "cells": _INTEGER,
                        "runs": _INTEGER,
                        "left_out": {
                            "description": "cells that do not count, each with the reason",
                            "type": "array",
                            "items": _TEXT,
                        },
                        "reason": {
                            "description": "why nothing at all is decided; empty: something is",
                            "type": "string",
                        },
                        "is_pooled": {
                            "description": "each cell was run once: the error is that of "
                            "interactions of three and more factors",
                            "type": "boolean",
                        },
                        "runs_verdict": {"type": ["string", "null"]},
                        "effects": {"type": "array", "items": _object(_EFFECT)},
                    }
                ),
            },
            "warnings": {
                "type": "array",
                "items": _object(
                    {
                        "name": _TEXT,
                        "cause": _TEXT,
                        "details": {"type": "array", "items": _TEXT},
                        "fix": _TEXT,
                    }
                ),
            },
            "tables": {
                "type": "object",
                "properties": {name: _table(table) for name, table in TABLES.items()},
                "required": [name for name in TABLES if name not in DETAILS],
                "additionalProperties": False,
            },
        },
        "required": ["version", "experiment", "answers", "effects", "warnings", "tables"],
        "additionalProperties": False,
    }


def _object(properties: dict[str, JsonSchema]) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _table(table: ProgramTable) -> JsonSchema:
    row = _object({column.name: _column(column) for column in table.every_column})
    if table.has_parameters:
        row["patternProperties"] = {f"^{PARAMETER}": _PARAMETER}
    return {"description": table.meaning, "type": "array", "items": row}


def _column(column: Column) -> JsonSchema:
    kinds = ["number", "string", "boolean"] if column.kind == "scalar" else [column.kind]
    if column.is_nullable:
        kinds.append("null")
    found: JsonSchema = {"description": column.described, "type": kinds}
    if column.kind == "array":
        found["items"] = _TEXT
    return found
