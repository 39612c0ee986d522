"""`assay new`: five questions, each also an option, and an experiment file that runs."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay import registry
from assay.cli.commands import new
from assay.experiment import from_file
from commands import Assay
from waiting import HANG_S


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_options_answer_every_question_and_the_file_runs(assay: Assay, here: Path) -> None:
    ended = assay(
        "new", "shop.toml", "--on", "sqlite", "--test", "tpcb.select-only", "--size", "1,2",
        "--storage", "here", "--clients", "1,2",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert "12 runs, at least" in ended.err and "space on here" in ended.err
    assert [path.name for path in here.glob("*.toml")] == ["shop.toml"]
    ran = assay(
        "run", "shop.toml", "--transactions", "10", "--warm-up", "0", "--no-probe",
        "--no-durability", "--repetitions", "1",
    )  # fmt: skip
    assert ran.status == 0, ran.err
    assert [(run.parameters["scale"], run.clients) for run in ran.runs] == [
        (1, 1), (1, 2), (2, 1), (2, 2)
    ]  # fmt: skip


def test_a_script_and_a_workload_of_the_users_own_are_found_from_the_folder_of_the_file(
    assay: Assay,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Also where the file is in another folder than the user."""
    (here / "kept").mkdir()
    (here / "own.sql").write_text("SELECT 1;\n", encoding="utf-8")
    shutil.copytree(registry.workload_folder("tpcb"), here / "shop")
    for name, test in (("a", "own.sql"), ("b", "./shop"), ("c", "shop.select-only")):
        file = f"kept/{name}.toml"
        made = assay("new", file, "--on", "null", "--test", test, "--clients", "1")
        assert made.status == 0, made.err
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    shop = from_file.read(here / "kept/b.toml")[1], from_file.read(here / "kept/c.toml")[1]
    assert [workload.folder.resolve() for workload in shop] == [here.resolve() / "shop"] * 2
    script = from_file.read(here / "kept/a.toml")[0].scripts[0]
    assert Path(script.path).resolve() == here.resolve() / "own.sql"


