"""Invalid tables are refused before a server starts, at the wrong line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.errors import ExperimentError
from assay.load.row_sources import generated
from assay.workload import reader

WORKLOAD = """\
title = "Shop"
source = "nowhere"
default_test = "all"

[data]
source = "generated"

[parameters.scale]
type = "int"
default = 1
help = "How large"

[identifiers]
shelf = "shelf_{instance}"

[[tables]]
name = "customers"
rows = "10 * :scale"
primary_key = ["id"]
unique = ["email"]
indexes = ["name, born desc"]

[tables.columns]
id = "int not null"
name = "varchar(20) not null"
email = "varchar(40) not null"
born = "date"
note = "text wide default 'none'"

[tables.values]
id = ":row + 1"
name = "text(3, 20)"
email = "concat(:name, '@', :id)"

[[tables]]
name = "orders"
per = "customers"
rows = "random(0, 3)"
foreign_keys = ["customer -> customers(id)"]

[tables.columns]
customer = "int not null"
price = "decimal(9,2)"

[tables.values]
customer = ":id"
price = "random(1, 100) / 4.0"

[[tables]]
name = "shelf_{instance}"
instances = "1..2 * :scale"
rows = "5"

[tables.columns]
place = "int not null"

[tables.values]
place = ":instance * 100 + :row"

