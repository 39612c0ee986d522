"""A file with declared keys: readers can ask for no other key, nor in another kind of value."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import Bug, ExperimentError
from assay.text.files import toml_file
from assay.text.files.keys import FLAG, SCALAR, TEXT, Key, Keys, Listed, NumberWithin, OneOf
from assay.text.files.toml_file import TomlTable
from assay.text.quantities import CLIENTS, COUNT

KINDS = {"a": Keys((Key("do", TEXT), Key("number", NumberWithin(COUNT))))}
KEYS = Keys(
    (
        Key("title", TEXT, is_required=True),
        Key("clients", (TEXT, NumberWithin(CLIENTS))),
        Key("word", OneOf(("one", "two"))),
        Key("table", below=Keys(of_any_name=Key("", Listed(SCALAR)))),
        Key("steps", below=Keys(variant="do", variants=lambda: KINDS), is_list=True),
        Key("flag", FLAG),
    )
)


def top(folder: Path, text: str) -> TomlTable:
    file = folder / "x.toml"
    file.write_text(text, encoding="utf-8")
    return toml_file.read(file, KEYS)


def test_a_reader_asks_for_declared_keys_in_declared_kinds(tmp_path: Path) -> None:
    section = top(tmp_path, 'title = "t"\nclients = 3\nword = "two"\n[table]\nx = [1, 2]\n')
    assert section.text("title") == "t"
    assert section.whole("clients", CLIENTS) == 3
    assert section.choice("word", ("one", "two")) == "two"
    assert section.section("table").scalars("x") == (1, 2)
    section.done()


def test_another_key_or_kind_is_a_bug_of_the_reader(tmp_path: Path) -> None:
    section = top(tmp_path, 'title = "t"\nclients = 3\n')
    with pytest.raises(Bug, match="not declared"):
        section.text("titel", "")
    with pytest.raises(Bug, match="title is read as TrueOrFalse"):
        section.boolean("title")
    with pytest.raises(Bug, match="clients is read as Number"):
        section.whole("clients", COUNT)
    with pytest.raises(Bug, match="word is read as OneOf"):
        section.choice("word", ("one", "three"), "one")
    with pytest.raises(Bug, match="with a default"):
        section.text("title", "none")
    with pytest.raises(Bug, match="a table is read at flag"):
        section.section("flag")


def test_an_unknown_key_is_refused_by_the_declaration(tmp_path: Path) -> None:
    """Also the nearest key is one that this reader has not asked for."""
    section = top(tmp_path, 'title = "t"\nclient = 3\n')
    section.text("title")
    with pytest.raises(ExperimentError, match="unknown key 'client'") as raised:
        section.done()
    assert raised.value.line == 2
    assert "did you mean 'clients'?" in str(raised.value.hint)


def test_the_word_of_a_table_decides_its_keys(tmp_path: Path) -> None:
    """One that is not known is of another package, whose reader alone knows its keys."""
    text = '[[steps]]\ndo = "a"\nnumber = 1\n[[steps]]\ndo = "b"\nmore = true\n'
    known, other = top(tmp_path, text).sections("steps")
    with pytest.raises(Bug, match="the key more is read"):
        known.boolean("more", False)
    assert other.boolean("more")
