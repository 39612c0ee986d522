"""A name says what it names. A class has a name of its own, or the name means the same wherever it
is; a parameter, an attribute, a function or a module is called neither ``found`` nor ``one``, which
would fit any other as well."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "assay"
EMPTY = {"found", "one"}
SHELVES = {"systems": "the parts of a system have the same names in all systems"}
"""Folders in which each folder may have a class of the name."""
FACES = {"api": "what a Python program is given of the value of that name"}
"""Folders whose classes may have the name of what they show."""
AS_WRITTEN = {
    "Check": "beside `expected`: keys of the record and of reports for programs",
    "ConditionDocument": "a key of comparisons for programs",
    "Compare": "a key of workload files",
}
"""Classes with an attribute of such a name."""


@cache
def _trees() -> dict[Path, ast.Module]:
    return {
        path.relative_to(PACKAGE): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def test_a_class_name_means_one_thing() -> None:
    places: defaultdict[str, set[str]] = defaultdict(set)
    for path, tree in _trees().items():
        home = path.parts[0]
        if home in FACES:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(home if home in SHELVES else f"{path}:{node.lineno}")
    several = {name: sorted(where) for name, where in places.items() if len(where) > 1}
    assert not several, f"each needs a name of its own: {several}"


def _empty_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name) if name in EMPTY:
                yield node.lineno, f"parameter {name}"
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name in EMPTY:
                yield node.lineno, f"function {name}"
            case ast.ClassDef(name=owner, body=body) if owner not in AS_WRITTEN:
                for statement in body:
                    match statement:
                        case ast.AnnAssign(target=ast.Name(id=name)) if name in EMPTY:
                            yield statement.lineno, f"attribute {name}"


def test_no_name_fits_everything() -> None:
    wrong = [f"{path}: a module" for path in _trees() if path.stem in EMPTY]
    wrong += [
        f"{path}:{line}: {what}"
        for path, tree in _trees().items()
        for line, what in _empty_names(tree)
    ]
    assert not wrong, "say what it is:\n" + "\n".join(wrong)
