"""A refused statement that names a column by a reserved word says how to write it."""

from __future__ import annotations

import pytest

from assay import registry
from assay.contracts.dialects.protocol import Column, Table
from assay.contracts.engine.document import ScriptDocument
from assay.drive import reserved_names

TABLE = Table("jobs", (Column("id", "int"), Column("user", "int")))


@pytest.mark.parametrize(
    ("system", "text", "expected"),
    [
        ("postgresql", "SELECT user FROM jobs;", 'write "user"'),
        ("postgresql", 'SELECT "user" FROM jobs WHERE id = :user;', None),
        ("postgresql", "SELECT users FROM jobs;", None),
        ("mariadb", "SELECT user FROM jobs;", None),
    ],
)
def test_a_reserved_word_without_quotes_is_found(
    system: str, text: str, expected: str | None
) -> None:
    scripts = [ScriptDocument(name="read", path="read.sql", text=text)]
    found = reserved_names.hint([TABLE], scripts, registry.system(system).dialect)
    if expected is None:
        assert found is None
    else:
        assert found == (
            f"user, a column of jobs, is a reserved word of {system}: in read.sql {expected}"
        )
