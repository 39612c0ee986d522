"""Which transactions count as commits: those of types whose statements change data."""

from __future__ import annotations

import pytest

import invented_records as invented
import observations
from assay import registry
from assay.contracts.observation import Observation
from assay.drive.commits import commits, seems_to_read
from assay.drive.prepare import Compiled
from assay.experiment.from_command_line import Words, experiment
from assay.plan import plan
from assay.plan.drives import drives
from assay.workload.ad_hoc_script import workload_of


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ("SELECT a FROM t WHERE b = 'update'", True),
        ("((select 1) union (select 2))", True),
        ("-- insert\n/* update\n */ values (1)", True),
        ("with a as (select 1) select * from a", True),
        ("WITH a AS (SELECT 1) DELETE FROM t", False),
        ("BEGIN", True),
        ("commit", True),
        ("insert into t values (1)", False),
        ("call p()", False),
        ("copy t from stdin", False),
    ],
)
def test_a_statement_reads_by_its_first_word(statement: str, reads: bool) -> None:
    assert seems_to_read(statement) is reads


@pytest.mark.parametrize(
    ("target", "system", "writing"),
    [
        ("tpcb.tpcb-like", "sqlite", {"tpcb-like"}),
        ("tpcb.select-only", "sqlite", set()),
        ("e831.update", "cassandra", {"update"}),
        ("e831.select", "cassandra", set()),
    ],
)
def test_types_that_change_data_are_found_in_the_systems_own_statements(
    target: str, system: str, writing: set[str]
) -> None:
    asked, _ = experiment(Words(target, on=(system,)))
    workload = workload_of(asked)
    (run, *_) = plan(asked, workload).runs
    dialect = registry.system(system).dialect
    (drive,) = drives(workload, run)
    assert Compiled(workload).writing_types(drive, dialect) == writing


def test_only_transactions_that_ended_ok_are_commits() -> None:
    (cell, *_) = (run.cell for run in invented.plan([invented.SQLITE]).runs)
    found = [
        {"name": name, **observations.outcomes(scheduled=10, ok=8, failed=2)}
        for name in ("reads", "writes")
    ]
    observation = invented.report_of(cell, invented.S, outcomes_by_transaction=found)
    assert isinstance(observation, Observation)
    assert commits(observation, {"writes"}) == 8
    assert commits(observation, ()) == 0
