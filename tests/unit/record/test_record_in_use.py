"""A look at a record that this process has open keeps its locks: a process that loses them lets
others write into the file at the same time."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

import assay
from assay.errors import AssayError, InputError
from assay.record import Store
from assay.record.file.schema import insist_on_no_record
from assay.record.merging import merge
from assay.systems.database_file import FileKind
from assay.text import paths

pytestmark = pytest.mark.slow
RUN = """
import sys, assay
for _ in range(6):
    run = assay.run("tpcb.select-only", on="null", transactions=3, warm_up_s=0, probe_s=0,
                    records=sys.argv[1])
    assert run.is_ok
"""
LEAVE_LOG = """
import sqlite3, sys
print(sqlite3.connect(sys.argv[1], timeout=0).execute("PRAGMA journal_mode = DELETE").fetchone())
"""


def read(path: Path) -> None:
    with Store(path, must_exist=True) as store:
        store.runs()


def merge_into_another(path: Path) -> None:
    merge(path, path.with_name("other.sqlite"), waiting=print)


def as_experiment_file(path: Path) -> None:
    paths.read_text(path, InputError)


def as_database(path: Path) -> None:
    FileKind("x", "X", lambda head: not head, str).file_of(f"x:///{path}")


def as_output(path: Path) -> None:
    insist_on_no_record(path)


def as_output_beside(path: Path) -> None:
    insist_on_no_record(path.with_name(f"{path.name}-shm"))


@pytest.mark.parametrize(
    "look", [read, merge_into_another, as_experiment_file, as_database, as_output, as_output_beside]
)
def test_a_look_at_a_record_keeps_the_locks_of_its_writer(
    tmp_path: Path, look: Callable[[Path], None]
) -> None:
    path = tmp_path / "r.sqlite"
    with Store(path) as store:
        store.runs()
        with suppress(AssayError):
            look(path)
        # Possible only for a process that is alone: its error says that the locks are there.
        other = subprocess.run(
            [sys.executable, "-c", LEAVE_LOG, path], capture_output=True, text=True
        )
    assert "database is locked" in other.stderr, other.stdout


def test_a_thread_that_reads_and_another_process_lose_no_experiment(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    other = subprocess.Popen([sys.executable, "-c", RUN, path], cwd=tmp_path)
    has_ended = threading.Event()
    wrong: list[BaseException] = []

    def keep_reading() -> None:
        while not has_ended.wait(0.005):
            try:
                if path.exists():
                    assay.open(path)
            except BaseException as error:
                wrong.append(error)
                return

    reader = threading.Thread(target=keep_reading)
    reader.start()
    for _ in range(6):
        run = assay.run(
            "tpcb.select-only", on="null", transactions=3, warm_up_s=0, probe_s=0, records=path
        )
        assert run.is_ok
    other.wait()
    has_ended.set()
    reader.join()
    assert wrong == [] and other.returncode == 0
    with closing(sqlite3.connect(path)) as record:
        assert record.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert record.execute("SELECT state, count(*) FROM runs").fetchall() == [("done", 12)]
