"""A dialect that is a TOML file: what it says is what Assay sends; a mistake in it has its line and
the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import registry
from assay.contracts.dialects.protocol import Column, Index, Table
from assay.dialects.standard import StandardSql
from assay.errors import ArgumentError, ExperimentError
from assay.systems.dbapi import dialect_file
from assay.systems.dbapi.dialects import loaded_by_insert

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "writing-a-dialect.md"
TEXT = """\
name = "mine"
quote = "`"
reserved_words = "order"
isolation_levels = { serializable = "SER" }
descending_index = "DESCENDING INDEX"

[types]
varchar = "TEXT({n} CHAR)"

[truth_words]
true = "1"

[statements]
begin = []
begin_at = ["SET LEVEL {level}", "BEGIN"]
drop_table = "DROP TABLE {table} PURGE"
mark_table = "MARK {table} {mark} {{}}"

[error_classes]
deadlock = "40001 60"
"""
TABLE = Table(
    "order",
    (Column("name", "varchar(9)"), Column("is_good", "bool", default="true")),
    indexes=(Index("i", ("name",), descending=frozenset({"name"})),),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.toml"


def _read(file: Path, text: str) -> StandardSql:
    file.write_text(text, encoding="utf-8")
    return dialect_file.read(file)


def test_what_a_file_says_is_sent_also_by_a_module(file: Path) -> None:
    for dialect in (found := _read(file, TEXT), loaded_by_insert(found)):
        assert dialect.create_marked_table(TABLE, {}, "it's") == [
            "CREATE TABLE `order` (\n  name TEXT(9 CHAR),\n  is_good BOOLEAN DEFAULT 1\n)",
            "MARK `order` 'it''s' {}",
        ]
        assert dialect.drop_table(TABLE) == ["DROP TABLE `order` PURGE"]
        assert dialect.create_indexes(TABLE) == ["CREATE DESCENDING INDEX i ON `order` (name)"]
        assert dialect.begin_at("serializable") == ["SET LEVEL SER", "BEGIN"]
        assert (dialect.begin_at(""), dialect.begins_implicitly) == ([], True)
        assert dialect.error_classes == {"40001": "deadlock", "60": "deadlock"}
        with pytest.raises(ArgumentError, match="read committed"):
            dialect.begin_at("read committed")


@pytest.mark.parametrize(
    ("old", "new", "line", "message", "hint"),
    [
        ("drop_table", "drop_tabel", 16, "unknown key 'drop_tabel'", "'drop_table'"),
        ("{table} PURGE", "{tabel}", 16, "{tabel}: unknown", "'table'"),
        ("{table} PURGE", "{", 16, "a brace has no partner", "doubled"),
        ("{table} PURGE", "{}", 16, "{}: unknown", "known: table"),
        ("varchar", "varchr", 8, "unknown key 'varchr'", "'varchar'"),
        ("serializable", "serialisable", 4, "unknown key 'serialisable'", "'serializable'"),
        ("deadlock", "deadlok", 20, "unknown key 'deadlok'", "'deadlock'"),
        ("quote", "qoute", 2, "unknown key 'qoute'", "'quote'"),
        ('quote = "`"', "needs_not_null_in_keys = true", 2, "bounded indexes alone", "= true"),
        ('quote = "`"', 'quote = "xx"', 2, "expected one sign", '"'),
        ('quote = "`"', 'quote = "a"', 2, "expected one sign", '"'),
        ('"mine"', '"My own"', 1, "expected small letters", "overrides"),
        ('name = "mine"', "", 0, "name is missing", ""),
    ],
)
def test_a_mistake_has_its_line_and_the_nearest_name(
    file: Path, old: str, new: str, line: int, message: str, hint: str
) -> None:
    with pytest.raises(ExperimentError) as found:
        _read(file, TEXT.replace(old, new, 1))
    assert (found.value.line, message in found.value.message) == (line, True), found.value
    assert hint in (found.value.hint or "")


def test_a_file_that_was_changed_is_read_again(file: Path) -> None:
    file.write_text('name = "changing"')
    word = f"dbapi:sqlite3+{file}"
    assert registry.system(word).dialect.drop_table(TABLE) == ["DROP TABLE order"]
    file.write_text('name = "changing"\nreserved_words = "order"')
    assert registry.system(word).dialect.drop_table(TABLE) == ['DROP TABLE "order"']
    assert "changing" in registry.dialects()


def test_a_name_of_another_dialect_is_refused(file: Path) -> None:
    file.write_text('name = "sqlite"')
    with pytest.raises(ArgumentError, match="that of another dialect"):
        registry.system(f"dbapi:sqlite3+{file}")


def test_the_guide_has_every_key(file: Path) -> None:
    with pytest.raises(ExperimentError) as found:
        _read(file, 'name = "mine"\nbounded_indexes = true\n"" = 1')
    _, _, known = (found.value.hint or "").partition("known: ")
    page = GUIDE.read_text(encoding="utf-8")
    keys = [*known.split(", "), *dialect_file.STATEMENTS]
    assert len(keys) > 20
    assert [key for key in keys if f"`{key}`" not in page and f"`[{key}]`" not in page] == []
