"""What the guides and the papers' files say of root is what the storages declare."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.storages.abilities import Inspectable

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "python" / "assay" / "experiment" / "papers").glob("*.toml"))


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Kinds of storages that another user than root cannot have."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    storages = {name: registry.storage(name) for name in registry.storages()}
    return {
        name for name, storage in storages.items()
        if isinstance(storage, Inspectable) and "root" in (storage.why_unavailable() or "")
    }  # fmt: skip


def rows(page: str) -> dict[str, list[str]]:
    """The rows of its tables, by the name in their first column."""
    text = (ROOT / "docs" / "guides" / page).read_text(encoding="utf-8")
    return {
        name: [cell.strip() for cell in cells.split("|")]
        for name, cells in re.findall(r"^\| `([\w.-]+)` \|(.*)\|$", text, re.MULTILINE)
    }


def test_the_table_of_storages_says_which_need_root(kinds: set[str]) -> None:
    table = rows("storages.md")
    said = {name for name in registry.storages() if re.match("root(,|$)", table[name][1])}
    assert said == kinds


def test_papers_that_need_root_say_so(kinds: set[str]) -> None:
    table = rows("papers.md")
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        used = set(re.findall(r'^kind *= *"([\w-]+)"', text, re.MULTILINE))
        needs_root = bool(used & kinds)
        assert ("root" in table[file.name][0]) == needs_root, file.name
        assert ("needs root; without root: --storage here" in text) == needs_root, file.name
