"""What processes, their families and the machine use is sampled; who listens where, and which new
data a server has."""

from __future__ import annotations

import mmap
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.contracts.deployment import Address
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.protocol import ServerDirectory
from assay.env_vars import NEW_DATA
from assay.provision import copying
from assay.provision.machine import process_table, sampling
from assay.provision.machine.ports import listener
from assay.provision.machine.process_table import family_of
from assay.provision.machine.sampling import sample_machine

SESSIONS = 60
SHARED_BYTES, OWN_BYTES = 8 << 20, 1 << 20


@pytest.fixture
def sessions() -> Iterator[int]:
    """The parent of many processes that are alike; the first of them is much larger."""
    shared = mmap.mmap(-1, SHARED_BYTES)
    shared.write(b"x" * SHARED_BYTES)
    ready, written = os.pipe()
    wait, stop = os.pipe()
    parent = os.fork()
    if parent == 0:
        os.close(stop)
        for number in range(SESSIONS):
            if os.fork() == 0:
                held = bytearray(OWN_BYTES * (8 if number == 0 else 1))
                held[:: mmap.PAGESIZE] = shared[: len(held) : mmap.PAGESIZE]
                sum(shared[:: mmap.PAGESIZE])
                os.write(written, b"r")
                os.read(wait, 1)
                os._exit(0)
        os.read(wait, 1)
        os._exit(0)
    for _ in range(SESSIONS):
        os.read(ready, 1)
    yield parent
    for end in (stop, ready, written, wait):
        os.close(end)
    os.waitpid(parent, 0)


