"""`assay capsule pack`, `verify`, `rerun` and `site`: an experiment as one file, which says whether
it was changed, and which others can run again and show."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import tomllib
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from commands import Assay, run_in
from packed_members import RUN, names_in, workload_in

QUICK = ("run", "tpcb.select-only", "--on", "sqlite", "--quick", "--duration", "0.5", *RUN)
SCRIPT = ("run", "two.sql", "--on", "sqlite,duckdb", "--duration", "0.5", "--repetitions", "2",
          "--set", "x=3", *RUN)  # fmt: skip


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Experiment 1 is a quick one of a workload that Assay brings, 2 is of a user's script."""
    folder = tmp_path_factory.mktemp("capsules")
    (folder / "two.sql").write_text("SELECT :x;\nSELECT 2;\n")
    for words in (QUICK, SCRIPT):
        ended = run_in(folder, *words)
        assert ended.returncode == 0, ended.stderr
    return folder


def packed(folder: Path, number: int, name: str = "result.assay") -> Path:
    done = run_in(folder, "capsule", "pack", str(number), "-o", name, "--force")
    assert done.returncode == 0, done.stderr
    return folder / name


def text_of(capsule: Path, member: str) -> str:
    with zipfile.ZipFile(capsule) as file:
        return file.read(member).decode()


@pytest.mark.parametrize("number", [1, 2])
def test_an_experiment_is_packed_and_verified(recorded: Path, number: int) -> None:
    capsule = packed(recorded, number)
    done = run_in(recorded, "capsule", "verify", capsule.name)
    assert done.returncode == 0, done.stderr
    assert "as it was packed by Assay" in done.stdout and "report.html" in done.stdout
    assert packed(recorded, number, "again.assay").read_bytes() == capsule.read_bytes()


def test_its_experiment_file_names_what_is_beside_it(recorded: Path) -> None:
    capsule = packed(recorded, 2)
    asked = tomllib.loads(text_of(capsule, "experiment/experiment.toml"))
    assert asked["script"] == ["scripts/two.sql"] and asked["parameters"] == {"x": [3]}
    assert text_of(capsule, "experiment/scripts/two.sql") == "SELECT :x;\nSELECT 2;\n"


def test_its_record_is_read_by_all_commands(recorded: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed(recorded, 2)) as file:
        file.extract("assay-records.sqlite", tmp_path)
    # Of the other experiment there is nothing, not even in a page that is free.
    assert b"pgbench_accounts" not in (tmp_path / "assay-records.sqlite").read_bytes()
    listed = run_in(tmp_path, "list", "runs")
    assert listed.returncode == 0 and "two.sql" in listed.stdout
    assert run_in(tmp_path, "report", "2").returncode == 0


@pytest.mark.parametrize("number", [1, 2])
def test_it_is_run_again_elsewhere_and_compared(
    recorded: Path, tmp_path: Path, number: int
) -> None:
    capsule = packed(recorded, number)
    done = run_in(tmp_path, "capsule", "rerun", str(capsule), "--no-probe", "--no-durability")
    assert done.returncode == 0, done.stderr
    _, _, compared = done.stdout.partition("B compared with A")
    assert str(capsule) in compared and "B/A" in compared
    assert re.search(r"machines +the same", compared)
    assert re.search(r"^cells: \d+ ", compared, re.M)
    assert re.search(r"^other programs used .* in A, .* in B$", compared, re.M)
    assert "no cell in common" not in done.stderr
    assert run_in(tmp_path, "compare", f"{recorded}/assay-records.sqlite:{number}", "1").stdout
    assert run_in(tmp_path, "capsule", "pack", "latest").returncode == 0


