"""`make test` counts what its stages print, and names the command that repeats a failure."""

from __future__ import annotations

from pathlib import Path

from tools.run_tests import Totals, read_junit, read_rust

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
