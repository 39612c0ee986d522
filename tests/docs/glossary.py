"""Takes docs/concepts/glossary.md and its exceptions; returns the words that it replaces, and the
names and texts in which they are looked for: of the sources, of what users see, of pages."""

from __future__ import annotations

import ast
import lzma
import re
import sqlite3
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import click

from assay.cli.commands.schema import DOCUMENTS
from assay.cli.program import COMMANDS, command_of, group
from assay.record import Store
from assay.record.file import schema
from assay.report.build import build

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "concepts" / "glossary.md"
TEXT, NAMES, TYPES = "text", "names", "types and files"


@dataclass(frozen=True)
class Replaced:
    """A word or phrase of a "do not say" column."""

    words: str
    say: str
    held_in: frozenset[str]


def identifiers() -> list[str]:
    """How the terms are spelled in the program."""
    cells = [cells[2] for cells in _rows("identifier")]
    return [word for cell in cells for word in re.findall(r"`(\w+)`", cell)]


def replaced() -> list[Replaced]:
    """The "do not say" words of both tables."""
    # A phrase can be looked for in text; a single word such as "case" has other meanings there.
    terms = [
        Replaced(
            words, cells[0].replace("*", ""), frozenset({NAMES, TEXT} if " " in words else {NAMES})
        )
        for cells in _rows("identifier")
        for words in _listed(cells[3])
    ]
    plain = [
        Replaced(words, cells[1], frozenset(_listed(cells[2])))
        for cells in _rows("held in")
        for words in _listed(cells[0])
    ]
    return terms + plain


def _listed(cell: str) -> list[str]:
    cells = cell.replace("-", " ").lower().split(",")
    return [words.strip() for words in cells if words.strip()]


def _rows(heading: str) -> Iterator[list[str]]:
    """The cells of each row of the table that has a column of that heading."""
    is_within = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            is_within = False
        elif heading in cells:
            is_within = True
        elif is_within and not set(line) <= set("|-"):
            yield cells


EXCEPTIONS = Path(__file__).with_name("glossary_exceptions.toml")


class Exceptions:
    """All exceptions, and how often each was used."""

    def __init__(self) -> None:
        self._listed: list[dict[str, Any]] = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))[
            "exception"
        ]
        self._used: Counter[int] = Counter()

    def allow(self, words: str, place: str, name: str = "") -> bool:
        """Whether an exception covers it: its word, its place (``path:line``) and its name."""
        path = place.split(":")[0]
        for number, one in enumerate(self._listed):
            if (
                ("*" in one["words"] or words in one["words"])
                and any(fnmatchcase(path, at) for at in one.get("at", ["*"]))
                and (not name or any(fnmatchcase(name, named) for named in one.get("names", ["*"])))
            ):
                self._used[number] += 1
                return True
        return False

    def unused(self) -> list[str]:
        """Exceptions that cover nothing: they would hide the next mistake."""
        return [
            one["reason"]
            for number, one in enumerate(self._listed)
            if not self._used[number] and "at_most" not in one
        ]

    def exceeded(self) -> list[str]:
        """Exceptions of words that are being replaced, where there are more of them than before."""
        return [
            f"{one['reason']}: {self._used[number]}"
            for number, one in enumerate(self._listed)
            if self._used[number] > one.get("at_most", self._used[number])
        ]


SOURCES = ("python", "crates", "fuzz", "proofs", "benches", "tools", "tests")
NOT_SOURCE = {"__pycache__", "target", "data"}
RUST_ITEM = re.compile(
    r"\b(?P<kind>fn|struct|enum|trait|mod|type|const|static|let)\s+(?:mut\s+|ref\s+)?(?P<name>[A-Za-z_]\w*)"
)
RUST_FIELD = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?P<name>[a-z_]\w*)\s*:(?!:)", re.M)
RUST_ARGUMENT = re.compile(r"[(,|]\s*(?:mut\s+|&)?(?P<name>[a-z_]\w*)\s*:(?!:)")
RUST_TEXT = re.compile(r'//[^\n]*|r#*"(?s:.*?)"#*|"(?:\\.|[^"\\])*"')
RUST_TYPES = {"struct", "enum", "trait", "mod", "type"}


@dataclass(frozen=True)
class Name:
    place: str
    name: str
    is_type_or_file: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return _words(self.name)


@cache
def _words(name: str) -> tuple[str, ...]:
    """``responseTime_ns`` in words: response, time, ns."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name))


@cache
def names_in_code() -> tuple[Name, ...]:
    """Every name of the program, its tests and its tools."""
    return tuple(_names())


def _names() -> Iterator[Name]:
    folders = set()
    for path in source_files():
        relative = path.relative_to(ROOT)
        yield Name(str(relative), path.stem, is_type_or_file=True)
        folders.update(relative.parents)
        if path.suffix == ".py":
            yield from _python(path.read_text(encoding="utf-8"), str(relative))
        elif path.suffix == ".rs":
            yield from _rust(path.read_text(encoding="utf-8"), str(relative))
    for folder in sorted(folders):
        yield Name(str(folder), folder.name, is_type_or_file=True)


def source_files() -> Iterator[Path]:
    """Files that people write, in the folders of code."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not NOT_SOURCE & set(path.relative_to(ROOT).parts):
                yield path


