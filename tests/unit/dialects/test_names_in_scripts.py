"""Scripts of a workload have names in double quotes, as standard SQL has them; each dialect writes
them as it writes names, and a dialect that derives from another has the texts of its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import registry
from assay.contracts.dialects import Column, Dialect, Index, NamesTables, Table, View
from assay.dialects.mysql import MysqlDialect
from assay.dialects.standard import StandardSql
from assay.dialects.statements import tables_named
from assay.errors import ArgumentError, ExperimentError
from assay.load.tables import views
from assay.systems.dbapi import dialects
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


@pytest.mark.slow
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
    of_both, of_one = "{matches(a, '^x', 'x%')}", "{matches(a, '^x')}"
    said = [names.written(one, SPOKEN["ingres"]) for one in (of_both, of_one)]
    assert said == ["a like 'x%'", "a regexp '^x'"], "where LIKE cannot say it, nothing else can"


@pytest.mark.parametrize("text", ["select {year}", "select {year(day}", "select {year(day) }"])
def test_a_word_without_its_arguments_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="argument"):
        DeclaredNames(()).written(text, SPOKEN["db2"])


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
    return dialects.read_dialect_file(file)


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
    keys = [*known.split(", "), *dialects.STATEMENTS]
    assert len(keys) > 20
    assert [key for key in keys if f"`{key}`" not in page and f"`[{key}]`" not in page] == []


OWN = ("pg_", "information_schema.")


@pytest.mark.parametrize(
    ("statement", "read", "added_to", "changed"),
    [
        ("SELECT count(*) FROM goods", "goods", "", ""),
        ("SELECT 1 FROM s.a x, b y JOIN c USING (k) WHERE z < (SELECT 1 FROM d)",
         "s.a b c d", "", ""),
        ("WITH r(x) AS (SELECT 1 FROM q), s AS MATERIALIZED (SELECT 1) SELECT 2 FROM t",
         "q t", "", ""),
        ("SELECT extract(year FROM ts), a IS DISTINCT FROM b FROM t FOR UPDATE", "t", "", ""),
        ("SELECT * FROM generate_series(1, 9), LATERAL (SELECT * FROM a) i", "a", "", ""),
        ("SELECT * FROM (a JOIN b ON a.x = b.x) -- FROM c", "a b", "", ""),
        ("SELECT 'FROM x', $$ FROM y $$ /* FROM z */ FROM \"My T\"", '"My T"', "", ""),
        ("INSERT INTO log (t) VALUES (:t) ON CONFLICT (t) DO UPDATE SET d = 1", "", "log", "log"),
        ("INSERT INTO a SELECT * FROM b", "b", "a", "a"),
        ("UPDATE ONLY accounts SET n = n + :d WHERE id = :id", "accounts", "", "accounts"),
        ("DELETE FROM a USING b WHERE a.x = b.x", "a b", "", "a"),
        ("MERGE INTO a USING b ON (a.x = b.x) WHEN MATCHED THEN UPDATE SET y = 1", "b", "a", "a"),
        ("WITH gone AS (DELETE FROM a RETURNING x) INSERT INTO s.b SELECT x FROM gone",
         "a", "s.b", "a s.b"),
        ("CREATE TEMP TABLE mine AS SELECT * FROM theirs", "theirs", "", ""),
        ("SELECT * FROM pg_stat_activity, information_schema.tables", "", "", ""),
        ("TRUNCATE TABLE a", "a", "", "a"),
        ("START TRANSACTION", "", "", ""),
    ],
)  # fmt: skip
def test_a_statement_names_its_tables_and_which_of_them_it_changes(
    statement: str, read: str, added_to: str, changed: str
) -> None:
    named = tables_named(statement, OWN)
    assert named.changed == set(changed.split())
    shown = set(read.split()) if '"' not in read else {read}
    assert named.read == shown
    assert named.added_to == set(added_to.split())
    assert not named.hidden


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("CALL pay(:x)", "CALL does not say which tables it reads"),
        ("SELECT * FROM :table", "the table is a variable, :table"),
    ],
)
def test_what_a_statement_does_not_name_is_said(statement: str, why: str) -> None:
    assert tables_named(statement).hidden == why


def test_commands_of_documents_name_their_collections() -> None:
    dialect = registry.system("mongodb").dialect
    assert isinstance(dialect, NamesTables)
    assert dialect.tables_named('{"find": "goods", "filter": {"_id": :id}}').read == {"goods"}
    assert dialect.tables_named('{"insert": "log", "documents": []}').added_to == {"log"}
