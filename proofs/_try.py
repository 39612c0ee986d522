"""Takes cases; runs several at a time, and returns the results."""

from __future__ import annotations

import ctypes
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from proofs._case import Case, Started, start
from proofs._proof import Found

_PR_SET_CHILD_SUBREAPER = 36
_POLL_S = 0.002
_ORPHANS_ARE_GIVEN_S = 30.0


def try_all(cases: Iterator[Case], timeout_s: float, *, first: int = 0) -> Found:
    """Runs every case; ``first`` is the number of the first one."""
    # A process that a case leaves behind becomes a child of this one, and is found.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    running: list[Started] = []
    numbered = enumerate(cases, first)
    at_once = 3 * (os.cpu_count() or 1)  # half of the time a case waits
    is_more = True
    with tempfile.TemporaryDirectory(
        prefix="proof-", dir="/tmp", ignore_cleanup_errors=True
    ) as base:
        Path(base).chmod(0o711)  # a server of another user must pass through
        records = _records(Path(base))
        while running or is_more:
            while is_more and len(running) < at_once:
                number, case = next(numbered, (0, None))
                is_more = case is not None
                if case is not None:
                    running.append(
                        start(case, number, Path(base) / str(number), timeout_s, records)
                    )
            for one in list(running):
                ended = one.ended()
                if ended is None:
                    continue
                running.remove(one)
                outcome, wrong = ended
                wrong += _orphans(running)
                outcomes[outcome] += 1
                if wrong:
                    said = "\n".join([f"case {one.number}: {one.case.shown()}", *wrong])
                    faults.append(said)
            time.sleep(_POLL_S)
    return Found(outcomes.total(), outcomes, faults)


def _records(base: Path) -> Path:
    """A record of two runs, which cases read."""
    file = base / "records.sqlite"
    words = ("run", "script.sql", "--on", "null,sqlite", "--transactions", "5")
    made = start(Case("assay", (*words, "--records", str(file))), 0, base / "making", 600.0)
    while (ended := made.ended()) is None:
        time.sleep(_POLL_S)
    if ended[1]:
        raise RuntimeError("\n".join(ended[1]))
    return file


def _orphans(running: list[Started]) -> list[str]:
    """Kills the processes that the case left."""
    timeout_s = time.monotonic() + _ORPHANS_ARE_GIVEN_S
    while found := _left_processes(running):
        if time.monotonic() > timeout_s:
            break
        time.sleep(0.05)
    wrong = []
    for pid in found:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
        wrong.append(f"left behind: process {words.decode('utf-8', 'replace')}")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return wrong


def _left_processes(running: list[Started]) -> list[int]:
    """Children of this process that are not cases; ended ones are reaped."""
    known = {one.pid for one in running}
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()
    left = []
    for pid in map(int, listed):
        if pid not in known and os.waitpid(pid, os.WNOHANG)[0] == 0:
            left.append(pid)
    return left
