"""The engine's structs and the classes of Python describe the same observation."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from assay import _engine
from assay.cli.commands.schema import observation
from assay.contracts.observation import EngineObservation, Observation
from tests.unit.contracts.schema_fields import fields

OF_THE_LABORATORY = {"Unfinished.responds": "boolean or null, may be left out"}
"""What Python adds within a type of the engine's."""


def engine_fields() -> dict[str, str]:
    return fields(json.loads(_engine.observation_schema()), "Observation")


def test_python_and_rust_know_the_same_fields_of_the_same_types() -> None:
    schema: dict[str, Any] = msgspec.json.schema(EngineObservation)
    schema["$defs"]["Observation"] = schema["$defs"].pop("EngineObservation")
    assert fields(schema, "") == engine_fields() | OF_THE_LABORATORY


def test_fields_that_python_adds_are_optional() -> None:
    schema: dict[str, Any] = msgspec.json.schema(Observation)
    whole = schema["$defs"]["Observation"]
    engine = {name for name in engine_fields() if name.startswith("Observation.")}
    added = {f"Observation.{name}" for name in whole["properties"]} - engine
    assert added
    assert not added & {f"Observation.{name}" for name in whole["required"]}


def test_the_published_schema_has_both() -> None:
    schema: dict[str, Any] = msgspec.json.schema(Observation)
    assert fields(observation(), "Observation") == fields(schema, "")


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({"type": "integer"}, "integer"),
        ({"type": ["string", "null"]}, "null or string"),
        ({"anyOf": [{"$ref": "#/$defs/T"}, {"type": "null"}]}, "T or null"),
        ({"type": "array", "items": {"$ref": "#/$defs/T"}}, "list of T"),
        ({"oneOf": [{"enum": ["b"]}, {"const": "a"}]}, "one of a, b"),
    ],
)
def test_types_are_distinguished(schema: dict[str, Any], line: str) -> None:
    whole = {"properties": {"field": schema}, "required": ["field"]}
    assert fields(whole, "Root") == {"Root.field": line}
