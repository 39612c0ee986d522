"""A segment of shared memory, of System V or POSIX, is removed when its maker has ended, and never
one of others."""

from __future__ import annotations

import ctypes
import mmap
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import SHARED_MEMORY
from assay.provision.undo import ledger
from assay.provision.undo.clean_up import undone_at_end
from assay.provision.undo.resources import CannotUndo, PosixSharedMemory, SharedMemory

pytestmark = pytest.mark.slow

MAKE = """
import ctypes, sys
if ctypes.CDLL(None).shmget(int(sys.argv[1]), 4096, 0o1600) < 0:
    sys.exit("no segment")
"""


def is_there(key: int) -> bool:
    return bool(ctypes.CDLL(None).shmget(key, 0, 0) >= 0)


@pytest.fixture
def key() -> Iterator[int]:
    found = 0x5A000000 + secrets.randbits(20)
    assert not is_there(found)
    yield found
    subprocess.run(["ipcrm", "--shmem-key", hex(found)], capture_output=True, check=False)


def make_in_another_process(key: int) -> None:
    subprocess.run([sys.executable, "-c", MAKE, str(key)], check=True)


def test_it_goes_with_the_entry_of_a_maker_that_has_ended(
    key: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path))
    with undone_at_end(ledger.new_id()) as entry:
        noted = SharedMemory.of_key(key, os.getuid())
        entry.add(noted)
        make_in_another_process(key)
        assert is_there(key)
    assert not is_there(key)
    assert noted.undo("000000000000").removed == "", "there is none any longer"
    assert SharedMemory.of_document(noted.document()) == noted


def test_one_of_a_living_process_or_from_before_is_left_alone(key: int) -> None:
    noted = SharedMemory.of_key(key, os.getuid())
    later = SharedMemory(key, os.getuid(), int(time.time()) + 60)
    of_another = SharedMemory(key, os.getuid() + 1, noted.noted_unix_s)
    make_in_another_process(key)
    for other in (later, of_another):
        with pytest.raises(CannotUndo, match="another user, or was there before"):
            other.undo("000000000000")
    assert noted.undo("000000000000").removed == f"shared memory 0x{key:08x}"
    assert ctypes.CDLL(None).shmget(key, 4096, 0o1600) >= 0
    with pytest.raises(CannotUndo, match=f"process {os.getpid()}, which is not of this run"):
        noted.undo("000000000000")
    assert is_there(key)


def test_a_file_in_shared_memory_goes_with_those_whose_numbers_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path))
    program = f"assay-test-{os.getpid()}"
    first, named, of_others = (SHARED_MEMORY / f"{program}.{number}" for number in (7, 258, 259))
    for path in (first, named, of_others):
        path.write_bytes((258).to_bytes(4, sys.byteorder) * 1024 + b"odd")
    try:
        with first.open("r+b") as file, mmap.mmap(file.fileno(), 0):
            (noted,) = (
                one for one in PosixSharedMemory.mapped_by(os.getpid()) if one.path == str(first)
            )
        reused = PosixSharedMemory(noted.path, noted.inode + 1)
        assert reused.undo("000000000000").removed == "" and first.exists()
        with undone_at_end(ledger.new_id()) as entry:
            entry.add(noted)
        assert not first.exists() and not named.exists()
        assert of_others.exists()
        assert noted.undo("000000000000").removed == "", "there is none any longer"
    finally:
        for path in (first, named, of_others):
            path.unlink(missing_ok=True)
