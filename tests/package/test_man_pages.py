"""The man pages are formatted without a warning, and say what the programs' help says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from assay.cli.program import COMMANDS
from programs import GROFF, need_program

WRITE = Path(__file__).parents[2] / "tools" / "man_pages.py"


def _formatted(page: Path) -> str:
    groff = ["groff", "-ww", "-K", "utf8", "-man", "-T", "utf8", "-P", "-cbou", str(page)]
    done = subprocess.run(groff, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), page.name
    return done.stdout


def test_every_command_has_a_page_that_is_formatted_without_a_warning(tmp_path: Path) -> None:
    need_program(GROFF)
    subprocess.run([sys.executable, WRITE, tmp_path], check=True)
    pages = {page.stem: " ".join(_formatted(page).split()) for page in tmp_path.glob("*.1")}
    assert pages.keys() == {"assay", "bibtosql", "bibsql", *(f"assay-{one}" for one in COMMANDS)}
    for name, text in pages.items():
        assert all(heading in text for heading in ("NAME", "SYNOPSIS", "OPTIONS", "SEE ALSO")), name
    assert "--repetitions N" in pages["assay-run"]
    assert "ASSAY_RECORDS" in pages["assay"]
    assert "bibtosql -c *.bib | sqlite3 bibtex.db" in pages["bibtosql"]
