"""The memory of a server's processes, as the kernel shares it out among them."""

from __future__ import annotations

import mmap
import os
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
