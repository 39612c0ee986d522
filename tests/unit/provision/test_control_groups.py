"""The groups in which ours are made are found, all limits of a server are set on the same, and what
it may do is confined."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages.protocol import GroupLimit
from assay.errors import MachineLimit
from assay.experiment import ServerMachine
from assay.provision import directory as control_groups
from assay.provision import limits, processes
from assay.provision.directory import server_directory
from assay.provision.limits import Parent, limits_of_server, parent_groups, refuse_impossible_limits
from assay.provision.undo import ledger
from assay.record.machines import machine as facts_of_machine
from assay.storages import throttled

pytestmark = pytest.mark.usefixtures("_own_state")
MB = 1 << 20
LIMITS = (
    *limits_of_server(ServerMachine(memory_bytes=64 * MB, cpus=0.5)),
    throttled.group_limit("7:3", {"read_iops": 150, "write_bps": 20 * MB}),
)
VERSION_2_ALONE = "30 23 0:26 / ROOT rw - cgroup2 cgroup2 rw,nsdelegate\n"


class Machine:
    """The files in which the kernel shows its control groups."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.tree = folder / "tree"
        self.tree.mkdir()
        self._mounts, self._own = folder / "mountinfo", folder / "own"
        patch.setattr(limits, "MOUNT_TABLE", self._mounts)
        patch.setattr(limits, "_OWN", self._own)

    def shows(self, mounts: str, own: str) -> None:
        self._mounts.write_text(mounts.replace("ROOT", str(self.tree)))
        self._own.write_text(own)

    def group(self, path: str, files: Mapping[str, str]) -> Path:
        folder = self.tree / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / f"cgroup.{name}").write_text(text)
        return folder


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_version_1_is_found_with_the_group_that_we_are_in(machine: Machine) -> None:
    for path in ("blkio/a box", "memory/ours", "memory/ours2", "cpu,cpuacct"):
        machine.group(path, {})
    mounts = (
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
        "32 31 0:29 / ROOT/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "35 31 0:32 /docker/1f ROOT/memory rw - cgroup cgroup rw,memory\n"
        "38 31 0:35 / ROOT/blkio rw,noexec shared:2 - cgroup cgroup rw,blkio\n"
        "41 31 0:38 / ROOT/unified rw - cgroup2 cgroup2 rw\n"
    )
    for box, expected in (("/a box", "blkio/a box"), ("/", "blkio"), ("/gone", "blkio")):
        own = f"8:pids:/x\n7:blkio:{box}\n4:memory:/docker/1f/ours\n1:cpu,cpuacct:/\n0::/\n"
        machine.shows(mounts, own)
        assert parent_groups(["io", "memory", "cpu"]) == {
            "io": Parent(1, machine.tree / expected),
            "memory": Parent(1, machine.tree / "memory/ours"),
            "cpu": Parent(1, machine.tree / "cpu,cpuacct"),
        }
    machine.shows(mounts, "4:memory:/docker/1fours2\n")
    assert parent_groups(["memory"]) == {"memory": Parent(1, machine.tree / "memory")}


def test_version_2_has_one_group_for_all_controllers(machine: Machine) -> None:
    """As systemd lays them out: our own group and those around it pass on different ones."""
    machine.group("", {"controllers": "cpu io memory pids", "subtree_control": "cpu memory"})
    machine.group(
        "user.slice",
        {"controllers": "cpu memory", "subtree_control": "memory", "procs": "", "type": "domain"},
    )
    machine.group(
        "user.slice/session.scope",
        {"controllers": "memory", "subtree_control": "", "procs": "1\n2\n", "type": "domain"},
    )
    machine.shows(VERSION_2_ALONE, "0::/user.slice/session.scope\n")
    assert parent_groups(["memory"]) == {"memory": Parent(2, machine.tree / "user.slice")}
    assert parent_groups(["memory", "cpu"]) == dict.fromkeys(
        ("memory", "cpu"), Parent(2, machine.tree)
    )
    at_root = Parent(2, machine.tree, enable=("io",))
    assert parent_groups(["memory", "io"]) == {"memory": at_root, "io": at_root}
    with pytest.raises(MachineLimit, match="no control groups with the controller 'rdma'"):
        parent_groups(["memory", "rdma"])


def test_a_group_that_holds_processes_itself_passes_no_controllers_on(machine: Machine) -> None:
    shown = {"controllers": "cpu io memory", "subtree_control": "", "type": "domain"}
    machine.group("", {**shown, "procs": "1\n"})
    machine.shows(VERSION_2_ALONE, "0::/\n")
    with pytest.raises(
        MachineLimit, match=r"can limit io and memory: each has processes of its own"
    ):
        parent_groups(["memory", "io"])
    machine.group("", {**shown, "procs": ""})
    assert parent_groups(["memory"]) == {"memory": Parent(2, machine.tree, enable=("memory",))}


