"""Takes a JSON Schema; returns one line for each field of each type: its name, its type, and
whether it is optional. Two schemas with the same lines describe the same documents."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def fields(schema: Schema, root: str) -> dict[str, str]:
    """``Interval.ok`` → ``integer``; the type at the root is called ``root``."""
    types = dict(schema.get("$defs", {}))
    if "properties" in schema:
        types[root] = schema
    enums = {name: one for name, one in types.items() if "properties" not in one}
    return {
        f"{name}.{field}": _type(one, enums) + ("" if field in required else ", may be left out")
        for name, whole in types.items()
        if name not in enums
        for required in [whole.get("required", ())]
        for field, one in whole["properties"].items()
    }


def _type(schema: Schema, enums: dict[str, Schema]) -> str:
    if (reference := schema.get("$ref")) is not None:
        name = reference.rpartition("/")[2]
        return _type(enums[name], enums) if name in enums else name
    if (words := _words(schema)) is not None:
        return "one of " + ", ".join(sorted(words))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(sorted(_type(one, enums) for one in schema[key]))
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " or ".join(sorted(_kind(kind, schema, enums) for kind in kinds))


def _words(schema: Schema) -> list[str] | None:
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return list(schema["enum"])
    parts = [_words(one) for one in schema.get("oneOf", ())]
    if not parts or None in parts:
        return None
    return [word for part in parts for word in part or ()]


def _kind(kind: str, schema: Schema, enums: dict[str, Schema]) -> str:
    if kind == "array":
        return f"list of {_type(schema['items'], enums)}"
    if kind == "object":
        return f"{kind} of {_type(schema['additionalProperties'], enums)}"
    return kind
