"""SQL statements are in dialects, systems and workloads. Rooms take theirs from a dialect, so that
a system without SQL needs only a dialect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "assay"

HOMES = {"dialects", "systems", "record"}
"""The record's SQL is never sent to a system under test."""

STATEMENT = re.compile(
    r"\b(SELECT|INSERT INTO|DELETE FROM|TRUNCATE|UPDATE \S+ SET|(CREATE|DROP|ALTER) (TABLE|INDEX)"
    r"|START TRANSACTION|BEGIN|COMMIT|ROLLBACK|ANALYZE)\b"
)
FIRST_WORD = re.compile(
    "SELECT|INSERT|DELETE|TRUNCATE|UPDATE|CREATE|DROP|ALTER|START|BEGIN|COMMIT|ROLLBACK|ANALYZE"
)


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of every text of a module that is no docstring."""
    text = path.read_text(encoding="utf-8")
    if not FIRST_WORD.search(text):
        return  # before it is parsed, which takes long for the whole product
    tree = ast.parse(text)
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documentation:
            yield node.lineno, node.value


def test_no_room_writes_a_statement() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in HOMES
        for line, text in texts_of(path)
        if STATEMENT.search(text)
    ]
    assert not wrong, "\n".join(wrong)
