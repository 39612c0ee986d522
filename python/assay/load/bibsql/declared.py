"""Takes ``[data]`` of a workload whose rows are bibliographies; returns it as values, or says which
line is wrong."""

from __future__ import annotations

from msgspec import Struct

from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.schema import Schema


class FileRows(Struct, frozen=True):
    """How rows follow their files, so that only those of changed files are replaced."""

    table: str
    """The table whose rows belong to one file each."""
    key: str
    """Its column that holds the file's name."""
    rebuilt: tuple[str, ...] = ()
    """Tables over all files, which are emptied and filled anew."""


class DeclaredInput(Struct, frozen=True):
    default_input: str
    """Name of the data set that is used where no files are named; empty: there is none."""
    update: FileRows | None
    """None: the data cannot be brought up to date by file."""


def read(data: TomlTable, schema: Schema) -> DeclaredInput:
    return DeclaredInput(data.text("default_input", ""), _update(data, schema))


def _update(data: TomlTable, schema: Schema) -> FileRows | None:
    if "update" not in data:
        return None
    section = data.section("update")
    known = {rule.name: rule.table for rule in schema.declared}
    names = list(known)
    table = section.choice("table", names)
    key = section.choice("key", [column.name for column in known[table].columns])
    rebuilt = section.texts("rebuilt", ())
    for name in rebuilt:
        if name not in names:
            raise section.error(
                f"rebuilt names the unknown table {name!r}",
                "rebuilt",
                hint=did_you_mean(name, names),
            )
    section.done()
    return FileRows(table, key, rebuilt)
