"""A run whose clients are driven by load generators, from the experiment to its verdict, and on its
live page."""

from __future__ import annotations

import re
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest

import assay
from assay.api import running
from assay.api.results import Result
from assay.contracts.events import Event, SecondMeasured
from assay.judge import warning_kinds
from assay.record import DEFAULT_FILE_NAME, Store
from assay.report.build import build
from assay.report.summaries import first_look
from running import end_a_generator, runs_of, started, wait_for_second
from waiting import HANG_S
from watching import script, watched

pytestmark = pytest.mark.slow
SERVER = "null[protocol=postgresql,delay=constant:2ms]"


def _generators() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if "engine_process" in " ".join(child.cmdline()):
                found.append(child)
    return found


def _report(result: Result) -> str:
    """Without its lines."""
    return " ".join(result.report().split())


def _first_look(folder: Path) -> str:
    first = StringIO()
    with Store(folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        first_look.render(store.latest(), build(store.latest()), first, "assay report")
    return first.getvalue()


def _driven(
    folder: Path,
    on_lost: str,
    killed: int = 1,
    duration_s: int = 600,
    workload: str | Path = "tpcb",
    end: Callable[[psutil.Process], None] = psutil.Process.kill,
    clients: int | None = 4,
) -> Result:
    """With so many of two generators killed, or ended so, in the second second of the clients."""
    before, ended = _generators(), list[psutil.Process]()

    def sink(event: Event) -> None:
        if isinstance(event, SecondMeasured) and not ended:
            ended.extend([one for one in _generators() if one not in before][-killed:])
            for one in ended:
                end(one)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "ignored", sink)
        return assay.run(
            workload, on=SERVER, clients=clients, generators=2, on_lost=on_lost, warm_up_s=0,
            duration_s=duration_s, records=folder / DEFAULT_FILE_NAME,
        )  # fmt: skip


def _check_outcomes(folder: Path, result: Result) -> None:
    """What the lost ones had reported and may have done is in the run's own outcomes, wherever they
    are read."""
    (run,) = result.runs
    assert run.observation is not None and run.outcomes is not None
    generators, outcomes = run.observation.generators, run.outcomes
    unknown = sum(one.unknown for one in generators if one.is_lost)
    assert outcomes.unknown == unknown > 0
    assert outcomes.ok == sum(one.ok for one in generators)
    assert run.observation.observed_outcomes.ok == run.observation.all_ok.count
    assert run.metrics["ok"] == outcomes.ok and run.metrics["unknown"] == unknown
    report = _report(result)
    assert f"outcome ok {outcomes.ok} aborted 0 failed 0 unknown {unknown} skipped 0 =" in report
    first = _first_look(folder)
    assert re.search(rf"\b{unknown}\b", first)
    assert "unknown" in first
    (row,) = result.table("runs")
    assert (row["ok"], row["unknown"]) == (outcomes.ok, unknown)
    with closing(sqlite3.connect(folder / DEFAULT_FILE_NAME)) as record:
        read = "SELECT scheduled, ok, unknown FROM outcomes"
        (found,) = record.execute(read).fetchall()
        per_group = record.execute("SELECT scheduled, ok, unknown FROM groups").fetchall()
    assert found == (outcomes.scheduled, outcomes.ok, unknown)
    assert per_group == ([found] if run.observation.groups else [])


def test_where_a_generator_is_lost_the_run_is_invalid_and_kept(tmp_path: Path) -> None:
    result = _driven(tmp_path, "end")
    (run,) = result.runs
    assert run.verdict == "invalid"
    report = _report(result)
    assert re.search(r"failed \(load machine \d of 2 lost after \d+ s\)", report)
    assert "Load generators" in report
    assert "generator-lost" not in report, "no others went on"
    _check_outcomes(tmp_path, result)


def test_where_a_loss_is_noticed_when_the_others_have_ended_the_run_is_invalid(
    tmp_path: Path,
) -> None:
    """It is after three seconds of silence."""
    result = _driven(tmp_path, "end", duration_s=3, end=psutil.Process.suspend)
    (run,) = result.runs
    assert run.verdict == "invalid"
    assert re.search(r"failed \(load machine \d of 2 lost after \d+ s\)", _report(result))


