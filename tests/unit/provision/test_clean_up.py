"""Resources of every kind are undone in reverse order, in every way that a program can end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest

from assay.errors import SystemUnderTestError
from assay.load.bibsql import beebe
from assay.provision.undo import ledger
from assay.provision.undo.ledger import KINDS, clear_leftovers, undone_at_end
from assay.provision.undo.resources import (
    CannotUndo,
    ControlGroup,
    Directory,
    EmptyDirectory,
    Mount,
    Resource,
    SharedMemory,
    TaggedProcesses,
    Undone,
    is_mounted,
)
from assay.record import Store
from assay.storages.file_systems import FILE_SYSTEMS
from block_devices import HAS_LOOP_DEVICES, MAY_MOUNT
from own_device import own_device
from programs import UNSHARE

pytestmark = pytest.mark.slow
IS_ROOT = os.geteuid() == 0
GROUPS = [path for path in map(Path, ("/sys/fs/cgroup/pids", "/sys/fs/cgroup")) if path.is_dir()]
HAS_GROUPS = IS_ROOT and bool(GROUPS) and os.access(GROUPS[0], os.W_OK)
CAN_FORMAT = HAS_LOOP_DEVICES and FILE_SYSTEMS["ext4"].make.find() is not None


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    yield
    assert list(ledger.state_directory().iterdir()) == [], "nothing is noted any longer"


class Noting(Resource, frozen=True):
    """Notes in a list that it is undone."""

    kind = "noting"
    name: str
    undone: list[str]
    reason: str = ""

    def undo(self, identity: str) -> Undone:
        del identity
        self.undone.append(self.name)
        if self.reason and self.undone.count(self.name) == 1:
            raise CannotUndo(self.reason)
        return Undone(self.name)

    def __str__(self) -> str:
        return self.name


@pytest.mark.parametrize("end", [None, SystemUnderTestError("it fails"), KeyboardInterrupt()])
def test_resources_are_undone_in_reverse_order_however_the_block_ends(
    end: BaseException | None,
) -> None:
    undone: list[str] = []
    ends = pytest.raises(type(end)) if end else nullcontext()
    with ends, undone_at_end(ledger.new_id()) as entry:
        for name in ("directory", "mount", "server"):
            entry.add(Noting(name, undone))
        entry.drop(Noting("mount", undone))
        if end is not None:
            raise end
    assert undone == ["server", "directory"]


def test_a_resource_that_cannot_be_undone_is_reported_and_the_others_are_undone() -> None:
    undone: list[str] = []
    fails = pytest.raises(SystemUnderTestError, match="could not remove mount: busy")
    with fails, undone_at_end(ledger.new_id()) as entry:
        for name, reason in (("directory", ""), ("mount", "busy"), ("server", "")):
            entry.add(Noting(name, undone, reason))
    assert undone == ["server", "mount", "directory"]
    for left in ledger.state_directory().iterdir():
        left.unlink()
    entry.remove()


_RUN = """
import sys
import time
from assay.cli.program import run_program
from assay.provision.undo import resources

