"""`--last N` leaves out what older experiments measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from commands import run_in

FILES = ("one.sqlite", "two.sqlite")


def _json(folder: Path, *command: str) -> Any:
    return json.loads(run_in(folder, *command, "--format", "json").stdout)


def _run(folder: Path, test: str, records: str) -> None:
    run_in(
        folder,
        "run",
        test,
        "--on",
        "null",
        "--warm-up",
        "0",
        "--transactions",
        "20",
        "--records",
        records,
    )


def test_only_the_last_experiments_are_listed_and_in_a_trend(tmp_path: Path) -> None:
    for records in (FILES[0], FILES[1], FILES[0]):
        _run(tmp_path, "tpcb.select-only", records)
    _run(tmp_path, "tpcb.simple-update", FILES[0])

    listed = _json(tmp_path, "list", "runs", "--last", "2", "--records", FILES[0])
    assert [run["experiment"] for run in listed] == [2, 3]
    everything = _json(tmp_path, "list", "runs", "--last", "100", "--records", FILES[0])
    assert len(everything) == 3

    both = [word for name in FILES for word in ("--records", name)]
    trend = ("trend", "tpcb.select-only", *both)
    points = _json(tmp_path, *trend)["points"]
    assert [(Path(one["record"]).name, one["experiment"]) for one in points] == [
        (FILES[0], 1), (FILES[1], 1), (FILES[0], 2),
    ]  # fmt: skip
    # The experiment begun last has no such cell, and does not count.
    assert _json(tmp_path, *trend, "--last", "2")["points"][0]["record"] == FILES[1]


def test_a_number_of_experiments_is_one_at_least(tmp_path: Path) -> None:
    ended = run_in(tmp_path, "trend", "--last", "0")
    assert ended.returncode == 2 and "--last" in ended.stderr
    ended = run_in(tmp_path, "list", "systems", "--last", "1")
    assert ended.returncode == 2 and "assay list runs" in ended.stderr
