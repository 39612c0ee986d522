"""The GitHub Action measures, compares two commits, and sets summary, status and records. Here its
step runs as GitHub runs it, but with the program of this environment."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from forked_programs import BIN
from waiting import wait_until

ROOT = Path(__file__).parents[2]
STEP = ROOT / "packaging/measure_in_ci"
RUN = "q.sql --on sqlite --transactions 200 --repetitions 3 --no-probe"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    for script in ("select 1;", "select 1, 2;"):
        (folder / "q.sql").write_text(script)
        for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", script]):
            subprocess.run([*GIT, *words], cwd=folder, check=True)
    return folder


def _measured(
    repository: Path, *, stopped: bool = False, **inputs: str
) -> tuple[int, str, str, Path]:
    """Exit status, summary, what the step printed, and the folder of records. ``stopped``: by
    SIGTERM, in the first run."""
    given = {f"ASSAY_{name.upper()}": value for name, value in inputs.items()}
    of_github = {
        "RUNNER_TEMP": str(repository.parent),
        "GITHUB_STEP_SUMMARY": str(repository.parent / "summary.md"),
        "GITHUB_OUTPUT": str(repository.parent / "output"),
    }
    path = f"{BIN}:{os.environ['PATH']}"
    records, printed = repository.parent / "assay-records", repository.parent / "printed"
    with printed.open("w") as output, subprocess.Popen(
        [STEP], cwd=repository, env={**os.environ, "PATH": path, **of_github, **given},
        stdout=output, stderr=subprocess.STDOUT,
    ) as step:  # fmt: skip
        if stopped:
            wait_until(lambda: "  drive " in printed.read_text(), "clients are at work")
            step.terminate()
    summary = repository.parent / "summary.md"
    shown = summary.read_text() if summary.exists() else ""
    return step.returncode, shown, printed.read_text(), records


def test_one_commit_is_measured(repository: Path) -> None:
    status, summary, printed, records = _measured(repository, run=RUN)
    assert status == 0, printed
    assert summary.startswith("### ")
    assert [path.name for path in records.iterdir()] == ["head.sqlite"]
    assert (repository.parent / "output").read_text() == "status=0\n"


def test_two_commits_are_compared(repository: Path) -> None:
    inputs = {
        "base": "HEAD~1",
        "fail_if": "throughput_per_s > 0\n  \n",
        "compare": "--despite workload",
    }
    status, summary, printed, records = _measured(repository, run=RUN, **inputs)
    assert status == 1, printed
    assert "| throughput_per_s > 0 |" in summary
    assert {path.name for path in records.iterdir()} == {"base.sqlite", "head.sqlite"}
    assert _work_trees(repository) == 1


def _work_trees(repository: Path) -> int:
    listed = subprocess.check_output(["git", "worktree", "list"], cwd=repository, text=True)
    return listed.count("\n")


def test_a_cancelled_job_ends_the_run_and_begins_no_other(repository: Path) -> None:
    run = "q.sql --on null --duration 1h --no-probe"
    status, _, printed, records = _measured(repository, stopped=True, run=run, base="HEAD~1")
    assert status == 143 and "ended by SIGTERM" in printed, printed
    assert [path.name for path in records.iterdir()] == ["base.sqlite"]
    assert _work_trees(repository) == 1


def test_prepare_runs_in_each_commit(repository: Path) -> None:
    shown = {"prepare": "cat q.sql; echo; false", "base": "HEAD~1"}
    status, summary, printed, _ = _measured(repository, run=RUN, **shown)
    assert (status, summary) == (2, "")
    assert "select 1;" in printed and "error: prepare failed for the base, " in printed


@pytest.mark.parametrize(
    "inputs, message",
    [
        ({"run": ""}, "expected the input run"),
        ({"run": RUN, "base": "nowhere"}, "the ref 'nowhere' is not in this checkout"),
        ({"run": RUN, "fail_if": "failed > 0"}, "fail-if and compare need base, found none"),
        ({"run": RUN, "undecided": "maybe"}, "expected fail or pass, found 'maybe'"),
    ],
)
def test_a_mistake_is_a_sentence(repository: Path, inputs: dict[str, str], message: str) -> None:
    status, summary, printed, _ = _measured(repository, **inputs)
    assert (status != 0, summary) == (True, "")
    assert message in printed


def test_the_action_gives_the_step_each_variable_that_it_reads() -> None:
    action = (ROOT / "action.yml").read_text()
    given = set(re.findall(r"^ +(ASSAY_\w+): \$\{\{ inputs\.([\w-]+) \}\}", action, re.M))
    variables = {variable for variable, _ in given}
    assert variables - {"ASSAY_VERSION"} == set(re.findall(r"ASSAY_[A-Z_]+", STEP.read_text()))
    assert {name for _, name in given} <= set(re.findall(r"^  ([\w-]+):$", action, re.M))