resources._IN_USE_TIMEOUT_S = 0.2
sys.exit(run_program(sys.argv[1:]))
"""


@pytest.mark.skipif(not MAY_MOUNT, reason="only root mounts")
def test_a_storage_that_is_busy_at_its_end_does_not_stop_the_experiment(tmp_path: Path) -> None:
    """The next command removes it, and does not say that a process was killed."""
    waits = "\\shell until test -e opened; do sleep 0.1; done\nSELECT 1;\n"
    (tmp_path / "one.sql").write_text(waits)
    storages = ["--storage", "tmpfs,here", "--no-probe", "--allow-shell"]
    words = [sys.executable, "-c", _RUN, "run", "one.sql", "--on", "sqlite", *storages]
    options = ["--transactions", "1"]
    with subprocess.Popen(
        [*words, *options], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as first:
        while first.poll() is None and not (mounted := _tmpfs_of(first.pid)):
            time.sleep(0.001)
        user = os.open(mounted[0], os.O_RDONLY)
        (tmp_path / "opened").touch()
        _, said = first.communicate()
    os.close(user)
    assert first.returncode == 0, said
    assert f"could not remove {mounted[0]}" in said
    with Store(tmp_path / "assay-records.sqlite", must_exist=True) as store:
        assert [(run.storage, run.state) for run in store.runs()] == [
            ("tmpfs", "done"), ("here", "done"),
        ]  # fmt: skip
    second = subprocess.run([*words, *options], cwd=tmp_path, capture_output=True, text=True)
    assert f"process {first.pid} of an earlier assay command could not remove" in second.stderr
    assert f"removed {mounted[0]}" in second.stderr
    assert not Path(mounted[0]).exists()


def _tmpfs_of(process_id: int) -> list[str]:
    """The mount points that a process has noted and made."""
    return [
        resource["path"]
        for entry in ledger.state_directory().glob("*.json")
        if (document := json.loads(entry.read_text()))["owner_pid"] == process_id
        for resource in document["resources"]
        if resource["kind"] == "mount" and is_mounted(Path(resource["path"]))
    ]


def test_every_kind_of_resource_is_written_and_read_back(tmp_path: Path) -> None:
    def one_of(kind: type[Resource]) -> Resource:
        of_type = {"str": str(tmp_path / "x"), "int": 7}
        fields = kind.__annotations__
        return kind(**{name: of_type[one] for name, one in fields.items() if one in of_type})

    for name, kind in KINDS.items():
        made = one_of(kind)
        document = made.document()
        assert document["kind"] == name
        assert KINDS[name].of_document(document) == made
        if not isinstance(made, TaggedProcesses | EmptyDirectory | SharedMemory):
            with pytest.raises(CannotUndo, match="that Assay made"):
                made.undo(ledger.new_id())


def test_a_directory_on_which_a_file_system_is_mounted_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = ledger.new_id()
    folder = tmp_path / f"assay {identity}"
    (folder / "within").mkdir(parents=True)
    monkeypatch.setattr(
        "assay.provision.undo.resources.mounted_within", lambda path: [path / "within"]
    )
    with pytest.raises(CannotUndo, match="a file system is mounted at"):
        Directory(str(folder)).undo(identity)
    assert (folder / "within").is_dir()


@pytest.mark.skipif(not MAY_MOUNT, reason="only root mounts")
def test_a_directory_goes_with_a_file_system_of_assay_that_has_failed(tmp_path: Path) -> None:
    storage, server = ledger.new_id(), ledger.new_id()
    point = tmp_path / f"data-{storage}"
    directory = point / f"assay-{server}"
    with undone_at_end(storage) as entry:
        point.mkdir()
        entry.add(Mount(str(point)))
        subprocess.run(["mount", "-t", "tmpfs", "none", point], check=True)
        assert ledger.mount_of(point) == ledger.mount_of(directory) == point
        assert ledger.mount_of(tmp_path) is None
        directory.mkdir()
        (directory / "file").touch()
        # As ext4 does after an error of its disk.
        subprocess.run(["mount", "-o", "remount,ro", point], check=True)
        with pytest.raises(CannotUndo, match="Read-only file system"):
            Directory(str(directory)).undo(server)
        with undone_at_end(server) as on_it:
            on_it.add(Directory(str(directory), str(ledger.mount_of(point))))
    assert not point.exists()


@pytest.mark.skipif(not MAY_MOUNT, reason="only root can mount")
def test_mounts_are_found_whatever_their_path(tmp_path: Path) -> None:
    identity = ledger.new_id()
    folder = tmp_path / f"a blank and a \\ {identity}"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "assay", str(folder)], check=True)
    try:
        with pytest.raises(CannotUndo, match="is mounted at"):
            Directory(str(folder)).undo(identity)
    finally:
        assert Mount(str(folder)).undo(identity).removed == str(folder)
    assert not folder.exists()


# A program that notes and makes something, says so, and waits to be killed.
_MAKER = """
import os, subprocess, sys, time
from pathlib import Path
from assay.provision.machine import process_table
from assay.provision.undo import ledger
from assay.provision.undo.ledger import undone_at_end
from assay.provision.undo.block_device import *
from assay.provision.undo.resources import *

