"""An experiment as a record keeps it becomes an experiment file that asks for the same runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assay import registry
from assay.experiment import from_command_line as command_line
from assay.experiment.as_file import Places, tables_of
from assay.plan import plan
from assay.record.file.json_text import json_text
from assay.text.files import toml_file
from assay.text.files.toml_file import TomlData
from assay.text.files.toml_text import toml_text

Words = command_line.Words
RATES = "0s:200,60s:800,500"


Planned = tuple[dict[str, Any], set[tuple[str, int, int]], str]
"""What is asked for, as a record keeps it; its runs; its workload."""


def planned(words: Words) -> Planned:
    experiment, workload = command_line.asked(words)
    runs = plan(experiment, workload).runs
    document = json.loads(json_text(experiment.for_record()))
    named = {(run.cell.fingerprint, run.repetition, run.seed) for run in runs}
    return document, named, experiment.workload


def written(folder: Path, asked: Planned, quick: TomlData | None = None) -> Path:
    document, _, workload = asked
    tables = tables_of(document, Places(workload, lambda path: path), quick or {})
    file = folder / "experiment.toml"
    file.write_text(toml_text(tables), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", registry.experiments())
def test_built_in_experiments_and_their_quick_versions(name: str, tmp_path: Path) -> None:
    whole, quick = planned(Words(f"{name}.toml")), planned(Words(f"{name}.toml", quick=True))
    assert planned(Words(str(written(tmp_path, whole))))[1] == whole[1]
    assert planned(Words(str(written(tmp_path, quick)), quick=True))[1] == quick[1]
    kept = toml_file.read(registry.experiment_file(f"{name}.toml")).plain()["quick"]
    assert isinstance(kept, Mapping)
    file = written(tmp_path, whole, kept)
    assert planned(Words(str(file), quick=True))[1] == quick[1]


@pytest.mark.parametrize(
    "words",
    [
        Words("a.sql", on=("sqlite",), clients="1,2"),
        Words("x.sql", on=("sqlite",), set=("x=1,a",)),
        Words("a.sql,x.sql", on=("sqlite",), set=("x=1,2",)),
        Words("", script=("x.sql@3", "a.sql"), on=("sqlite",), set=("x=3",)),
        Words("tpcb", script=("a.sql@2",), on=("sqlite",), scale=2),
        Words("tpcb", on=("old=mariadb[innodb_buffer_pool_size=64MB]", "postgresql"),
              memory="1GB,none", cpus="1,0.5", rtt="0,1.5ms", cache="warm,as-is"),
        Words("tpcb.*", on=('postgresql[shared_buffers=1GB,search_path="a,b"]',),
              storage=("fast=here:/tmp,tmpfs[size=1GB]",), log_storage=("fast,none",),
              price=("fast=0.6EUR/GB",)),
        Words("tpcb", on=("postgresql://me:s3cret@db.example/shop?sslmode=disable"
                          "[storage=ssd,role=solid-state]", "mariadb")),
        Words("a.sql", on=("postgresql://me@db/shop,two=postgresql://me@db2/shop",),
              offered_rate_per_s=RATES, arrival="poisson", duration_s=70.0, latency_limit_s=0.05,
              think_time="none", retries=3, isolation="serializable", reconnect=True,
              connection="per transaction", read="any", per_statement=True, allow_shell=True,
              repetitions=2, precision=0.05, order="randomized", seed=7, protocol="prepared",
              threads=2, warm_up_s=1.5, ramp_up_s=0.5, drain_s=3.0, statement_limit_s=2.0),
        Words("", script=("x.sql@3", "a.sql"), on=("postgresql://me@a,b/shop",),
              read="x=replica,a=any", set=("x=1",)),
        Words("a.sql", on=("sqlite",), goal="p99 < 5ms", offered_rate_per_s="10,1000",
              goal_tolerance=0.1, goal_trials=4, budget_s=60.0),
        Words("a.sql", on=("sqlite", "old=postgresql[shared_buffers=1GB]"), goal="p99 < 5ms",
              offered_rate_per_s="10,1000", price=("sqlite=900EUR,old=4500EUR",)),
        Words("bibsql.sequential", on=("sqlite", "mariadb[engine=MyISAM]"), set=("copies=1,10",)),
        Words("wisconsin-1983.toml", on=("sqlite", "mine=duckdb"), storage=("tmpfs",)),
        Words("beebe-2011.toml", on=("sqlite",), repetitions=2),
        Words("oltp", on=("mariadb",), set=("mariadb.profile=none,durable",)),
        Words("a.sql", on=("dbapi:sqlite3[database=/tmp/x.db]",)),
        Words("tpcb", on=("postgresql@15",), client_program="native,engine"),
    ],
)  # fmt: skip
def test_what_a_command_line_asks_for(
    words: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.sql").write_text("SELECT 1;\n")
    Path("x.sql").write_text("SELECT :x;\n")
    asked = planned(words)
    file = written(tmp_path, asked)
    assert planned(Words(str(file)))[1] == asked[1]
    assert "s3cret" not in file.read_text()
