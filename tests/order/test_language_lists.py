"""The languages of statements are listed by the engine's lexers: a new one would be missing from
any other list of them or of the endings of their files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from assay.contracts.languages import ENDINGS, LANGUAGES

PACKAGE = Path(__file__).parents[2] / "python" / "assay"
HOME = "contracts/languages.py"
_NAMED = re.compile("|".join(rf"\.{name}\b" for name in LANGUAGES))
MOST = 1
"""Endings of files in one text that is shown: several are a list."""


def _lists(tree: ast.Module) -> Iterator[int]:
    described = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            words = {part.value for part in node.elts if isinstance(part, ast.Constant)}
            if len(words & ({*LANGUAGES} | {*ENDINGS})) > MOST:
                yield node.lineno
        is_shown = isinstance(node, ast.Constant) and id(node) not in described
        if is_shown and len({*_NAMED.findall(str(node.value))}) > MOST:
            yield node.lineno


def test_no_other_list_of_languages() -> None:
    places = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if str(path.relative_to(PACKAGE)) != HOME
        for line in _lists(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not places, f"derive it from {HOME}: {places}"
