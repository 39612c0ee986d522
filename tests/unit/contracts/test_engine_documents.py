"""The documents that the engine takes have the fields of its structs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay._engine import EngineError, statements
from assay.contracts import engine
from assay.contracts.documents import EngineDocument
from assay.load.bibsql import bibliography

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
        for module in (engine, engine, engine, engine, bibliography)
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
