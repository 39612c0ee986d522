"""Modules of a crate import in one direction: to read one, only those below are needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CRATES = Path(__file__).resolve().parents[2] / "crates"

USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
MOD = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?mod (\w+);", re.MULTILINE)
INLINE = re.compile(r"\b(?:crate|super)(?:::\w+)+")
UPWARDS = ("crate", "super", "self")


def _paths(use: str) -> Iterator[tuple[list[str], str]]:
    """Every path of a tree of imports, and its name: ``a::{b, c::d as e}`` has a::b called b and
    a::c::d called e."""
    head, brace, rest = use.partition("{")
    before = [word.strip() for word in head.split("::") if word.strip()]
    if not brace:
        path, _, alias = use.partition(" as ")
        words = [word.strip() for word in path.split("::")]
        if words[-1] == "self":
            words.pop()
        yield words, alias.strip() or (words[-1] if words else "")
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
            for words, name in _paths(one.strip()):
                whole = [*before, *words]
                yield whole, name or whole[-1]


def _imported(code: str) -> Iterator[tuple[list[str], str, bool]]:
    """Paths that a module imports, their names in it, and whether it hands them on."""
    for visibility, use in USE.findall(code):
        for path, name in _paths(" ".join(use.split())):
            yield path, name, bool(visibility)


class _Crate:
    """The modules of a crate, called as their files: ``lib``, ``drive``, ``drive/client``."""

    def __init__(self, name: str) -> None:
        source = CRATES / name / "src"
        self.code: dict[str, str] = {}
        for path in source.rglob("*.rs"):
            module = path.relative_to(source).with_suffix("").as_posix().removesuffix("/mod")
            if path.name != "tests.rs":
                # Tests stand last in a file. They and comments may name whatever they like.
                code = re.split(r"^#\[cfg\(test\)\]", path.read_text(), flags=re.MULTILINE)[0]
                self.code[module] = re.sub(r"//.*|pub\(in [^)]*\)", "", code)
        self.handed_on = {
            module: {name: path for path, name, is_handed_on in _imported(code) if is_handed_on}
            for module, code in self.code.items()
        }

    def module_of(self, module: str, path: list[str]) -> str | None:
        """The module that defines what ``module`` calls ``path``; none of another crate."""
        at = [] if module == "lib" else module.split("/")
        steps = list(path)
        if steps[0] == "crate":
            at = []
        elif steps[0] not in UPWARDS and not self._has(at, steps[0]):
            return None
        while steps and steps[0] in UPWARDS:
            if steps.pop(0) == "super":
                at.pop()
        while steps:
            handed_on = self.handed_on["/".join(at) or "lib"].get(steps[0])
            if "/".join([*at, steps[0]]) in self.code:
                at.append(steps.pop(0))
            elif handed_on and handed_on != path:
                # It counts as what it is.
                return self.module_of("/".join(at) or "lib", handed_on + steps[1:])
            else:
                break
        return "/".join(at) or "lib"

    def _has(self, folder: list[str], name: str) -> bool:
        child = "/".join([*folder, name])
        return child in self.code or name in self.handed_on["/".join(folder) or "lib"]

    def imports(self) -> dict[str, set[str]]:
        """The modules of which each module names anything; the root aside, which names all."""
        found: dict[str, set[str]] = {}
        for module, code in self.code.items():
            paths = [path for path, _, _ in _imported(code)]
            paths += [path.split("::") for path in INLINE.findall(USE.sub("", code))]
            paths += [[child] for child in MOD.findall(code) if re.search(rf"\b{child}::", code)]
            named = {self.module_of(module, path) for path in paths}
            found[module] = {one for one in named if one and one not in (module, "lib")}
        del found["lib"]
        return found


@pytest.mark.parametrize("crate", sorted(path.name for path in CRATES.iterdir()))
def test_modules_of_a_crate_import_in_one_direction(crate: str) -> None:
    imports = _Crate(crate).imports()
    found = sum(map(len, imports.values()))
    assert len(imports) < 3 or found > len(imports) / 2, "imports are no longer found"
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' <- '.join(error.args[1])}")
