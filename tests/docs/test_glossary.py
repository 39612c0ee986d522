"""Every identifier of the glossary stands in the program."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_identifier_of_the_glossary_is_in_the_program() -> None:
    program = "\n".join(
        path.read_text(encoding="utf-8")
        for pattern in ("python/**/*.py", "python/**/*.toml", "crates/**/*.rs")
        for path in ROOT.glob(pattern)
    )
    rows = (ROOT / "docs/concepts/glossary.md").read_text(encoding="utf-8").splitlines()
    identifiers = [row.split("|")[3] for row in rows if row.startswith("| **")]
    words = [word for cell in identifiers for word in re.findall(r"`(\w+)`", cell)]
    assert len(words) > 20
    missing = [word for word in words if not re.search(rf"\b{word}\b", program)]
    assert not missing, missing
