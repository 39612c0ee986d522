"""An output file is complete or absent, and the old file is kept until then."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from assay.errors import InputError, SystemUnderTestError
from assay.text.files import output_file


def write(file: Path, text: str = "new", *, force: bool = False) -> None:
    with output_file.written(file, force=force) as descriptor:
        os.write(descriptor, text.encode())
        assert not file.exists() or file.read_text() != text, "it appears when it is complete"


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.fixture(params=["without a name", "hidden"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of writing a file that appears when it is complete."""
    if request.param == "hidden":
        monkeypatch.setattr(output_file, "_DESCRIPTORS", Path("/nothing/like/this"))


@pytest.mark.usefixtures("kind")
def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "x")
    finally:
        os.umask(before)
    assert (tmp_path / "x").read_text() == "new"
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["x"]


@pytest.mark.usefixtures("kind")
def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    for file in (tmp_path / "old", tmp_path / "new"):
        with pytest.raises(ZeroDivisionError), output_file.written(file, force=True) as opened:
            os.write(opened, b"half")
            raise ZeroDivisionError
    assert names(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "old"


@pytest.mark.usefixtures("kind")
def test_force_replaces_and_keeps_mode_and_link(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o604)
    link.symlink_to("file")
    with pytest.raises(InputError, match="already exists"):
        write(link)
    write(link, force=True)
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o604
    assert link.is_symlink()
    assert names(tmp_path) == ["file", "link"]


@pytest.mark.usefixtures("kind")
def test_a_file_created_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with (
        pytest.raises(InputError, match="already exists"),
        output_file.written(file, force=False),
    ):
        file.write_text("of somebody else")
    assert file.read_text() == "of somebody else"
    assert names(tmp_path) == ["file"]


def test_a_full_disk_is_reported(tmp_path: Path) -> None:
    with (
        pytest.raises(SystemUnderTestError, match="No space left"),
        output_file.written(tmp_path / "x", force=False),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(InputError, match="found a folder"):
        write(tmp_path)
    with pytest.raises(InputError, match="cannot be written: No such file"):
        write(tmp_path / "none" / "x")
    assert names(tmp_path) == []


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with output_file.written(pipe, force=False) as descriptor:
        os.write(descriptor, b"text")
    reader.join(30)
    assert read == [b"text"]
    with output_file.written(os.devnull, force=False) as descriptor:
        os.write(descriptor, b"text")


def test_a_program_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import os, signal\nfrom assay.text.files import output_file\n"
        "with output_file.written('x', force=False) as descriptor:\n"
        "    os.write(descriptor, b'half')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    if not hasattr(os, "O_TMPFILE") or not _knows_nameless_files(tmp_path):
        pytest.skip("this file system knows no files without names")
    assert names(tmp_path) == []


def _knows_nameless_files(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True
