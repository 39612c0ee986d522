"""Takes a command; runs it to its end; returns its CPU time, memory and transactions."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Run:
    """One process from its start to its end."""

    cpu_s: float
    """Of the program and of the kernel in its name."""
    user_s: float
    """Of the program alone."""
    elapsed_s: float
    transactions: int
    resident_peak_bytes: int
    observation: dict[str, Any]
    """Our observation; empty for another tool."""
    printed: str = ""


def run(command: Sequence[str], counts: re.Pattern[str] | None, given: str = "") -> Run:
    """One process; `counts` finds its transactions in what it prints, else it prints JSON."""
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as asked:
        asked.write(given)
        asked.seek(0)
        began = time.monotonic()
        process = subprocess.Popen(command, stdin=asked, stdout=printed, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        elapsed_s = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read()
    found = counts.search(text) if counts is not None else None
    if process.returncode or (counts is not None and found is None):
        raise SystemExit(f"error: {command[0]} failed\n\n{text}")
    return Run(
        used.ru_utime + used.ru_stime,
        used.ru_utime,
        elapsed_s,
        int(found.group(1) or 0) if found is not None else 0,
        # Linux gives KiB.
        used.ru_maxrss * 1024,
        json.loads(text) if counts is None else {},
        text,
    )
