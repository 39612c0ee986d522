"""Built-in workloads that were changed: with a mistake, or with a part of the rows that their
standards fix, where transactions and checks are the same, and the load takes no longer than they
do."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from assay import registry

_SMALLER = {
    "100000": "2000", "100001": "2001", "300000": "6000", "30000": "600", "3001": "61",
    "3000": "60", "2100": "42", "1000": "30",
}  # fmt: skip
"""Of tpcc: items, money, payments, orders and customers, those that were delivered, last names."""


def changed_copy(name: str, folder: Path, *changes: tuple[str, str, str]) -> Path:
    """``changes``: a file of the workload, a text in it, and the one in its place."""
    copy = Path(shutil.copytree(registry.workload_folder(name), folder / name))
    for file, right, ours in changes:
        text = (copy / file).read_text("utf-8")
        assert right in text, f"{file}: {right}"
        (copy / file).write_text(text.replace(right, ours), encoding="utf-8")
    return copy


def smaller_tpcc(folder: Path) -> Path:
    """A copy with a fiftieth of the customers, orders and items, in SQL and in documents."""
    copy = shutil.copytree(registry.workload_folder("tpcc"), folder / "tpcc")
    numbers = re.compile(rf"(?<![\w.])({'|'.join(_SMALLER)})(?![\w.])")
    for file in (*copy.rglob("*.json"), *copy.rglob("*.sql"), copy / "workload.toml"):
        text = file.read_text(encoding="utf-8").replace("nurand(255, 0, 999,", "nurand(15, 0, 29,")
        kept = [
            line if line.startswith("retries") else numbers.sub(lambda it: _SMALLER[it[0]], line)
            for line in text.splitlines()
        ]
        file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return copy


def smaller_tpcb(folder: Path) -> Path:
    """A copy with 500 accounts of a branch."""
    copy = shutil.copytree(registry.workload_folder("tpcb"), folder / "tpcb")
    for file in copy.rglob("*.*"):
        file.write_text(file.read_text("utf-8").replace("100000", "500"), encoding="utf-8")
    return copy
