"""Every file and folder that ARCHITECTURE.md and CONTRIBUTING.md name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("python", "crates", "tests", "docs", "fuzz", "packaging", "proofs", "benches", "tools")


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_paths_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`([\w.]+(?:/[\w.]+)*(?:/|\.(?:py|rs|md|sql|json|toml)))`", text)
    assert len(named) > 10
    # A name may leave out the folders that the sentence or the row above has named.
    paths = "".join(f"/{path.relative_to(ROOT)}/\n" for path in _files())
    missing = [name for name in named if not re.search(_pattern(name), paths)]
    assert not missing, missing


def _pattern(name: str) -> str:
    """A word in capitals is in the place of any name."""
    words = re.split(r"\b([A-Z]+)\b(?=[./]|$)", name.rstrip("/"))
    return "/" + "".join(r"\w+" if word.isupper() else re.escape(word) for word in words) + "/"


def _files() -> list[Path]:
    own = [ROOT / name for name in FOLDERS]
    found = [path for folder in own for path in folder.rglob("*")]
    return [*found, *own, *ROOT.glob("*.md"), *ROOT.glob("*.toml")]
