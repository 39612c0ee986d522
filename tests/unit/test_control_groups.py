"""Control groups of both versions are found; limits of a device are written as each has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import StorageUnavailable
from assay.provision import control_groups
from assay.provision.control_groups import Controller
from assay.storages.block import io_limits


def machine(folder: Path, mounts: str, own_groups: str) -> dict[str, Path]:
    """The files in which the kernel lists its control groups."""
    (folder / "mounts").write_text(mounts.replace("ROOT", str(folder)))
    (folder / "own").write_text(own_groups)
    return {"mounts": folder / "mounts", "own_groups": folder / "own"}


def test_version_1_is_found_with_the_group_that_we_are_in(tmp_path: Path) -> None:
    (tmp_path / "blkio" / "a box").mkdir(parents=True)
    mounts = (
        "tmpfs ROOT tmpfs rw 0 0\n"
        "cgroup ROOT/memory cgroup rw,memory 0 0\n"
        "cgroup ROOT/blkio cgroup rw,noexec,blkio 0 0\n"
        "cgroup2 ROOT/unified cgroup2 rw 0 0\n"
    )
    for own, expected in (("/a box", "blkio/a box"), ("/", "blkio"), ("/gone", "blkio")):
        files = machine(tmp_path, mounts, f"8:pids:/x\n7:blkio:{own}\n0::/\n")
        found = control_groups.find(("blkio", "io"), **files)
        assert found == Controller("blkio", 1, tmp_path / expected)


def test_version_2_is_found_where_it_has_the_controller(tmp_path: Path) -> None:
    files = machine(tmp_path, "cgroup2 ROOT cgroup2 rw 0 0\n", "0::/user.slice\n")
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu memory\n")
    assert control_groups.find(("blkio", "io"), **files) is None
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory\n")
    found = control_groups.find(("blkio", "io"), **files)
    assert found == Controller("io", 2, tmp_path)


def test_limits_are_written_as_each_version_has_them(tmp_path: Path) -> None:
    limits = {"read_iops": 150, "write_bps": 20 << 20}
    io_limits.apply(Controller("blkio", 1, tmp_path), tmp_path, "7:3", limits)
    assert (tmp_path / "blkio.throttle.read_iops_device").read_text() == "7:3 150"
    assert (tmp_path / "blkio.throttle.write_bps_device").read_text() == "7:3 20971520"
    assert not (tmp_path / "blkio.throttle.write_iops_device").exists()
    io_limits.apply(Controller("io", 2, tmp_path), tmp_path, "7:3", limits)
    assert (tmp_path / "io.max").read_text() == "7:3 riops=150 wbps=20971520"
    with pytest.raises(StorageUnavailable, match="cannot be written"):
        io_limits.apply(Controller("io", 2, tmp_path), tmp_path / "gone", "7:3", limits)
