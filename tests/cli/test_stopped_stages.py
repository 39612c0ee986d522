"""A signal ends a run in any of its stages: with the status and the message of that signal, as
interrupted in the record, and nothing is left behind."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from assay.record import DEFAULT_FILE_NAME, Store
from commands import need
from running import server_of, started, wait_for_second, wait_for_state
from step_workloads import folder_of
from waiting import HANG_S

ENDLESS = """\
WITH RECURSIVE n(x) AS (
    SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE EXISTS (SELECT 1 FROM data WHERE value > 0)
)
SELECT x FROM n WHERE x < 0;
"""
"""A check that does not end once clients have written; behind the load it does."""
STAGES = {
    "provision": "  provision",
    "probe": "  probe",
    "load": "  load",
    "drive": "  drive",
    "check": "  drive",
}
"""The line of progress with which each begins; checks have none."""


def workload(folder: Path, stage: str) -> Path:
    """A workload in which this stage takes longer than the test."""
    made = folder_of(folder / "workload", 'scripts = ["write"]\nduration_s = 0.3\n')
    if stage in ("provision", "load"):
        toml = made / "workload.toml"
        toml.write_text(toml.read_text().replace('rows = "10"', 'rows = "100000000"'))
    (made / "checks").mkdir()
    check = ENDLESS if stage == "check" else "SELECT id FROM data WHERE id < 0;\n"
    (made / "checks" / "none.sql").write_text(check)
    return made


_SIGNALS = {
    "sqlite": (signal.SIGINT, signal.SIGTERM),
    "postgresql": (signal.SIGTERM, signal.SIGINT),
}


@pytest.mark.parametrize(
    ("system", "stage", "number"),
    [
        # By turns, so that each stage has both signals; the others with `--every-system`.
        pytest.param(
            system, stage, number,
            marks=pytest.mark.same_line if (place + turn) % 2 else (),
            id=f"{system}-{stage}-{number.name}",
        )
        for system, numbers in _SIGNALS.items()
        for place, stage in enumerate(STAGES)
        for turn, number in enumerate(numbers)
    ],
)  # fmt: skip
def test_a_signal_ends_a_run_in_each_stage(
    working_folder: Path, system: str, stage: str, number: signal.Signals
) -> None:
    need(system)
    words = [str(workload(working_folder, stage)), "--on", system, "--clients", "2"]
    words += ["--probe-seconds", "600"] if stage == "probe" else ["--no-probe"]
    words += ["--duration", "600", "--think-time", "constant:5ms"] if stage == "drive" else []
    with started(working_folder, "run", *words) as running:
        assert running.stderr is not None
        message = ""
        while not (line := running.stderr.readline()).startswith(STAGES[stage]):
            assert line, message
            message += line
        if stage == "check":
            wait_for_state(working_folder, "checking")
        if stage == "drive":
            wait_for_second(working_folder)
        time.sleep(0.3)
        family = psutil.Process(running.pid).children(recursive=True)
        running.send_signal(number)
        _, rest = running.communicate(timeout=HANG_S)
        message += rest
    assert running.returncode == 128 + number, message
    assert f"{number.name}: stopping" in message
    assert ("ended by SIGTERM" if number is signal.SIGTERM else "interrupted") in message
    assert "Traceback" not in message and "error" not in message
    _, left = psutil.wait_procs(family, timeout=HANG_S)
    assert all(one.status() == psutil.STATUS_ZOMBIE for one in left), message
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert (run.state, run.verdict) == ("interrupted", "invalid")
    assert (run.driven is not None) == (stage in ("drive", "check"))


def test_why_a_server_ended_during_the_load_is_named(working_folder: Path) -> None:
    need("postgresql")
    words = [str(workload(working_folder, "load")), "--on", "postgresql", "--no-probe"]
    with started(working_folder, "run", *words) as running:
        assert running.stderr is not None
        while not (line := running.stderr.readline()).startswith(STAGES["load"]):
            assert line
        time.sleep(0.5)
        server = server_of(running)
        for process in (server, *server.children()):
            with suppress(psutil.NoSuchProcess):  # ended because another was killed
                process.kill()
        running.communicate(timeout=HANG_S)
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert (run.state, running.returncode) == ("failed", 3)
    assert "SIGKILL" in run.reason, run.reason