VERSION_1_OF_A_BOX = (
    "33 31 0:30 / ROOT/cpu rw - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / ROOT/memory rw - cgroup cgroup rw,memory\n"
)


@pytest.mark.parametrize(
    ("mounts", "own", "files"),
    [
        (
            VERSION_1_OF_A_BOX, "4:memory:/box/ours\n1:cpu:/box\n",
            {
                "memory/memory.limit_in_bytes": "9223372036854771712",
                "memory/box/memory.limit_in_bytes": str(256 * MB),
                "memory/box/ours/memory.limit_in_bytes": str(512 * MB),
                "cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000",
                "cpu/box/cpu.cfs_quota_us": "20000", "cpu/box/cpu.cfs_period_us": "100000",
            },
        ),
        (
            VERSION_2_ALONE, "0::/box/ours\n",
            {
                "box/memory.max": str(256 * MB), "box/cpu.max": "20000 100000",
                "box/ours/memory.max": "max", "box/ours/cpu.max": "max 100000",
            },
        ),
    ],
    ids=["version 1", "version 2"],
)  # fmt: skip
def test_the_lowest_limit_around_us_is_a_fact_of_the_machine(
    machine: Machine, mounts: str, own: str, files: Mapping[str, str]
) -> None:
    for name, text in files.items():
        file = machine.tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    machine.group("", {"controllers": "cpu memory", "subtree_control": "cpu memory"})
    machine.shows(mounts, own)
    facts = facts_of_machine()
    assert (facts["processors_limit"], facts["memory_limit_bytes"]) == (0.2, 256 * MB)
    with pytest.raises(MachineLimit, match=r"this machine has 256 MiB"):
        refuse_impossible_limits(ServerMachine(memory_bytes=512 * MB))


def test_the_affinity_of_assay_is_a_fact_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {8, 0, 2, 1})
    facts = facts_of_machine()
    assert (facts["processors_usable"], facts["affinity"]) == (4, "0-2,8")


def _made(machine: Machine) -> dict[str, dict[str, str]]:
    """The files of each group that is made for all limits."""
    entry = ledger.new_entry(ledger.new_id())
    try:
        for group in control_groups.make_control_groups(entry, LIMITS):
            assert group.name == f"assay-{entry.entry.id}"
        noted = [str(resource) for resource in entry.entry.resources]
        found = {}
        for group in map(Path, noted):
            files = {file.name: file.read_text() for file in sorted(group.iterdir())}
            found[str(group.parent.relative_to(machine.tree))] = files
        return found
    finally:
        entry.remove()


def test_all_limits_of_version_2_are_set_on_one_group(machine: Machine) -> None:
    root = machine.group("", {"controllers": "cpu io memory", "subtree_control": "cpu memory"})
    machine.shows(VERSION_2_ALONE, "0::/\n")
    assert _made(machine) == {
        ".": {
            "cpu.max": "50000 100000",
            "io.max": "7:3 riops=150 wbps=20971520",
            "memory.max": "67108864",  # this kernel does not count swap: no memory.swap.max
        }
    }
    assert (root / "cgroup.subtree_control").read_text() == "+io"


