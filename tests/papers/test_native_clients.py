"""Processes of the systems' own client programs: right rows, errors, and an end with Assay."""

from __future__ import annotations

import os
import re
from pathlib import Path

import psutil
import pytest

from able import with_ability
from assay.contracts.observation import NativeClientsReport, Observation
from assay.contracts.systems.abilities import NativeClient
from assay.drive import native_clients
from assay.report.build import build
from commands import IN_MEMORY, Assay, need
from running import started
from step_workloads import folder_of, ran
from waiting import HANG_S, wait_until

NATIVE = ("--client-program", "native")


@pytest.mark.parametrize("system", with_ability(NativeClient))
def test_every_process_returns_the_rows_of_the_checks(
    assay: Assay, beebe: Path, system: str
) -> None:
    need(system)
    ended = assay(
        "run", "bibsql.parallel", *NATIVE, "--on", system, "--bib", beebe, "--clients", "3",
        "--no-durability", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    report = run.observation
    assert isinstance(report, NativeClientsReport)
    assert report.expected_rows == report.rows == 1028  # the counts of the 28 checks
    assert (report.failed, report.wrong, report.outputs) == (0, 0, 1)
    assert report.cpu_ns > 0
    assert report.threads >= 1


def test_the_engine_stands_beside_native_clients(assay: Assay, beebe: Path) -> None:
    ended = assay(
        "run", "bibsql.sequential", "--client-program", "engine,native", "--on", "sqlite", "--bib",
        beebe, "--set", "copies=2", "--no-durability", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    by_engine, native = ended.runs
    assert [one.levels["client_program"] for one in ended.runs] == ["engine", "native"]
    assert isinstance(by_engine.observation, Observation)
    report = native.observation
    assert isinstance(report, NativeClientsReport)
    assert report.rows == report.expected_rows == 2 * 1028
    # One client: nothing is waited for after it, and nothing else uses its CPU time.
    assert report.elapsed_ns == report.fastest_ns == report.median_ns
    assert 0 < report.cpu_ns <= report.elapsed_ns * report.threads
    # Of a library the client programs are the processes in which it works.
    assert max(timed.sample.processes for timed in native.samples) == 1
    built = build(ended.experiment)
    shown = {table.name: table for section in built.sections for table in section.tables}
    blocks = [dict(row.block).get("client_program") for row in shown["sequential"].rows]
    assert blocks == ["engine", "native"]
    assert all(row.cells[1].number for row in shown["sequential"].rows)
    assert [row.cells[3].shown for row in shown["sequential_native_clients"].rows] == ["sqlite3"]
    tidy = built.tidy["tables"]["cells"]
    assert [one["client_program"] for one in tidy] == ["engine", "native"]
    assert all(one["elapsed_ns"] for one in tidy)


def test_what_was_not_sampled_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("sqlite")
    monkeypatch.setattr(native_clients, "_SAMPLED_EVERY_S", 600)
    keys = 'scripts = ["all.sql"]\nprotocol = "simple"\npasses = 1\nchanges_data = false\n'
    folder = folder_of(tmp_path / "w", f"{keys}allows_native_client = true\n")
    experiment = ran(folder, "sqlite", client_program="native")
    report = experiment.runs[0].observation
    assert isinstance(report, NativeClientsReport)
    assert (report.threads, report.virtual_bytes, report.resident_bytes) == (None, None, None)
    sections = build(experiment).sections
    (table,) = (one for found in sections for one in found.tables if "native" in one.name)
    shown = dict(zip([column.title for column in table.columns], table.rows[0].cells, strict=True))
    assert shown["rows"].number is not None and shown["threads"].number is None


@pytest.mark.parametrize("system", with_ability(NativeClient))
def test_their_sessions_are_read_only(assay: Assay, working_folder: Path, system: str) -> None:
    need(system)
    keys = 'scripts = ["write.sql"]\nprotocol = "simple"\npasses = 1\nchanges_data = false\n'
    folder = folder_of(
        working_folder / "w", f"{keys}allows_native_client = true\n",
        write="UPDATE data SET value = 1;\n",
    )  # fmt: skip
    ended = assay("run", folder, *NATIVE, "--on", system, "--no-durability", *IN_MEMORY)
    assert ended.status == 1, ended.err
    assert "1 of 1 client programs failed: " in ended.runs[0].reason
    assert re.search("read.?only", ended.runs[0].reason, re.IGNORECASE)


def program(folder: Path, script: str) -> str:
    """$PATH with this script as sqlite3."""
    folder.mkdir()
    file = folder / "sqlite3"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo no such luck >&2; exit 3", "2 of 2 client programs failed: sqlite3 ended with "
         "status 3: no such luck"),
        ("echo one row", "2 of 2 client programs returned another number of rows"),
        ("echo $$", "in 2 different ways"),
    ],
)  # fmt: skip
def test_a_client_program_that_is_wrong_fails_the_run(
    assay: Assay, beebe: Path, tmp_path: Path, script: str, reason: str
) -> None:
    # The right number of rows is known of all bibliographies alone.
    bib = beebe if "rows" in reason else beebe / "texbook1.bib"
    ended = assay(
        "run", "bibsql.parallel", *NATIVE, "--on", "sqlite", "--bib", bib, "--clients", "2",
        "--no-durability", *IN_MEMORY, PATH=program(tmp_path / "bin", script),
    )  # fmt: skip
    assert ended.status == 1, ended.err
    assert reason in ended.runs[0].reason


def test_client_programs_end_with_assay(
    assay: Assay, working_folder: Path, beebe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = working_folder / "pids"
    script = f"echo $$ >> {pids}; exec sleep 600"
    monkeypatch.setenv("PATH", program(working_folder / "bin", script))
    words = (
        "bibsql.parallel", "--client-program", "native", "--on", "sqlite", "--bib",
        str(beebe / "texbook1.bib"),
    )  # fmt: skip
    with started(working_folder, "run", *words, "--clients", "2", *IN_MEMORY) as running:
        wait_until(
            lambda: pids.exists() and len(pids.read_text().split()) == 2, "both are there",
            goes_on=lambda: running.poll() is None,
        )  # fmt: skip
        found = [psutil.Process(int(pid)) for pid in pids.read_text().split()]
        running.kill()
        running.communicate()
    _, left = psutil.wait_procs(found, timeout=HANG_S)
    # In some containers no init process reaps them: zombies have ended too.
    assert all(one.status() == psutil.STATUS_ZOMBIE for one in left), left
    monkeypatch.undo()
    assert assay("run", "bibsql", "--on", "sqlite", "--bib", beebe / "texbook1.bib").status == 0
