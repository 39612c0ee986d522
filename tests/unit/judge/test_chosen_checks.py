"""Which of a workload's checks a test runs."""

from __future__ import annotations

from assay.judge.check.consistency import chosen
from assay.workload.values import Script


def test_a_check_in_another_language_is_chosen_as_the_one_that_it_stands_for() -> None:
    paths = ["checks/a1.sql", "checks/a2.json", "checks/deep/a3.cql", "checks/b.json"]
    checks = [Script(path.rpartition("/")[2].partition(".")[0], path, "") for path in paths]
    assert [check.path for check in chosen(checks, ["a1", "a3"])] == [paths[0], paths[2]]
    assert chosen(checks, ()) == []
