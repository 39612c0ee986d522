"""A script that a system cannot express is left out of its run, which says so in the record and in
the report. So does a run whose scripts declare what Assay does not check."""

from __future__ import annotations

from pathlib import Path

from commands import IN_MEMORY, Assay

WORKLOAD = """\
title = "Two questions"
source = "invented"
default_test = "both"

[data]
source = "none"

[tests.both]
title = "Both"
help = "Each question once"
scripts = ["*.sql"]
changes_data = false
passes = 1
clients = [1]

[not_expressible.sqlite]
second = "SQLite has no such words"
"""


def test_the_record_and_the_report_name_it_and_its_reason(
    assay: Assay, working_folder: Path
) -> None:
    folder = working_folder / "two"
    folder.mkdir()
    (folder / "workload.toml").write_text(WORKLOAD)
    (folder / "first.sql").write_text("SELECT 1;\n\\atomic\n")
    (folder / "second.sql").write_text("SELECT no such words;\n")
    ended = assay("run", "two", "--on", "sqlite", *IN_MEMORY)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.driven is not None
    assert run.driven.outcomes.ok == 1 and run.driven.left_out == ("second",)
    assert "scripts-left-out" in [warning.name for warning in run.warnings]
    (declared,) = (one for one in run.warnings if one.name == "declared-atomic")
    assert declared.detail.endswith(": first")
    assert "SQLite has no such words" in " ".join(ended.out.split())
