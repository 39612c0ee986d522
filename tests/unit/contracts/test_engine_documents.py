"""The engine's structs and the classes of Python describe the same documents: observations, and
what the engine takes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import _engine
from assay._engine import EngineError, statements
from assay.cli.commands.schema import observation
from assay.contracts import engine
from assay.contracts.documents import EngineDocument
from assay.contracts.observation import EngineObservation, Observation
from assay.load.bibsql import bibliography

Schema = dict[str, Any]


def fields(schema: Schema, root: str) -> dict[str, str]:
    """One line for each field of each type: ``Interval.ok`` → ``integer``. The type at the root is
    called ``root``. Two schemas with the same lines describe the same documents."""
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


CRATES = Path(__file__).parents[3] / "crates"
SOURCES = "\n".join(
    file.read_text(encoding="utf-8")
    for place in ("engine/src/document", "script/src/lexer", "datagen/src", "bibtex/src")
    for file in CRATES.glob(f"{place}/*.rs")
)
CALLED = {
    "_OfDriving": "ClientsDocument",
    "BibDocument": "SourceOptions", "ScanDocument": "ScanOptions", "SqlDocument": "SqlOptions",
}  # fmt: skip
"""In Rust."""


def kinds() -> list[type[EngineDocument]]:
    return [
        kind
        for module in (engine, bibliography)
        for kind in vars(module).values()
        if isinstance(kind, type)
        and issubclass(kind, EngineDocument)
        and kind is not EngineDocument
    ]


def fields_in_rust(name: str) -> set[str]:
    body = re.search(rf"pub (?:struct|enum) {name} \{{(.*?)\n\}}", SOURCES, re.DOTALL)
    assert body, f"the engine has no {name}"
    named = re.findall(r'^\s*(?:pub )?(\w+): |rename = "(\w+)"', body[1], re.MULTILINE)
    flattened = re.findall(r"#\[serde\(flatten.*\]\n\s*pub \w+: (\w+)", body[1])
    others = [fields_in_rust(one) for one in flattened]
    return {name for pair in named for name in pair}.union({"kind"}, *others)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_its_fields_are_the_engines(kind: type[EngineDocument]) -> None:
    own = set(kind.__struct_fields__)
    assert not own or own <= fields_in_rust(CALLED.get(kind.__name__, kind.__name__))


def test_what_is_not_said_is_left_to_the_engine() -> None:
    document = engine.DriveDocument(
        scripts=(engine.ScriptDocument(name="a", path="a.sql", text="SELECT 1;\n"),),
        order="sequence",
        clients=1,
        stop=engine.StopDocument(passes=1),
        seed=1,
    )
    assert statements(document.json) == [("a", "SELECT 1")]
    assert document.plain["stop"] == {"passes": 1}
    assert "groups" not in document.plain


def test_a_document_with_a_password_does_not_show_it() -> None:
    there = engine.DeploymentDocument(driver="null", password="geheim", options={"key": "geheim"})
    document = engine.DriveDocument(deployment=there, scripts=(), seed=1)
    assert "geheim" in document.json
    assert "geheim" not in repr(document)
    with pytest.raises(EngineError, match="script"):
        statements(document.json)
