"""Mistakes in a script reach Python with their place and fix, before anything starts.

``crates/script/tests/script/bad_scripts.rs`` has the table of all mistakes.
"""

from __future__ import annotations

import json

import pytest

from assay import _engine

BAD = [
    ("SELECT 1;\n  \\endfi", (2, 3), "found \\endfi", "did you mean \\endif?"),
    ("SELECT :x;", (1, 8), "nothing sets the variable :x", "\\set x"),
    ("\\set x radnom(1, 2)", (1, 8), "expected a function, found radnom", "did you mean random?"),
    ("DELETE FROM :{tabel};", (1, 13), "nothing declares the identifier", "did you mean :{table}?"),
    ("\\begin serialisable", (1, 1), "expected an isolation level", "did you mean serializable?"),
    ("A;\n\\shell date", (2, 1), "which is not allowed here", "--allow-shell"),
    ("\\think normal:1s", (1, 8), "expected a distribution", "exponential:12s,120s"),
    ("\\set x 1 / (:scale - 10)", (1, 10), "division by zero: 1 / 0", ""),
]


def document(text: str) -> str:
    return json.dumps(
        {
            "scripts": [{"name": "bad", "path": "bad.sql", "text": text}],
            "variables": {"scale": 10},
            "identifiers": {"table": ["a", "b"]},
            "begins": {"": ["BEGIN"], "serializable": ["BEGIN ISOLATION LEVEL SERIALIZABLE"]},
            "order": "sequence",
            "clients": 1,
            "seed": 1,
            "stop": {"passes": 1},
        }
    )


@pytest.mark.parametrize(("text", "place", "message", "hint"), BAD)
def test_a_mistake_is_reported_with_its_place_and_its_fix(
    text: str, place: tuple[int, int], message: str, hint: str
) -> None:
    with pytest.raises(_engine.EngineError) as caught:
        _engine.explain(document(text))
    error = caught.value
    assert (error.kind, error.file, (error.line, error.column)) == ("script", "bad.sql", place)
    assert message in error.message
    assert hint in (error.hint or "")
