"""A directory of a mount point on which nothing is mounted lies on another disk than is meant; and
a level that there is not is answered with the list once."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.contracts.experiment import StorageChoice
from assay.errors import ArgumentError
from assay.storages import here, mounts
from assay.storages.block.file_systems import FS

pytestmark = pytest.mark.slow

FSTAB = """\
# /dev/sda1 /commented ext4
/dev/sda2 /        ext4 defaults 0 1
/dev/sdb1 /mnt/ssd ext4 noauto   0 0
/dev/sdc1 /mnt/a\\040b xfs defaults 0 0
/dev/sdd1 /mnt/ssd/inner xfs defaults 0 0
/dev/sde1 none swap sw 0 0
"""
MOUNTED = """\
21 1 8:2 / / rw - ext4 /dev/sda2 rw
22 21 8:5 / /mnt/ssd/inner rw - xfs /dev/sdd1 rw
"""


@pytest.mark.parametrize(
    ("path", "point"),
    [
        ("/mnt/ssd", "/mnt/ssd"),
        ("/mnt/ssd/data", "/mnt/ssd"),
        ("/mnt/ssd/inner/data", None),
        ("/mnt/a b", "/mnt/a b"),
        ("/mnt/ssd2", None),
        ("/commented", None),
        ("/srv", None),
    ],
)
def test_the_innermost_mount_point_counts(path: str, point: str | None) -> None:
    found = mounts.unmounted_point(Path(path), FSTAB, MOUNTED)
    assert found == (None if point is None else Path(point))


def test_a_storage_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "fstab"
    table.write_text(f"/dev/sdb1 {tmp_path} ext4 noauto 0 0\n")
    choice = StorageChoice("ssd", "here", str(tmp_path))
    here.HERE.check(choice)
    monkeypatch.setattr(mounts, "FSTAB", table)
    with pytest.raises(ArgumentError, match=r"is a mount point in .*nothing is mounted there"):
        here.HERE.check(choice)


@pytest.mark.parametrize(("word", "hint"), [("xsf", "did you mean 'xfs'?"), ("foo", None)])
def test_the_list_of_levels_is_printed_once(word: str, hint: str | None) -> None:
    with pytest.raises(ArgumentError) as raised:
        FS.level(word, "loop")
    assert raised.value.message.startswith("fs of loop: expected ext2, ")
    assert raised.value.hint == hint
