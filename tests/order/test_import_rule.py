"""Checks every import of the program against the import rule of ARCHITECTURE.md."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

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


@cache
def imports_of(path: Path) -> list[tuple[int, str]]:
    """(line, module) of every import of the program's own modules, inside functions too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assay"):
            for name in node.names:
                deeper = f"{node.module}.{name.name}".split(".")
                is_module = PACKAGE.joinpath(*deeper[1:]).with_suffix(".py").exists()
                found.append((node.lineno, ".".join(deeper if is_module else deeper[:-1])))
        elif isinstance(node, ast.Import):
            found += [(node.lineno, n.name) for n in node.names if n.name.startswith("assay.")]
    return [(line, module.removeprefix("assay").lstrip(".")) for line, module in found]


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
        for line, imported in imports_of(path):
            if imported in {"", "_engine"}:
                continue
            there = place_of(imported, rooms)
            if there is None or there > here:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: imports {imported}")
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
        for line, module in imports_of(path):
            pairs = zip(here, folder_of(module), strict=False)
            apart = next((depth for depth, (a, b) in enumerate(pairs, 1) if a != b), None)
            if apart:
                folders = ("/".join(here[:apart]), "/".join(folder_of(module)[:apart]))
                importing.setdefault(folders, f"{path.relative_to(ROOT)}:{line}")
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
            f"{path.relative_to(ROOT)}:{line}: imports {module}"
            for path in sorted(paths)
            for line, module in imports_of(path)
            if module not in ("", "_engine") and not f"{module}.".startswith(tuple(names))
        ]
        assert not wrong, "\n".join(wrong)


def test_a_package_is_found_by_its_entry_points_alone() -> None:
    own = tuple(name.replace("/", ".") for name in OWN_PACKAGE)
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: imports {module}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not str(path.relative_to(PACKAGE)).startswith(OWN_PACKAGE)
        for line, module in imports_of(path)
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
