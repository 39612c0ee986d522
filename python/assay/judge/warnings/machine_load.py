"""Takes a run; returns the CPU shares of the client and of other programs.

Two numbers are of "other programs". `processor_wait` has what the machine did beside client and
server, with the kernel's own work (interrupts, writing to devices): it says why a client waited.
`other_programs` has programs alone, so that it says whether something else used the machine.
"""

from __future__ import annotations

from assay.contracts.recorded import Machine
from assay.judge.run import Run
from assay.judge.warnings.kinds import LEAST_COST_NS, LEAST_OTHERS_NS, OTHERS_LIMIT


def client_shares(run: Run) -> tuple[float, float] | None:
    """(share of the machine's CPUs, busy share of the engine's threads) of the client.

    None where the system lives in the client's own process: its work cannot be separated; and
    where the measurement is too short for the kernel's counting.
    """
    driven = run.driven
    if driven is None or run.is_embedded:
        return None
    if driven.elapsed_ns < LEAST_COST_NS:
        return None
    busy = driven.client_cost.cpu_ns / driven.elapsed_ns
    threads = max(1, driven.threads)
    return min(1.0, busy / _processors(run.machine)), min(1.0, busy / threads)


def processor_wait(run: Run) -> tuple[float, float] | None:
    """(share of their time that the client's threads waited for a CPU, share of the machine's CPUs
    that other programs used meanwhile).

    None where it is unknown: a server behind a URL may be one of these programs.
    """
    driven = run.driven
    if driven is None or driven.elapsed_ns < LEAST_COST_NS:
        return None
    cost, elapsed_ns = driven.client_cost, driven.elapsed_ns
    if cost.machine_busy_ns is None or (driven.server_cost is None and not run.is_embedded):
        return None
    server_ns = driven.server_cost.cpu_ns if driven.server_cost else 0
    others_ns = max(0, cost.machine_busy_ns - cost.cpu_ns - server_ns)
    threads = max(1, driven.threads)
    processors = run.machine.get("processors") or _processors(run.machine)
    return (
        min(1.0, cost.waited_for_processor_ns / elapsed_ns / threads),
        min(1.0, others_ns / elapsed_ns / processors),
    )


def other_programs(run: Run) -> float | None:
    """Share of the machine's CPUs that programs other than client and server used in the
    measurement, as far as they are more than the kernel's counting in ticks; None: not known."""
    driven = run.driven
    cost = driven.machine_cost if driven else None
    if driven is None or cost is None or cost.other_programs_ns is None or not driven.elapsed_ns:
        return None
    counted_ns = cost.other_programs_ns if cost.other_programs_ns > LEAST_OTHERS_NS else 0
    processors = run.machine.get("processors") or _processors(run.machine)
    return min(1.0, counted_ns / driven.elapsed_ns / processors)


def is_disturbed(run: Run) -> bool:
    """Whether other programs used so much of the machine that nothing is decided from this run."""
    return (other_programs(run) or 0.0) > OTHERS_LIMIT


def _processors(machine: Machine) -> float:
    """That Assay may use: by its affinity, and by the control groups around it."""
    usable = machine.get("processors_usable") or machine.get("processors") or 1
    return min(usable, machine.get("processors_limit") or usable)


def memory_of(machine: Machine) -> int:
    """Bytes this process may use: the machine's memory, or its control group's limit."""
    limits = [machine.get("memory_bytes"), machine.get("memory_limit_bytes")]
    return min((limit for limit in limits if limit), default=0)