@pytest.mark.parametrize("on_lost", ["end", "continue"])
def test_where_all_generators_are_lost_the_run_is_invalid_and_kept(
    on_lost: str, tmp_path: Path
) -> None:
    result = _driven(tmp_path, on_lost, killed=2)
    (run,) = result.runs
    assert run.verdict == "invalid"
    report = _report(result)
    assert re.search(
        r"failed \(load machine 1 of 2 lost after \d+ s, load machine 2 of 2 lost after \d+ s\)",
        report,
    )
    assert "Load generators" in report, "what they had reported is there"
    _check_outcomes(tmp_path, result)


def test_where_the_others_continue_the_run_is_unreliable(tmp_path: Path) -> None:
    result = _driven(tmp_path, "continue", duration_s=5)
    (run,) = result.runs
    assert run.verdict == "unreliable" and "generator lost" in run.verdict_reason
    _check_outcomes(tmp_path, result)
    first = _first_look(tmp_path)
    assert re.search(r" TPS, .* on 2 of 4 clients from \d+ s on", " ".join(first.split()))
    assert run.outcomes is not None
    report = _report(result)
    assert "generator-lost" in report
    assert f"at most {run.outcomes.unknown} transactions unknown" in report
    assert "errors" not in run.warnings, "the loss has its own warning"


WORKLOAD = """
title = "Rows are written"
source = "tests"
default_test = "writes"

[data]
source = "generated"

[[tables]]
name = "t"
rows = "3"
primary_key = ["id"]

[tables.columns]
id = "int not null"

[tables.values]
id = ":row + 1"

[tests.writes]
title = "Rows are written"
help = "Writes rows"
scripts = ["write.sql", "other.sql"]
checks = ["checks/any.sql", "checks/written.sql"]
transactions = 20
"""


def test_a_check_of_counts_is_not_run_where_a_generator_was_lost(tmp_path: Path) -> None:
    """It does not say how many transactions of each type it did."""
    folder = tmp_path / "written"
    (folder / "checks").mkdir(parents=True)
    (folder / "workload.toml").write_text(WORKLOAD)
    for name in ("write", "other"):
        (folder / f"{name}.sql").write_text("SELECT 1;\n")
    (folder / "checks/any.sql").write_text("-- Anything\nSELECT 1 WHERE 1 = 0;\n")
    text = "-- Written\nSELECT 1 WHERE 0 > :ok_write + :unknown_write;\n"
    (folder / "checks/written.sql").write_text(text)
    result = _driven(tmp_path, "continue", workload=folder, duration_s=3)
    (run,) = result.runs
    assert run.state == "done", run.reason
    any_, written = run.checks
    assert (any_.name, any_.is_right) == ("any", True)
    assert (written.name, written.is_right) == ("written", None)
    assert re.search(r"counts transactions of each type, and load machine . of 2", written.note)
    assert run.observation is not None and run.outcomes is not None
    (lost,) = [one for one in run.observation.generators if one.is_lost]
    missing = f"without the lost generator: {lost.ok} ok, at most {lost.unknown} unknown"
    assert f"transaction types of run 1 {missing}; the outcomes" in _report(result)
    types = run.observation.outcomes_by_transaction
    assert sum(one.ok for one in types) + lost.ok == run.outcomes.ok


def test_rows_of_groups_say_what_they_do_not_have_of_a_lost_generator(tmp_path: Path) -> None:
    folder = tmp_path / "grouped"
    folder.mkdir()
    of_groups = "\n".join(
        f'[[tests.writes.steps.groups]]\nname = "{name}"\nscripts = ["{name}.sql"]\nclients = 4\n'
        for name in ("write", "other")
    )
    head = WORKLOAD[: WORKLOAD.index("scripts = ")] + "duration_s = 3\n"
    steps = '[[tests.writes.steps]]\ndo = "load"\n[[tests.writes.steps]]\ndo = "drive"\n'
    (folder / "workload.toml").write_text(f"{head}\n{steps}\n{of_groups}")
    for name in ("write", "other"):
        (folder / f"{name}.sql").write_text("SELECT 1;\n")
    result = _driven(tmp_path, "continue", workload=folder, duration_s=3, clients=None)
    (run,) = result.runs
    assert run.observation is not None and run.outcomes is not None
    (lost,) = [one for one in run.observation.generators if one.is_lost]
    assert sum(one.outcomes.ok for one in run.observation.groups) + lost.ok == run.outcomes.ok
    missing = f"without the lost generator: {lost.ok} ok, at most {lost.unknown} unknown"
    assert f"groups of run 1 {missing}; the outcomes" in _report(result)
    assert f"groups {missing}" in " ".join(_first_look(tmp_path).split())


