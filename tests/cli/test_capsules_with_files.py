"""A capsule with what the user's experiment was run with: input files, a workload of his own. It is
run again without them, and the new experiment is packed again."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

import servers
from assay import registry
from assay.errors import InputError
from assay.record.capsule import named_files
from assay.workload import reader
from commands import Assay, run_in
from packed_members import RUN, names_in, workload_in

AGAIN = ("--no-probe", "--no-durability", "--progress", "0")
ENTRY = "@article{a1,\n  author = {A. Writer},\n  title = {On Files},\n  year = {1999},\n}\n"
LOAD = ("run", "bibsql.checks", "--on", "sqlite", "--input", "papers", *RUN)


@pytest.fixture
def papers(working_folder: Path) -> Path:
    """A folder with two bibliographies, in a folder with an experiment of them."""
    folder = working_folder / "papers"
    folder.mkdir()
    (folder / "old.bib").write_text(ENTRY)
    (folder / "new.bib").write_text(ENTRY.replace("a1", "b2").replace("1999", "2009"))
    return folder


def test_input_files_are_in_it(
    assay: Assay, papers: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ended = assay(*LOAD)
    assert ended.status == 0, ended.err
    assert assay("capsule", "pack", "1", "-o", "one.assay").status == 0
    capsule = papers.parent / "one.assay"
    assert {"experiment/input/new.bib", "experiment/input/old.bib"} < set(names_in(capsule))
    shutil.rmtree(papers)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    again = run_in(elsewhere, "capsule", "rerun", str(capsule), *AGAIN)
    assert again.returncode == 0, again.stderr
    assert "input of the data" not in again.stdout and "not comparable" not in again.stdout
    packed_record = f"{papers.parent}/assay-records.sqlite:1"
    compared = run_in(elsewhere, "compare", packed_record, "1", "--detail")
    assert compared.returncode == 0, compared.stderr
    assert "input of the data" not in compared.stdout
    # Of the new experiment, whose input is that of the capsule.
    packed_again = run_in(elsewhere, "capsule", "pack", "latest", "-o", "two.assay")
    assert packed_again.returncode == 0, packed_again.stderr
    assert "experiment/input/old.bib" in names_in(elsewhere / "two.assay")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.write_text(ENTRY.replace("1999", "1998")), "expected the input that was"),
        (lambda one: one.unlink(), "expected the input that was"),
        (lambda one: one.write_text(ENTRY + "% http://me:secret@h/\n"), "line 6 has a password"),
    ],
)
def test_input_that_is_not_what_was_read_is_refused_or_left_out(
    assay: Assay, papers: Path, change: object, said: str
) -> None:
    assert callable(change)
    assert assay(*LOAD).status == 0
    change(papers / "old.bib")
    refused = assay("capsule", "pack", "1", "-o", "one.assay")
    assert refused.status == 2 and said in refused.err and "secret" not in refused.err
    assert "--without-input leaves" in refused.err
    assert not (papers.parent / "one.assay").exists()
    done = assay("capsule", "pack", "1", "-o", "one.assay", "--without-input")
    assert done.status == 0, done.err
    assert not [one for one in names_in(papers.parent / "one.assay") if "/input/" in one]
    asked = assay("capsule", "rerun", "one.assay", *AGAIN)
    assert asked.status == 2 and "rows were read from papers" in asked.err
    named = assay("capsule", "rerun", "one.assay", "--input", "papers", *AGAIN)
    assert named.status == 0, named.err
    assert "input of the data" in named.out


def test_more_input_than_a_capsule_holds_is_refused(
    assay: Assay, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = assay(*LOAD[:5], papers, *RUN)
    assert ended.status == 0, ended.err
    bibsql = reader.read("bibsql")
    monkeypatch.setattr(named_files, "MOST_INPUT_BYTES", 2 * len(ENTRY))
    assert len(named_files.input_files(ended.experiment, bibsql)) == 2
    monkeypatch.setattr(named_files, "MOST_INPUT_BYTES", 2 * len(ENTRY) - 1)
    with pytest.raises(InputError) as found:
        named_files.input_files(ended.experiment, bibsql)
    assert f"has {2 * len(ENTRY)} B: expected at most {2 * len(ENTRY) - 1} B" in str(found.value)
    assert "pack with --without-input" in str(found.value.hint)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 'ftp://me:topsecret@host/';",
        "SELECT 'host=h user=me password=topsecret';",
        "SELECT 'CREATE USER me PASSWORD ''topsecret''';",
    ],
)
def test_a_script_with_a_password_is_not_packed(
    assay: Assay, working_folder: Path, statement: str
) -> None:
    (working_folder / "mine").mkdir()
    (working_folder / "mine" / "one.sql").write_text(f"-- of a password\n{statement}\n")
    ran = assay("run", "mine/one.sql", "--on", "sqlite", "--transactions", "5", *RUN)
    assert ran.status == 0, ran.err
    refused = assay("capsule", "pack", "latest", "-o", "one.assay")
    assert refused.status == 2 and "mine/one.sql: line 2 has a password" in refused.err
    assert "take it out" in refused.err and not (working_folder / "one.assay").exists()
    shown = assay("report", "latest", "--detail", "--format", "html")
    assert shown.status == 0 and "of a password" in shown.out
    assert "topsecret" not in refused.err + shown.out


def test_a_known_password_or_one_in_the_record_is_not_packed(
    assay: Assay, working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that no form of a statement shows, and one that an earlier Assay has recorded."""
    (working_folder / "one.sql").write_text("SELECT 'top secret&word' AS x;\n")
    ran = assay("run", "one.sql", "--on", "sqlite", "--transactions", "5", *RUN)
    assert ran.status == 0, ran.err
    for value, status in (("top secret&word", 2), ("secret", 2), ("secre", 0), ("sqlite", 0)):
        monkeypatch.setenv("SHOP_PASSWORD", value)
        done = assay("capsule", "pack", "latest", "-o", "one.assay", "--force")
        assert done.status == status, done.err
        assert ("the environment's SHOP_PASSWORD" in done.err) == (status == 2)
        assert value not in done.err or status == 0
    monkeypatch.delenv("SHOP_PASSWORD")
    with closing(sqlite3.connect(working_folder / "assay-records.sqlite")) as record:
        record.execute("UPDATE steps SET reason = 'at postgresql://me:top secret@h/shop'")
        record.commit()
    refused = assay("capsule", "pack", "latest", "-o", "two.assay")
    assert refused.status == 2 and "table steps: holds a password" in refused.err
    assert not (working_folder / "two.assay").exists()