[tests.all]
title = "All"
help = "All of it"
scripts = ["*.sql"]
passes = 1
"""


@dataclass(frozen=True)
class Bad:
    """One mistake: ``wrong`` in place of ``right``; the message, the hint, and the content of the
    reported line."""

    right: str
    wrong: str
    at: str
    message: str
    hint: str = ""


BAD = {
    "a type that is none": Bad('"int not null"\nname', '"integer"\nname', "integer",
        "not a column type", "smallint, int"),
    "a flag that is none": Bad("text wide default", "text wied default", "wied",
        "not a column type", "not null"),
    "a flag twice": Bad("text wide default", "text wide wide default", "wide wide",
        "not a column type"),
    "more digits than there are": Bad("decimal(9,2)", "decimal(2,9)", "decimal(2,9)",
        "after the point", "decimal"),
    "a text of no length": Bad("varchar(20)", "varchar(0)", "varchar(0)", "1 to 10000 characters",
        "no limit"),
    "a default of another type": Bad('born = "date"', 'born = "date default 7"', "date default",
        "a text in single quotes"),
    "a number for a default": Bad('price = "dec', """price = "int default 'a'"\nold = "dec""",
        "int default", "expected a number"),
    "a name that is too long": Bad('born = "date"', f'{"b" * 64} = "date"', "b" * 64, "64 bytes",
        "truncated"),
    "two columns in two letter cases": Bad('born = "date"', 'Name = "date"', 'Name = "date"',
        "same name as name"),
    "no columns": Bad('[tables.columns]\nplace = "int not null"\n\n', "",
        '[[tables]]\nname = "shelf', "no columns"),
    "a key over an unknown column": Bad('["id"]\nunique', '["ident"]\nunique', "primary_key",
        "unknown column 'ident'", "known: "),
    "a key over a column twice": Bad('["email"]', '["email, email"]', "unique", "twice"),
    "an index over an unknown column": Bad("born desc", "berth desc", "indexes",
        "unknown column 'berth'", "known: born"),
    "an index that runs nowhere": Bad("born desc", "born down", "indexes", "is not an index",
        "other desc"),
    "a partition without the primary key": Bad('primary_key = ["id"]',
        'primary_key = ["id"]\npartition_by = ["name"]', "partition_by",
        "leave out 'id' of the primary key", 'partition_order = ["id"]'),
    "a partition by what may be null": Bad('primary_key = ["id"]',
        'primary_key = ["id"]\npartition_by = ["born"]\npartition_order = ["id"]', "partition_by",
        "'born' of a partition key may be null", 'born = "date not null"'),
    "an order of partitions that runs nowhere": Bad('primary_key = ["id"]',
        'primary_key = ["id"]\npartition_by = ["id"]\npartition_order = ["name down"]',
        "partition_order", "expected a list of columns"),
    "an order without partitions": Bad('primary_key = ["id"]',
        'primary_key = ["id"]\npartition_order = ["name"]', "partition_order",
        "needs partition_by"),
    "an index twice": Bad('["name, born desc"]', '["name", "name"]', "indexes", "declared twice"),
    "a condition of an index that is missing": Bad('["name, born desc"]', '[{ columns = "name" }]',
        "indexes", "when is missing"),
    "a foreign key without its arrow": Bad('customer -> customers(id)"', 'customer customers(id)"',
        "foreign_keys", "is not a foreign key", "column -> table"),
    "a foreign key to an unknown table": Bad("-> customers(id)", "-> customer(id)", "foreign_keys",
        "unknown table 'customer'", "did you mean 'customers'"),
    "a foreign key to an unknown column": Bad("-> customers(id)", "-> customers(ident)",
        "foreign_keys", "unknown column 'ident'", "known: born"),
    "a foreign key to what is not unique": Bad("-> customers(id)", "-> customers(born)",
        "foreign_keys", "which is date", "one type"),
    "a foreign key of more columns": Bad("customer -> customers(id)",
        "customer, price -> customers(id)", "foreign_keys", "2 columns for 1"),
    "a foreign key to no key": Bad('primary_key = ["id"]\n', "", "foreign_keys",
        "neither its primary key nor unique", "primary_key ="),
    "an unknown parent": Bad('per = "customers"', 'per = "costumers"', "per =",
        "unknown table 'costumers'", "did you mean 'customers'"),
    "parents in a cycle": Bad('rows = "10 * :scale"', 'rows = "1"\nper = "orders"',
        'per = "orders"', "cycle: customers -> orders -> customers"),
    "a child of instances that has none": Bad(
        'per = "customers"\nrows = "random(0, 3)"\nforeign_keys',
        'per = "shelf_{instance}"\nrows = "1"\nforeign_keys',
        "per =",
        "has not the same ones",
        "in both",
    ),
    "a table twice": Bad('name = "orders"', 'name = "Customers"', 'name = "Customers"',
        "second table"),
    "instances that are not a range": Bad('"1..2 * :scale"', '"1 to 2"', "instances", "not a range",
        "1..10"),
    "instances from last to first": Bad('"1..2 * :scale"', '"3..2"', "instances",
        "3 to 2: expected 1 to"),
    "instances of an unknown parameter": Bad("1..2 * :scale", "1..2 * :scael", "instances", "scael",
        "scale"),
    "instances that are no number": Bad("1..2 * :scale", "1..2.5 * :scale", "instances",
        "expected a whole number"),
    "a place in the name without instances": Bad('instances = "1..2 * :scale"\n', "",
        'name = "shelf', "no instances are declared", "1..10"),
    "an identifier of no table": Bad('shelf = "shelf_{instance}"', 'shelf = "shelves"',
        'shelf = "shelves"', "unknown table or column 'shelves'",
        "known: born, customer, customers"),
    "a value for an unknown column": Bad('email = "concat', 'emial = "concat', "emial",
        "unknown column 'emial'", "did you mean 'email'"),
    "a column without a value": Bad('name = "text(3, 20)"\n', "", '[tables.values]\nid = ":row',
        "must not be null and has no value", "default"),
    "values of no rows": Bad('rows = "5"\n', "", "[tables.values]\nplace", "no number of rows",
        "rows ="),
    "an empty expression": Bad('place = ":instance * 100 + :row"', 'place = ""', 'place = ""',
        "is empty", ":row + 1"),
    "an expression that ends early": Bad(":instance * 100 + :row", ":instance * 100 +",
        ":instance * 100 +", "expected a value", ""),
    "an unknown function": Bad("text(3, 20)", "txet(3, 20)", "txet", "txet", "text"),
    "too many arguments": Bad("text(3, 20)", "text(3, 20, 7)", "text(3, 20, 7)", "text"),
    "a column of below": Bad('name = "text(3, 20)"\nemail = "concat(:name',
        'name = "concat(:email)"\nemail = "concat(:id', "concat(:email)", "email"),
    "a parent's column that is none": Bad('customer = ":id"', 'customer = ":ident"', ":ident",
        "ident"),
    "a parameter that is none": Bad("10 * :scale", "10 * :scael", "10 * :scael", "scael", "scale"),
    "a key that is none": Bad('rows = "5"', 'rows = "5"\nrow = "5"', 'row = "5"',
        "unknown key 'row'", "did you mean 'rows'"),
    "rows of a workload that makes none": Bad('source = "generated"', 'source = "bib"', "rows =",
        "are not generated", "generated"),
    "a language that is none": Bad('per = "customers"', 'per = "customers"\nlanguages = ["sequel"]',
        "languages", "unknown language 'sequel'", "sql"),
    "a foreign key to a table of other languages": Bad(
        'unique = ["email"]',
        'unique = ["email"]\nlanguages = ["sql", "cql"]',
        "foreign_keys",
        "orders is for all systems, and its foreign key leads to customers, which is for systems "
        "of sql, cql",
        'languages = ["sql", "cql"] in orders',
    ),
    "a source that is none": Bad('source = "generated"', 'source = "made"', 'source = "made"',
        "invalid value", "generated"),
}  # fmt: skip


