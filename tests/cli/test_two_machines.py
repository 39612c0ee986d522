"""Two records of real runs, of which one is said to be of another machine: merged and reported as
one."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

from commands import Assay, run_in

RUN = (
    "run", "glidemon.tasks", "--on", "sqlite", "--set", "scale=0.0005", "--set", "queries=20",
    "--clients", "1,2", "--repetitions", "2", "--no-probe",
)  # fmt: skip
WEAKER = {"cpu_model": "Core 2 Duo E8500", "processors_usable": 1, "memory_bytes": 8_000_000_000}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Experiment 1 of this machine, experiment 2 of what is said to be a weaker one."""
    folder = tmp_path_factory.mktemp("machines")
    here, there = folder / "here.sqlite", folder / "there.sqlite"
    for records in (here, there):
        ended = run_in(folder, *RUN, "--records", str(records))
        assert ended.returncode == 0, ended.stderr
    with sqlite3.connect(there) as connection:
        (text,) = connection.execute("SELECT machine FROM experiments").fetchone()
        facts = json.dumps({**json.loads(text), **WEAKER})
        connection.execute("UPDATE experiments SET machine = ?", (facts,))
    ended = run_in(folder, "merge", str(there), "--records", str(here))
    assert ended.returncode == 0, ended.stderr
    return here


def test_a_report_of_both_has_the_machine_as_a_factor(assay: Assay, record: Path) -> None:
    ended = assay("report", "1", "2", "--records", str(record), "--format", "json")
    assert ended.status == 0, ended.err
    document = json.loads(ended.out)
    assert document["experiment"]["experiments"] == [1, 2]
    machines = document["experiment"]["machines"]
    weaker = next(name for name, facts in machines.items() if facts["processors_usable"] == 1)
    cells = document["tables"]["cells"]
    assert len(cells) == 4 and {cell["measured"] for cell in cells} == {2}
    assert {cell["machine"] for cell in cells} == set(machines) and len(machines) == 2
    runs = document["tables"]["runs"]
    assert {run["experiment"] for run in runs if run["machine"] == weaker} == {2}
    assert "machine" in {answer["factor"] for answer in document["answers"]}
    rows = [*csv.DictReader(io.StringIO(assay(
        "report", "1,2", "--records", str(record), "--format", "csv"
    ).out))]  # fmt: skip
    assert {row["machine"] for row in rows} == set(machines)
    for form in ("table", "markdown", "html", "openmetrics", "hdr-log"):
        made = assay("report", "1,2", "--records", str(record), "--format", form)
        assert made.status == 0, made.err
        assert weaker.split()[0] in made.out, form


def test_machines_have_the_names_that_a_report_gives_them(assay: Assay, record: Path) -> None:
    ended = assay("report", "Modern Server=1", "Workstation=2", "--records", str(record))
    assert ended.status == 0, ended.err
    assert "Setup on Modern Server" in ended.out and "Setup on Workstation" in ended.out
    compared = assay("compare", "1,2", "--between", "machine", "--records", str(record))
    assert compared.status == 0, compared.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("1", "1"), "experiment 1 is named twice"),
        (("=1",), "expected the name of a machine"),
        (("1", "9"), "there is no experiment 9"),
        (("a=b=1",), "expected an experiment or a record file"),
        (("1", "{folder}/there.sqlite:1"), "expected experiments of one record file"),
    ],
)
def test_what_cannot_be_reported_together_is_said(
    assay: Assay, record: Path, words: tuple[str, ...], said: str
) -> None:
    words = tuple(word.format(folder=record.parent) for word in words)
    ended = assay("report", *words, "--records", str(record))
    assert ended.status == 2 and said in ended.err, ended.err


def test_the_name_of_a_machine_is_kept(assay: Assay, tmp_path: Path) -> None:
    records = str(tmp_path / "records.sqlite")
    ended = assay(
        "run", "tpcb.select-only", "--on", "null", "--duration", "0.1", "--warm-up", "0",
        "--no-probe", "--records", records, ASSAY_MACHINE="left",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    document = json.loads(assay("report", "--records", records, "--format", "json").out)
    assert [run["machine"] for run in document["tables"]["runs"]] == ["left"]
