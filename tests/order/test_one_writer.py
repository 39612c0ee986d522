"""Tables of the terminal, of CSV and of Markdown are made in one place each: all outputs align,
quote and escape alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "assay"


@pytest.mark.parametrize(
    ("written", "writer"),
    [
        (r"\bcsv\.(writer|DictWriter)\(", "text/csv_lines.py"),
        (r"---\||---:", "text/markdown_lines.py"),
        # Filled to a width that was computed; one that is fixed is that of a line, not of a table.
        (r'" " \* \(|\.[lr]just\((?!\d)|:[<>]\{[a-z]', "text/terminal_lines.py"),
        # One line that is drawn again and again.
        (r"rich\.(table|box|columns)", "cli/output/stage_bar.py"),
    ],
)
def test_a_form_is_written_in_one_file(written: str, writer: str) -> None:
    files = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(written, path.read_text("utf-8"))
    }
    assert files == {writer}
