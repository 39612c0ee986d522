"""The server's cost in the measurement alone, from samples taken at other instants."""

from __future__ import annotations

import observations
from assay.contracts.observation import DeviceCost, Observation
from assay.contracts.systems.protocol import ProcessSample
from assay.drive.monitoring.sampler import TimedSample
from assay.drive.monitoring.server_cost import device_cost, machine_cost, server_cost
from assay.provision.machine.machine_sampling import MachineSample
from assay.storages.device_counters import DeviceCounts

S = 1_000_000_000


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
    assert device == DeviceCost("vda", 2 * S // 5, S // 5, reads=S, busy_ns=2 * S)
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


def test_the_cost_of_a_transaction_is_not_rounded() -> None:
    cost = server_cost([sample(0, 0), sample(10, S)], 0, observation(0, 10, 3))
    assert cost is not None and cost.per_transaction_ns == S / 3


def test_less_than_a_tick_of_the_kernel_is_no_number() -> None:
    for cpu_ns, known in ((0, None), (9_000_000, None), (10_000_000, 10_000_000)):
        cost = server_cost([sample(0, 0), sample(10, cpu_ns)], 0, observation(0, 10, 1))
        assert cost is not None
        assert cost.known_cpu_ns == known


def test_between_two_samples_a_sum_grows_evenly() -> None:
    cost = server_cost([sample(0, 0), sample(10, S)], 0, observation(2.5, 5, 1))
    assert cost is not None
    assert cost.cpu_ns == S // 2


def test_the_clock_of_the_samples_is_that_of_the_observation() -> None:
    cost = server_cost([sample(0, 0), sample(10, S)], 100 * S, observation(102, 5, 1))
    assert cost is not None
    assert cost.cpu_ns == S // 2


def test_one_sample_is_not_enough_for_a_cost() -> None:
    assert server_cost([sample(0, 5)], 0, observation(0, 1, 1)) is None
    assert server_cost([sample(0, 5), sample(1, 5)], 0, observation(0, 0, 0)) is None


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


def test_another_process_of_the_same_number_takes_nothing_back() -> None:
    samples = [counted(0, p1=50), counted(1, p1=60), counted(2, p1=5), counted(3, p1=15)]
    cost = server_cost(samples, 0, observation(0, 3, 1))
    assert cost is not None and cost.counts == {"wakes": 25}


def test_what_is_counted_of_less_than_half_of_the_measurement_is_not_known() -> None:
    samples = [counted(0, p1=0, p2=0), counted(1, p1=1, p2=1), counted(9, p1=1), counted(10)]
    cost = server_cost(samples, 0, observation(0, 10, 1))
    assert cost is not None and cost.counts == {}


def test_sessions_that_come_and_go_are_not_known() -> None:
    samples = [counted(at, p1=at, **{f"p{at + 2}": 1}) for at in range(6)]
    cost = server_cost([*samples, counted(6, p1=6)], 0, observation(0, 6, 1))
    assert cost is not None and cost.counts == {}
