"""Two processes that each drive a part of the clients observe together what one process with all of
them does: the same values, the same counts; a report shows them as one result.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from known_systems import Deployment, NullSystem
from msgspec.structs import replace

import invented_records as invented
from assay.api.results import Result
from assay.contracts.observation import Observation, read_observation
from assay.contracts.observation.merging.latencies import encoded, merged_latency
from assay.contracts.observation.merging.simultaneous import merge
from assay.record import ExperimentRecord, Store

CLIENTS, EACH = 8, 5
DELAY_NS = 3_000_000
AHEAD_NS = 500_000_000
AGENT = """
import sys
from assay import _engine

def ready():
    print("ready", flush=True)
    return int(sys.stdin.readline())

document = sys.stdin.readline()
print(_engine.drive(document, None, ready), flush=True)
"""


def document(
    deployment: Deployment, values: Path, first_client: int, clients: int
) -> dict[str, Any]:
    return {
        "deployment": deployment,
        "scripts": [
            {
                "name": "read",
                "path": "read.sql",
                "text": "\\set v random(1, 1000000)\n"
                f"\\shell sh -c 'echo $* >>{values}' values :v\nSELECT 1;\n",
            }
        ],
        "order": "sequence",
        "clients": clients,
        "first_client": first_client,
        "of_clients": CLIENTS,
        "allow_shell": True,
        "seed": 7,
        "stop": {"transactions": EACH},
    }


def driven(
    deployment: Deployment, values: Path, parts: Sequence[tuple[int, int]]
) -> list[Observation]:
    """A process for each part (first client, clients); all begin at one instant."""
    agents = [
        subprocess.Popen(
            [sys.executable, "-c", AGENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in parts
    ]
    try:
        for agent, part in zip(agents, parts, strict=True):
            assert agent.stdin and agent.stdout
            print(json.dumps(document(deployment, values, *part)), file=agent.stdin, flush=True)
        for agent in agents:
            assert agent.stdout and agent.stdout.readline() == "ready\n"
        begin_unix_ns = time.time_ns() + AHEAD_NS
        answers = [agent.communicate(f"{begin_unix_ns}\n")[0] for agent in agents]
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()
    found = [read_observation(json.loads(answer)) for answer in answers]
    for one in found:
        assert one.started_unix_ns >= begin_unix_ns - 5_000_000, "no agent begins early"
    return found


def drawn(values: Path) -> list[str]:
    return sorted(values.read_text(encoding="utf-8").split())


def kept(path: Path, parts: Sequence[Observation]) -> ExperimentRecord:
    """The record of a run whose step was driven by these agents."""
    planned = invented.plan([invented.POSTGRESQL], clients=(CLIENTS,))
    with Store(path) as store:
        invented.begin(store, planned)
        store.begin_run(planned.runs[0])
        store.begin_step(0, "drive")
        store.observed_by_agents(parts)
        store.end_step("done")
        store.end_run("done")
        store.end_experiment()
    with Store(path, must_exist=True) as store:
        return store.latest()


def test_two_processes_are_together_what_one_is(null_system: NullSystem, tmp_path: Path) -> None:
    with null_system("postgresql", delay=f"constant:{DELAY_NS // 1_000_000}ms") as deployment:
        (whole,) = driven(deployment, tmp_path / "whole", [(0, CLIENTS)])
        parts = driven(deployment, tmp_path / "parts", [(0, 3), (3, CLIENTS - 3)])
    assert drawn(tmp_path / "parts") == drawn(tmp_path / "whole")
    assert len(drawn(tmp_path / "whole")) == CLIENTS * EACH

    together = merge(parts)
    assert together.outcomes == whole.outcomes
    assert together.all_ok.latency.count == whole.all_ok.latency.count == CLIENTS * EACH
    assert together.all_ok.latency.min_ns >= DELAY_NS
    assert together.all_ok.latency == merged_latency([one.all_ok.latency for one in parts])
    assert [end.client for end in together.client_ends] == list(range(CLIENTS))
    seconds = [line.latency for line in together.intervals if line.latency is not None]
    assert encoded(merged_latency(seconds)) == encoded(together.all_ok.latency)
    assert sum(line.ok for line in together.intervals) == CLIENTS * EACH


def test_the_agents_of_a_step_are_one_result(null_system: NullSystem, tmp_path: Path) -> None:
    with null_system("postgresql", delay="constant:1ms") as deployment:
        parts = driven(deployment, tmp_path / "values", [(0, 3), (3, CLIENTS - 3)])
    record = kept(tmp_path / "r.sqlite", parts)
    (run,) = record.runs
    assert run.driven == merge(parts)
    assert [len(step.agents) for step in run.steps] == [2]
    result = Result(record)
    (row,) = result.table("runs")
    assert (row["ok"], row["latency_max_ns"]) == (
        CLIENTS * EACH,
        max(one.all_ok.latency.max_ns for one in parts),
    )
    (transaction,) = result.table("transactions")
    assert transaction["count"] == CLIENTS * EACH
    assert f"ok {CLIENTS * EACH}  aborted 0" in result.report()


def test_what_agents_kept_by_themselves_is_added_up_when_it_is_read(
    null_system: NullSystem, tmp_path: Path
) -> None:
    """As where a machine wrote its part and nobody the whole."""
    with null_system("postgresql", delay="constant:1ms") as deployment:
        parts = driven(deployment, tmp_path / "values", [(0, 4), (4, 4)])
    path = tmp_path / "r.sqlite"
    expected = kept(path, parts).runs[0].driven
    with Store(path) as store:
        store._write().change(lambda one: one.execute("DELETE FROM observations WHERE agent = 0"))
        found = store.latest().runs[0]
    assert found.driven == expected is not None
    assert replace(found, steps=()).evidence.is_measured
