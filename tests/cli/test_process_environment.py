"""Unusual environments of the program: a umask that denies the owner, a deleted directory, file
names that are not UTF-8, a user without a name. Each works, or ends with a message and the fix."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.cli.process import outcome_of
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ArgumentError, InputError
from assay.load.bibsql.bibliography import files_of
from assay.load.row_sources.protocol import input_folder
from assay.provision.directory import server_directory
from assay.provision.undo import ledger
from assay.provision.undo.resources import TaggedProcesses
from assay.systems.mariadb.system import MARIADB
from assay.systems.mysql_protocol import url as mysql_url
from assay.systems.postgresql import url as postgresql
from commands import run_in

BIN = Path(sys.executable).parent


@pytest.fixture
def script(tmp_path: Path) -> Path:
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1;\n")
    return script


def run(
    folder: Path, *words: str | Path | bytes, umask: int = 0o022, program: str = "assay"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / program, *words],
        cwd=folder,
        umask=umask,
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
    )


def test_a_umask_that_denies_the_owner_is_overridden(tmp_path: Path, script: Path) -> None:
    words = ("run", script, "--on", "sqlite", "--transactions", "1", "--records", "r.sqlite")
    for _ in range(2):  # the second one reads what the first has left
        ended = run(tmp_path, *words, umask=0o777)
        assert ended.returncode == 0, ended.stderr
    mode = stat.S_IMODE((tmp_path / "r.sqlite").stat().st_mode)
    assert mode & 0o777 == 0o600, "ours to read and write, and nobody else's"


@pytest.mark.parametrize(
    ("prepared", "words", "status", "message"),
    [
        ("ulimit -v 100000", "plan one.sql --on sqlite", 3, "ulimit -v unlimited"),
        ("export TZ=XYZ99", "list runs --records r.sqlite", 2, "found TZ=XYZ99"),
    ],
    ids=["memory", "time zone"],
)
def test_limits_of_the_process_are_named_with_the_fix(
    tmp_path: Path, script: Path, prepared: str, words: str, status: int, message: str
) -> None:
    run_in(tmp_path, "run", str(script), "--on", "null", "-t", "1", "--records", "r.sqlite")
    ended = subprocess.run(
        ["/bin/sh", "-c", f"{prepared} && exec {BIN}/assay {words}"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert (ended.returncode, message in ended.stderr) == (status, True), ended.stderr


def test_a_deleted_working_directory_is_reported(tmp_path: Path, script: Path) -> None:
    gone = tmp_path / "gone"
    words = f"mkdir {gone} && cd {gone} && rmdir {gone} && exec {BIN}/assay"
    for arguments in ("report", f"run {script} --on sqlite --records {tmp_path}/r.sqlite"):
        ended = subprocess.run(
            ["/bin/sh", "-c", f"{words} {arguments}"], capture_output=True, text=True
        )
        assert (ended.returncode, "working directory has been removed" in ended.stderr) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("run", b"b\xff.sql", "--on", "sqlite"),
        ("run", "one.sql", "--on", "sqlite", "--records", b"r\xff.sqlite"),
        ("run", "one.sql", "--on", "sqlite", "--storage", b"here:d\xff"),
    ],
)
def test_a_name_that_is_not_utf_8_is_refused_with_the_fix(
    tmp_path: Path, script: Path, words: tuple[str | bytes, ...]
) -> None:
    shutil.copy(script, os.fsencode(tmp_path) + b"/b\xff.sql")
    ended = run(tmp_path, *words)
    assert ended.returncode == 2, ended.stderr
    assert r"\xff" in ended.stderr and "rename" in ended.stderr


def _mem_of_this_process() -> bytes:
    return Path("/proc/self/mem").read_bytes()


@pytest.mark.parametrize(
    ("refused", "status", "message"),
    [
        (lambda folder: (folder / ("n" * 300)).stat(), 2, "nnn: the name is too long"),
        (lambda folder: (folder / "loop").resolve(), 2, "loop: it is a symbolic link in a loop"),
        (lambda folder: (folder / "loop").read_text(), 2, "loop: it is a symbolic link in a loop"),
        (lambda folder: (folder / "closed" / "x").stat(), 2, "closed/x: permission denied"),
        (lambda _folder: _mem_of_this_process(), 3, "the device failed (input/output error)"),
    ],
    ids=["long name", "loop", "loop that is opened", "closed directory", "failing device"],
)
def test_what_the_system_refuses_to_do_with_a_path_is_no_bug(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    refused: Callable[[Path], object],
    status: int,
    message: str,
) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "closed").mkdir(mode=0)

    def work() -> None:
        user = os.geteuid()
        if user == 0 and "closed" in message:
            tmp_path.chmod(0o755)
            os.seteuid(65_534)
        try:
            refused(tmp_path)
        finally:
            os.seteuid(user)

    assert outcome_of("p", work) == status
    assert message in capsys.readouterr().err


def test_paths_that_cannot_be_are_refused_with_a_sentence(tmp_path: Path, script: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for records, why in (("n" * 300, "the name is too long"), ("a/x", "in a loop of links")):
        words = ("run", str(script), "--on", "null", "-t", "1", "--records", records)
        ended = run_in(tmp_path, *words)
        assert (ended.returncode, why in ended.stderr) == (2, True), ended.stderr
    run_in(tmp_path, *words[:-1], "r.sqlite")
    for number in ("9" * 20, "9" * 30):
        ended = run_in(tmp_path, "report", f"run:{number}", "--records", "r.sqlite")
        assert (ended.returncode, "there is no run 9999" in ended.stderr) == (2, True)


def test_files_found_in_folders_may_have_such_names(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xff"))
    odd.mkdir()
    storage = StorageFacts("here", "here", str(odd))
    with pytest.raises(ArgumentError, match="is not in UTF-8"), server_directory(storage):
        pass
    bib = Path(os.fsdecode(os.fsencode(odd) + b"/q\xff.bib"))
    bib.write_text('@misc{a, title = "x"}\n')
    with pytest.raises(InputError, match="its name is not UTF-8"):
        files_of([str(odd)])
    ended = run(tmp_path, bib, program="bibtosql")
    assert (ended.returncode, r"q\xff.bib" in ended.stderr) == (2, True)


def test_a_user_without_home_and_name_has_a_state_folder_and_must_name_a_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(uid: int) -> Any:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    unset = ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "ASSAY_STATE_DIRECTORY")
    for name in (*unset, "ASSAY_INPUT_DIRECTORY", "USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert str(ledger._choose_state_directory()).startswith("/var/tmp/assay-")
    assert str(input_folder()).startswith("/var/tmp/assay-")
    for scheme, read in {
        "postgresql": postgresql.address_of,
        "mariadb": partial(mysql_url.address_of, MARIADB.product),
    }.items():
        with pytest.raises(ArgumentError, match="names no user") as refused:
            read(f"{scheme}://127.0.0.1:1/d")
        assert "USER@HOST" in str(refused.value.hint)


def test_resources_are_removed_when_their_ledger_entry_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(state))
    storage = Path("/var/tmp") / f"assay-test-{os.getpid()}"
    storage.mkdir(mode=0o755)
    try:
        with server_directory(StorageFacts("here", "here", str(storage))) as directory:
            entry = ledger.held_entries(directory.root.name.removeprefix("assay-"))
            assert entry is not None
            shutil.rmtree(state)
            entry.add(TaggedProcesses())
            assert [file.suffix for file in (state / "made").iterdir()] == [".json"]
            shutil.rmtree(state)
    finally:
        storage.rmdir()  # also asserts that everything in it was removed
    assert not directory.run.exists()


def test_a_namespace_with_one_user_has_systems_in_this_process(tmp_path: Path) -> None:
    """Its root can become no other user, which only servers need."""
    unshare = ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs user namespaces")
    words = [
        "run", "tpcb.select-only", "--warm-up", "0", "--transactions", "3", "--no-probe", "--on",
    ]  # fmt: skip
    program = [*unshare, sys.executable, "-m", "assay", *words]
    for system, status, said in (
        ("sqlite", 0, "checks 2 of 2 right"),
        ("postgresql", 3, "this user namespace has no other user"),
    ):
        ended = subprocess.run(
            [*program, system], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        if "is not installed" in ended.stderr:
            continue
        assert said in " ".join((ended.stdout + ended.stderr).split())
        assert ended.returncode == status, ended.stderr
