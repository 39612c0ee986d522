"""`assay check --on`: what a script itself makes is no mistake; what is not named is counted."""

from __future__ import annotations

from pathlib import Path

from assay import registry
from assay.experiment.choices import checked_choices, storage_words
from assay.lab.authoring import preparing
from assay.lab.authoring.preparing import refused_statements
from assay.lab.authoring.problems import examined_script
from assay.provision.running_system import running_system

DUMP = """PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE item(id integer primary key, name text);
INSERT INTO item VALUES(1,'a;b ''q''');
INSERT INTO item VALUES(2,'INSERT INTO item');
CREATE TABLE IF NOT EXISTS "odd name"(x);
INSERT INTO "odd name" VALUES(1);
CREATE VIEW v as select * from item;
COMMIT;
"""


def checked(folder: Path, text: str) -> tuple[list[str], list[str]]:
    """What is refused, and what is not tried."""
    file = folder / "one.sql"
    file.write_text(text)
    workload = examined_script(str(file), {}).workload
    assert workload is not None
    (system,) = checked_choices.system_choices(["sqlite"])
    (place,) = storage_words.storage_choices(("here",))
    left: list[str] = []
    with running_system(system, place, connections=None) as running:
        return [one.message for one in refused_statements(workload, running, left)], left


def test_statements_of_tables_that_the_script_makes_are_no_mistakes(tmp_path: Path) -> None:
    found, left = checked(tmp_path, DUMP)
    assert found == []
    assert left == [
        f"{tmp_path}/one.sql: 6 statements not tried, as the script itself makes item, odd name, v"
    ]
    assert checked(
        tmp_path, "create table tt(a int); insert into tt values (1); drop table tt;"
    ) == (
        [],
        [f"{tmp_path}/one.sql: 3 statements not tried, as the script itself makes tt"],
    )


def test_other_statements_are_tried_nevertheless(tmp_path: Path) -> None:
    (said,), _ = checked(tmp_path, DUMP + "select * from nowhere;\nselect * from item;\n")
    assert said.startswith(f"{tmp_path}/one.sql:10:1: ") and "nowhere" in said


def test_those_that_are_not_named_are_counted(tmp_path: Path) -> None:
    found, _ = checked(tmp_path, "".join(f"select * from t{n};\n" for n in range(60)))
    assert len(found) == 51
    assert found[-1].startswith(f"{tmp_path}/one.sql:51: ")
    assert "10 statements in all, are not named" in found[-1]


def test_a_table_that_is_only_dropped_is_not_made_by_the_script() -> None:
    dialect = registry.dialects()["sqlite"]
    assert not preparing.own_tables("drop table t; select * from t;", dialect).names
    made = preparing.own_tables(
        "\\set n 1\ncreate temp view w as select 1; select :n from w;", dialect
    )
    assert (made.names, len(made.statements)) == ({"w"}, 1)


def test_a_script_file_has_the_variables_that_a_run_gives_it(tmp_path: Path) -> None:
    file = tmp_path / "builtin.sql"
    file.write_text("\\set aid random(1, 100000 * :scale)\nSELECT :aid;\n")
    assert examined_script(str(file), {}).problems == []
    file.write_text("SELECT :nothing;\n")
    assert len(examined_script(str(file), {}).problems) == 1
