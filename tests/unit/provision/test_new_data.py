"""New data directories: copied where the same program made the same before, with what it had."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.protocol import ServerDirectory
from assay.env_vars import NEW_DATA
from assay.provision.disk import new_data

Directories = Callable[[], ServerDirectory]


@pytest.fixture
def directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Directories:
    """A directory for each server; what they make is kept."""
    monkeypatch.setenv(NEW_DATA.name, str(tmp_path / "kept"))

    def made() -> ServerDirectory:
        root = tmp_path / f"server-{len(list(tmp_path.glob('server-*')))}"
        root.mkdir()
        return ServerDirectory(root, root / "data", root, StorageFacts("here", "here", str(root)))

    return made


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "initdb"
    path.write_text("version 1")
    return path


def filled(directory: ServerDirectory, program: Path, word: str = "on") -> bool:
    def make() -> None:
        (directory.data / "base").mkdir(parents=True)
        (directory.data / "base" / "made-for").write_text(directory.root.name)
        with (directory.data / "log").open("wb") as log:
            log.truncate(1 << 20)

    is_copy = new_data.fill(directory, program, [word], make)
    assert (directory.data / "log").stat().st_size == 1 << 20
    return is_copy


def test_the_same_program_with_the_same_words_makes_it_once(
    directories: Directories, program: Path
) -> None:
    one, two, three = (directories() for _ in range(3))
    assert [filled(directory, program) for directory in (one, two)] == [False, True]
    assert (two.data / "base" / "made-for").read_text() == one.root.name
    (two.data / "base" / "made-for").write_text("written by a server")
    assert filled(three, program)
    assert (three.data / "base" / "made-for").read_text() == one.root.name
    assert not filled(directories(), program, "off")
    program.write_text("version 2, of another size")
    assert not filled(directories(), program)


def test_nothing_is_kept_where_a_part_is_elsewhere_or_memory_is_limited(
    directories: Directories, program: Path, tmp_path: Path
) -> None:
    filled(directories(), program)
    for elsewhere in (
        {"log": tmp_path},
        {"raw_device": tmp_path},
        {"control_groups": (tmp_path,)},
    ):
        assert not filled(replace(directories(), **elsewhere), program)


def test_what_cannot_be_copied_or_kept_is_made(
    directories: Directories, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(directories(), program)
    (kept,) = (tmp_path / "kept").iterdir()
    (kept / "log").unlink()
    (kept / "log").symlink_to("/nonexistent/a/file")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "symlink_to", _refused)
        assert not filled(directories(), program)
    monkeypatch.setenv(NEW_DATA.name, "/proc/cannot-be-made")
    assert not filled(directories(), program)


def _refused(*_: object) -> None:
    raise OSError("no links here")


def test_room_that_was_allocated_stays_allocated(directories: Directories, program: Path) -> None:
    """A log that its server has allocated, and not written yet, is no hole in a copy."""

    def made(directory: ServerDirectory) -> int:
        def make() -> None:
            directory.data.mkdir()
            with (directory.data / "log").open("wb") as log:
                os.posix_fallocate(log.fileno(), 0, 1 << 20)

        new_data.fill(directory, program, [], make)
        return (directory.data / "log").stat().st_blocks

    assert made(directories()) == made(directories()) == (1 << 20) // 512