def _python(text: str, place: str) -> Iterator[Name]:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ClassDef(name=name):
                yield Name(f"{place}:{node.lineno}", name, is_type_or_file=True)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield Name(f"{place}:{node.lineno}", name)
            case ast.arg(arg=name):
                yield Name(f"{place}:{node.lineno}", name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield Name(f"{place}:{node.lineno}", name)


def _rust(text: str, place: str) -> Iterator[Name]:
    code = RUST_TEXT.sub(lambda found: "\n" * found[0].count("\n"), text)
    for pattern in (RUST_ITEM, RUST_FIELD, RUST_ARGUMENT):
        for found in pattern.finditer(code):
            line = code.count("\n", 0, found.start("name")) + 1
            kind = found.groupdict().get("kind")
            yield Name(f"{place}:{line}", found["name"], kind in RUST_TYPES)


KEPT_RECORD = ROOT / "tests" / "data" / "records" / "version-25.sqlite.xz"
"""It has an experiment of every kind."""


def names_shown(folder: Path) -> Iterator[Name]:
    """All of them; ``folder`` is for a record."""
    yield from _options("assay", group)
    for command in COMMANDS:
        yield from _options(f"assay {command}", command_of(command))
    for page in ("report", "comparison", "trend", "observation"):
        yield from _keys(DOCUMENTS[page](), f"assay schema {page}")
    yield from _tables()
    yield from _reports(folder / "records.sqlite")


def _options(path: str, command: click.Command) -> Iterator[Name]:
    yield Name(path, path.rsplit(" ", 1)[-1])
    for parameter in command.params:
        for spelled in (*parameter.opts, *parameter.secondary_opts, parameter.human_readable_name):
            yield Name(path, spelled.lstrip("-"))
    if isinstance(command, click.Group) and path != "assay":
        for name, below in command.commands.items():
            yield from _options(f"{path} {name}", below)


def _keys(value: Any, place: str) -> Iterator[Name]:
    if isinstance(value, dict):
        for key, below in value.items():
            if key in {"properties", "$defs"}:
                yield from (Name(f"{place} {key}", str(name)) for name in below)
            yield from _keys(below, place)
    elif isinstance(value, list):
        for below in value:
            yield from _keys(below, place)


def _tables() -> Iterator[Name]:
    """Tables, views and columns of a new record file."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        schema.prepare(connection, Path(":memory:"), schema.migrations())
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        ).fetchall()
        for (table,) in tables:
            yield Name("record", table)
            for column in connection.execute(f'PRAGMA table_info("{table}")'):
                yield Name(f"record {table}", column[1])


def _reports(file: Path) -> Iterator[Name]:
    """Titles, headings and row labels of the reports of every experiment of a record."""
    file.write_bytes(lzma.decompress(KEPT_RECORD.read_bytes()))
    with Store(file, must_exist=True) as store:
        for experiment in sorted({run.experiment_id for run in store.runs()}):
            for section in build(store.experiment(experiment)).sections:
                yield Name("report", section.title)
                for table in section.tables:
                    yield from (
                        Name(f"report {section.title}", one.heading) for one in table.columns
                    )


PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")
SUFFIXES = {".py", ".pyi", ".rs", ".md", ".toml", ".sql", ".json", ".c", ""}
BETWEEN_LINES = re.compile(
    r'[ \t]*(?:\\|["\'])?\n[ \t]*(?:/{2,3}!?|#+|--|\*|>)?[ \t]*(?:[rf]?["\'])?'
)
"""A line end with the marks of comments and of texts in several parts."""


def prose_files() -> Iterator[Path]:
    """Everything that people read, except the glossary and its exceptions."""
    yield from (ROOT / page for page in PAGES)
    yield from (
        path for path in sorted((ROOT / "docs").rglob("*")) if path.is_file() and path != PAGE
    )
    yield from (path for path in source_files() if path.suffix in SUFFIXES and path != EXCEPTIONS)


def phrases_in(path: Path, phrases: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """(line, phrase) of each place, in small letters and with single blanks."""
    text = path.read_text(encoding="utf-8")
    joined = BETWEEN_LINES.sub(lambda end: "\n".ljust(len(end[0])), text)
    joined = joined.encode().lower().decode()  # of ASCII alone, so that places stay what they are
    for place in phrases.finditer(joined):
        line = text.count("\n", 0, place.start()) + 1
        yield line, re.sub(r"[\s_-]+", " ", place[0]).lower()


def pattern_of(phrases: Collection[str]) -> re.Pattern[str]:
    """Any of them, whatever is between their words; to be looked for in small letters, as to ignore
    the case takes several times as long."""
    assert all(one == one.lower() for one in phrases), phrases
    either = "|".join(r"[\s_-]+".join(map(re.escape, one.split())) for one in phrases)
    return re.compile(rf"(?<![\w-])(?:{either})(?!\w)")
