"""Takes source files; returns the names that they define, each with its place and kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from glossary import ROOT

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
def names() -> tuple[Name, ...]:
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
