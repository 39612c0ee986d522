"""A test marked ``alone`` that fails on a quiet machine has failed; beside other programs it runs
three times and is then skipped."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[1] / "support"
CONFTEST = "from busy_machine import pytest_runtest_protocol\n"
TESTS = """
import pathlib, pytest, time

@pytest.mark.alone
def test_that_never_holds():
    with pathlib.Path("tries").open("a") as file:
        file.write("x")
    time.sleep(0.2)
    assert False

@pytest.mark.alone
def test_that_holds():
    pass
"""


@pytest.fixture
def busy() -> Iterator[None]:
    """Other programs use every CPU: they do not descend from the process that runs the tests."""
    words = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(words) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for one in programs:
        one.kill()
        one.wait()


def _outcome(folder: Path, limit: float) -> tuple[str, int]:
    """The closing line, and how often the first test ran, where a share above ``limit`` is busy."""
    (folder / "conftest.py").write_text(
        f"import busy_machine\n{CONFTEST}busy_machine.BUSY = {limit}"
    )
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {SUPPORT}\nmarkers = alone\n")
    (folder / "test_some.py").write_text(TESTS)
    words = [sys.executable, "-m", "pytest", "-rs", "--rootdir", folder, folder]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout, len((folder / "tries").read_text())


@pytest.mark.slow
@pytest.mark.usefixtures("busy")
def test_beside_other_programs_it_runs_three_times_and_is_skipped(tmp_path: Path) -> None:
    shown, tries = _outcome(tmp_path, limit=0.1)
    assert tries == 3 and "1 passed, 1 skipped" in shown, shown
    assert "the machine was busy (" in shown


def test_on_a_quiet_machine_it_fails_at_once(tmp_path: Path) -> None:
    shown, tries = _outcome(tmp_path, limit=1.1)  # this one may be busy: no share is above that
    assert tries == 1 and "1 failed, 1 passed" in shown, shown
