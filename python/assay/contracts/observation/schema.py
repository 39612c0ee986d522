"""Returns the JSON Schema of an observation as it is kept: the engine's, and what the laboratory
adds. It is published in ``docs/reference``."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from assay import _engine
from assay.contracts.observation.observation import Observation


def published() -> dict[str, Any]:
    """The engine's own words, and the fields that only Python knows behind them."""
    engine = json.loads(_engine.observation_schema())
    ours = msgspec.json.schema(Observation)
    types = engine["$defs"]
    for name, shape in ours["$defs"].items():
        known = engine if name == "Observation" else types.setdefault(name, shape)
        for field, field_shape in shape["properties"].items():
            known["properties"].setdefault(field, field_shape)
    return {**engine, "title": "Observation", "additionalProperties": False}