def test_clocks_that_may_be_apart_are_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warning_kinds, "CLOCKS_UNCERTAIN_NS", 0)
    result = assay.run(
        "tpcb", on=SERVER, clients=2, generators=[1, 2], transactions=20, warm_up_s=0,
        records=tmp_path / "r.sqlite",
    )  # fmt: skip
    one, other = result.runs
    assert (one.outcomes.ok, other.outcomes.ok) == (40, 40)
    report = _report(result)
    assert "clocks-apart" in report
    assert "load machine 2 is known to ±" in report
    assert [row["generators"] for row in result.table("runs")] == [1, 2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_generators_measured_is_kept_where_the_run_is_stopped(
    working_folder: Path, number: signal.Signals
) -> None:
    words = ("tpcb", "--on", SERVER, "--clients", "4", "--generators", "2", "--duration", "600")
    with started(working_folder, "run", *words, "--no-probe") as run:
        wait_for_second(working_folder)
        run.send_signal(number)
        assert run.wait(HANG_S) in (130, 143)
    (stopped,) = runs_of(working_folder)
    assert stopped.state == "interrupted" and stopped.driven is not None
    ok = stopped.driven.outcomes.ok
    assert ok == sum(one.ok for one in stopped.driven.generators) > 0
    assert ok >= sum(one.ok for one in stopped.driven.intervals) > 0


def test_each_generator_is_shown_while_it_works_and_the_moment_it_is_lost(
    working_folder: Path,
) -> None:
    script(working_folder)
    words = ("one.sql", "--on", "null[protocol=postgresql]", "--generators", "2", "--warm-up", "1")
    words += (
        "--on-lost", "continue", "--clients", "4", "--offered-rate", "400", "--duration", "600",
    )  # fmt: skip
    with watched(working_folder) as server, started(working_folder, "run", *words) as run:
        seconds_passed: list[Any] = []

        def each() -> Iterator[Any]:
            for one in server.events():
                if one.name == "second" and "machine" in one.data:
                    seconds_passed.append(one.data["machine"])
                elif one.name == "generators" and one.data:
                    yield one.data

        shown = each()
        first = next(one for one in shown if all(report["ok"] for report in one["reports"]))
        assert first["are_at_work"] and first["unmeasured_s"] == 1
        assert first["elapsed_s"] > 0 and not any(map(is_lost, first["reports"]))
        later = next(one for one in shown if all(one.get("lag_p99_ns") for one in one["reports"]))
        assert all(0 <= one["cpu_share"] <= 1 for one in later["reports"]), "of the last second"
        assert all(one["load_1min"] >= 0 for one in later["reports"])
        end_a_generator(run.pid)
        lost = next(one for one in shown if any(map(is_lost, one["reports"])))
        (gone,) = filter(is_lost, lost["reports"])
        assert lost["are_at_work"] and gone["lost_after_s"] > 1 and gone["unknown"] >= 2
        after = next(shown)
        assert gone in after["reports"], "it stays as it was lost"
        assert server.post("/stop", {"experiment": 1}).status == 202
        assert done(after) > done(lost) > done(later) > done(first), "the other one goes on"
        *_, last = after, *shown
        run.wait(HANG_S)
    known = [one for one in seconds_passed if "client_busy" in one]
    assert known, "a busy machine may leave out some of the seconds"
    assert all(0 <= one["client_busy"] <= 1 and one["client_cpus"] for one in known)
    assert not last["are_at_work"] and [*map(is_lost, last["reports"])].count(True) == 1
    driven = runs_of(working_folder)[-1].driven
    assert driven is not None
    assert [one["ok"] for one in last["reports"]] == [one.ok for one in driven.generators]
    with closing(sqlite3.connect(working_folder / DEFAULT_FILE_NAME)) as connection:
        assert not connection.execute("SELECT * FROM generators_at_work").fetchall()


def is_lost(report: Mapping[str, float]) -> bool:
    return report.get("lost_after_s") is not None


def done(fleet: Mapping[str, Any]) -> int:
    return sum(one["ok"] for one in fleet["reports"])
