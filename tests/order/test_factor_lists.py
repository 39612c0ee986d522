"""Factors of cells are listed in one place: the next one would be missing from any other list."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import assay
from assay.contracts.factors import OF_LEVELS, OF_MACHINE

PRODUCT = Path(assay.__file__).parent
NAMES = {
    name for one in (*OF_LEVELS.values(), *OF_MACHINE.values()) for name in (one.name, one.column)
}
MOST = 2
"""More of them in one literal are a list."""
_WORD = re.compile(r"\w+")


def test_no_other_list_of_factors() -> None:
    found = {
        f"{path.relative_to(PRODUCT)}:{line}"
        for path in PRODUCT.rglob("*.py")
        for line in _lists(path.read_text(encoding="utf-8"))
    }
    assert not found, f"derive it from contracts/factors.py: {sorted(found)}"


def _lists(text: str) -> Iterator[int]:
    if len(NAMES.intersection(_WORD.findall(text))) <= MOST:
        return  # before it is parsed, which takes long for the whole product
    for node in ast.walk(ast.parse(text)):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            parts = [*node.elts]
        elif isinstance(node, ast.Dict):
            parts = [*node.keys]
        words = {part.value for part in parts if isinstance(part, ast.Constant)}
        if len(words & NAMES) > MOST:
            assert isinstance(node, ast.expr)
            yield node.lineno