def test_what_was_run_with_only_is_run_again_with_it(
    assay: Assay, working_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of an experiment file, whose other runs stay planned, twice with another one."""
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    (working_folder / "three.toml").write_text(
        'script = "one.sql"\nsystems = ["sqlite", "duckdb", "null"]\nstorages = ["tmpfs"]\n'
        "drive.duration_s = 0.2\nrepetitions = 1\n"
    )
    assert assay("run", "three.toml", "--only", "duckdb", *RUN[2:]).status == 0
    assert assay("capsule", "pack", "latest", "-o", "duckdb.assay").status == 0
    assert assay("run", "three.toml", "--only", "sqlite", *RUN[2:]).status == 0
    assert assay("capsule", "pack", "latest", "-o", "both.assay").status == 0
    facts = json.loads(text_of(working_folder / "both.assay", "facts.json"))
    assert facts["only"] == [["duckdb", "sqlite"]]
    for capsule, words, systems, said in (
        ("duckdb", (), ["duckdb"], "as it was run with --only duckdb; --only '*' runs all of it"),
        ("both", (), ["duckdb", "sqlite"], "as it was run with --only duckdb,sqlite"),
        ("both", ("--only", "sqlite"), ["sqlite"], "is run again"),
        ("duckdb", ("--on", "sqlite"), ["sqlite"], "which does not fit the systems and storages"),
    ):
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        file = str(working_folder / f"{capsule}.assay")
        again = run_in(elsewhere, "capsule", "rerun", file, *RUN[2:], *words)
        assert again.returncode == 0, again.stderr
        assert said in again.stderr
        with closing(sqlite3.connect(elsewhere / "assay-records.sqlite")) as record:
            runs = record.execute("SELECT DISTINCT system FROM runs ORDER BY system").fetchall()
        assert [name for (name,) in runs] == systems


def test_another_storage_or_system_is_compared_with_the_packed_one(
    recorded: Path, tmp_path: Path
) -> None:
    capsule = packed(recorded, 1)
    for words, shown in (
        (("--storage", "here"), "storage tmpfs, experiment"),
        (("--on", "duckdb"), "system sqlite, experiment"),
    ):
        done = run_in(
            tmp_path, "capsule", "rerun", str(capsule), *words, "--no-probe", "--no-durability"
        )
        assert done.returncode == 0, done.stderr
        assert "numbers are compared where it is the storage or the system alone" in done.stderr
        _, _, compared = done.stdout.partition("B compared with A")
        assert shown in compared and "B/A" in compared and "no cell in common" not in done.stderr
    of_two = packed(recorded, 2, "two.assay")
    done = run_in(
        tmp_path, "capsule", "rerun", str(of_two), "--on", "null", "--no-probe", "--no-durability"
    )
    assert "of several levels of system two are compared: " in done.stderr, done.stderr
    assert "B/A" in done.stdout and "two.sql" not in done.stdout.partition("What differs")[2]


def test_a_folder_of_them_is_a_site(recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for number, name in ((1, "one.assay"), (2, "a b.assay")):
        shutil.copyfile(packed(recorded, number), folder / name)
    done = run_in(tmp_path, "capsule", "site", "results", "-o", "public")
    assert done.returncode == 0, done.stderr
    site = tmp_path / "public"
    assert {one.name for one in site.iterdir()} == {
        "index.html", "one.html", "one.assay", "a b.html", "a b.assay",
    }  # fmt: skip
    page = (site / "index.html").read_text()
    assert "assay capsule rerun one.assay" in page and 'href="a%20b.html"' in page
    assert (site / "one.assay").read_bytes() == (folder / "one.assay").read_bytes()
    again = run_in(tmp_path, "capsule", "site", "results", "-o", "public")
    assert again.returncode == 2 and "is not empty" in again.stderr
    assert run_in(tmp_path, "capsule", "site", "results", "-o", "public", "--force").returncode == 0


def test_a_broken_one_is_left_out_of_the_site(recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    good = packed(recorded, 1)
    (folder / "bad.assay").write_bytes(good.read_bytes()[:-1])
    with zipfile.ZipFile(folder / "other.assay", "w") as file:
        file.writestr("a.txt", "another program's")
    shutil.copyfile(good, folder / "index.assay")
    none = run_in(tmp_path, "capsule", "site", "results", "-o", "public")
    assert none.returncode == 2 and "found none that can be shown" in none.stderr
    assert not (tmp_path / "public").exists()
    shutil.copyfile(good, folder / "good.assay")
    done = run_in(tmp_path, "capsule", "site", "results", "-o", "public")
    assert done.returncode == 2
    for said in (
        "left out: results/bad.assay: expected",
        "left out: results/other.assay: not a capsule of Assay",
        "left out: results/index.assay: its report would be index.html",
        "1 result in public/index.html; 3 files left out",
    ):
        assert said in done.stderr
    assert {one.name for one in (tmp_path / "public").iterdir()} == {
        "index.html", "good.html", "good.assay",
    }  # fmt: skip


def test_a_script_that_is_gone_is_packed_from_the_record(recorded: Path, tmp_path: Path) -> None:
    shutil.copyfile(recorded / "assay-records.sqlite", tmp_path / "assay-records.sqlite")
    capsule = packed(tmp_path, 2)
    assert text_of(capsule, "experiment/scripts/two.sql") == "SELECT :x;\nSELECT 2;\n"


def test_it_says_which_claims_hold_in_both(
    assay: Assay, working_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    workload_in(working_folder)
    (working_folder / "paper.toml").write_text(
        'title = "A paper"\nreproduces = "A paper of 1999"\nworkload = "mine"\n'
        'systems = ["sqlite", "duckdb"]\nrepetitions = 3\n'
    )
    ended = assay("run", "paper.toml", *RUN)
    assert ended.status == 0, ended.err
    assert assay("capsule", "pack", "latest", "-o", "paper.assay").status == 0
    facts = json.loads(text_of(working_folder / "paper.assay", "facts.json"))
    assert [one["claim"] for one in facts["claims"]] == ["the first is faster"]
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    again = run_in(elsewhere, "capsule", "rerun", str(working_folder / "paper.assay"), *RUN[2:4])
    assert again.returncode == 0, again.stderr
    said = re.findall(r"^claims of ([AB]): 1 (confirmed|contradicted|open)$", again.stdout, re.M)
    assert [side for side, _ in said] == ["A", "B"]


def test_a_workload_of_the_user_is_packed_while_it_is_as_it_was(
    assay: Assay, working_folder: Path
) -> None:
    script = workload_in(working_folder)
    ended = assay("run", "./mine", "--on", "sqlite", *RUN)
    assert ended.status == 0, ended.err
    assert assay("capsule", "pack", "latest", "-o", "mine.assay").status == 0
    capsule = working_folder / "mine.assay"
    assert "experiment/workloads/mine/scripts/read.sql" in names_in(capsule)
    script.write_text("SELECT 2;\n")
    changed = assay("capsule", "pack", "latest", "-o", "again.assay")
    assert changed.status == 2 and not (working_folder / "again.assay").exists()
    assert "expected the workload that was run" in changed.err
    assert "run the experiment again" in changed.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("capsule", "pack", "9"), "there is no experiment 9"),
        (("capsule", "pack", "run:2"), "found a single run"),
        (("capsule", "pack", "run:latest"), "found a single run"),
        (("capsule pack", "latest"), "it is: assay capsule pack latest"),
        (("capsule", "pack", "1,2"), "expected one experiment, found 2"),
        (("capsule", "pack", "none.sqlite:1"), "there are no records at none.sqlite"),
        (("capsule", "pack", "first"), "expected an experiment or a record file, found 'first'"),
        (("capsule", "pack"), "expected EXPERIMENT, found nothing"),
        (("capsule", "pack", "1", "-o", "there.assay"), "already exists and is not overwritten"),
        (("capsule", "pack", "1", "-o", "assay-records.sqlite", "--force"), "is a record file"),
        (("capsule", "pack", "1", "-o", "nowhere/x.assay"), "cannot be written"),
        (("capsule", "pack", "1", "-o", "."), "is a directory"),
        (("capsule", "verify", "none.assay"), "there is no such file"),
        (("capsule", "verify", "two.sql"), "found another file"),
        (("capsule", "verify", "."), "found a folder"),
        (("capsule", "rerun", "none.assay"), "there is no such file"),
        (("capsule", "site", "none"), "expected a folder of capsules, found nothing there"),
        (("capsule", "site", "two.sql"), "expected a folder of capsules, found a file"),
    ],
)
def test_what_cannot_be_is_said(recorded: Path, words: tuple[str, ...], said: str) -> None:
    (recorded / "there.assay").write_text("is here already")
    ended = run_in(recorded, *words)
    assert ended.returncode == 2, ended.stderr
    assert said.lower() in ended.stderr.lower() and "Traceback" not in ended.stderr
    assert (recorded / "there.assay").read_text() == "is here already"
