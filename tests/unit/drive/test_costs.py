"""What is counted while clients are driven: commits, counters of the server, seconds of the
machine, what the server's processes cost."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

import invented_records as invented
import observations
from assay import registry
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.engine import ClientsSoFar, DriveDocument, DriveProgress
from assay.contracts.observation import ClientCost, DeviceCost, DeviceCounts, Interval, Observation
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import Counters
from assay.contracts.systems.protocol import ProcessSample
from assay.drive import sampling as module
from assay.drive import watched
from assay.drive.prepare import Compiled, committed_transactions, seems_to_read
from assay.drive.sampling import Sampler, TimedSample, device_cost, machine_cost, server_cost
from assay.drive.watched import MachineSeconds, _Counters
from assay.experiment.from_command_line import Words, experiment
from assay.plan import plan
from assay.plan.drives import drives
from assay.provision.machine.ports import with_listeners
from assay.provision.machine.sampling import MachineSample
from assay.storages.device_counters import Devices
from assay.workload.ad_hoc_script import workload_of
from waiting import wait_until


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ("SELECT a FROM t WHERE b = 'update'", True), ("((select 1) union (select 2))", True),
        ("-- insert\n/* update\n */ values (1)", True),
        ("with a as (select 1) select * from a", True),
        ("WITH a AS (SELECT 1) DELETE FROM t", False), ("BEGIN", True), ("commit", True),
        ("EXPLAIN SELECT 1", True), ("explain analyze insert into t values (1)", False),
        ("insert into t values (1)", False), ("call p()", False), ("copy t from stdin", False),
        ("SELECT nextval('s')", False), ("select next value for s", False),
    ],
)  # fmt: skip
def test_a_statement_reads_by_its_first_word(statement: str, reads: bool) -> None:
    assert seems_to_read(statement) is reads


def test_types_that_change_data_are_found_in_the_systems_own_statements() -> None:
    for target, system, writing in (
        ("tpcb.tpcb-like", "sqlite", {"tpcb-like"}),
        ("tpcb.select-only", "sqlite", set()),
        ("e831.update", "cassandra", {"update"}),
        ("e831.select", "cassandra", set()),
    ):
        asked, _ = experiment(Words(target, on=(system,)))
        workload = workload_of(asked)
        (run, *_) = plan(asked, workload).runs
        dialect = registry.system(system).dialect
        (drive,) = drives(workload, run)
        assert Compiled(workload).writing_types(drive, dialect) == writing, target


def test_only_transactions_that_ended_ok_are_commits() -> None:
    (cell, *_) = (run.cell for run in invented.plan([invented.SQLITE]).runs)
    counts = {"reads": {"ok": 8}, "writes": {"ok": 8, "failed": 2}, "lost": {"unknown": 2}}
    found = [{"name": name, **observations.outcomes(**of)} for name, of in counts.items()]
    observation = invented.report_of(cell, invented.S, outcomes_by_transaction=found)
    assert isinstance(observation, Observation)
    assert committed_transactions(observation, {"writes"}) == 8
    assert committed_transactions(observation, ()) == 0
    assert committed_transactions(observation, {"lost"}) is None, "a part of them may be kept"


def test_what_a_plugin_raises_while_clients_work_is_raised_where_the_run_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken(Counters):
        def counters(self, deployment: Any) -> Any:
            raise ZeroDivisionError(f"of the plugin, at {deployment}")

    escaped: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", escaped.append)
    document = DriveDocument(scripts=(), warm_up_s=1.0, seed=7)
    counters = _Counters(cast(Any, None), cast(Any, Broken()), document)
    counters.on_progress(DriveProgress(2.0, 1, None, 1, 0, 1))
    with pytest.raises(ZeroDivisionError, match="of the plugin"):
        counters.grown()
    assert not escaped


S = 1_000_000_000


class Clock:
    """Stands for the clock, and for a device that reads ten times a second."""

    def __init__(self) -> None:
        self.now_s = 50.0
        self.read = 0

    def monotonic(self) -> float:
        return self.now_s

    def counts(self, _devices: Devices) -> DeviceCounts:
        self.read += 1
        return DeviceCounts(int(self.now_s * 1000), 0, int(self.now_s * 10), 0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(watched, "time", made)
    monkeypatch.setattr(Devices, "counts", lambda devices: made.counts(devices))
    return made


def cost(measured_s: float) -> ClientCost:
    """Of two threads, of which one works a quarter of the time."""
    return ClientCost(int(measured_s * S / 4), 0, 0.0, 0, 0, 0, 0, 0, 0, None)


def so_far(measured_s: float) -> ClientsSoFar:
    return ClientsSoFar(int(measured_s * S), 2, cost(measured_s), 0)


def progress(elapsed_s: float, *seconds: int, clients: ClientsSoFar | None = None) -> DriveProgress:
    none = dict.fromkeys(Interval.__struct_fields__, 0)
    unknown = dict.fromkeys(("latency", "schedule_lag", "schedule_lag_p99_ns"))
    of_line: dict[str, Any] = {"group": "", "ok": 1, "clients_connected": 1}
    lines = (Interval(**(none | unknown | of_line | {"second": second})) for second in seconds)
    return DriveProgress(elapsed_s, 0, None, 0, 0, 1, seconds=tuple(lines), so_far=clients)


BEGAN = 1_000 * S
"""When sampling began; two seconds later the measurement does."""


def ended(measured_s: int) -> Observation:
    whole = observations.observation(elapsed_ns=measured_s * S, drained_ns=0)
    return replace(whole, started_unix_ns=BEGAN + 2 * S, threads=2, client_cost=cost(measured_s))


def sampled(*at_s: float) -> list[TimedSample]:
    """Of a server that uses one and a half processors, and others that use half of one."""

    def one(at: float) -> TimedSample:
        process = ProcessSample(1, 1, 1, 1, 0, int(at * S * 1.5), 0)
        return TimedSample(at, process, other_programs_ns=int(at * S / 2))

    return list(map(one, at_s))


def test_a_second_is_what_was_counted_in_it_and_none_is_missing(clock: Clock) -> None:
    samples = sampled(0, 2)
    found = MachineSeconds(Devices((Path("/sys/vda"),)), samples, 2.0, clients_are_here=True)
    given = []
    for tenth in range(70):
        clock.now_s = 50 + tenth / 10
        if tenth in (30, 50):
            samples += sampled(tenth / 10)
        second, left = divmod(tenth - 20 - 14, 10)  # the clients report it 0.4 s later
        said = None if tenth < 30 or tenth % 10 else so_far(tenth / 10 - 2)
        lines = [second] if second >= 0 and not left else []
        given += found.at(progress(tenth / 10, *lines, clients=said))
    assert [one.second for one in given] == [0, 1, 2, 3]
    assert clock.read == 5, "once a second"
    assert [one.server_cpus for one in given] == [None, None, 1.5, 1.5], "of two samples"
    samples += sampled(7)
    every = found.of(ended(5), BEGAN)
    assert [one.second for one in every] == [0, 1, 2, 3, 4]
    for one in every:
        assert (one.client_cpus, one.other_cpus, one.device) == (0.25, 0.5, "vda")
        assert (one.client_busy, one.server_cpus) == (0.125, 1.5)
        assert one.reads == pytest.approx(10, abs=1.2)


def test_what_is_sampled_belongs_to_the_seconds_around_which_it_was(clock: Clock) -> None:
    def at(at_s: float, cpu_s: float) -> TimedSample:
        process = ProcessSample(1, 1, 1, 1, 0, int(cpu_s * S), 0)
        return TimedSample(at_s, process, other_programs_ns=int((at_s - cpu_s) * S))

    # The server works for three seconds, stands still for two, and works again.
    samples = [at(0, 0), at(2, 0), at(5, 3), at(7, 3), at(9, 5)]
    found = MachineSeconds(None, samples, 2.0, clients_are_here=True)
    found.at(progress(2.0))
    clock.now_s += 7
    found.at(progress(9.0, clients=so_far(7)))
    every = found.of(ended(7), BEGAN)
    assert [one.server_cpus for one in every] == [1, 1, 1, 0, 0, 1, 1]
    assert [one.other_cpus for one in every] == [0, 0, 0, 1, 1, 0, 0]


def test_seconds_without_progress_are_their_mean_and_another_process_is_not_known(
    clock: Clock,
) -> None:
    found = MachineSeconds(None, sampled(0, 2), 0.0, clients_are_here=False, is_embedded=True)
    found.at(progress(0.9))  # connecting
    found.at(progress(0.0))
    clock.now_s += 3.5
    (*_, last) = found.at(progress(3.5, 0, 1, 2, clients=so_far(3.5)))
    assert last.second == 2 and last.client_cpus is None and last.device == ""
    assert last.server_cpus is None and last.client_busy is None, "they are one"
    assert not found.at(progress(3.6))


def test_what_several_processes_say_is_waited_for_a_moment(clock: Clock) -> None:
    found = MachineSeconds(None, [], 0.0, clients_are_here=True)
    found.at(progress(0.0))
    for at_s, said in ((1.0, None), (1.2, so_far(1.2)), (2.0, None), (2.4, None), (2.6, None)):
        clock.now_s = 50 + at_s
        found.at(progress(at_s, clients=said))
    one, other = found.at(progress(3.0, 0, 1))
    assert one.client_cpus == 0.25, "it was said after 1.2 s"
    assert other.client_cpus == 0.25, "not said in time: as it was last known"


BUSY = """
import socket, sys, time
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
until_s = time.process_time() + 0.3
while time.process_time() < until_s: pass
print(listening.getsockname()[1], flush=True)
time.sleep(60)
"""


@contextmanager
def server(port: int = 0) -> Iterator[int]:
    """One that has used 0.3 s of CPU time; its port."""
    command = [sys.executable, "-c", BUSY, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        try:
            yield int(started.stdout.readline())
        finally:
            started.kill()


def by_url(port: int) -> Deployment:
    return with_listeners(
        Deployment(
            system="null", label="null", nodes=(Node("node", StorageFacts.of_url()),),
            endpoints=(Address("any", host="127.0.0.1", port=port),), version="1", options={},
            settings_asked={}, settings={}, is_private=False,
        )
    )  # fmt: skip


def waited_for(sampler: Sampler, samples: int) -> None:
    wait_until(lambda: len(sampler.samples) >= samples, f"there are {samples} samples")


@pytest.mark.slow
def test_the_time_of_a_server_that_was_started_again_is_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LEAST_INTERVAL_S", 0.1)
    monkeypatch.setattr(module, "_SHARE", 1)
    with server() as port:
        deployment = by_url(port)
        sampler = Sampler(deployment, registry.system("null"))
        sampler.__enter__()
        waited_for(sampler, 2)
    time.sleep(0.3)  # the server is down
    before = len(sampler.samples)
    with server(port):
        waited_for(sampler, before + 2)
        sampler.__exit__(None, None, None)
    cpu_s = [one.sample.cpu_ns / 1e9 for one in sampler.samples]
    assert cpu_s == sorted(cpu_s)
    assert 0.25 < cpu_s[0] < 0.55 and 0.55 < cpu_s[-1] < 1.2, "that of both"
    assert len({one.sample.pids for one in sampler.samples}) == 2


def sample(at_s: float, cpu_ns: int, resident_bytes: int = 10) -> TimedSample:
    process = ProcessSample(1, 1, resident_bytes, 20, 0, cpu_ns, 0)
    device = DeviceCounts(cpu_ns // 5, cpu_ns // 10, reads=cpu_ns // 2, busy_ns=cpu_ns)
    machine = MachineSample(
        cpu_ns, cpu_ns // 2, 0, cpu_ns // 4, 0, at_s, 1000, 10, free_bytes=100 - int(at_s),
        context_switches=cpu_ns,
    )  # fmt: skip
    return TimedSample(at_s, process, device, machine)


def observation(from_s: float, seconds: float, count: int) -> Observation:
    return observations.observation(
        started_unix_ns=int(from_s * S),
        elapsed_ns=int(seconds * S),
        outcomes=observations.outcomes(ok=count),
    )


def test_cost_before_and_after_the_measurement_is_left_out() -> None:
    # One processor in the warm-up (2 s), a half in the measurement (4 s), none behind it.
    samples = [sample(0, 0), sample(1, S), sample(2, 2 * S), sample(5, 2 * S + 3 * S // 2)]
    samples += [sample(6, 4 * S, resident_bytes=99), sample(9, 4 * S)]
    cost = server_cost(samples, 0, observation(2, 4, 1000))
    assert cost is not None
    assert cost.cpu_ns == 2 * S
    assert cost.per_transaction_ns == 2_000_000
    assert cost.resident_peak_bytes == 99
    device = device_cost(samples, 0, observation(2, 4, 1000), "vda")
    assert device == DeviceCost(2 * S // 5, S // 5, device="vda", reads=S, busy_ns=2 * S)
    machine = machine_cost(samples, 0, observation(2, 4, 1000))
    assert machine is not None
    assert (machine.user_ns, machine.system_ns, machine.iowait_ns) == (2 * S, S, S // 2)
    assert machine.load_1min_peak == 9
    assert (machine.free_least_bytes, machine.context_switches) == (91, 2 * S)
    assert machine.used_peak_bytes is None, "samples of earlier versions have none"


def test_a_measurement_between_two_samples_has_no_cost_of_the_device() -> None:
    """Another program, or the load before it, may have used the device all the time."""
    samples = [sample(0, 0), sample(1, 10 * S), sample(2, 10 * S)]
    for seconds, is_known in ((398e-6, False), (0.4, False), (0.5, True), (1.0, True)):
        found = device_cost(samples, 0, observation(0.5, seconds, 1), "vda")
        assert (found is not None) is is_known, seconds


@pytest.mark.parametrize(
    ("cpu_ns", "began_s", "measured", "name", "value"),
    [
        (S, 0, (0, 10, 3), "per_transaction_ns", S / 3),  # not rounded
        (0, 0, (0, 10, 1), "known_cpu_ns", None),
        (9_000_000, 0, (0, 10, 1), "known_cpu_ns", None),  # less than a tick of the kernel
        (10_000_000, 0, (0, 10, 1), "known_cpu_ns", 10_000_000),
        (S, 0, (2.5, 5, 1), "cpu_ns", S // 2),  # between two samples a sum grows evenly
        (S, 100, (102, 5, 1), "cpu_ns", S // 2),  # by the clock of the observation
    ],
)
def test_a_cost_between_two_samples(
    cpu_ns: int, began_s: int, measured: tuple[float, float, int], name: str, value: float | None
) -> None:
    samples = [sample(0, 0), sample(10, cpu_ns)]
    assert getattr(server_cost(samples, began_s * S, observation(*measured)), name) == value
    assert server_cost(samples[:1], 0, observation(0, 1, 1)) is None, "one is not enough"
    assert server_cost(samples, 0, observation(0, 0, 0)) is None


def test_a_value_that_is_missing_from_a_sample_is_unknown_and_not_zero() -> None:
    unseen = TimedSample(5, ProcessSample(1, 1, 10, 20, 0, S, None))
    samples = [sample(0, 0), unseen, sample(9, S)]
    cost = server_cost(samples, 0, observation(1, 7, 1))
    assert cost is not None and cost.read_bytes is None
    assert device_cost(samples, 0, observation(1, 7, 1), "vda") is None
    assert machine_cost(samples, 0, observation(1, 7, 1)) is None


def counted(at_s: float, **of_processes: int) -> TimedSample:
    by_process = {int(name[1:]): value for name, value in of_processes.items()}
    process = ProcessSample(1, 1, 10, 20, 0, int(at_s * S), 0, counts={"wakes": by_process})
    return TimedSample(at_s, process)


def test_what_ended_processes_did_counts_up_to_where_they_were_seen() -> None:
    # A session (p2) works from 1 s to 5 s, ten times a second, and is gone at the last sample.
    samples = [
        counted(0, p1=100), counted(1, p1=100, p2=0), counted(3, p1=100, p2=20),
        counted(4.5, p1=100, p2=35), counted(5.5, p1=100),
    ]  # fmt: skip
    cost = server_cost(samples, 0, observation(1, 4, 1))
    assert cost is not None and cost.counts == {"wakes": 40}
    # Another process of the same number takes nothing back.
    samples = [counted(0, p1=50), counted(1, p1=60), counted(2, p1=5), counted(3, p1=15)]
    cost = server_cost(samples, 0, observation(0, 3, 1))
    assert cost is not None and cost.counts == {"wakes": 25}
