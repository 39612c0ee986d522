"""What a server uses is sampled while clients work, also of one that someone else starts again."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay import registry
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.storage_facts import StorageFacts
from assay.drive.monitoring import sampler as module
from assay.drive.monitoring.sampler import Sampler
from assay.provision.machine.listeners import with_listeners
from waiting import wait_until

BUSY = """
import socket, sys, time
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
until_s = time.process_time() + 0.3
while time.process_time() < until_s: pass
print(listening.getsockname()[1], flush=True)
time.sleep(60)
"""


@contextmanager
def server(port: int = 0) -> Iterator[int]:
    """One that has used 0.3 s of CPU time; its port."""
    command = [sys.executable, "-c", BUSY, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        try:
            yield int(started.stdout.readline())
        finally:
            started.kill()


def by_url(port: int) -> Deployment:
    return with_listeners(
        Deployment(
            system="null",
            label="null",
            nodes=(Node("node", StorageFacts.of_url()),),
            endpoints=(Address("any", host="127.0.0.1", port=port),),
            version="1",
            options={},
            settings_asked={},
            settings={},
            is_private=False,
        )
    )


def waited_for(sampler: Sampler, samples: int) -> None:
    wait_until(lambda: len(sampler.samples) >= samples, f"there are {samples} samples")


def test_the_time_of_a_server_that_was_started_again_is_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LEAST_INTERVAL_S", 0.1)
    monkeypatch.setattr(module, "_SHARE", 1)
    with server() as port:
        deployment = by_url(port)
        sampler = Sampler(deployment, registry.system("null"))
        sampler.__enter__()
        waited_for(sampler, 2)
    time.sleep(0.3)  # the server is down
    before = len(sampler.samples)
    with server(port):
        waited_for(sampler, before + 2)
        sampler.__exit__(None, None, None)
    cpu_s = [one.sample.cpu_ns / 1e9 for one in sampler.samples]
    assert cpu_s == sorted(cpu_s)
    assert 0.25 < cpu_s[0] < 0.55 and 0.55 < cpu_s[-1] < 1.2, "that of both"
    assert len({one.sample.pids for one in sampler.samples}) == 2
