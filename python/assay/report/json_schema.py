"""What a JSON Schema says, by its keys."""

from __future__ import annotations

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
        "const": int,
        "enum": list[str | None],
        "properties": "dict[str, JsonSchema]",
        "patternProperties": "dict[str, JsonSchema]",
        "additionalProperties": "bool | JsonSchema",
        "required": list[str],
        "items": "JsonSchema",
    },
    total=False,
)
