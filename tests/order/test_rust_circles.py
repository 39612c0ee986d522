"""Modules of a crate import in one direction: to read one, only those below are needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CRATES = Path(__file__).resolve().parents[2] / "crates"

WITHOUT_CIRCLES = ("bibtex", "bridge", "datagen", "drivers", "script", "values")


def _paths(use: str) -> Iterator[list[str]]:
    """Every path of a tree of imports: ``a::{b, c::d}`` has a::b and a::c::d."""
    head, brace, rest = use.partition("{")
    before = [word for word in head.split("::") if word.strip()]
    if not brace:
        yield [word.split(" as ")[0].strip() for word in before]
        return
    depth, part, parts = 0, "", []
    for letter in rest[: rest.rindex("}")]:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    for one in (*parts, part):
        if one.strip():
            for path in _paths(one.strip()):
                yield [word.strip() for word in before] + path


def _imports(crate: str) -> dict[str, set[str]]:
    """The modules that each module names in a ``use``, tests aside. What the root hands on counts
    as what it is."""
    source = CRATES / crate / "src"
    files = {
        path.relative_to(source).with_suffix("").as_posix().removesuffix("/mod"): path
        for path in source.rglob("*.rs")
    }
    texts = {name: path.read_text().split("#[cfg(test)]")[0] for name, path in files.items()}
    uses = {
        name: [
            path
            for use in re.findall(r"^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);", text, re.MULTILINE)
            for path in _paths(" ".join(use.split()))
        ]
        for name, text in texts.items()
    }
    handed_on = {path[-1]: path[0] for path in uses["lib"] if path[0] in files}

    def module(name: str, path: list[str]) -> str | None:
        folder = name.split("/")
        match path[0]:
            case "crate":
                steps = path[1:]
                steps = [handed_on.get(steps[0], steps[0]), *steps[1:]]
            case "super":
                ups = next(at for at, word in enumerate(path) if word != "super")
                steps = folder[:-ups] + path[ups:]
            case "self":
                steps = folder + path[1:]
            case _:
                steps = folder + path if name != "lib" else path
        return next(
            (
                known
                for length in range(len(steps), 0, -1)
                if (known := "/".join(steps[:length])) in files
            ),
            None,
        )

    return {
        name: {found for path in paths if (found := module(name, path)) and found != name}
        for name, paths in uses.items()
        if name != "lib"
    }


@pytest.mark.parametrize("crate", WITHOUT_CIRCLES)
def test_modules_of_a_crate_import_in_one_direction(crate: str) -> None:
    imports = _imports(crate)
    assert sum(map(len, imports.values())) > len(imports) / 2, "imports are no longer found"
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' <- '.join(error.args[1])}")
