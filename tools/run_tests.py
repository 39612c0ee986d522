#!/usr/bin/env python3
"""Runs all tests, prints for each failure the command that repeats it, and ends with one line:
passed, failed, skipped by reason, minutes.

Every stage runs, also after a failure. The exit status is 1 if a test failed.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / ".venv" / "bin"
RESULTS = ROOT / "target" / "tests"
CARGO = ["cargo", "test", "--workspace", "--tests", "--release"]
SYSTEMS_OF_RUST = {"mysql": "ASSAY_TEST_MYSQLD", "duckdb": "ASSAY_TEST_DUCKDB"}
"""The variable by which tests in Rust find the programs of a system."""
PYTEST = {
    "beside one another": ["-m", "not alone", "--dist", "loadfile", "--no-loadscope-reorder"],
    "alone": ["-m", "alone"],
}
MOST_PROCESSES = 6
BYTES_OF_A_PROCESS = 1200 << 20
"""That a process of the tests takes, with the servers that it starts."""


@dataclass
class Totals:
    passed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    repeated_by: list[str] = field(default_factory=list)
    """A command for each failure."""

    def skip(self, reason: str) -> None:
        """Counted by the reason without what is in brackets, or behind its first sign."""
        self.skipped[re.split(r" ?[(:;,]", reason)[0].strip()] += 1

    def line(self, minutes: float) -> str:
        reasons = ", ".join(f"{count} {why}" for why, count in self.skipped.most_common())
        skipped = f"{self.skipped.total()} skipped" + (f" ({reasons})" if reasons else "")
        return f"{self.passed} passed, {len(self.repeated_by)} failed, {skipped}; {minutes:.0f} min"


def main() -> int:
    begun_s = time.monotonic()
    RESULTS.mkdir(parents=True, exist_ok=True)
    totals = Totals()
    beside, alone = PYTEST
    number = processes(Path("/proc/meminfo").read_text("ascii"))
    with ThreadPoolExecutor() as pool:
        in_rust = pool.submit(rust)  # beside pytest: they mostly wait for delays
        if number < MOST_PROCESSES:
            wait([in_rust])  # memory is short: they come first
        is_broken = python(beside, [*PYTEST[beside], "--numprocesses", str(number)], totals)
        print("\nTests in Rust:")
        read_rust(_shown(in_rust.result().stdout.split("\n")), totals)
    is_broken |= in_rust.result().returncode != 0
    is_broken |= python(alone, PYTEST[alone], totals)
    for command in totals.repeated_by:
        print(f"failed; alone: {command}")
    print(totals.line((time.monotonic() - begun_s) / 60))
    return int(is_broken or bool(totals.repeated_by))


def rust() -> subprocess.CompletedProcess[str]:
    """Its output has all that the tests printed. Six run at once."""
    environment = {**os.environ, "RUST_TEST_THREADS": "6", "CARGO_TERM_COLOR": "never"}
    for system, variable in SYSTEMS_OF_RUST.items():
        where = [BIN / "python", ROOT / "tools" / "servers.py", "where", system]
        found = subprocess.run(where, capture_output=True, text=True, check=False)
        environment[variable] = found.stdout.strip()
    return subprocess.run(
        [*CARGO, "--no-fail-fast", "--", "--show-output"],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", check=False,
    )  # fmt: skip


def _shown(lines: Iterable[str]) -> Iterator[str]:
    """Prints each program of tests, its result, and the whole output of a failed test."""
    is_failure = False
    for line in lines:
        if line.startswith(("failures:", "test result")):
            is_failure = line.startswith("failures:")
        if is_failure or re.match(r"\s+(Running|Compiling) |test result|error|warning", line):
            print(line)
        yield line


def read_rust(lines: Iterable[str], totals: Totals) -> None:
    """The output of `cargo test -- --show-output`: a test that lacks something says `skipped: why`
    and passes."""
    failed: list[str] = []
    is_list = False
    for line in lines:
        if found := re.match(r"test result: \S+ (\d+) passed", line):
            totals.passed += int(found[1])
            is_list = False
        elif found := re.match(r"skipped: (.+)", line):
            totals.passed -= 1
            totals.skip(found[1])
        elif line == "failures:":
            failed, is_list = [], True
        elif is_list and (found := re.fullmatch(r"    (\S+)", line)):
            failed.append(found[1])
        elif found := re.match(r"error: test failed, to rerun pass `(.+)`", line):
            totals.repeated_by += [
                f"cargo test --release {found[1]} -- --exact {x}" for x in failed
            ]


def processes(meminfo: str) -> int:
    """As many as the free memory has room for, 2 at least."""
    (free_kib,) = re.findall(r"MemAvailable: +(\d+) kB", meminfo)
    return max(2, min(MOST_PROCESSES, (int(free_kib) << 10) // BYTES_OF_A_PROCESS))


def python(stage: str, words: Sequence[str], totals: Totals) -> bool:
    """Returns whether something went wrong."""
    print(f"\nTests that run {stage}:", flush=True)
    written = RESULTS / f"{stage.replace(' ', '-')}.xml"
    written.unlink(missing_ok=True)
    command = [BIN / "pytest", "-o", "junit_family=xunit1", f"--junitxml={written}", *words]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if written.exists():
        read_junit(written, totals)
    return status != 0


def read_junit(written: Path, totals: Totals) -> None:
    for case in ET.parse(written).iter("testcase"):
        ends = {one.tag: one for one in case}
        if "failure" in ends or "error" in ends:
            name = f"{case.get('file')}::{case.get('name')}"
            totals.repeated_by.append(shlex.join([".venv/bin/pytest", name]))
        elif "skipped" in ends:
            totals.skip(ends["skipped"].get("message", ""))
        else:
            totals.passed += 1


if __name__ == "__main__":
    sys.exit(main())
