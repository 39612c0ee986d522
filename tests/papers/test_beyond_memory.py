"""Data that memory cannot hold are read from the device by every query, and the others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import MachineLimit
from assay.experiment import ServerMachine
from assay.judge.run import Run
from assay.provision import limits
from assay.storages.modelled import MODELLED
from commands import Assay, Ended

MB = 1 << 20
LIMIT = "40MB"
WITHIN = 20
"""Reads of a query: the device's counters are of everything on this machine."""
FLASH = "flash=modelled[profile=fusion-io,size=256M]"
STORAGES = f"sata=modelled[profile=sata-ssd,size=256M],{FLASH}"


@pytest.fixture(autouse=True)
def _can_be_had() -> None:
    if MODELLED.why_unavailable() is not None:
        pytest.skip("needs root, FUSE and loop devices")
    try:
        limits.refuse_impossible_limits(ServerMachine(40 * MB))
    except MachineLimit as error:
        pytest.skip(error.message)


def reads_per_query(run: Run) -> float:
    assert run.driven is not None
    device = run.driven.device_cost
    assert device is not None
    assert device.reads is not None
    return device.reads / run.driven.outcomes.ended


def test_queries_read_from_the_device_only_where_memory_cannot_hold_the_data(
    assay: Assay, beebe: Path
) -> None:
    def run(storages: str, *words: str) -> Ended:
        return assay(
            "run", "bibsql.beyond-memory", "--on", "sqlite", "--bib", beebe,
            "--set", "replicas=5", "--storage", storages, *words, is_forked=False,
        )  # fmt: skip

    within = run(FLASH, "--cache", "warm")
    assert within.status == 0, within.err
    for one in within.runs:
        assert reads_per_query(one) < WITHIN, one.storage
        assert "fits-in-memory" in [warning.name for warning in one.warnings]
    beyond = run(STORAGES, "--memory", LIMIT)
    assert beyond.status == 0, beyond.err
    for one in beyond.runs[-2:]:
        assert one.data is not None
        assert one.data.size_on_disk_bytes > 1.8 * 40 * MB
        # A query that scans reads 100 MB, in requests of some 100 kB.
        assert reads_per_query(one) > 10 * WITHIN, one.storage
        assert one.driven is not None
        assert one.driven.embedded_read_bytes is not None
        assert one.driven.embedded_read_bytes > 10 * one.data.size_on_disk_bytes
        assert "fits-in-memory" not in [warning.name for warning in one.warnings]
    assert "reads/tx" in beyond.out, "the reason is beside the result"
    report = assay("report", "--format", "markdown").out
    assert "More data than memory: wall-clock time and speed-up" in report
    heads = [line for line in report.splitlines() if line.startswith("|") and "speed-up" in line]
    assert any("sata" in head and "flash" in head for head in heads), report
