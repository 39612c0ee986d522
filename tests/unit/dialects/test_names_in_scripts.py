"""Scripts of a workload have names in double quotes, as standard SQL has them; each dialect writes
them as it writes names, and a dialect that derives from another has the texts of its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import registry
from assay.contracts.dialects.protocol import Column, Dialect, Table, View
from assay.dialects.mysql import MysqlDialect
from assay.dialects.standard import StandardSql
from assay.drive.document import written
from assay.errors import ArgumentError
from assay.load.tables import views
from assay.systems.dbapi.dialects import DIALECTS, loaded_by_insert
from assay.workload import ad_hoc_script, reader
from assay.workload.in_dialect import DeclaredNames

SPOKEN: dict[str, Dialect] = {**registry.dialects(), **DIALECTS}
WORKLOAD = """\
title = "Words that are reserved"
source = "nowhere"
default_test = "all"

[data]
source = "generated"

[[tables]]
name = "order"
rows = "3"
primary_key = ["Group"]
[tables.columns]
"Group" = "int not null"
amount = "int"
[tables.values]
"Group" = ":row + 1"
amount = "10 * :row"

[[tables]]
name = "shelf_{instance}"
instances = "1..2"
rows = "1"
[tables.columns]
id = "int"

[tests.all]
title = "All"
help = "All of it"
scripts = ["sums.sql"]
passes = 1
checks = ["*"]
"""
SUMS = """\
-- "sums" of "order"
\\set x 'of "order"'
select "Group", sum("amount") as "In all", '"order"' from "order", "shelf_2" group by "Group";
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "checks").mkdir()
    (tmp_path / "workload.toml").write_text(WORKLOAD)
    (tmp_path / "sums.sql").write_text(SUMS)
    (tmp_path / "checks" / "none.sql").write_text('select * from "order" where "Group" is null;\n')
    return tmp_path


@pytest.mark.parametrize(
    ("dialect", "sent"),
    [
        (
            "mysql",
            "select `Group`, sum(amount) as `In all`, '\"order\"' from `order`, shelf_2 "
            "group by `Group`;",
        ),
        (
            "postgresql",
            'select "Group", sum(amount) as "In all", \'"order"\' from "order", shelf_2 '
            'group by "Group";',
        ),
        (
            "null",
            'select Group, sum(amount) as "In all", \'"order"\' from order, shelf_2 '
            "group by Group;",
        ),
    ],
)
def test_declared_names_are_written_as_where_they_are_made_others_letter_by_letter(
    shop: Path, dialect: str, sent: str
) -> None:
    workload, spoken = reader.read(str(shop)), SPOKEN[dialect]
    script = workload.script_for("sums", spoken)
    assert script.text.splitlines() == [*SUMS.splitlines()[:2], sent]
    assert workload.scripts_for(workload.test("all"), spoken)[0].text == script.text
    order = spoken.identifier("order")
    (check,) = workload.checks_for(spoken)
    assert check.text.startswith(f"select * from {order} where ")
    assert spoken.create_table(workload.tables[0], {})[0].startswith(f"CREATE TABLE {order} ")


def test_a_text_for_one_dialect_is_sent_as_it_is_written(shop: Path, tmp_path: Path) -> None:
    (shop / "overrides" / "mysql").mkdir(parents=True)
    (shop / "overrides" / "mysql" / "sums.sql").write_text('-- a text\nselect "Group" as "a";\n')
    own = reader.read(str(shop)).script_for("sums", SPOKEN["mysql"])
    assert own.text == '-- a text\nselect "Group" as "a";\n'
    given = tmp_path / "given.sql"
    given.write_text('select * from `order` where name = "Group";\n')
    files = (ad_hoc_script.script_file(str(given)),)
    whole = reader.read(str(shop))
    for workload in (ad_hoc_script.workload(files, {}), whole):
        with_it = ad_hoc_script.with_scripts(workload, files, workload.tests)
        assert with_it.script_for("given", SPOKEN["mysql"]).text == given.read_text()


