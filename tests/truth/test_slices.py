"""A part of generated rows equals that part of the whole, independently of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

import forked_programs

WORKLOAD = """
title = "orders and their lines"
source = "this test"
description = "Orders, each with up to four lines."
default_system = "sqlite"
default_test = "t"

[data]
source = "generated"

[parameters.orders]
type = "int"
default = 530
help = "Orders"

[[tables]]
name = "orders"
rows = ":orders"
[tables.columns]
id = "int not null"
name = "varchar(20)"
[tables.values]
id = ":row + 1"
name = "text(3, 12)"

[[tables]]
name = "lines"
per = "orders"
rows = "random(0, 4)"
[tables.columns]
order_id = "int not null"
number = "int not null"
amount = "decimal(9,2)"
[tables.values]
order_id = ":id"
number = ":row"
amount = "random(1, 100000) / 100.0"

[tests.t]
title = "nothing"
help = "Asks for nothing."
scripts = ["t.sql"]
transactions = 1
"""


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    folder.mkdir()
    (folder / "workload.toml").write_text(WORKLOAD)
    (folder / "t.sql").write_text("SELECT 1;\n")
    return folder


def generated(workload: Path, *words: str) -> str:
    done = forked_programs.run("assay", ["generate", workload, *words])
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("form", ["csv", "sql"])
@pytest.mark.parametrize("table", ["orders", "lines"])
def test_any_number_of_parts_makes_the_whole(table: str, form: str, workload: Path) -> None:
    words = ["--table", table, "--format", form]
    whole = generated(workload, *words)
    assert whole.count("\n") > 3
    parts = [generated(workload, *words, "--part", f"{part}/3") for part in (1, 2, 3)]
    assert all(parts) and "".join(parts) == whole
    assert generated(workload, *words, "--seed", "2") != whole
