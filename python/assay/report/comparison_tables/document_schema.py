"""Takes the dataclass of a document; returns its JSON Schema, as it is published."""

from __future__ import annotations

from typing import cast

import msgspec

from assay.report.json_schema import JsonSchema


def of_document(kind: type, title: str, command: str) -> JsonSchema:
    (found,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = cast(JsonSchema, found)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": f"The output of `{command} --format json`. Names end in their unit; "
        "null: not known, or not measured.",
        **own,
        "$defs": components,
    }
