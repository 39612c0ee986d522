"""A database's name, and a statement of SQL, is in its own folder and nowhere else in the program.
Workload and experiment files are what is run, and may name systems; the code among them may
not."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"^\s*(\$ )?(assay|bibsql|bibtosql) ")
"""A command shown as an example in a help text."""
RECORD_FILE = re.compile(r"assay-records\.sqlite|https://www\.postgresql\.org/docs/\S*")
OWN_STORE = re.compile(r"assay-records\.sqlite|\bsqlite3\b|sqlite_master|sqlite_errorcode|SQLite")
"""The record is an SQLite file: there SQLite is not a system under test."""
PROGRAM = {".py", ".pyi", ".rs", ".sql", ".js", ".css"}
DESCRIPTIONS = {".toml", ".json", ".md"}
RUN = {"workloads", "papers"}
"""Folders of what is run."""
SHARED_DIALECT_FILES = {"__init__", "declared", "protocol", "standard"}


@cache
def names() -> set[str]:
    """The systems of the registry, and other words for the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    systems = set(project["project"]["entry-points"]["assay.systems"]) - {"null"}
    return systems | {"mysql", "psql", "postgres", "myisam", "innodb"}


def has_name(text: str) -> bool:
    lower = text.lower()
    return any(name in lower for name in names())


def is_home(path: Path) -> bool:
    """Whether the file belongs to a system, a dialect, a driver or a workload's overrides."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "crates":
        return parts[1] == "drivers" or bool({"tests", "examples"} & set(parts))
    shelf, depth = parts[2], len(parts)
    return (
        (shelf == "systems" and depth > 4)
        or (shelf == "dialects" and depth == 4 and path.stem not in SHARED_DIALECT_FILES)
        or (shelf == "workloads" and "overrides" in parts)
        or (bool(RUN & set(parts)) and path.suffix in DESCRIPTIONS)
    )


def test_no_database_is_named_outside_its_folder() -> None:
    wrong = []
    for path in sorted([*(ROOT / "python").rglob("*"), *(ROOT / "crates").rglob("*")]):
        if path.suffix not in PROGRAM | DESCRIPTIONS or is_home(path):
            continue
        is_record = path.is_relative_to(ROOT / "python" / "assay" / "record")
        ours = OWN_STORE if is_record else RECORD_FILE
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".rs":
            text = text.partition("\n#[cfg(test)]\n")[0]  # tests name the systems that they use
        for number, line in enumerate(text.splitlines() if has_name(text) else [], 1):
            if has_name(ours.sub("", line)) and not EXAMPLE.match(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


OLDER_WORDS = re.compile(r'"--bib"|"bib"|``bib`` is the key of older files')
"""Older options and experiment files that still work."""


def test_bibliographies_are_known_to_their_own_row_source_alone() -> None:
    package = ROOT / "python" / "assay"
    wrong = []
    for path in sorted(package.rglob("*.py")):
        if {"bibsql", "workloads", "env_vars.py"} & set(path.relative_to(package).parts):
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines() if "bib" in text.lower() else []
        for number, line in enumerate(lines, 1):
            if re.search("(?<!me)bib", OLDER_WORDS.sub("", line), re.I) and not EXAMPLE.match(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


PACKAGE = ROOT / "python" / "assay"
HOMES = {"dialects", "systems", "record"}
"""The record's SQL is never sent to a system under test."""
STATEMENT = re.compile(
    r"\b(SELECT|INSERT INTO|DELETE FROM|TRUNCATE|UPDATE \S+ SET|(CREATE|DROP|ALTER) (TABLE|INDEX)"
    r"|START TRANSACTION|BEGIN|COMMIT|ROLLBACK|ANALYZE)\b"
)
FIRST_WORD = re.compile(
    "SELECT|INSERT|DELETE|TRUNCATE|UPDATE|CREATE|DROP|ALTER|START|BEGIN|COMMIT|ROLLBACK|ANALYZE"
)


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of every text of a module that is no docstring."""
    text = path.read_text(encoding="utf-8")
    if not FIRST_WORD.search(text):
        return  # before it is parsed, which takes long for the whole product
    tree = ast.parse(text)
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documentation:
            yield node.lineno, node.value


def test_no_room_writes_a_statement() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in HOMES
        for line, text in texts_of(path)
        if STATEMENT.search(text)
    ]
    assert not wrong, "\n".join(wrong)
