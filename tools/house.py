#!/usr/bin/env python3
"""Counts how much is declared, and how often the same: files, lines, modules, classes that share
their fields. `tests/order/test_house.py` holds each count to what was reached."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
PRODUCT = ROOT / "python" / "assay"
RUNS = (
    "PlannedRun", "RunSoFar", "StepRecord", "Evidence", "EndedRun", "MeasuredRun", "RunRow",
    "RunSummary", "RunRecord", "RunFacts", "RunOnRecord", "DrivenRun", "RunDetail", "Run",
)  # fmt: skip
"""Classes each of which is a run at one stage."""
COLUMNS = ("Metric", "RunValue", "PivotColumn", "ReportColumn", "TidyColumn")
"""Classes each of which is a value in a table."""
_LEAST_FIELDS, _LEAST_SHARE = 5, 0.6


def counts() -> dict[str, int]:
    files = tracked()
    modules = [len(path.read_text(encoding="utf-8").splitlines()) for path in _modules()]
    fields = dict(classes())
    names = {name.rpartition(":")[2] for name in fields}
    return {
        "tracked files": len(files),
        "lines": sum(map(_lines, files)),
        "lines of README.md": _lines(ROOT / "README.md"),
        "Python modules": len(modules),
        "median lines of a module": int(median(modules)),
        "pairs of classes that share their fields": len([*sharing(fields)]),
        "classes that are a run": len(names.intersection(RUNS)),
        "kinds of column": len(names.intersection(COLUMNS)),
    }


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def _lines(path: Path) -> int:
    """Of a text; a compressed record has none."""
    text = path.read_bytes()
    return 0 if b"\0" in text else text.count(b"\n")


def _modules() -> list[Path]:
    return sorted(PRODUCT.rglob("*.py"))


def classes() -> Iterator[tuple[str, frozenset[str]]]:
    """(place and name, names of the fields) of each class of the product that declares some."""
    for path in _modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                fields = frozenset(
                    part.target.id
                    for part in node.body
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
                )
                if fields:
                    yield f"{path.relative_to(PRODUCT)}:{node.name}", fields


def sharing(fields: dict[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    """Classes of which two share five fields, and most of those of the smaller one."""
    for (one, its), (other, others) in combinations(fields.items(), 2):
        shared, least = len(its & others), min(len(its), len(others))
        if shared >= _LEAST_FIELDS and shared >= _LEAST_SHARE * least:
            yield one, other


if __name__ == "__main__":
    for what, count in counts().items():
        print(f"{count:>8,}  {what}")
    print("\nshare their fields:")
    for one, other in sharing(dict(classes())):
        print(f"  {one}  {other}")
