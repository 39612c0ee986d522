"""What a JSON Schema says, by its keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

JsonSchema = TypedDict(
    "JsonSchema",
    {
        "$schema": str,
        "$ref": str,
        "$defs": "dict[str, JsonSchema]",
        "title": str,
        "description": str,
        "type": str | list[str],
        "const": int | str,
        "enum": Sequence[str | None],
        "properties": "dict[str, JsonSchema]",
        "patternProperties": "dict[str, JsonSchema]",
        "additionalProperties": "bool | JsonSchema",
        "required": list[str],
        "items": "JsonSchema",
        "minItems": int,
        "minimum": float,
        "maximum": float,
        "pattern": str,
        "anyOf": "list[JsonSchema]",
        "oneOf": "list[JsonSchema]",
        "allOf": "list[JsonSchema]",
        "not": "JsonSchema",
        "if": "JsonSchema",
        "then": "JsonSchema",
        "dependencies": dict[str, list[str]],
        "propertyNames": "JsonSchema",
    },
    total=False,
)
