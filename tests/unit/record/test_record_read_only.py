"""Reading a record changes nothing, and needs only permission to read."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import invented_records as invented
from assay.errors import ArgumentError, SystemUnderTestError
from assay.record import Store
from assay.record.file import record_file, schema

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that `close_folder` makes read-only: for root by a mount."""
    folder = tmp_path / "folder"
    folder.mkdir()
    is_mount = os.geteuid() == 0
    if is_mount:
        done = subprocess.run(["mount", "-t", "tmpfs", "none", folder], capture_output=True)
        if done.returncode:
            pytest.skip("root may write everywhere, and nothing can be mounted here")
    yield folder
    if is_mount:
        subprocess.run(["umount", folder], check=True)
    else:
        folder.chmod(0o755)


def close_folder(folder: Path) -> None:
    if os.geteuid() == 0:
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    else:
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)


def states(path: Path) -> list[str]:
    with Store(path, must_exist=True) as store:
        assert store.latest().runs[0].driven is not None
        return [run.state for run in store.runs()]


def test_a_record_in_a_folder_we_may_not_write_in_is_read(folder: Path) -> None:
    path = folder / "r ?#%.sqlite"
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    close_folder(folder)
    assert states(path) == ["done"]
    assert [file.name for file in folder.iterdir()] == [path.name]


def test_the_log_of_a_killed_writer_is_read_too(folder: Path, tmp_path: Path) -> None:
    live = tmp_path / "live.sqlite"
    with Store(live) as store:
        planned = invented.plan([invented.SQLITE])
        store.begin_experiment(planned.experiment, planned, invented.FACTS)
        invented.write_run(store, planned.runs[0], invented.S)
        for ending in ("", "-wal"):
            shutil.copyfile(f"{live}{ending}", folder / f"r.sqlite{ending}")
        store.end_experiment()
    assert (folder / "r.sqlite-wal").stat().st_size > 0
    close_folder(folder)
    assert states(folder / "r.sqlite") == ["done"]


def test_an_older_record_is_read_and_stays_as_old_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "r.sqlite"
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    later = [*schema.migrations(), ["ALTER TABLE runs ADD COLUMN note TEXT"]]
    monkeypatch.setattr(schema, "migrations", lambda: later)
    before = path.read_bytes()
    for is_closed in (False, True):
        if is_closed:
            close_folder(folder)
        assert states(path) == ["done"]
        assert path.read_bytes() == before


def test_an_unreadable_record_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="cannot be read: Is a directory"):
        Store(tmp_path, must_exist=True)
    file = tmp_path / "notes.txt"
    file.write_text("no database " * 100)
    with pytest.raises(ArgumentError, match="expected a record file that can be read"):
        Store(file, must_exist=True)
    empty = tmp_path / "empty"
    empty.touch()
    with Store(empty, must_exist=True) as store:
        assert store.runs() == []
    assert empty.read_bytes() == b""


def test_a_record_that_is_locked_even_to_readers_is_not_read_past_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_file, "_READERS_TIMEOUT_S", 0.1)
    path = tmp_path / "r.sqlite"
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SystemUnderTestError, match="is locked by another process"):
        Store(path, must_exist=True)
    other.close()


def test_a_record_that_was_read_while_it_was_read_only_can_be_written_later() -> None:
    """By its owner, who is not root: SQLite makes its log with the mode of the record."""
    closed = [one for one in Path(schema.__file__).parents if not one.stat().st_mode & 0o001]
    if closed and os.geteuid() == 0:
        pytest.skip(f"Assay's own files are in {closed[-1]}, which only root may enter")
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name, "r.sqlite")
        invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
        path.chmod(0o444)
        for owned in (folder, path):
            os.chown(owned, *((_USER, _USER) if os.geteuid() == 0 else (-1, -1)))

        def read_then_write() -> None:
            assert states(path) == ["done"]
            path.chmod(0o644)
            invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)

        assert _as_a_user(read_then_write) == 0


_USER = 65534


def _as_a_user(work: Callable[[], None]) -> int:
    """The exit status of a process that does the work, not as root."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(_USER)
            os.setuid(_USER)
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