identity = ledger.new_id()
with undone_at_end(identity) as entry:
    {work}
    print(identity, flush=True)
    time.sleep(1000)
"""


def killed(work: str) -> str:
    """The identity of an entry whose maker did ``work`` and was killed with SIGKILL."""
    program = _MAKER.replace("{work}", work.strip().replace("\n", "\n    "))
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        identity = child.stdout.readline().strip()
        child.kill()
    assert identity, "the program could not make it"
    return identity


@pytest.mark.skipif(not HAS_GROUPS, reason="only root makes control groups")
def test_a_control_group_of_a_killed_assay_goes_with_its_processes() -> None:
    identity = killed(f"""
group = Path({str(GROUPS[0])!r}, "assay-" + identity)
entry.add(ControlGroup(str(group)))
(group / "within").mkdir(parents=True)
entry.add(TaggedProcesses())
tagged = dict(os.environ, **{{process_table.TAG_VARIABLE: identity}})
server = subprocess.Popen(["sleep", "1000"], env=tagged, start_new_session=True)
(group / "within" / "cgroup.procs").write_text(str(server.pid))
""")
    group = GROUPS[0] / f"assay-{identity}"
    assert (group / "within" / "cgroup.procs").read_text().split()
    (cleared,) = clear_leftovers()
    assert (cleared.processes, cleared.removed, cleared.remaining) == (1, [str(group)], [])
    assert not group.exists()


@pytest.mark.skipif(not HAS_GROUPS, reason="only root makes control groups")
def test_a_control_group_with_a_process_that_is_not_ours_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.provision.undo.resources._IN_USE_TIMEOUT_S", 0.1)
    identity = ledger.new_id()
    group = GROUPS[0] / f"assay-{identity}"
    group.mkdir()
    with subprocess.Popen(["sleep", "1000"]) as stranger:
        try:
            (group / "cgroup.procs").write_text(str(stranger.pid))
            with pytest.raises(CannotUndo, match=f"holds process {stranger.pid}"):
                ControlGroup(str(group)).undo(identity)
            assert stranger.poll() is None
        finally:
            stranger.kill()
            stranger.wait()
            ControlGroup(str(group)).undo(identity)
    assert not group.exists()


def test_an_unfinished_package_of_a_killed_process_is_removed_and_finished_ones_stay(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "beebe"
    folder.mkdir()
    (folder / "finished.bib").write_text("@book{a}")
    killed(f"""
package = UnfinishedPackage.within(Path({str(folder)!r}), identity)
entry.add(package)
Path(package.path).mkdir()
Path(package.path, "half.bib").write_text("@bo")
""")
    assert len(list(folder.iterdir())) == 2
    (cleared,) = clear_leftovers()
    assert len(cleared.removed) == 1
    assert [path.name for path in folder.iterdir()] == ["finished.bib"]


def test_an_interrupted_download_of_bibliographies_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(_wanted: object, to: Path, _tell: object) -> None:
        (to / "half.bib").write_text("@bo")
        raise KeyboardInterrupt

    monkeypatch.setattr(beebe, "_fetch", half)
    with pytest.raises(KeyboardInterrupt):
        beebe.get(tmp_path / "beebe")
    assert list((tmp_path / "beebe").iterdir()) == []


@pytest.mark.skipif(
    not CAN_FORMAT or UNSHARE.find() is None, reason="needs loop devices and unshare"
)
def test_a_copy_of_the_mount_in_another_namespace_does_not_hold_the_device() -> None:
    with ExitStack() as ended:
        with own_device(size_bytes=64 << 20) as storage:
            words = ["unshare", "--mount", "sh", "-c", "echo begun; exec sleep 60"]
            other = ended.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE))
            ended.callback(other.kill)
            assert other.stdout is not None and other.stdout.readline() == b"begun\n"
        assert other.poll() is None
        assert not Path(f"/sys/block/{Path(storage.device or '').name}/loop").exists()