def test_what_was_run_again_can_be_packed_again(
    assay: Assay, working_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    workload_in(working_folder)
    assert assay("run", "./mine", "--on", "sqlite", *RUN).status == 0
    assert assay("capsule", "pack", "latest", "-o", "mine.assay").status == 0
    shutil.rmtree(working_folder / "mine")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    capsule = working_folder / "mine.assay"
    for _ in range(2):  # the second finds the folder of the first
        again = run_in(elsewhere, "capsule", "rerun", str(capsule), *AGAIN)
        assert again.returncode == 0, again.stderr
    (kept,) = (elsewhere / "assay-records.capsules").iterdir()
    assert (kept / "experiment" / "workloads" / "mine" / "workload.toml").exists()
    for number in ("1", "2"):
        packed = run_in(elsewhere, "capsule", "pack", number, "-o", f"{number}.assay")
        assert packed.returncode == 0, packed.stderr
        assert "experiment/workloads/mine/scripts/read.sql" in names_in(
            elsewhere / f"{number}.assay"
        )


def test_a_quick_rerun_says_first_that_it_compares_nothing(
    assay: Assay, working_folder: Path
) -> None:
    (working_folder / "e.toml").write_text(
        'workload = "tpcb"\ntests = ["select-only"]\nsystems = ["sqlite"]\n'
        "[parameters]\nscale = [1]\n[drive]\ntransactions = 30\n[quick.drive]\ntransactions = 5\n"
    )
    assert assay("run", "e.toml", *RUN).status == 0
    assert assay("capsule", "pack", "latest", "-o", "full.assay").status == 0
    quick = assay("capsule", "rerun", "full.assay", "--quick", *AGAIN)
    assert quick.status == 0, quick.err
    said = "the cell to be run is not in the capsule, so no numbers will be compared"
    assert said in quick.err and "leave it out to compare both" in quick.err
    assert quick.err.index(said) < quick.err.index("kept in")
    full = assay("capsule", "rerun", "full.assay", *AGAIN)
    assert full.status == 0 and "in the capsule" not in full.err
    other = assay("capsule", "rerun", "full.assay", "--on", "sqlite,duckdb", *AGAIN)
    assert "1 of the 2 cells to be run are not in the capsule" in other.err


def test_an_optional_level_that_was_left_out_is_left_out_again(
    assay: Assay, working_folder: Path
) -> None:
    (working_folder / "e.toml").write_text(
        'workload = "tpcb"\ntests = ["select-only"]\nsystems = ["sqlite"]\n'
        'memory = ["900TB"]\noptional = ["memory"]\n'
        "[parameters]\nscale = [1]\n[drive]\ntransactions = 30\n"
    )
    assert assay("run", "e.toml", *RUN).status == 0
    packed = assay("capsule", "pack", "latest", "-o", "one.assay")
    assert packed.status == 0, packed.err
    again = assay("capsule", "rerun", "one.assay", *AGAIN)
    assert again.status == 0 and "in the capsule" not in again.err


@pytest.mark.parametrize(
    ("script", "set_", "said"),
    [
        ("one.sql", "password=topsecret", "the parameter 'password' is or has a password"),
        ("one.sql", "at=http://me:topsecret@h/", "the parameter 'at' is or has a password"),
        ("password=topsecret.sql", "at=1", "the name of the script has a password"),
        ("http:/me:topsecret@h/one.sql", "at=1", "the name of the script has a password"),
    ],
)
def test_a_word_with_a_password_is_not_packed(
    assay: Assay, working_folder: Path, script: str, set_: str, said: str
) -> None:
    """The record does not have it, so that it could not be run again either; reports are made."""
    (working_folder / script).parent.mkdir(parents=True, exist_ok=True)
    name = set_.partition("=")[0]
    (working_folder / script).write_text(f"SELECT length(':{name}');\n")
    ran = assay("run", script, "--on", "sqlite", "--set", set_, "--duration", "0.1", *RUN)
    assert ran.status == 0, ran.err
    shown = assay("report", "1", "--detail")
    assert shown.status == 0, shown.err
    refused = assay("capsule", "pack", "1", "-o", "one.assay")
    assert refused.status == 2 and said in refused.err and "pack that" in refused.err
    assert not (working_folder / "one.assay").exists()
    for text in (ran.out, ran.err, shown.out, shown.err, refused.out, refused.err):
        assert "topsecret" not in text


def test_passwords_around_an_experiment_are_not_in_its_capsule(
    assay: Assay, working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGPASSWORD", "ASSAY_PASSWORD", "MY_KEY"):
        monkeypatch.setenv(name, "topsecret")
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    (working_folder / "e.toml").write_text(
        'title = "For http://me:topsecret@h/"\nscript = ["one.sql"]\nsystems = ["sqlite"]\n'
        "repetitions = 1\n[drive]\nduration_s = 0.1\n"
    )
    assert assay("run", "e.toml", *RUN).status == 0
    refused = assay("capsule", "pack", "1", "-o", "one.assay")
    assert refused.status == 2 and "the title has a password" in refused.err
    text = (working_folder / "e.toml").read_text()
    (working_folder / "e.toml").write_text(text.replace("topsecret@", ""))
    assert assay("run", "e.toml", *RUN).status == 0
    assert assay("capsule", "pack", "latest", "-o", "one.assay").status == 0
    with zipfile.ZipFile(working_folder / "one.assay") as file:
        assert not [name for name in file.namelist() if b"topsecret" in file.read(name)]


def test_a_setting_of_a_session_that_is_a_password_is_in_no_record(
    assay: Assay, working_folder: Path
) -> None:
    """What the script reads of it says that the sessions had it."""
    system = registry.system("postgresql")
    (working_folder / "one.sql").write_text(
        "SELECT length(current_setting('shop.password'));\n\\expect value 9\n"
    )
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(system, storage, options={"transport": "tcp"}) as server,
    ):
        url = f"{servers.url_of(system, server)}?options=-c%20shop.password%3Dtopsecret"
        ran = assay("run", "one.sql", "--on", url, "--transactions", "5", "--progress", "0")
        assert ran.status == 0, ran.err
        driven = ran.runs[-1].driven
        assert driven is not None and driven.outcomes.ok == 5
    assert b"topsecret" not in (working_folder / "assay-records.sqlite").read_bytes()
    assert assay("capsule", "pack", "1", "-o", "one.assay").status == 0
    with zipfile.ZipFile(working_folder / "one.assay") as file:
        assert not [name for name in file.namelist() if b"topsecret" in file.read(name)]
