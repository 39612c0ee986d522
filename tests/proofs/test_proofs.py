"""A short case of every proof; `make prove` runs them in full."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from proofs._proof import NAMES
from proofs.walkthroughs import PEOPLE, Person

ROOT = Path(__file__).parents[2]
NEED_VERDICTS = {"equal_sides"}
"""Nothing is decided of runs beside which other programs work."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.alone) if one in NEED_VERDICTS else one for one in NAMES],
)
def test_no_case_of_a_short_proof_fails(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "proofs", name, "--short"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("person", PEOPLE, ids=lambda person: person.comes_from)
def test_what_a_person_types_is_on_the_page_from_pgbench(person: Person) -> None:
    page = (ROOT / "docs" / "guides" / "from-pgbench.md").read_text(encoding="utf-8")
    typed = re.findall(r"--[a-z-]+|assay run \S+", "\n".join(person.commands))
    assert typed and not [words for words in (person.comes_from, *typed) if words not in page]