def test_limits_of_version_1_are_set_on_a_group_of_each_controller(machine: Machine) -> None:
    mounts = ""
    for name in ("blkio", "cpu", "memory"):
        machine.group(name, {})
        mounts += f"32 31 0:29 / ROOT/{name} rw - cgroup cgroup rw,{name}\n"
    machine.shows(mounts, "3:blkio:/\n2:cpu:/\n1:memory:/\n")
    assert _made(machine) == {
        "blkio": {
            "blkio.throttle.read_iops_device": "7:3 150",
            "blkio.throttle.write_bps_device": "7:3 20971520",
        },
        "cpu": {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"},
        "memory": {"memory.limit_in_bytes": "67108864"},
    }


HUGE_PAGES = GroupLimit(
    "hugetlb",
    version_1=(("hugetlb.2MB.limit_in_bytes", "0"),),
    version_2=(("hugetlb.2MB.max", "0"),),
)
"""A controller that little else uses: it is with version 2 where all others are with version 1."""


def test_a_program_is_in_the_group_of_this_kernels_version_2() -> None:
    try:
        parent = parent_groups([HUGE_PAGES.controller])[HUGE_PAGES.controller]
    except MachineLimit as error:
        pytest.skip(error.message)
    if parent.version == 1 or not (parent.folder / "cgroup.subtree_control").is_file():
        pytest.skip("this machine has the controller hugetlb in version 1")
    place = Path(f"/var/tmp/assay-group-test-{os.getpid()}")
    place.mkdir(mode=0o755)
    try:
        facts = StorageFacts("here", "here", str(place))
        with server_directory(facts, group_limits=(HUGE_PAGES,)) as directory:
            (group,) = directory.control_groups
            assert group.parent == parent.folder
            assert (group / "hugetlb.2MB.max").read_text() == "0\n"
            said = processes.run_program(["sh", "-c", "cat /proc/self/cgroup; id -u"], directory)
            assert f"0::/{group.name}\n" in said or f"/{group.name}\n" in said
            assert said.endswith(f"{directory.run.stat().st_uid}\n")
        assert not group.exists()
    finally:
        place.rmdir()  # also asserts that everything in it was removed
        for controller in parent.enable:
            (parent.folder / "cgroup.subtree_control").write_text(f"-{controller}")


BEGIN = """
import os, socket, sys
from pathlib import Path
from assay.errors import SystemUnderTestError
from assay.provision import confinement
from assay.provision.engine.engine_calls import ConfinedThread, once
own, outside = map(Path, sys.argv[1:])
try:
    confinement.begin(needs_network=False, readable=())
except SystemUnderTestError as error:
    sys.exit(f"cannot: {error.message}")
if confinement.user():
    os.chown(own, *confinement.user())
"""


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder in which all users may write."""
    with tempfile.TemporaryDirectory(prefix="assay-outside-", dir="/var/tmp") as name:
        Path(name).chmod(0o777)
        (Path(name) / "secret").write_text("x")
        (Path(name) / "secret").chmod(0o644)
        yield Path(name)


@pytest.fixture
def own() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="assay-own-", dir="/var/tmp") as name:
        yield Path(name)


def tried(text: str, own: Path, outside: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + text, str(own), str(outside)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.stderr.startswith("cannot: "):
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_thread_reaches_its_own_directories_alone(own: Path, outside: Path) -> None:
    text = """
def attempt(work):
    try:
        work()
    except OSError as error:
        return type(error).__name__
    return "done"

def work():
    return [
        attempt(lambda: (outside / "made").write_text("x")),
        attempt(lambda: (outside / "secret").read_text()),
        attempt(lambda: os.truncate(outside / "secret", 0)),
        attempt(lambda: (own / "made").write_text("x")),
        attempt(lambda: socket.socket().connect(("192.0.2.1", 9))),
        "program" if os.system(f"touch {outside}/made 2>/dev/null") == 0 else "none",
        "root" if os.geteuid() == 0 else "user",
    ]

with confinement.allowed(own):
    print(*once(lambda thread: work()))
print("root" if os.geteuid() == 0 else "user", attempt(lambda: (outside / "ours").write_text("x")))
"""
    *of_thread, who, ours = tried(text, own, outside)
    refused = "PermissionError"
    assert of_thread == [refused, refused, refused, "done", "OSError", "none", "user"]
    assert sorted(one.name for one in outside.iterdir()) == ["ours", "secret"]
    assert ours == "done", "the process itself keeps its rights"
    assert who in ("root", "user")


def test_what_the_engine_calls_back_has_the_rights_of_who_waits(own: Path, outside: Path) -> None:
    text = """
def rows():
    yield [os.geteuid()]
    (outside / "by-callback").write_text("x")
    yield [(outside / "secret").read_text()]

thread = ConfinedThread()
print(*(cell for row in thread.call(lambda: list(thread.relayed_rows(rows()))) for cell in row))
try:
    thread.call(lambda: thread.relayed(lambda: 1 / 0)())
except ZeroDivisionError:
    print("raised")
thread.end()
"""
    uid, read, raised = tried(text, own, outside)
    assert (read, raised) == ("x", "raised") and uid.isdecimal()
    assert (outside / "by-callback").exists()


def test_rows_are_read_from_the_files_that_were_named(own: Path, outside: Path) -> None:
    (own / "input").write_text("x")
    (own / "input").chmod(0o600)
    (own / "other").write_text("x")
    text = """
def read(path):
    try:
        return path.read_text()
    except OSError as error:
        return type(error).__name__

inputs = [own / "input"]
print(*once(lambda thread: [read(own / "input"), read(own / "other")], inputs))
"""
    assert tried(text, own, outside) == ["x", "PermissionError"]


def test_a_program_of_a_server_is_confined(own: Path, outside: Path) -> None:
    text = """
from assay.contracts.storage_facts import StorageFacts
from assay.provision.directory import server_directory
from assay.provision import processes
own.chmod(0o755)
os.chown(own, 0, 0) if os.geteuid() == 0 else None
facts = StorageFacts("here", "here", str(own))
script = 'id -u; echo x > "$1"/made; cat "$0"/secret; echo x > "$0"/made; echo $?'
with server_directory(facts) as directory:
    said = processes.run_program(["sh", "-c", script, str(outside), str(directory.root)], directory)
    print(said.split()[0] != "0" or os.geteuid() != 0, said.split()[-1] != "0")
    print((directory.root / "made").exists())
"""
    assert tried(text, own, outside) == ["True", "True", "True"]
    assert not (outside / "made").exists()
