"""What is recorded or handed on has a class: mappings from names to anything are few."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "python" / "assay"
MOST = 99
"""Of all places, uses of aliases included."""
_MAPPINGS = {"dict", "Mapping", "MutableMapping"}
_ANYTHING = {"Any", "object"}
_WRITTEN_OUT = re.compile(r"\[str, (?:Any|object)\]")


def _is_untyped(node: ast.AST) -> bool:
    """``dict[str, Any]`` and the like."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in _MAPPINGS
        and isinstance(node.slice, ast.Tuple)
        and len(node.slice.elts) == 2
        and all(isinstance(each, ast.Name) for each in node.slice.elts)
        and ast.unparse(node.slice.elts[0]) == "str"
        and ast.unparse(node.slice.elts[1]) in _ANYTHING
    )


def _aliases(tree: ast.Module) -> Iterator[str]:
    """Names that stand for a type in which there is one."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        if not isinstance(value, ast.Subscript | ast.BinOp):
            continue
        if any(_is_untyped(node) for node in ast.walk(value)):
            yield name


def places() -> Counter[str]:
    """How many are in each file: types written out, and uses of aliases."""
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in texts.items() if _WRITTEN_OUT.search(text)}
    names_of_aliases = {name for tree in trees.values() for name in _aliases(tree)}
    uses = re.compile(rf"\b(?:{'|'.join(names_of_aliases)})\b")
    trees |= {
        path: ast.parse(text)
        for path, text in texts.items()
        if path not in trees and uses.search(text)
    }
    alias_names = {path: set(_aliases(tree)) for path, tree in trees.items()}
    modules = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): (
            path
        )
        for path in trees
    }
    every_alias = set().union(*alias_names.values())
    counted: Counter[str] = Counter()
    for path, tree in trees.items():
        names = set(alias_names[path])
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module in modules:
                of_module = alias_names[modules[node.module]]
                names |= {
                    alias.asname or alias.name for alias in node.names if alias.name in of_module
                }
        uses_in_file = 0
        for node in nodes:
            is_use = (
                isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
            ) or (
                isinstance(node, ast.Attribute)
                and node.attr in every_alias
                and isinstance(node.value, ast.Name)
                and any(
                    node.attr in alias_names[file]
                    for module, file in modules.items()
                    if module.rpartition(".")[2] == node.value.id
                )
            )
            uses_in_file += _is_untyped(node) or is_use
        counted[str(path.relative_to(SOURCE))] = uses_in_file
    return +counted


def test_few_places_take_anything_by_name() -> None:
    counted = places()
    of_files = "\n".join(f"{number:4} {file}" for file, number in counted.most_common(20))
    assert counted.total() <= MOST, (
        f"{counted.total()} places are dict[str, Any] or the like, of {MOST} at most; "
        f"give them a class with named fields:\n{of_files}"
    )
