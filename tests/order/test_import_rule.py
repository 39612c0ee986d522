"""Imports go one way, in Python and among crates, and a small file with one importer is merged
into it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "assay"


def rooms_in_order() -> dict[str, int]:
    """Room → place, out of the fenced list in ARCHITECTURE.md; rooms on one line are equals."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = re.search(r"```rooms\n(.*?)```", text, re.S)
    assert listed, "ARCHITECTURE.md lost its list of rooms"
    lines = listed.group(1).split("\n")
    return {room: place for place, line in enumerate(lines) for room in line.split()}


def place_of(module: str, rooms: dict[str, int]) -> int | None:
    """The place of the most specific room that holds ``module`` (without ``assay.``)."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if (place := rooms.get(".".join(parts[:length]))) is not None:
            return place
    return None


_IMPORT = re.compile(
    r"^ *(?:from assay[\w.]* import (?:\([^)]*\)|.*)|import assay.*)", re.MULTILINE
)


@cache
def imports_of(path: Path) -> list[str]:
    """The modules of the program that it imports, inside functions too. Only these statements are
    parsed: to parse all modules takes a second."""
    found = []
    statements = _IMPORT.findall(path.read_text(encoding="utf-8"))
    for node in ast.parse("".join(f"{each.strip()}\n" for each in statements)).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay"):
            for name in node.names:
                deeper = f"{node.module}.{name.name}".split(".")
                is_module = PACKAGE.joinpath(*deeper[1:]).with_suffix(".py").exists()
                found.append(".".join(deeper if is_module else deeper[:-1]))
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.startswith("assay.")]
    return [module.removeprefix("assay").lstrip(".") for module in found]


def test_no_room_imports_from_the_right() -> None:
    rooms = rooms_in_order()
    wrong = []
    seen = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        module = module.removesuffix(".__init__").removesuffix("__init__")
        if not module:
            continue
        here = place_of(module, rooms)
        if here is None:
            wrong.append(f"{module}: in no room of ARCHITECTURE.md")
            continue
        seen.add(here)
        for imported in imports_of(path):
            if imported in {"", "_engine"}:
                continue
            there = place_of(imported, rooms)
            if there is None or there > here:
                wrong.append(f"{path.relative_to(ROOT)} imports {imported}")
    assert not wrong, "\n".join(wrong)
    assert seen == set(rooms.values()), "ARCHITECTURE.md lists a room that is empty"


def folder_of(module: str) -> list[str]:
    """The folders that hold ``module``, from the outermost."""
    parts = module.split(".")
    return parts if PACKAGE.joinpath(*parts).is_dir() else parts[:-1]


def test_no_two_folders_import_each_other() -> None:
    importing: dict[tuple[str, str], str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        here = list(path.relative_to(PACKAGE).parent.parts)
        for module in imports_of(path):
            pairs = zip(here, folder_of(module), strict=False)
            apart = next((depth for depth, (a, b) in enumerate(pairs, 1) if a != b), None)
            if apart:
                folders = ("/".join(here[:apart]), "/".join(folder_of(module)[:apart]))
                importing.setdefault(folders, str(path.relative_to(ROOT)))
    wrong = [
        f"{here} and {there} import each other: {place} and {importing[there, here]}"
        for (here, there), place in importing.items()
        if here < there and (there, here) in importing
    ]
    assert not wrong, "\n".join(wrong)


OWN_PACKAGE = ("load/bibsql", "cli/bibsql")
"""Rows and their commands as another package would have them."""


def _open_to_packages() -> list[str]:
    """What ARCHITECTURE.md opens to them, with a dot at the end of each name."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = re.search(r"```open\n(.*?)```", text, re.S)
    assert listed, "ARCHITECTURE.md lost its list of what other packages may use"
    return [f"{name.replace('/', '.')}." for name in listed.group(1).split()]


def test_packages_use_only_what_is_open_to_them() -> None:
    own = [name.replace("/", ".") + "." for name in OWN_PACKAGE]
    of_package = [path for name in OWN_PACKAGE for path in PACKAGE.joinpath(name).rglob("*.py")]
    assert of_package
    for names, paths in (
        ([*_open_to_packages(), *own], of_package),
        (_open_to_packages(), [*(ROOT / "tests" / "doubles").rglob("*.py")]),
    ):
        wrong = [
            f"{path.relative_to(ROOT)} imports {module}"
            for path in sorted(paths)
            for module in imports_of(path)
            if module not in ("", "_engine") and not f"{module}.".startswith(tuple(names))
        ]
        assert not wrong, "\n".join(wrong)


def test_a_package_is_found_by_its_entry_points_alone() -> None:
    own = tuple(name.replace("/", ".") for name in OWN_PACKAGE)
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not str(path.relative_to(PACKAGE)).startswith(OWN_PACKAGE)
        for module in imports_of(path)
        if module.startswith(own)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_top_level_reads_as_the_architecture() -> None:
    files = [path for path in PACKAGE.glob("*/**/*.*") if path.suffix != ".pyc"]
    folders = {path.relative_to(PACKAGE).parts[0] for path in files}
    assert len(folders) <= 20, sorted(folders)
    assert len(list(PACKAGE.glob("*.py"))) <= 6


def test_only_the_bridge_depends_on_python() -> None:
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        if manifest.parent.name != "bridge":
            assert "pyo3" not in manifest.read_text(encoding="utf-8"), manifest


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


SMALL, LONGEST = 60, 600
"""Lines: a file has one idea, and an idea some 60 to 600 lines."""
SHELVES = {
    "dialects": "a dialect is a file",
    "systems": "the parts of a system have the same names in all systems",
    "storages": "a storage, or what storages of a kind share, is a file",
    "lab/steps": "a step is a file",
    "report/sections": "a section is a file",
    "workload": "a table of the workload file is a file",
}
"""Folders that are lists of one kind, in which each entry is a file."""


@pytest.mark.slow
def test_a_small_file_with_one_importer_is_merged_into_it() -> None:
    length = {path: len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")}
    importers: defaultdict[str, set[Path]] = defaultdict(set)
    for path in length:
        for module in imports_of(path):
            importers[module].add(path)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    entries = str(project["project"])
    wrong = []
    for path, lines in sorted(length.items()):
        inside = path.relative_to(PACKAGE)
        module = ".".join(inside.with_suffix("").parts)
        others = importers[module]
        if path.name == "__init__.py" or lines >= SMALL or len(others) != 1:
            continue
        importer = next(iter(others))
        is_entry = f"assay.{module}:" in entries
        on_shelf = any(inside.is_relative_to(shelf) for shelf in SHELVES)
        other_room = importer.relative_to(PACKAGE).parts[0] != inside.parts[0]
        if is_entry or on_shelf or other_room or lines + length[importer] > LONGEST:
            continue
        where = importer.relative_to(ROOT)
        wrong.append(f"{path.relative_to(ROOT)}: {lines} lines, imported by {where} alone")
    assert not wrong, "merge:\n" + "\n".join(wrong)
