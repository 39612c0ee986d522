"""Processes that end while they are read: no CPU time is lost or counted twice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from assay.provision.machine import family, sampling

SERVER = """
import os, sys, time
def burn(seconds):
    began = time.process_time()
    while time.process_time() - began < seconds: pass
while True:
    child = os.fork()
    if not child:
        burn(0.03)
        os._exit(0)
    os.waitpid(child, 0)
"""


class Table:
    """Invented processes: 1 is the server, 2 its child, which ends right after the given reading of
    the server (readings are counted from 1)."""

    def __init__(self, ends_after: int, order: tuple[int, ...]) -> None:
        self.ends_after = ends_after
        self.order = order
        self.readings = 0

    def numbers(self) -> list[int]:
        return list(self.order)

    def stat(self, pid: int) -> list[str] | None:
        is_over = self.readings >= self.ends_after
        if pid == 1:
            self.readings += 1
            return fields(parent=0, own=5, ended=90 if is_over else 0, faults=7 if is_over else 0)
        return None if is_over else fields(parent=1, own=90, ended=0, faults=0)


def fields(parent: int, own: int, ended: int, faults: int) -> list[str]:
    found = ["0"] * 40
    found[0], found[1], found[8], found[19] = "S", str(parent), str(faults), "100"
    found[11], found[13] = str(own), str(ended)
    return found


def test_programs_of_the_experiment_are_not_counted_as_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parents = {1: 0, 2: 0, 3: 2, 10: 1, 11: 10, 12: 11, 20: 1, 21: 20, 30: 1, 31: 30}
    ticks = {pid: 2**place for place, pid in enumerate(parents)}
    table = {pid: fields(parent, ticks[pid], 0, 0) for pid, parent in parents.items()}
    table[20] = fields(1, ticks[20], ended=5000, faults=0)  # the compilers that a make has run
    monkeypatch.setattr(family, "stat_fields", table.get)
    monkeypatch.setattr(family, "_process_numbers", lambda: list(table))
    client, server_by_url = 10, 30
    others = ticks[1] + ticks[20] + ticks[21] + 5000
    assert family.ticks_of_others([client, server_by_url]) == others
    assert family.ticks_of_others([client]) == others + ticks[30] + ticks[31]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
@pytest.mark.parametrize("ends_after", [1, 2, 3, 99])
def test_a_child_that_ends_between_two_readings_is_counted_once(
    monkeypatch: pytest.MonkeyPatch, ends_after: int, order: tuple[int, ...]
) -> None:
    table = Table(ends_after, order)
    monkeypatch.setattr(family, "stat_fields", table.stat)
    monkeypatch.setattr(family, "_process_numbers", table.numbers)
    assert sum(map(family.ticks_of, family.family_of(1).values())) == 95


@pytest.fixture
def server() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.DEVNULL) as child:
        yield child.pid
        child.kill()


@pytest.mark.slow
def test_the_sum_over_a_server_whose_children_come_and_go_never_falls(server: int) -> None:
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    sums = []
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        found = sampling.sample(server)
        assert found is not None
        sums.append(found.cpu_ns)
    highest = 0
    for one in sums:
        # The kernel rounds each of four times down to a tick.
        assert one >= highest - 4 * tick_ns
        highest = max(highest, one)
    assert highest > 0


def test_handles_are_counted_for_each_file(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    table, outside = data / "table", tmp_path / "outside"
    table.touch()
    outside.touch()
    with ExitStack() as opened:
        for file in (table, table, table, outside):
            opened.enter_context(file.open())
        found = sampling.sample(os.getpid(), data, with_descendants=False)
    assert found is not None
    assert (found.handles, found.files, found.open_files) == ({"table": 3}, 1, 3)


def test_open_files_of_data_that_are_elsewhere_are_not_known(tmp_path: Path) -> None:
    with (tmp_path / "table").open("w"):
        unseen, seen = sampling.sample(os.getpid()), sampling.sample(os.getpid(), tmp_path)
    assert unseen is not None and seen is not None
    assert (unseen.open_files, seen.open_files) == (None, 1)
