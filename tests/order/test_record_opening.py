"""The files of a record are opened in one place, which keeps the process's locks of them."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "assay"
PLACE = PACKAGE / "record" / "file" / "opening.py"
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
