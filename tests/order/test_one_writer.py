"""Tables are written in one place for each kind of output, and a record is opened in one way."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "assay"


@pytest.mark.parametrize(
    ("written", "writer"),
    [
        (r"\bcsv\.(writer|DictWriter)\(", "text/table_forms.py"),
        (r"---\||---:", "text/table_forms.py"),
        # Filled to a width that was computed; one that is fixed is that of a line, not of a table.
        (r'" " \* \(|\.[lr]just\((?!\d)|:[<>]\{[a-z]', "text/table_forms.py"),
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


PLACE = PACKAGE / "record" / "file" / "record_file.py"
OPENS = {"open", "fdopen", "read_bytes", "write_bytes", "copy", "copy2", "copyfile", "mmap"}


def calls(path: Path) -> list[tuple[int, str, str]]:
    """(line, module or value, function) of every call that may open a file."""
    found = []
    text = path.read_text(encoding="utf-8")
    if "sqlite3" not in text and not path.is_relative_to(PACKAGE / "record"):
        return []  # before it is parsed, which takes long for the whole product
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Attribute) and called.attr in {"connect", *OPENS}:
                found.append((node.lineno, ast.unparse(called.value), called.attr))
            elif isinstance(called, ast.Name):
                found.append((node.lineno, "", called.id))
    return found


def test_only_one_module_opens_record_files() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {of}.{name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != PLACE
        for line, of, name in calls(path)
        if (of, name) == ("sqlite3", "connect")
        or (path.is_relative_to(PACKAGE / "record") and name in OPENS)
    ]
    assert not wrong, "\n".join(wrong)
