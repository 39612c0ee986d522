"""A small file with one importer is merged into it. Entries of a list stay files of their own, and
so does what would make its importer too long, or what a room gives to another one."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from test_import_rule import PACKAGE, ROOT, imports_of

SMALL, LONGEST = 60, 600
"""Lines: a file has one idea, and an idea some 60 to 600 lines."""

SHELVES = {
    "dialects": "a dialect is a file",
    "systems": "the parts of a system have the same names in all systems",
    "storages": "a storage, or what storages of a kind share, is a file",
    "lab/steps": "a step is a file",
    "lab/backup": "a way to make a backup is a file",
    "provision/undo/resources": "a kind of what must be undone is a file",
    "report/sections": "a section is a file",
    "workload": "a table of the workload file is a file",
}
"""Folders that are lists of one kind, in which each entry is a file."""

OWN_IDEA = {
    "cli/watching/vega.py": "where the program that draws comes from, beside the pages",
    "judge/statistics/drift.py": "a statistic, which imports SciPy on first use",
    "lab/run_context/read_only_server.py": "a refusal, beside what is noted before the first step",
}


@pytest.mark.slow
def test_a_small_file_with_one_importer_is_merged_into_it() -> None:
    length = {path: len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")}
    importers: defaultdict[str, set[Path]] = defaultdict(set)
    for path in length:
        for _, module in imports_of(path):
            importers[module].add(path)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    entries = str(project["project"])
    wrong, small = [], set()
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
        small.add(str(inside))
        if str(inside) not in OWN_IDEA:
            where = importer.relative_to(ROOT)
            wrong.append(f"{path.relative_to(ROOT)}: {lines} lines, imported by {where} alone")
    assert not wrong, "merge, or give the reason in OWN_IDEA:\n" + "\n".join(wrong)
    assert small == set(OWN_IDEA), "remove from OWN_IDEA what is no such file any more"
