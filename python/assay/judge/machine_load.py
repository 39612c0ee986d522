"""Takes the evidence of runs; returns the processor shares of the client and of other programs, and
the runs of a cell that no other program disturbed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from assay.contracts.observation.costs import LEAST_OTHERS_NS, OTHERS_LIMIT, TICK_NS
from assay.contracts.recorded import Machine
from assay.judge.run import Run
from assay.judge.warning_kinds import LEAST_COST_NS
from assay.text import units


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
    that other programs used meanwhile): the second is that of `other_programs`, if it is known.

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
    others = other_programs(run)
    if others is None:
        processors = run.machine.get("processors") or _processors(run.machine)
        others = min(1.0, others_ns / elapsed_ns / processors)
    return min(1.0, cost.waited_for_processor_ns / elapsed_ns / threads), others


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


_TOLERANCE = 0.05
"""Share of the time of all processors by which counts may differ."""
_TICKS = 2
"""Of each processor, at the beginning and at the end of the measurement."""


def processor_contradiction(run: Run) -> str:
    """``user and system were 3.1 s, by the kernel's ticks 7.8 s``; empty: no
    contradiction is known."""
    driven, processors = run.driven, run.machine.get("processors")
    cost = driven.machine_cost if driven else None
    if driven is None or cost is None or not processors or not driven.elapsed_ns:
        return ""
    whole_ns = driven.elapsed_ns * processors
    allowed_ns = _TOLERANCE * whole_ns + _TICKS * TICK_NS * processors
    busy_ns = cost.user_ns + cost.system_ns
    found = []
    if abs(cost.capacity_ns - whole_ns) > allowed_ns:
        found.append(
            f"all states together were {_s(cost.capacity_ns)} of the {_s(whole_ns)} that "
            f"{units.counted(processors, 'processor')} had"
        )
    ticks_ns = driven.client_cost.machine_busy_ns
    if ticks_ns is not None and abs(busy_ns - ticks_ns) > allowed_ns:
        found.append(f"user and system were {_s(busy_ns)}, by the kernel's ticks {_s(ticks_ns)}")
    server_ns = driven.server_cost.cpu_ns if driven.server_cost else 0
    own_ns = driven.client_cost.cpu_ns + server_ns
    if own_ns - busy_ns > allowed_ns:
        found.append(
            f"user and system were {_s(busy_ns)}, client and server alone used {_s(own_ns)}"
        )
    return "; ".join(found)


def _s(time_ns: int) -> str:
    return f"{time_ns / 1e9:.1f} s"


LEAST_UNDISTURBED = 2
"""Of several: without them nothing is known of how repetitions vary."""
T = TypeVar("T")


def undisturbed_runs(
    runs: Sequence[T], evidence: Callable[[T], Run], repetition: Callable[[T], Hashable]
) -> list[T]:
    """``runs``: those of one cell that were measured, in the order in which they ran;
    ``repetition``: the one that a run was, or in whose place it was measured."""
    undisturbed = [run for run in runs if not is_disturbed(evidence(run))]
    last_of = {repetition(run): run for run in runs}
    is_enough = len(undisturbed) >= max(min(LEAST_UNDISTURBED, len(last_of)), len(last_of) / 2)
    return undisturbed if is_enough else [*last_of.values()]
