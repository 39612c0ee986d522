"""The dialects that a DB-API module can speak, with the one bulk load that DB-API has: INSERT by
``cursor.executemany``. A dialect is a class, or a file (`dialect_file`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Final, cast

from assay import dialects as shelf
from assay import registry
from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.dialects import ISOLATION_LEVELS, Dialect, Table
from assay.dialects.cubrid import CUBRID
from assay.dialects.db2 import DB2
from assay.dialects.declared import STATEMENTS, Attribute, declared
from assay.dialects.limits import BoundedIndexes, SchemaLimits
from assay.dialects.mysql import MYSQL
from assay.dialects.oracle import ORACLE
from assay.dialects.postgresql import POSTGRESQL
from assay.dialects.sqlite import SQLITE
from assay.dialects.sqlserver import SQL_SERVER
from assay.dialects.standard import ONLY_STANDARD, OnlyStandardSql, StandardSql, codes
from assay.errors import ArgumentError, ExperimentError
from assay.text import paths, toml_file
from assay.text.phrases import did_you_mean
from assay.text.quantities import Whole
from assay.text.toml_file import TomlTable

SUFFIX: Final = ".toml"
ERROR_CLASSES: Final = (
    "authentication", "constraint", "data", "deadlock", "lost connection", "permission",
    "resources", "serialization", "syntax", "timeout", "too many connections", "unknown object",
)  # fmt: skip
"""Those of the engine that a database can mean."""

_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_LENGTH = Whole(1, 2**40)
_OF_BOUNDED = ("needs_not_null_in_keys", "short_text")
"""Of dialects whose indexes are bounded alone."""
_NOT_SIZES = ("source", "searches_text", "indexes_text")


def read_dialect_file(file: Path) -> StandardSql:
    """Raises `ExperimentError`, with the line. Where a workload that names it is watched as it is
    read, this file is not."""
    token = toml_file.SECTION.set(TomlTable)
    try:
        top = toml_file.read(file)
    finally:
        toml_file.SECTION.reset(token)
    found: dict[str, Attribute] = {"name": _name(top)}
    is_bounded = top.boolean("bounded_indexes", False)
    for key in _OF_BOUNDED:
        if key in top and not is_bounded:
            raise top.error(
                f"{key} is of bounded indexes alone", key, hint="bounded_indexes = true"
            )
    # What does not stand there, the base says.
    found |= {key: read(top, key) for key, read in _KEYS.items() if key in top}
    if "marks_query" in top:
        found["marks"] = top.text("marks_query")
    if "isolation_levels" in top:
        found |= _isolation_levels(top)
    base = BoundedIndexes if is_bounded else OnlyStandardSql
    found["type_words"] = {**base.type_words, **_table(top, "types", (*base.type_words, "json"))}
    found["truth_words"] = {**base.truth_words, **_table(top, "truth_words", base.truth_words)}
    words = base.script_words
    found["script_words"] = {**words, **_table(top, "script_words", words)}
    found["error_classes"] = codes(_table(top, "error_classes", ERROR_CLASSES))
    found["error_phrases"] = {**base.error_phrases, **_phrases(top.section("error_phrases"))}
    if "limits" in top:
        found["limits"] = _limits(top.section("limits"))
    statements = _statements(top.section("statements"))
    found["begins_implicitly"] = not statements.get("begin")
    top.done()
    return declared(base, found, statements)


def _name(top: TomlTable) -> str:
    name = top.text("name")
    if not _NAME.fullmatch(name):
        raise top.error(
            f"name = {name!r}: expected small letters, digits and underscores",
            "name",
            hint="a workload's overrides stand in a folder of that name",
        )
    return name


def _quote(top: TomlTable, key: str) -> str:
    """It stands on both sides of a name."""
    sign = top.text(key)
    if len(sign) != 1 or sign.isalnum() or sign.isspace() or sign in "_'()[]{}":
        raise top.error(
            f"{key} = {sign!r}: expected one sign that stands before and behind a name",
            key,
            hint="quote = '\"', as in the SQL standard",
        )
    return sign


def _each_of(section: TomlTable, key: str, known: Collection[str]) -> list[str]:
    words = section.texts(key, may_be_empty=True)
    for word in words:
        if word not in known:
            raise section.error(f"{key}: {word!r}: unknown", key, hint=did_you_mean(word, known))
    return list(words)


_KEYS: Final[Mapping[str, Callable[[TomlTable, str], Attribute]]] = {
    "version_query": TomlTable.text,
    "quote": _quote,
    "descending_index": TomlTable.text,
    "has_if_exists": TomlTable.boolean,
    "keeps_statistics": TomlTable.boolean,
    "needs_not_null_in_keys": TomlTable.boolean,
    "short_text": TomlTable.text,
    "server_names": TomlTable.texts,
    "own_tables": TomlTable.texts,
    "reserved_words": lambda top, key: frozenset(top.text(key).lower().split()),
    "lacking": lambda top, key: frozenset(_each_of(top, key, CAPABILITIES)),
}
"""Attributes of the dialect that the file has by their names, and how each is read."""


def _isolation_levels(top: TomlTable) -> dict[str, Attribute]:
    """A list of them, or a table of what each is called here."""
    key = "isolation_levels"
    if not top.is_table(key):
        return {key: tuple(_each_of(top, key, ISOLATION_LEVELS))}
    words = _table(top, key, ISOLATION_LEVELS)
    return {key: tuple(words), "level_words": words}


def _table(top: TomlTable, key: str, known: Collection[str]) -> dict[str, str]:
    section = top.section(key)
    for name in known:
        _ = name in section  # so that they are suggested
    names = [name for name in section.names() if name in known]
    found = {name: section.text(name) for name in names}
    section.done()
    return found


def _phrases(section: TomlTable) -> dict[str, str]:
    """Words of a message, which are the keys, to the class."""
    return {name.lower(): section.choice(name, ERROR_CLASSES) for name in section.names()}


def _limits(section: TomlTable) -> SchemaLimits:
    sizes = [name for name in SchemaLimits.__struct_fields__ if name not in _NOT_SIZES]
    found = SchemaLimits(
        source=section.text("source"),
        searches_text=section.boolean("searches_text", True),
        indexes_text=section.boolean("indexes_text", True),
        **{name: section.whole(name, _LENGTH) for name in sizes if name in section},
    )
    section.done()
    return found


def _statements(section: TomlTable) -> dict[str, tuple[str, ...]]:
    for name in STATEMENTS:
        _ = name in section
    found = {}
    for name in (name for name in section.names() if name in STATEMENTS):
        found[name] = section.texts(name, may_be_empty=True)
        for text in found[name]:
            _check_braces(section, name, text)
        if name in ("exists", "count") and len(found[name]) != 1:
            raise section.error(f"{name}: expected one statement", name)
    section.done()
    return found


def _check_braces(section: TomlTable, name: str, text: str) -> None:
    known = STATEMENTS[name]
    try:
        fields = [(word, spec or kind) for _, word, spec, kind in Formatter().parse(text)]
    except ValueError:
        raise section.error(
            f"{name}: a brace has no partner",
            name,
            hint="a brace of the statement itself is doubled: {{",
        ) from None
    for word, has_more in fields:
        if word is not None and (word not in known or has_more):
            raise section.error(
                f"{name}: {{{word}}}: unknown", name, hint=did_you_mean(word, known)
            )


INGRES = read_dialect_file(Path(shelf.__file__).with_name("ingres.toml"))

DIALECTS: Final[Mapping[str, StandardSql]] = {
    one.name: one
    for one in (CUBRID, DB2, INGRES, MYSQL, ONLY_STANDARD, ORACLE, POSTGRESQL, SQL_SERVER, SQLITE)
}


_of_files: dict[str, StandardSql] = {}
"""Those of files that were named in this process, by their own names."""


def known_dialects() -> Mapping[str, StandardSql]:
    """Those above, and those of files, by name."""
    return {**_of_files, **DIALECTS}


def version_of(word: str) -> str:
    """What a dialect that is a file is now; empty for one that has a name, and for no file."""
    file = Path(word).absolute()
    if not word.endswith(SUFFIX) or not file.is_file():
        return ""
    return f"{file} {file.stat().st_mtime_ns}"


def content_of(word: str) -> str:
    """Digest of the text of a dialect that is a file; empty for one that has a name. Raises
    `ExperimentError` where it cannot be read."""
    if not word.endswith(SUFFIX):
        return ""
    return paths.text_digest(paths.read_text(Path(word), ExperimentError))


def dialect_of_word(word: str) -> StandardSql:
    """The dialect that stands behind a plus sign: a name, or the path of a file. Raises
    `ExperimentError` for what is wrong in a file, `ArgumentError` and `PluginFailed` as
    `registry.dialect_of_package`."""
    if not word.endswith(SUFFIX):
        return DIALECTS.get(word) or registry.dialect_of_package(word, DIALECTS)
    found = read_dialect_file(Path(word))
    if found.name in {**DIALECTS, **registry.dialects_of_packages()}:
        raise ArgumentError(
            f"{word}: the name {found.name!r} is that of another dialect",
            hint="give it a name of its own",
        )
    _of_files[found.name] = found
    return found


class _ByRows:
    """There is no bulk load but INSERT. Arrays are JSON: modules bind lists in their own ways."""

    bulk_form = "multi-row"
    array_of = StandardSql.array_of

    def bulk_statement(self: Any, table: Table) -> str:
        return str(self.insert(table))

    def multi_row_statement(self: Any, table: Table) -> str | None:
        return str(self.insert(table))


def loaded_by_insert(dialect: StandardSql) -> StandardSql:
    """The dialect, whose rows are loaded by INSERT."""
    return _loaded_by_insert(type(dialect))


@cache
def _loaded_by_insert(inner: type[StandardSql]) -> StandardSql:
    made: Any = type(inner.__name__, (_ByRows, inner), {})()
    return cast(StandardSql, made)


def begin_statement(dialect: Dialect) -> str:
    """What begins a transaction; empty where the connection does, as PEP 249 has it."""
    if isinstance(dialect, StandardSql) and dialect.begins_implicitly:
        return ""
    return next(iter(dialect.begin()), "")
