"""A script in place of a test's own: what the test checks afterwards does not apply."""

from __future__ import annotations

from pathlib import Path

from commands import Assay


def test_checks_of_a_test_are_not_run_after_other_scripts(
    assay: Assay, working_folder: Path
) -> None:
    """It leaves the sums of tpcb unequal, which is no mistake of the system."""
    (working_folder / "mine.sql").write_text(
        "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1;\n"
    )
    ended = assay(
        "run", "tpcb", "-f", "mine.sql", "--on", "sqlite", "--warm-up", "0", "--transactions", "5"
    )
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    rules = {check["id"]: (check["ok"], check["note"]) for check in run.checks}
    assert rules["balances"] == (None, "not run: other scripts were run than the test's")
