"""``assay probe``, and the probes of ``assay run``."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from assay.probe import fio
from assay.record import DEFAULT_FILE_NAME
from commands import Assay

needs_fio = pytest.mark.skipif(not fio.is_installed(), reason="fio is not installed")
SHORT = ("--probe-seconds", "0.5")


@needs_fio
def test_a_table_and_a_document_have_the_figures_of_each_storage(assay: Assay) -> None:
    ended = assay("probe", "here", "mine=here", *SHORT, "--format", "json")
    assert ended.status == 0, ended.err
    first, second = ended.document
    assert (first["storage"], second["storage"]) == ("here", "mine")
    for one in (first, second):
        assert one["flushes_per_s"] > 0 and one["reads_depth_32_per_s"] > 0
        assert one["file_system"] and one["mount_options"] and one["free_bytes"] > 0
    shown = assay("probe", *SHORT)
    assert shown.status == 0, shown.err
    assert "flushes_per_s" in shown.out


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("nowhere",), 2, "unknown storage 'nowhere'"),
        (("here", "--probe-seconds", "0"), 2, "expected a number of seconds from"),
        (("tmpfs:/x",), 2, "storage 'tmpfs:/x'"),
    ],
)
def test_what_cannot_be_probed_is_refused(
    assay: Assay, words: tuple[str, ...], status: int, said: str
) -> None:
    ended = assay("probe", *words)
    assert (ended.status, ended.out) == (status, "")
    assert said in ended.err


@needs_fio
def test_a_run_keeps_the_probe_of_each_storage_once(assay: Assay, working_folder: Path) -> None:
    ended = assay(
        "run", "tpcb.simple-update", "--on", "sqlite", "--storage", "here,other=tmpfs",
        "--repetitions", "2", "--clients", "1", "--warm-up", "0",
        "--transactions", "100", *SHORT, "--format", "json",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    tables = ended.document["tables"]
    assert [one["storage"] for one in tables["storage_probes"]] == ["here", "other"]
    for run in tables["runs"]:
        assert run["commits"] == 100
        # Nothing is flushed in memory.
        assert (run["commit_efficiency"] or 0) > 0 or run["storage"] == "other"
    connection = sqlite3.connect(working_folder / DEFAULT_FILE_NAME)
    (count,) = connection.execute("SELECT count(*) FROM probes").fetchone()
    connection.close()
    assert count == 2


@pytest.mark.parametrize("words", [("--no-probe",), ("--probe-seconds", "0")])
def test_a_run_without_a_probe(assay: Assay, words: tuple[str, ...]) -> None:
    ended = assay(
        "run", "tpcb.simple-update", "--on", "sqlite", "--warm-up", "0",
        "--transactions", "5", *words,
        "--format", "json", ASSAY_PROBE_SECONDS="30",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert ended.document["tables"]["storage_probes"] == []


def test_probing_options_without_effect_or_against_each_other_are_refused(assay: Assay) -> None:
    both = assay("run", "tpcb", "--on", "sqlite", "--no-probe", "--probe-seconds", "1")
    assert both.status == 2
    assert "--no-probe and --probe-seconds" in both.err
    by_url = assay("run", "tpcb", "--on", "postgresql://u@nowhere/db", "--probe-seconds", "1")
    assert by_url.status == 2
    assert "--probe-seconds does not apply" in by_url.err
