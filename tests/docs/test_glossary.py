"""The words of the glossary are those of the program, and the words that it replaces are gone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import glossary
import pytest
from glossary import NAMES, ROOT, TEXT, TYPES, Exceptions, Name

LONGEST_NAME = 4
"""In words."""


def test_every_identifier_of_the_glossary_is_in_the_program() -> None:
    program = "\n".join(
        path.read_text(encoding="utf-8")
        for pattern in ("python/**/*.py", "python/**/*.toml", "crates/**/*.rs")
        for path in ROOT.glob(pattern)
    )
    words = glossary.identifiers()
    assert len(words) > 20
    missing = [word for word in words if not re.search(rf"\b{word}\b", program)]
    assert not missing, missing


def test_no_replaced_word_is_used(tmp_path: Path) -> None:
    """In names of the code, in names that users see, and in text."""
    exceptions = Exceptions()
    wrong = [
        *_in_names(glossary.names_in_code(), exceptions),
        *_in_names(glossary.names_shown(tmp_path), exceptions),
        *_in_text(exceptions),
    ]
    assert not wrong, "\n".join(["the glossary has another word for:", *wrong])
    assert not exceptions.unused(), f"exceptions that cover nothing: {exceptions.unused()}"
    assert not exceptions.exceeded(), f"more than are excepted: {exceptions.exceeded()}"


def _in_names(names: Iterator[Name], exceptions: Exceptions) -> Iterator[str]:
    """``file:line: name: the word, and the right one``, of each name that has one."""
    replaced = {
        scope: {one.words: one.say for one in glossary.replaced() if scope in one.held_in}
        for scope in (NAMES, TEXT, TYPES)
    }
    for name in set(names):
        parts = name.words
        pairs = [" ".join(pair) for pair in pairwise(parts)]
        for words in {*parts, *pairs}:
            # The name of a test is a sentence: there the words are those of text.
            say = replaced[TEXT if len(parts) > LONGEST_NAME else NAMES].get(words)
            if say is None and name.is_type_or_file:
                say = replaced[TYPES].get(words)
            if say is not None and not exceptions.allow(words, name.place, name.name):
                yield f"{name.place}: {name.name}: {words!r}; say: {say}"


def _in_text(exceptions: Exceptions) -> Iterator[str]:
    say = {one.words: one.say for one in glossary.replaced() if TEXT in one.held_in}
    phrases = glossary.pattern_of(say)
    for path in glossary.prose_files():
        for line, words in glossary.phrases_in(path, phrases):
            place = f"{path.relative_to(ROOT)}:{line}"
            if not exceptions.allow(words, place):
                yield f"{place}: {words!r}; say: {say[words]}"


@pytest.mark.parametrize(
    "text",
    [
        "# some two words\n",
        "// some two\n    // words of a statement\n",
        'text = (\n    "some two "\n    "words"\n)\n',
        "-- `two_words` of a run\n",
    ],
)
def test_a_phrase_is_found_across_lines_of_comments_and_texts(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file"
    file.write_text(text, encoding="utf-8")
    assert [
        words for _, words in glossary.phrases_in(file, glossary.pattern_of(["two words"]))
    ] == ["two words"]


def test_names_are_found_in_both_languages() -> None:
    found = {(name.name, name.is_type_or_file) for name in glossary.names_in_code()}
    assert {("latency_ns", False), ("Experiment", True), ("ThreadRecorder", True)} <= found
    assert {("thread_recorder", True), ("lab", True), ("systems", True)} <= found
