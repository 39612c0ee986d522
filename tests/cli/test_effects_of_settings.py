"""Settings of a real system in a full grid: the report's effects are those of its own runs."""

from __future__ import annotations

import json
from statistics import fmean

import numpy as np
import pytest

from commands import Assay

SETTINGS = {
    "synchronous": ("full", "off"),
    "journal_mode": ("delete", "wal"),
    "cache_size": ("-2000", "-64000"),
}


@pytest.mark.slow
def test_effects_of_three_settings_of_sqlite(assay: Assay) -> None:
    given = [
        word
        for name, levels in SETTINGS.items()
        for word in ("--set", f"sqlite.{name}={','.join(levels)}")
    ]
    ended = assay(
        "run", "tpcb.simple-update", "--on", "sqlite", *given, "--repetitions", "3",
        "--clients", "1", "--duration", "0.3", "--warm-up", "0",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert "settings     " in ended.out and "synchronous" in ended.out
    document = json.loads(assay("report", "latest", "--format", "json").out)
    (found,) = document["effects"]
    assert (found["cells"], found["runs"], found["left_out"]) == (8, 24, [])
    levels = {row["run"]: dict(_settings(row)) for row in document["tables"]["runs"]}
    logs = {row["run"]: np.log(row["throughput_per_s"]) for row in document["tables"]["runs"]}
    ratios = {}
    for effect in found["effects"]:
        sums = []
        for run, at in levels.items():
            sides = [_side(change, at[change["factor"]]) for change in effect["of"]]
            sums.append((np.prod(sides), logs[run]))
        by_hand = sum(fmean([log for sign, log in sums if sign == side]) * side for side in (1, -1))
        # Of an interaction each mean is over half of all runs, its ratio over a quarter.
        by_hand *= len(effect["of"])
        assert effect["ratio"] == pytest.approx(np.exp(by_hand))
        ratios[tuple(change["factor"] for change in effect["of"])] = effect["ratio"]
    assert ratios["synchronous",] > 1, "without flushes it is faster"
    table = assay("report", "latest").out
    assert "cache_size  journal_mode  synchronous" in table
    compared = assay(
        "compare", "latest", "--between", "sqlite.synchronous", "--despite", "durability"
    )
    assert compared.status == 0, compared.err


def _settings(row: dict[str, object]) -> list[tuple[str, str]]:
    words = [word.partition("=") for word in str(row["system"]).split()[1:]]
    return [(name, value) for name, _, value in words]


def _side(change: dict[str, str], level: str) -> int:
    return 1 if level == change["level"] else -1
