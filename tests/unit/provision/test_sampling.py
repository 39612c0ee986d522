"""The memory of a server's processes, as the kernel shares it out among them."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from assay.provision.machine import sampling
from assay.provision.machine.family import family_of

SESSIONS = 60
SHARED_BYTES, OWN_BYTES = 8 << 20, 1 << 20


@pytest.fixture
def sessions() -> Iterator[int]:
    """The parent of many processes that are alike; the first of them is much larger."""
    shared = mmap.mmap(-1, SHARED_BYTES)
    shared.write(b"x" * SHARED_BYTES)
    ready, written = os.pipe()
    wait, stop = os.pipe()
    parent = os.fork()
    if parent == 0:
        os.close(stop)
        for number in range(SESSIONS):
            if os.fork() == 0:
                held = bytearray(OWN_BYTES * (8 if number == 0 else 1))
                held[:: mmap.PAGESIZE] = shared[: len(held) : mmap.PAGESIZE]
                sum(shared[:: mmap.PAGESIZE])
                os.write(written, b"r")
                os.read(wait, 1)
                os._exit(0)
        os.read(wait, 1)
        os._exit(0)
    for _ in range(SESSIONS):
        os.read(ready, 1)
    yield parent
    for end in (stop, ready, written, wait):
        os.close(end)
    os.waitpid(parent, 0)


@pytest.mark.slow
def test_of_many_sessions_some_are_asked_and_the_sum_is_that_of_all(
    sessions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = sampling._resident_bytes
    every_one = sum(ask(pid, 0) for pid in family_of(sessions))
    asked: list[int] = []
    monkeypatch.setattr(
        sampling, "_resident_bytes", lambda pid, other: asked.append(pid) or ask(pid, other)
    )
    sample = sampling.sample(sessions)
    assert sample is not None and sample.processes == SESSIONS + 1
    assert len(asked) <= 32, "each costs the kernel a walk over all pages"
    assert sample.resident_bytes == pytest.approx(every_one, rel=0.1)


def test_context_switches_are_of_all_threads_and_page_faults_of_the_process() -> None:
    script = (
        "import threading, time, sys\n"
        "def wait():\n    [time.sleep(0.001) for _ in range(200)]\n"
        "made = [threading.Thread(target=wait) for _ in range(3)]\n"
        "print(flush=True); sys.stdin.readline()\n"
        "[one.start() for one in made]\n"
        "memory = bytearray(64 << 20)\n"
        "time.sleep(1.5)\n"
        "print(flush=True); sys.stdin.readline()\n"
    )
    words = [sys.executable, "-c", script.replace("range(200)]", "range(200)]; time.sleep(9)")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdin is not None and started.stdout is not None
        started.stdout.readline()
        before = sampling.sample(started.pid)
        started.stdin.write(b"\n")
        started.stdin.flush()
        started.stdout.readline()
        after = sampling.sample(started.pid)
        started.kill()
    assert before is not None and after is not None
    grown = {
        name: after.counts[name][started.pid] - before.counts[name][started.pid]
        for name in sampling.COUNTED
    }
    assert grown["context_switches"] >= 600, "three threads slept two hundred times"
    assert grown["page_faults"] >= (64 << 20) // (2 << 20), "of huge pages, if of no others"
    assert grown["major_page_faults"] < grown["page_faults"]
