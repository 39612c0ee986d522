"""A database's name is in its own folder and nowhere else in the program. Workload and experiment
files are what is run, and may name systems; the code among them may not."""

from __future__ import annotations

import re
import tomllib
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


def names() -> re.Pattern[str]:
    """The systems of the registry, and other words for the same."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    systems = set(project["project"]["entry-points"]["assay.systems"]) - {"null"}
    return re.compile("|".join(systems | {"mysql", "psql", "postgres", "myisam", "innodb"}), re.I)


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
    pattern = names()
    wrong = []
    for path in sorted([*(ROOT / "python").rglob("*"), *(ROOT / "crates").rglob("*")]):
        if path.suffix not in PROGRAM | DESCRIPTIONS or is_home(path):
            continue
        is_record = path.is_relative_to(ROOT / "python" / "assay" / "record")
        ours = OWN_STORE if is_record else RECORD_FILE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(ours.sub("", line)) and not EXAMPLE.match(line):
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
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search("(?<!me)bib", OLDER_WORDS.sub("", line), re.I) and not EXAMPLE.match(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not wrong, "\n".join(wrong)