def test_a_relative_directory_of_a_storage_is_the_same_from_everywhere(
    assay: Assay,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    (here / "disk").mkdir()
    storages = "tmpfs,fast=here:disk"
    words = ("--on", "null", "--test", "tpcb", "--storage", storages, "--clients", "1")
    assert (made := assay("new", "a.toml", *words)).status == 0, made.err
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    plain, fast = from_file.read(here / "a.toml")[0].storages
    assert (plain.kind, plain.directory) == ("tmpfs", None)
    assert (fast.name, fast.directory) == ("fast", str((here / "disk").resolve()))


def test_scripts_behind_commas_are_measured_one_by_one(assay: Assay, here: Path) -> None:
    for name in ("a.sql", "b.sql"):
        (here / name).write_text("SELECT 1;\n", encoding="utf-8")
    made = assay("new", "two.toml", "--on", "null", "--test", "a.sql,b.sql", "--clients", "1")
    assert made.status == 0, made.err
    planned = json.loads(assay("plan", "two.toml", "--format", "json").out)
    assert {run["test"] for run in planned} == {"a.sql", "b.sql"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--test is missing, and there is no terminal to ask on"),
        (("--test", "tpcx"), "'tpcx'"),
        (("--test", "tpcb", "--size", "many"), "scale: expected a whole number"),
        (("--test", "tpcb", "--on", "sqlite3"), "unknown system 'sqlite3'"),
        (("--test", "tpcb", "--on", "postgresql://me:secret@h/d"), "has no password"),
        (("--test", "tpcb", "--storage", "disk"), "unknown storage 'disk'"),
        (("--test", "tpcb", "--clients", "0"), "clients"),
        (("--test", "tpcc", "--on", "msql"), "no run of tpcc could take place: msql: mSQL has no"),
        (("a.sql", "--test", "tpcb"), "expected a file *.toml, found a.sql"),
        (("no/a.toml", "--test", "tpcb"), "there is no folder no"),
        (("kept.toml", "--test", "tpcb"), "the file kept.toml exists"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_written(
    assay: Assay, here: Path, words: tuple[str, ...], said: str
) -> None:
    (here / "kept.toml").write_text("# mine\n", encoding="utf-8")
    ended = assay("new", *words)
    assert ended.status == 2
    assert said in ended.err and "hint: " in ended.err
    assert "secret" not in ended.err
    assert [path.name for path in here.iterdir() if path.suffix == ".toml"] == ["kept.toml"]
    assert (here / "kept.toml").read_text("utf-8") == "# mine\n"


class _Terminal:
    """A user at a pseudo-terminal."""

    def __init__(self, *words: str) -> None:
        self._screen, terminal = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "assay", "new", *words],
            stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
        )  # fmt: skip
        os.close(terminal)
        self.shown = ""

    def interrupt(self) -> None:
        """Ctrl-C until it has ended: Python's input() does not hear a signal that comes between its
        prompt and its read."""
        for _ in range(60):
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(2)
                return

    def until(self, text: str) -> None:
        """What is shown behind the last answer has the text."""
        while text not in self.shown:
            assert select.select([self._screen], [], [], HANG_S)[0], self.shown
            try:
                self.shown += os.read(self._screen, 4096).decode()
            except OSError:  # the program has ended
                assert text in self.shown, self.shown

    def answer(self, text: str) -> None:
        self.shown = ""
        os.write(self._screen, f"{text}\n".encode())


def test_questions_are_asked_again_until_the_answer_is_right(here: Path) -> None:
    user = _Terminal()
    user.until("Database (several: with commas) [")
    assert re.search(r"found: .*\bsqlite\b", user.shown)
    user.answer("sqlitte")
    user.until("hint: did you mean 'sqlite'")
    user.until("Database (several: with commas) [")
    user.answer("sqlite")
    user.until("Test (WORKLOAD, or WORKLOAD.TEST):")
    assert "tpcb: " in user.shown and "select-only" in user.shown
    user.answer("tpcb")
    user.until("Branches; each has 10 tellers and 100,000 accounts [1]")
    user.answer("2")
    user.until("Storage [here]")
    user.answer("")
    user.until("Clients (at the same time) [")
    user.answer("1,8")
    user.until("Write experiment.toml? [Y/n]")
    assert "6 runs, at least" in user.shown and "space on here" in user.shown
    assert not list(here.glob("experiment.toml")), "not before the answer"
    user.answer("")
    user.until("experiment.toml is written")
    assert user.process.wait() == 0
    text = (here / "experiment.toml").read_text("utf-8")
    assert "clients = [1, 8]" in text and "scale = 2" in text


@pytest.mark.parametrize("answer", ["n", None])
def test_without_consent_nothing_is_written(here: Path, answer: str | None) -> None:
    user = _Terminal("--on", "sqlite", "--test", "tpcb", "--size", "1", "--clients", "1")
    user.until("Storage [here]")
    user.answer("")
    user.until("Write experiment.toml? [Y/n]")
    if answer is None:
        user.interrupt()
    else:
        user.answer(answer)
    user.until("interrupted")
    assert user.process.wait() == 130
    assert not list(here.glob("*.toml")) and not list(here.glob(".*.toml"))


def test_a_link_is_not_written_through(assay: Assay, here: Path) -> None:
    """Neither one of the file's name, nor one that someone else has put where it is prepared."""
    others = here / "others.toml"
    others.write_text("theirs")
    (here / "shop.toml").symlink_to(others)
    words = ("--on", "null", "--test", "tpcb.select-only", "--clients", "1")
    for force in ((), ("--force",)):
        refused = assay("new", "shop.toml", *words, *force)
        assert refused.status == 2 and "shop.toml is a symbolic link" in refused.err
    (here / f".mine-{os.getpid()}.toml").symlink_to(others)
    with new._written(here / "mine.toml", "ours") as not_yet:
        assert not_yet.read_text() == "ours" and not not_yet.is_symlink()
    assert others.read_text() == "theirs"
