"""The durability class of a run is that of its own sessions: what its scripts set counts, whether
that is seen before the run or only by the flushes of the device."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.record import Run
from assay.storages.loop import LOOP
from commands import Assay, need

pytestmark = [
    pytest.mark.flushes,
    pytest.mark.skipif(LOOP.why_unavailable() is not None, reason="needs root and loop devices"),
]

UPDATE = """\\set aid random(1, 100000)
update pgbench_accounts set abalance = abalance + 1 where aid = :aid;
"""
PAUSES = ("--think-time", "constant:5ms")
SET = "set synchronous_commit = off;\n"
SET_UNSEEN = "do $$ begin perform set_config('synchronous_commit', 'off', false); end $$;\n"
"""The same, within a block that is not looked into."""


def run(assay: Assay, folder: Path, script: str, clients: int, *more: str) -> tuple[Run, str]:
    (folder / "mine.sql").write_text(script)
    ended = assay(
        "run", "tpcb", "-f", "mine.sql", "--on", "postgresql", "--storage", "loop[size=400M]",
        "--clients", str(clients), "--warm-up", "0.2", "--duration", "1", "--no-probe", *more,
    )  # fmt: skip
    (run,) = ended.runs
    assert run.driven is not None, ended.err
    return run, ended.out


def of_record(run: Run) -> tuple[str | None, bool]:
    assert run.deployment is not None
    found = run.deployment.durability
    assert found is not None
    # The server's own flushes, several a second, may come before an answer by chance.
    assert found.flushed_before_answer < 10 or found.flushed_before_answer == 50
    return found.durability_class, found.is_contradicted


def warnings(run: Run) -> dict[str, str]:
    return {one.name: one.detail for one in run.warnings}


def test_what_a_script_sets_counts_for_its_class(assay: Assay, working_folder: Path) -> None:
    need("postgresql")
    found, shown = run(assay, working_folder, SET + UPDATE, 1)
    assert of_record(found) == ("D2", False)
    assert (
        "its sessions execute set synchronous_commit = off" in warnings(found)["durability-lowered"]
    )
    assert "flushes 0.0" in shown  # the line of the device, which had nearly nothing to do


def test_a_class_that_the_flushes_of_a_run_contradict_is_withdrawn(
    assay: Assay, working_folder: Path
) -> None:
    """Of many clients, whose commits might have shared a flush."""
    need("postgresql")
    found, shown = run(assay, working_folder, SET_UNSEEN + UPDATE, 16, *PAUSES)
    assert of_record(found) == (None, True)
    assert "D3 was measured, but the device ended" in warnings(found)["class-contradicted"]
    assert "durability   contradicted" in shown
    assert "flushes 0.0" in shown


def test_commits_that_share_a_flush_contradict_nothing(assay: Assay, working_folder: Path) -> None:
    """Sixteen clients on rows of their own: one flush for several commits."""
    need("postgresql")
    found, _ = run(assay, working_folder, UPDATE, 16)
    assert found.driven is not None
    assert found.driven.device_cost is not None
    assert found.driven.device_cost.flushes is not None
    assert found.driven.commits is not None
    assert found.driven.device_cost.flushes < found.driven.commits / 2
    assert of_record(found) == ("D3", False)
    assert "class-contradicted" not in warnings(found)
