"""Groups of clients that end only by counts: they are driven, and each has the throughput of its
own time, in the report and in the view of the record."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from commands import Assay

WORKLOAD = """\
title = "Groups"
source = "none"
default_test = "mixed"

[data]
source = "none"

[tests.mixed]
title = "Mixed"
help = "One group ends long before the other"

[[tests.mixed.steps]]
do = "drive"

[[tests.mixed.steps.groups]]
name = "short"
clients = 1
scripts = ["one"]
transactions = 5

[[tests.mixed.steps.groups]]
name = "long"
clients = 2
scripts = ["two"]
transactions = 200
"""


def test_each_group_has_the_throughput_of_its_own_time(assay: Assay, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "workload.toml").write_text(WORKLOAD)
    (folder / "one.sql").write_text("SELECT 1;\n")
    (folder / "two.sql").write_text("SELECT 2;\n")
    ended = assay("run", folder, "--on", "null[delay=constant:1ms]")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.observation is not None
    reported = {group.name: group.throughput_per_s for group in run.observation.groups}
    with closing(sqlite3.connect(ended.experiment.path)) as record:
        seen = dict(record.execute("SELECT group_name, throughput_per_s FROM groups"))
    assert seen == pytest.approx(reported)
    whole = run.observation.throughput_per_s
    assert whole is not None and reported["short"] > 10 * 5 / (405 / whole)
    short, long = run.observation.groups
    assert short.until_s(run.observation.elapsed_ns) == short.elapsed_ns / 1e9
    assert long.until_s(run.observation.elapsed_ns) is None
    assert ended.out.count(" TPS until ") == 1, ended.out
    details = assay("report", "--detail").out
    assert "of its own time: it ended at 0.0" in " ".join(details.split())


@pytest.mark.parametrize(("users", "groups"), [(3, {"short", "long"}), (1, {"short"})])
def test_a_group_ends_with_another_and_one_without_clients_takes_no_part(
    assay: Assay, tmp_path: Path, users: int, groups: set[str]
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    text = WORKLOAD.replace("transactions = 200", 'ends_with = "short"')
    text = text.replace("clients = 2", 'clients = "others"') + (
        "[parameters.users]\ntype = 'int'\ndefault = 1\nhelp = 'Users'\n"
        "[constants]\nothers = ':users - 1'\n"
    )
    (folder / "workload.toml").write_text(text)
    (folder / "one.sql").write_text("SELECT 1;\n")
    (folder / "two.sql").write_text("SELECT 2;\n")
    ended = assay("run", folder, "--on", "null[delay=constant:2ms]", "--set", f"users={users}")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.observation is not None
    assert {group.name for group in run.observation.groups} == groups
    assert run.clients == users
    counts = {one.name: one.ok for one in run.observation.outcomes_by_transaction}
    assert counts["one"] == 5
    assert counts.get("two", 0) <= 2 * 5 * (users - 1)