def test_what_does_not_compile_is_left_to_the_compiler() -> None:
    names = DeclaredNames([Table("order", (Column("id", "int"),))])
    for text in ('select "order', 'select ("order"', 'select \'open "order"'):
        assert names.written(text, SPOKEN["null"]) == text


def test_the_query_of_a_view_has_names_too() -> None:
    dialect = SPOKEN["mysql"]
    view = View("key", 'SELECT "id" FROM "order"')
    made = views(dialect, [Table("order", (Column("id", "int"),), views=(view,))])
    assert made == ["CREATE VIEW `key` AS SELECT id FROM `order`"]


def test_a_table_that_is_chosen_at_run_time_is_written_as_its_dialect_writes_it() -> None:
    identifiers = {"table": ["order", "shelf_1"]}
    assert written(identifiers, SPOKEN["mysql"]) == {"table": ["`order`", "shelf_1"]}
    assert written(identifiers, SPOKEN["mongodb"]) == identifiers


class Derived(MysqlDialect):
    name = "derived"


class Further(Derived):
    name = "further"


@pytest.mark.parametrize("by_insert", [False, True])
def test_a_derived_dialect_has_the_overrides_of_its_line(shop: Path, by_insert: bool) -> None:
    for line in ("mysql", "postgresql"):
        (shop / "overrides" / line).mkdir(parents=True)
        (shop / "overrides" / line / "sums.sql").write_text(f"-- of {line}\nselect 1;\n")
    (shop / "workload.toml").write_text(
        WORKLOAD + '\n[not_expressible.mysql]\nnone = "it has no such check"\n'
    )
    workload = reader.read(str(shop))

    def title(dialect: StandardSql) -> str:
        spoken = loaded_by_insert(dialect) if by_insert else dialect
        return workload.script_for("sums", spoken).title

    assert title(Derived()) == title(Further()) == "of mysql"
    assert workload.why_not_expressible("none", Further()) == "it has no such check"
    nearer = workload.overrides["postgresql", "sums"]
    workload.overrides["derived", "sums"] = nearer  # type: ignore[index]
    assert title(Derived()) == title(Further()) == "of postgresql"


def test_a_view_of_a_derived_dialect_is_spelled_as_in_its_line() -> None:
    view = View("v", "SELECT 1", {"mysql": "SELECT 2", "postgresql": "SELECT 3"})
    assert views(Further(), [Table("t", (Column("id", "int"),), views=(view,))]) == [
        "CREATE VIEW v AS SELECT 2"
    ]


@pytest.mark.parametrize("name", registry.workloads())
def test_no_common_script_has_a_bare_name_that_a_dialect_reserves(name: str) -> None:
    workload = reader.read(name)
    names = workload.schema.names
    for dialect in (one for one in SPOKEN.values() if one.language == "sql"):
        scripts = [workload.script_for(one, dialect) for one in workload.scripts]
        for script in (*scripts, *workload.checks_for(dialect)):
            lines = script.text.splitlines() if script.language == "sql" else []
            statements = "\n".join(line for line in lines if not line.startswith("\\"))
            bare = names.reserved_in(statements, dialect)
            assert not bare, f"{script.path} for {dialect.name}: write them in double quotes"


def test_a_word_in_braces_is_said_by_the_dialect_with_its_arguments() -> None:
    text = "select {substring(note, {position(note, ',')} + 1, f(1, ')'))} from t {for_update}"
    names = DeclaredNames(())
    assert names.written(text, SPOKEN["db2"]) == (
        "select substr(note, instr(note, ',') + 1, f(1, ')')) from t for update"
    )
    assert names.written(text, SPOKEN["sqlite"]).endswith(" from t ")
    assert names.written("'[0-9]{2}' {other(1)}", SPOKEN["db2"]) == "'[0-9]{2}' {other(1)}"


@pytest.mark.parametrize("text", ["select {year}", "select {year(day}", "select {year(day) }"])
def test_a_word_without_its_arguments_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="argument"):
        DeclaredNames(()).written(text, SPOKEN["db2"])
