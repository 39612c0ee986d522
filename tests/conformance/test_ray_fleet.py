"""Load generators on the machines of a Ray cluster: here two raylets of this machine."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from waiting import HANG_S

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray (assay-db[fleet])"),
]
CLUSTER = """
import json, os, sqlite3, sys, threading, time
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
from ray.cluster_utils import Cluster
import assay

def node(**more):
    return {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False, **more}

cluster = Cluster(initialize_head=True, head_node_args=node())
other = cluster.add_node(**node())

def driven(on_lost="end", **more):
    result = assay.run(
        "tpcb", on="null[protocol=postgresql,delay=constant:2ms]", clients=4, generators=2,
        fleet=f"ray://{cluster.address}", on_lost=on_lost, warm_up_s=0, records=sys.argv[1], **more,
    )
    (run,) = result.runs
    print(json.dumps([run.verdict, run.outcomes.ok, " ".join(result.report().split())]))

def is_driving():
    with sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True) as record:
        return record.execute("SELECT count(*) FROM runs WHERE state = 'driving'").fetchone()[0]

def lose():
    while not is_driving():
        time.sleep(0.1)
    time.sleep(3)
    cluster.remove_node(other, allow_graceful=False)

try:
    driven(transactions=25)
    threading.Thread(target=lose, daemon=True).start()
    driven(duration_s=30)
except assay.errors.AssayError as error:
    print(json.dumps(["error", 0, str(error)]))
finally:
    cluster.shutdown()
"""
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16)}


def _on_cluster(record: Path, **environment: str) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-c", CLUSTER, str(record)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=2 * HANG_S,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert lines, done.stdout + done.stderr
    return [json.loads(line) for line in lines]


def test_two_raylets_drive_one_run_and_one_is_lost(tmp_path: Path) -> None:
    whole, lost = _on_cluster(tmp_path / "r.sqlite", **TOKEN)
    verdict, ok, report = whole
    assert (verdict, ok) == ("unreliable", 100)
    assert "Load generators" in report
    verdict, _, report = lost
    assert verdict == "invalid"
    assert "of 2 lost after" in report


def test_a_cluster_that_others_can_reach_needs_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    ((_, _, words),) = _on_cluster(tmp_path / "r.sqlite")
    assert "the cluster has no token" in words
