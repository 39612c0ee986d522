"""Two processes that each drive a part of the clients observe together what one process with all of
them does: the same values, the same counts.
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

from assay.contracts.observation import Observation, read_observation
from assay.contracts.observation.merging import merge
from assay.contracts.observation.transactions import encoded, merged_latency

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
            [sys.executable, "-c", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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
