"""A copy of a data directory is complete, or there is none; what a data set is known by."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import SystemUnderTestError
from assay.load.copies import Copies, digest_of
from assay.load.dataset import Dataset
from assay.load.row_sources.protocol import DataRequest
from assay.provision import copying
from assay.provision.undo import ledger

MEBIBYTE = 1 << 20


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Files as servers leave them: empty ones, a sparse one, a link, folders without access for
    others."""
    folder = tmp_path / "data"
    (folder / "base" / "1").mkdir(parents=True)
    (folder / "base" / "1" / "empty").touch()
    (folder / "base" / "1" / "rows").write_bytes(os.urandom(3 * MEBIBYTE + 17))
    with (folder / "holes").open("wb") as file:
        file.truncate(8 * MEBIBYTE)
        file.seek(5 * MEBIBYTE)
        file.write(b"in the middle")
    (folder / "link").symlink_to("base/1")
    (folder / "base").chmod(0o700)
    (folder / "base" / "1" / "rows").chmod(0o640)
    os.mkfifo(folder / "pipe")
    return folder


def contents(folder: Path) -> dict[str, object]:
    """Everything below a folder by its path: bytes, a link's target, or a folder's mode."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        name, mode = str(path.relative_to(folder)), path.lstat().st_mode
        if path.is_symlink():
            found[name] = path.readlink()
        elif path.is_file():
            found[name] = (mode, path.read_bytes())
        elif path.is_dir():
            found[name] = mode
    return found


def dataset() -> Dataset:
    request = DataRequest({}, "generated", "rows of a test", "f", 3, rows_expected={"t": 3})
    return Dataset(request, {"t": 3}, 10, 1, 2, 3, 4, 5)


def test_a_copy_has_the_content_of_sparse_files_and_their_holes(data: Path, tmp_path: Path) -> None:
    copied_bytes: list[int] = []
    copied = copying.copy_directory(data, tmp_path / "copy", copied_bytes.append)
    assert contents(tmp_path / "copy") == contents(data)
    assert not (tmp_path / "copy" / "pipe").exists()
    assert copied_bytes == sorted(copied_bytes) and copied_bytes[-1] == copied.bytes
    if not copied.is_shared:
        assert (tmp_path / "copy" / "holes").stat().st_blocks * 512 < MEBIBYTE


def test_on_a_full_disk_nothing_is_copied(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_can_share", lambda *_: False)
    said = r"takes 3\.\d+ MB, and 4611686 TB stay free for the server: .* free"
    with pytest.raises(SystemUnderTestError, match=said) as caught:
        copying.copy_directory(data, tmp_path / "copy", reserve_bytes=1 << 62)
    assert "--datasets" in (caught.value.hint or "")
    assert not (tmp_path / "copy").exists()


def test_a_copy_is_found_only_by_its_facts(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    copies = Copies(tmp_path / "sets", is_kept=True)
    facts = {"format": 1, "version": "15.1", "rows": "abc"}
    assert copies.find(facts) is None
    made = copies.make(facts, data, dataset())
    assert made.folder.name == digest_of(facts)
    assert contents(made.data) == contents(data)
    found = copies.find(facts)
    assert found == made == next(iter(copies))
    assert found is not None
    assert found.dataset(dataset().request).rows == {"t": 3}
    assert copies.find({**facts, "version": "15.2"}) is None
    assert copies.make(facts, data, dataset()) == made, "who comes second finds it there"

    # A foreign file in its place is not used, and is kept.
    file = made.folder / "dataset.json"
    file.write_text(file.read_text().replace("15.1", "15.2"))
    (made.folder / "notes.txt").touch()
    assert copies.find(facts) is None
    assert list(copies) == []
    with pytest.raises(SystemUnderTestError, match="does not hold the copy"):
        copies.make(facts, data, dataset())


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (lambda rows: os.truncate(rows, 100), "base/1/rows has 100 bytes, expected 3145745"),
    "changed": (lambda rows: flip_a_bit(rows), "the content of base/1/rows has changed"),
    "gone": (lambda rows: rows.unlink(), "base/1/rows is missing"),
    "more": (lambda rows: (rows.parent / "new").touch(), "base/1/new was not there"),
    "link": (lambda rows: relink(rows.parents[2] / "link"), "the content of link has changed"),
    "list": (lambda rows: (rows.parents[3] / "files.json").write_text("{"), "files.json cannot"),
}


def flip_a_bit(file: Path) -> None:
    """Without a trace in its size or its times."""
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[2 * MEBIBYTE] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def relink(link: Path) -> None:
    link.unlink()
    link.symlink_to("elsewhere")


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_copy_is_reported_and_replaced(
    kind: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    copies = Copies(tmp_path / "sets", is_kept=True)
    made = copies.make({"format": 1}, data, dataset())
    assert made.damage() is None
    damage, message = DAMAGES[kind]
    damage(made.data / "base" / "1" / "rows")
    assert message in str(made.damage())
    again = copies.make({"format": 1}, data, dataset())
    assert again.damage() is None
    assert contents(again.data) == contents(data)
    assert [one.name for one in copies.folder.iterdir()] == [made.folder.name]


DIES_IN_THE_MIDDLE = """
import os, signal, sys
from pathlib import Path
from assay.load.copies import Copies
sys.path.insert(0, sys.argv[3])
from test_copying import dataset

def stop(done):
    os.kill(os.getpid(), signal.SIGKILL)

Copies(Path(sys.argv[2]), is_kept=True).make({"format": 1}, Path(sys.argv[1]), dataset(), stop)
"""


def test_a_killed_process_leaves_no_partial_copy(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    folder = tmp_path / "sets"
    done = subprocess.run(
        [sys.executable, "-c", DIES_IN_THE_MIDDLE, data, folder, Path(__file__).parent]
    )
    assert done.returncode == -signal.SIGKILL
    (unfinished,) = folder.iterdir()
    assert any(unfinished.rglob("*"))
    copies = Copies(folder, is_kept=True)
    assert copies.find({"format": 1}) is None
    assert list(copies) == []

    ledger.clear_leftovers()  # as the next start does
    assert list(folder.iterdir()) == []
    assert contents(copies.make({"format": 1}, data, dataset()).data) == contents(data)


def _loaded(rows: dict[str, int], load_ns: int = 100) -> Dataset:
    return Dataset(dataset().request, rows, 0, 0, load_ns, 0, 0, 4096)


def test_a_restored_copy_is_of_the_load_it_is_a_copy_of() -> None:
    loaded, restored = _loaded({"b": 1, "a": 2}), _loaded({"a": 2, "b": 1})
    assert loaded.one_load == restored.one_load
    assert loaded.one_load != _loaded({"b": 1, "a": 2}, load_ns=101).one_load
