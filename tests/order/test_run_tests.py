"""The program that runs all tests counts them rightly; a test that others disturbed is repeated."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.run_tests import Totals, processes, read_junit, read_rust

RUST = """
     Running tests/engine.rs (target/release/deps/engine-296fb368ecfef3b2)

running 3 tests
test open ... ok

successes:

---- open stdout ----
skipped: no MariaDB on this machine (mariadbd)


failures:

---- loops::closed stdout ----
failures:
    of_another_kind

failures:
    loops::closed

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.19s

error: test failed, to rerun pass `-p assay-engine --test engine`
     Running tests/rows.rs (target/release/deps/rows-296fb368ecfef3b2)
test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
"""
JUNIT = """<testsuites><testsuite name="pytest">
<testcase classname="tests.cli.test_a" file="tests/cli/test_a.py" name="test_b[c d]">
<failure message="assert">E</failure></testcase>
<testcase classname="tests.cli.test_a" file="tests/cli/test_a.py" name="test_e">
<skipped type="pytest.skip" message="the machine was busy (73 %)">E</skipped></testcase>
<testcase classname="tests.cli.test_a" file="tests/cli/test_a.py" name="test_f" />
</testsuite></testsuites>"""


@pytest.mark.parametrize(("free_gib", "number"), [(1, 2), (4, 3), (24, 6)])
def test_as_many_processes_run_as_the_free_memory_has_room_for(free_gib: int, number: int) -> None:
    assert processes(f"MemTotal: 1 kB\nMemAvailable: {free_gib << 20} kB\n") == number


def test_all_stages_are_in_one_line_and_a_failure_has_its_command(tmp_path: Path) -> None:
    totals = Totals()
    read_rust(RUST.splitlines(), totals)
    (tmp_path / "one.xml").write_text(JUNIT)
    read_junit(tmp_path / "one.xml", totals)
    assert totals.repeated_by == [
        "cargo test --release -p assay-engine --test engine -- --exact loops::closed",
        ".venv/bin/pytest 'tests/cli/test_a.py::test_b[c d]'",
    ]
    expected = (
        "7 passed, 2 failed, 2 skipped (1 no MariaDB on this machine, 1 the machine was busy)"
    )
    assert totals.line(20.4) == f"{expected}; 20 min"


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
@pytest.mark.slow
def test_beside_other_programs_it_runs_three_times_and_is_skipped(tmp_path: Path) -> None:
    shown, tries = _outcome(tmp_path, limit=0.1)
    assert tries == 3 and "1 passed, 1 skipped" in shown, shown
    assert "the machine was busy (" in shown


@pytest.mark.slow
def test_on_a_quiet_machine_it_fails_at_once(tmp_path: Path) -> None:
    shown, tries = _outcome(tmp_path, limit=1.1)  # this one may be busy: no share is above that
    assert tries == 1 and "1 failed, 1 passed" in shown, shown
