"""`assay compare` and `assay trend` on real runs: a real difference is called, conditions set the
exit status, and two record files are compared."""

from __future__ import annotations

import csv
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.record import DEFAULT_FILE_NAME
from commands import Assay, run_in

QUICK, SLOW = "null[delay=constant:1ms]", "null[delay=constant:8ms]"
RUN = (
    "run", "tpcb", "--transactions", "10", "--warm-up", "0", "--clients", "1", "--no-probe",
    "--no-durability", "--set", "scale=1",
)  # fmt: skip


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One experiment: a null server and a slower one, interleaved. With 6 repetitions of each the
    difference is seen on a busy machine, too."""
    folder = tmp_path_factory.mktemp("measured")
    ended = run_in(folder, *RUN, "--on", f"{QUICK},{SLOW}", "--repetitions", "6")
    assert ended.returncode == 0, ended.stderr
    return folder / DEFAULT_FILE_NAME


@pytest.fixture
def both(assay: Assay, measured: Path, tmp_path: Path) -> Assay:
    """In a folder with a copy of that record."""
    shutil.copy(measured, tmp_path)
    return assay


@pytest.mark.alone
def test_a_real_difference_is_called_and_conditions_set_the_exit_status(both: Assay) -> None:
    words = ("compare", "latest", "--between", "system")
    shown = both(*words)
    assert shown.status == 0 and "slower" in shown.out, shown.out + shown.err
    assert "interleaved" in shown.out

    met = both(*words, "--fail-if", "throughput_per_s < 0.95x", "--format", "json")
    assert met.status == 1
    assert "condition met: throughput_per_s < 0.95x" in met.err
    document: dict[str, Any] = met.document
    assert [one["answer"] for one in document["conditions"]] == ["met"]
    primary = next(one for one in document["ratios"] if one["is_primary"])
    assert primary["direction"] == "worse" and primary["design"] == "paired"
    assert primary["ratio_low"] < primary["ratio"] < primary["ratio_high"] < 1

    held = both(*words, "--fail-if", "throughput_per_s < 0.001x", "--fail-if", "failed > 0")
    assert held.status == 0, held.err
    forgotten = both(*words, "--fail-if", "latency_mean_ns < 1.1")
    assert "for its ratio to A write 'latency_mean_ns < 1.1x'" in forgotten.err
    limit = both(*words, "--fail-if", "latency_mean_ns > 10000000")
    assert limit.status == 1
    table = list(csv.DictReader(io.StringIO(both(*words, "--format", "csv").out)))
    assert table[0]["metric"] == "throughput_per_s" and float(table[0]["ratio"]) < 1
    assert both(*words, "--format", "markdown").out.startswith("# B compared with A")


def test_mistakes_end_with_status_2_and_say_what_is_right(both: Assay, tmp_path: Path) -> None:
    for words, said in (
        (("latest",), "expected two sides"),
        (("1", "7"), "there is no experiment 7"),
        (("latest-1", "1"), "there is no latest-1"),
        (("nothing.sqlite", "1"), "there is no record file 'nothing.sqlite'"),
        (("./nothing", "1"), "there is no record file './nothing'"),
        (("1", "nothing.sqlite:3"), "there are no records"),
        (("1,1", "1"), "twice"),
        (("x" * 5000, "1"), "expected an experiment or a record file"),
        (("1", "--between", "system", "--metric", "server_memory_bytes"), "no cell is comparable"),
        (("1", "--between", "systm"), "did you mean 'system'"),
        (("1", "--between", "clients"), "expected two levels of clients, found 1: 1"),
        (("1", "--between", "system", "--metric", "speed"), "no metric 'speed'"),
        (("1", "--between", "system", "--fail-if", "troughput_per_s < 1x"), "throughput_per_s"),
        (("1", "--between", "system", "--fail-if", "throughput_per_s"), "a ratio to A"),
        (
            ("1", "--between", "system", "--fail-if", "server_memory_bytes < 1x"),
            "condition cannot be judged",
        ),
    ):
        ended = both("compare", *words)
        assert ended.status == 2, (words, ended.out, ended.err)
        assert said in ended.err, (words, ended.err)
    (tmp_path / "text.txt").write_text("no record", "utf-8")
    assert both("compare", "text.txt", "1").status == 2


def test_nothing_comparable_ends_with_status_2_also_with_a_condition_that_is_not_met(
    assay: Assay,
) -> None:
    words = (*RUN, "--on", "sqlite", "--set", "sqlite.synchronous=full,off")
    assert assay(*words).status == 0
    ended = assay("compare", "1", "--between", "system", "--fail-if", "failed > 0")
    assert ended.status == 2 and "--despite durability" in ended.err, ended.err
    met = assay("compare", "1", "--between", "system", "--fail-if", "failed >= 0")
    assert met.status == 1, met.err


def test_record_files_are_compared_and_make_a_trend(both: Assay, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "assay-records.sqlite", tmp_path / "first.sqlite")
    ended = both(*RUN, "--on", f"{QUICK},{SLOW}", "--repetitions", "3", "--seed", "2")
    assert ended.status == 0, ended.err
    compared = both("compare", "first.sqlite", "assay-records.sqlite:latest", "--format", "json")
    assert compared.status == 0, compared.err
    document: dict[str, Any] = compared.document
    assert len({one["cell"] for one in document["ratios"]}) == 2
    assert {one["name"] for one in document["differences"]} == {"seed"}
    alone = both("compare", "first.sqlite:run:1", "latest", "--format", "json")
    assert {one["design"] for one in alone.document["ratios"] if one["ratio"]} == {"single"}

    nothing = both("compare", "run:1", "run:2")
    assert nothing.status == 2 and "--between null.delay" in nothing.err, nothing.err

    trend = both(
        "trend", "tpcb", "--records", "first.sqlite", "--records", "assay-records.sqlite",
        "--format", "csv",
    )  # fmt: skip
    assert trend.status == 0, trend.err
    points = list(csv.DictReader(io.StringIO(trend.out)))
    assert [one["experiment"] for one in points] == ["1", "2"] * 2
    assert "too short for change points" in both("trend").out
    assert both("trend", "tpcb", "--charts", "drawn").status == 0
    assert len(list((tmp_path / "drawn").glob("trend_*.svg"))) == 2
    assert both("trend", "tpcb", "--charts", "drawn").status == 2, "nothing is replaced unasked"
    assert "6 or more characters" in both("trend", "abc12").err
    wrong = both("trend", "tpcb.tpcb-lik")
    assert wrong.status == 2 and "did you mean" in wrong.err


def test_two_servers_of_one_kind_with_settings_of_their_own_are_compared(
    assay: Assay, working_folder: Path
) -> None:
    """Which of them is faster is the question, though a setting differs too."""
    (working_folder / "one.sql").write_text("select 1;\n")
    both = f"old=null[delay=constant:100ms],new={QUICK}"
    ended = assay(
        "run", "one.sql", "--on", both, "--clients", "1", "--transactions", "10", "--warm-up", "0",
        "--repetitions", "3", "--no-probe",
    )  # fmt: skip
    # Other programs may have disturbed them, so that it was; never is the slower one ahead.
    found = re.search(r"(new|old) (?:is|was) ([\d.]+) times", " ".join(ended.out.split()))
    assert found is not None, ended.out
    assert (float(found[2]) > 1) is (found[1] == "new"), ended.out


_FOLDER = """
title = "Visits"
source = "a test"
default_test = "count"
[data]
source = "generated"
[[tables]]
name = "visits"
rows = "50"
primary_key = ["id"]
{index}
[tables.columns]
id = "int not null"
day = "int not null"
[tables.values]
id = ":row"
day = "random(1, 5)"
[tests.count]
title = "Visits of a day"
help = "Counts"
scripts = ["count.sql"]
clients = [1]
transactions = 20
"""


def test_two_workload_folders_are_compared_as_levels_of_a_factor(
    assay: Assay, tmp_path: Path
) -> None:
    """An error of two experiments without a cell in common names the command that compares them."""
    for name, index in (("plain", ""), ("indexed", 'indexes = ["day"]')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "workload.toml").write_text(_FOLDER.format(index=index))
        (tmp_path / name / "count.sql").write_text(
            "\\set day random(1, 5)\nselect count(*) from visits where day = :day;\n"
        )
        quiet = ("--no-probe", "--no-durability", "--warm-up", "0", "--repetitions", "2")
        ended = assay("run", str(tmp_path / name), "--on", "sqlite", *quiet)
        assert ended.status == 0, ended.err
    refused = assay("compare", "latest-1", "latest")
    assert refused.status == 2
    assert "assay compare latest-1 latest --between workload compares them" in refused.err
    shown = assay("compare", "1", "2", "--between", "workload")
    assert shown.status == 0, shown.err
    assert "workload plain, " in shown.out and "workload indexed, " in shown.out
    assert "levels of a parameter of one workload" in " ".join(shown.out.split())
    assert "Unequal cells" not in shown.out and "B/A" in shown.out
