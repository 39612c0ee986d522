"""The limits that dialects declare are those of the real servers: at a limit a table can be made,
one above it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from able import with_ability
from assay import registry
from assay.contracts.dialects.protocol import Column, Table
from assay.dialects.limits import Limited, beyond
from assay.errors import AssayError
from assay.experiment import StorageChoice, SystemChoice
from assay.provision.engine.session import session
from assay.provision.provision import provision
from commands import IN_MEMORY, Assay, need

WIDE = """\
title = "Wide"
source = "nowhere"
default_test = "t"

[data]
source = "generated"

[[tables]]
name = "t"
rows = "3"

[tables.columns]
c = "varchar(9000)"
d = "varchar(9000)"

[tables.values]
c = "'a'"
d = "'b'"

[tests.t]
title = "T"
help = "Loads"
steps = [{ do = "load" }]
"""


def of_columns(number: int) -> Table:
    return Table("t", tuple(Column(f"c{place}", "smallint") for place in range(number)))


def of_width(length: int) -> Table:
    return Table("t", (Column("c", f"varchar({length})", not_null=True),))


def of_name(length: int) -> Table:
    """Two columns that differ in their last character: a system that cuts names refuses them."""
    return Table("t", tuple(Column("c" * (length - 1) + last, "int") for last in "ab"))


@pytest.mark.parametrize("system", with_ability(Limited, language="sql"))
def test_a_table_at_a_limit_can_be_made_and_one_above_it_cannot(system: str) -> None:
    need(system)
    under_test = registry.system(system)
    dialect = under_test.dialect
    assert isinstance(dialect, Limited)
    limits = dialect.limits
    made = [
        (of_columns, limits.columns),
        (of_width, limits.varchar_length),
        (of_name, limits.identifier_length),
    ]
    storage = StorageChoice("tmpfs", kind="tmpfs")
    with provision(SystemChoice(system), storage, connections=None) as deployment:
        for table, limit in made:
            if limit is None:
                continue
            assert beyond([table(limit)], dialect) == ()
            assert beyond([table(limit + 1)], dialect)[0].can_be_made is False
            with session(deployment.address) as opened:
                for statement in dialect.create_table(table(limit), deployment.options):
                    opened.execute(statement)
                for statement in dialect.drop_table(table(limit)):
                    opened.execute(statement)
            with pytest.raises(AssayError), session(deployment.address) as opened:
                for statement in dialect.create_table(table(limit + 1), deployment.options):
                    opened.execute(statement)


def test_texts_that_cannot_be_searched_are_named(assay: Assay) -> None:
    """Why the paper rejected such systems."""
    ended = assay("limits", "bibsql", "--dialect", "db2", "--format", "json")
    assert ended.status == 1, ended.err
    places = {(row["table"], row["column"], row["what"]) for row in ended.document}
    assert ("bibtab", "entry", "searched text") in places
    assert ("bibtab", "title", "indexed text") in places
    within = assay("limits", "bibsql", "--dialect", "postgresql")
    assert (within.status, "goes beyond the limits of postgresql" in within.err) == (0, True)
    undeclared = assay("limits", "bibsql", "--dialect", "cql")
    assert (undeclared.status, "'cql'" in undeclared.err) == (2, True)


def test_a_run_whose_table_cannot_be_made_is_refused_with_its_width_and_the_limit(
    assay: Assay, tmp_path: Path
) -> None:
    (tmp_path / "wide").mkdir()
    file = tmp_path / "wide" / "workload.toml"
    file.write_text(WIDE)
    ended = assay("run", "wide", "--on", "mysql,sqlite", "--no-durability", *IN_MEMORY)
    assert ended.status == 0, ended.err
    refused, done = ended.runs
    assert done.state == "done"
    assert refused.state == "refused"
    assert "t: row of 72004 bytes, at most 65535 bytes" in refused.reason