def folder_of(folder: Path, text: str) -> str:
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    (folder / "one.sql").write_text("select 1;\n", encoding="utf-8")
    return str(folder)


def test_the_workload_without_a_mistake_is_read(tmp_path: Path) -> None:
    workload = reader.read(folder_of(tmp_path, WORKLOAD))
    assert [table.name for table in workload.tables_for({"scale": 2})] == [
        "customers",
        "orders",
        *(f"shelf_{number}" for number in range(1, 5)),
    ]
    assert workload.identifiers_for({}) == {"shelf": ["shelf_1", "shelf_2"]}


def test_a_table_is_for_systems_of_its_languages_and_is_made_from_any_table(tmp_path: Path) -> None:
    text = WORKLOAD.replace('per = "customers"', 'per = "customers"\nlanguages = ["json"]').replace(
        'foreign_keys = ["customer -> customers(id)"]\n', ""
    )
    text = text.replace('unique = ["email"]', 'unique = ["email"]\nlanguages = ["sql"]')
    workload = reader.read(folder_of(tmp_path, text))

    def tables(language: str | None) -> list[str]:
        return [table.name for table in workload.tables_for({}, language)]

    shelves = ["shelf_1", "shelf_2"]
    assert tables(None) == ["customers", "orders", *shelves]
    assert tables("sql") == ["customers", *shelves]
    assert tables("json") == ["orders", *shelves]
    assert tables("cql") == shelves
    everything = generated.request_of(workload, {}).rows_expected
    found = generated.request_of(workload, {}, "json")
    assert everything is not None
    assert found.rows_expected == {
        name: count for name, count in everything.items() if name != "customers"
    }
    in_sql = generated.request_of(workload, {}, "sql")
    assert found.key != in_sql.key
    assert found.declared_fingerprint == in_sql.declared_fingerprint
    other = generated.request_of(workload, {"data_seed": 2}, "sql")
    assert found.declared_fingerprint != other.declared_fingerprint


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_mistake_is_reported_with_its_line_and_its_fix(tmp_path: Path, bad: Bad) -> None:
    assert WORKLOAD.count(bad.right) == 1, "the case must change one place"
    text = WORKLOAD.replace(bad.right, bad.wrong)
    with pytest.raises(ExperimentError) as caught:
        reader.read(folder_of(tmp_path, text))
    error = caught.value
    assert bad.message in error.message
    assert bad.hint in (error.hint or "")
    place = text.index(bad.at)
    assert (Path(error.file).name, error.line) == (
        "workload.toml",
        text.count("\n", 0, place) + 1,
    ), error.message


def test_the_column_of_a_number_of_rows_is_that_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError) as caught:
        reader.read(folder_of(tmp_path, WORKLOAD.replace("10 * :scale", "10 * (2 + ")))
    assert caught.value.column == len('rows = "10 * (2 +') + 1
