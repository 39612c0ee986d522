"""The plans of statements before and after a drive: an index that is made in between changes them,
and the run says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from able import with_ability
from assay.contracts.dialects import Explains
from commands import need
from plugins import assay

WORKLOAD = """\
title = "Plans"
source = "a test"
default_test = "t"

[data]
source = "generated"

[[tables]]
name = "goods"
rows = "20000"
primary_key = ["id"]

[tables.columns]
id = "int not null"
price = "int not null"

[tables.values]
id = ":row + 1"
price = ":row"

[tests.t]
title = "T"
help = "A test"
scripts = ["cheap.sql", "add.sql"]
transactions = 6
changes_data = true

[[tests.t.steps]]
do = "load"

[[tests.t.steps]]
do = "analyze"

[[tests.t.steps]]
do = "plans"
name = "before"

[[tests.t.steps]]
do = "drive"
{between}
[[tests.t.steps]]
do = "plans"
name = "after"
"""
INDEX = """
[[tests.t.steps]]
do = "ddl"
script = "index.sql"
"""


def run(here: Path, system: str, between: str) -> dict[str, object]:
    """The row of the only run."""
    folder = here / "goods"
    folder.mkdir()
    (folder / "workload.toml").write_text(WORKLOAD.format(between=between))
    (folder / "cheap.sql").write_text(
        "\\set most random(1, 20000)\nSELECT id FROM goods WHERE price = :most;\n"
    )
    (folder / "add.sql").write_text("INSERT INTO goods SELECT max(id) + 1, 7 FROM goods;\n")
    (folder / "index.sql").write_text("CREATE INDEX goods_by_price ON goods (price);\n")
    (here / "package").mkdir()
    done = assay(here, "run", "goods", "--on", system, "--records", "r.sqlite")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = assay(here, "report", "latest", "--records", "r.sqlite", "--format", "json")
    (row,) = json.loads(shown.stdout)["tables"]["runs"]
    return dict(row)


@pytest.mark.parametrize("system", with_ability(Explains))
def test_an_index_that_is_made_changes_the_plan(system: str, tmp_path: Path) -> None:
    need(system)
    row = run(tmp_path, system, INDEX)
    assert (row["plans_known"], row["plans_changed"], row["ok"]) == (2, 1, 6)
    assert "plan-changed" in row["warnings"]  # type: ignore[operator]
    shown = assay(tmp_path, "report", "latest", "--records", "r.sqlite", "--detail")
    text = " ".join(shown.stdout.split())
    assert "a statement had another plan after the drive than before" in text
    assert "goods_by_price" in text or system == "duckdb"


def test_where_nothing_changes_the_plans_are_equal(tmp_path: Path) -> None:
    row = run(tmp_path, "sqlite", "")
    assert (row["plans_known"], row["plans_changed"]) == (2, 0)
    assert "plan-changed" not in row["warnings"]  # type: ignore[operator]