@pytest.mark.slow
def test_of_many_sessions_some_are_asked_and_the_sum_is_that_of_all(
    sessions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = sampling._resident_bytes
    every_one = sum(ask(pid, 0) for pid in family_of(sessions))
    asked: list[int] = []
    monkeypatch.setattr(
        sampling, "_resident_bytes", lambda pid, other: asked.append(pid) or ask(pid, other)
    )
    sample = sampling.sample(sessions)
    assert sample is not None and sample.processes == SESSIONS + 1
    assert len(asked) <= 32, "each costs the kernel a walk over all pages"
    assert sample.resident_bytes == pytest.approx(every_one, rel=0.1)


def test_context_switches_are_of_all_threads_and_page_faults_of_the_process() -> None:
    script = (
        "import threading, time, sys\n"
        "have_slept = threading.Semaphore(0)\n"
        "def wait():\n"
        "    [time.sleep(0.001) for _ in range(200)]\n"
        "    have_slept.release()\n"
        "    time.sleep(1000)\n"
        "made = [threading.Thread(target=wait) for _ in range(3)]\n"
        "print(flush=True); sys.stdin.readline()\n"
        "[one.start() for one in made]\n"
        "memory = bytearray(64 << 20)\n"
        "[have_slept.acquire() for _ in made]\n"
        "print(flush=True); sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as started:
        assert started.stdin is not None and started.stdout is not None
        started.stdout.readline()
        before = sampling.sample(started.pid)
        started.stdin.write(b"\n")
        started.stdin.flush()
        started.stdout.readline()
        after = sampling.sample(started.pid)
        started.kill()
    assert before is not None and after is not None
    grown = {
        name: after.counts[name][started.pid] - before.counts[name][started.pid]
        for name in sampling.COUNTED
    }
    assert grown["context_switches"] >= 600, "three threads slept two hundred times"
    assert grown["page_faults"] >= (64 << 20) // (2 << 20), "of huge pages, if of no others"
    assert grown["major_page_faults"] < grown["page_faults"]


TICK_NS = sampling.TICK_NS


def test_states_are_summed_as_top_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat, load, memory = (tmp_path / name for name in ("stat", "loadavg", "meminfo"))
    stat.write_text(
        "cpu  100 20 30 400 50 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5 1 4\nctxt 77\n"
    )
    load.write_text("1.05 3.59 19.00 2/300 4711\n")
    memory.write_text(
        "MemTotal: 16000 kB\nMemFree: 4536 kB\nMemAvailable: 5000 kB\nBuffers: 732 kB\n"
        "Cached:  7182 kB\nSwapCached: 1 kB\nDirty:  3 kB\nShmem: 1344 kB\nSwapTotal: 100 kB\n"
        "SwapFree: 60 kB\nHugePages_Total: 0\n"
    )
    monkeypatch.setattr(sampling, "_STAT", stat)
    monkeypatch.setattr(sampling, "_LOAD", load)
    monkeypatch.setattr(sampling, "_MEMORY", memory)
    found = sample_machine()
    assert found is not None
    states = (found.user_ns, found.system_ns, found.idle_ns, found.iowait_ns, found.steal_ns)
    # Guests (the last two) are in user and nice already.
    assert states == tuple(ticks * TICK_NS for ticks in (120, 43, 400, 50, 8))
    assert (found.load_1min, found.cached_bytes, found.dirty_bytes) == (1.05, 7182 * 1024, 3072)
    assert (found.load_5min, found.load_15min) == (3.59, 19.0)
    sizes = (found.used_bytes, found.free_bytes, found.buffers_bytes, found.shared_bytes)
    assert sizes == (11000 * 1024, 4536 * 1024, 732 * 1024, 1344 * 1024)
    assert found.swap_used_bytes == 40 * 1024
    assert (found.context_switches, found.interrupts) == (77, 5)
    memory.unlink()
    assert sample_machine() is None, "a part that is missing is not zero"


SERVER = """
import os, sys, time
def burn(seconds):
    began = time.process_time()
    while time.process_time() - began < seconds: pass
while True:
    child = os.fork()
    if not child:
        burn(0.03)
        os._exit(0)
    os.waitpid(child, 0)
"""


class Table:
    """Invented processes: 1 is the server, 2 its child, which ends right after the given reading of
    the server (readings are counted from 1)."""

    def __init__(self, ends_after: int, order: tuple[int, ...]) -> None:
        self.ends_after = ends_after
        self.order = order
        self.readings = 0

    def numbers(self) -> list[int]:
        return list(self.order)

    def stat(self, pid: int) -> list[str] | None:
        is_over = self.readings >= self.ends_after
        if pid == 1:
            self.readings += 1
            return fields(parent=0, own=5, ended=90 if is_over else 0, faults=7 if is_over else 0)
        return None if is_over else fields(parent=1, own=90, ended=0, faults=0)


def fields(parent: int, own: int, ended: int, faults: int) -> list[str]:
    found = ["0"] * 40
    found[0], found[1], found[8], found[19] = "S", str(parent), str(faults), "100"
    found[11], found[13] = str(own), str(ended)
    return found


def test_programs_of_the_experiment_are_not_counted_as_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parents = {1: 0, 2: 0, 3: 2, 10: 1, 11: 10, 12: 11, 20: 1, 21: 20, 30: 1, 31: 30}
    ticks = {pid: 2**place for place, pid in enumerate(parents)}
    table = {pid: fields(parent, ticks[pid], 0, 0) for pid, parent in parents.items()}
    table[20] = fields(1, ticks[20], ended=5000, faults=0)  # the compilers that a make has run
    monkeypatch.setattr(process_table, "stat_fields", table.get)
    monkeypatch.setattr(process_table, "_process_numbers", lambda: list(table))
    client, server_by_url = 10, 30
    others = ticks[1] + ticks[20] + ticks[21] + 5000
    assert process_table.ticks_of_others([client, server_by_url]) == others
    assert process_table.ticks_of_others([client]) == others + ticks[30] + ticks[31]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
@pytest.mark.parametrize("ends_after", [1, 2, 3, 99])
def test_a_child_that_ends_between_two_readings_is_counted_once(
    monkeypatch: pytest.MonkeyPatch, ends_after: int, order: tuple[int, ...]
) -> None:
    table = Table(ends_after, order)
    monkeypatch.setattr(process_table, "stat_fields", table.stat)
    monkeypatch.setattr(process_table, "_process_numbers", table.numbers)
    assert sum(map(process_table.ticks_of, process_table.family_of(1).values())) == 95


@pytest.fixture
def server() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.DEVNULL) as child:
        yield child.pid
        child.kill()


@pytest.mark.slow
def test_the_sum_over_a_server_whose_children_come_and_go_never_falls(server: int) -> None:
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    sums = []
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline or not any(sums):
        found = sampling.sample(server)
        assert found is not None
        sums.append(found.cpu_ns)
    highest = 0
    for one in sums:
        # The kernel rounds each of four times down to a tick.
        assert one >= highest - 4 * tick_ns
        highest = max(highest, one)


def test_handles_are_counted_for_each_file(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    table, outside = data / "table", tmp_path / "outside"
    table.touch()
    outside.touch()
    with ExitStack() as opened:
        for file in (table, table, table, outside):
            opened.enter_context(file.open())
        found = sampling.sample(os.getpid(), data, with_descendants=False)
    assert found is not None
    assert (found.handles, found.files, found.open_files) == ({"table": 3}, 1, 3)


CHILD = """
import os, socket, sys, time
server = socket.socket(socket.AF_INET)
server.bind(("127.0.0.1", 0))
server.listen()
if os.fork() == 0:
    time.sleep(1000)
print(server.getsockname()[1], flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize(
    ("bound", "asked"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "localhost"), ("::", "127.0.0.1"), ("::1", "::1")],
)
def test_a_port_is_found_in_each_form_of_its_address(bound: str, asked: str) -> None:
    family = socket.AF_INET6 if ":" in bound else socket.AF_INET
    try:
        server = socket.create_server((bound, 0), family=family, dualstack_ipv6=bound == "::")
    except (OSError, ValueError) as error:
        pytest.skip(f"this machine cannot listen at {bound}: {error}")
    with server:
        found = listener(Address("any", host=asked, port=server.getsockname()[1]))
    assert (found.pid, found.why_not_seen) == (os.getpid(), "")
    assert found.program == Path("/proc/self/comm").read_text().strip()


def test_a_socket_is_found_by_its_path_and_one_of_that_name_elsewhere_is_not() -> None:
    with socket.socket(socket.AF_UNIX) as server:
        path = f"/tmp/assay-listener-{os.getpid()}"
        server.bind(path)
        try:
            server.listen()
            assert listener(Address("any", unix=path)).pid == os.getpid()
            assert listener(Address("any", unix=f"{path}-other")).pid is None
        finally:
            Path(path).unlink()


def test_of_a_server_with_children_it_is_the_first_process() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            assert listener(Address("any", host="127.0.0.1", port=port)).pid == server.pid
        finally:
            os.killpg(server.pid, 9)


def test_an_address_elsewhere_is_said_to_be_elsewhere() -> None:
    # Of the addresses for documentation (RFC 5737): no machine has it.
    found = listener(Address("any", host="192.0.2.1", port=80))
    assert (found.pid, found.why_not_seen) == (None, "it is not on this machine")


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

    is_copy = copying.fill_new_data(directory, program, [word], make)
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
    for elsewhere in ({"log": tmp_path}, {"raw_device": tmp_path}, {"control_groups": (tmp_path,)}):
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

        copying.fill_new_data(directory, program, [], make)
        return (directory.data / "log").stat().st_blocks

    assert made(directories()) == made(directories()) == (1 << 20) // 512
