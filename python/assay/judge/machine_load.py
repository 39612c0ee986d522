"""Takes the evidence of a run; says what the client took of the machine, and what others did."""

from __future__ import annotations

from assay.judge.evidence import Document, Evidence
from assay.judge.kinds import LEAST_COST_NS
from assay.provision.deployment import was_embedded


def client_shares(run: Evidence) -> tuple[float, float] | None:
    """(share of the machine's processors, busy share of the engine's threads) the client took.

    None where the system lives in the client's own process: its work cannot be separated; and
    where the measurement is too short for the kernel's counting.
    """
    observation, deployment = run.observation or {}, run.deployment or {}
    cost, elapsed_ns = observation.get("client_cost"), observation.get("elapsed_ns")
    if not cost or not elapsed_ns or was_embedded(deployment):
        return None
    if elapsed_ns < LEAST_COST_NS:
        return None
    busy = (cost["user_ns"] + cost["system_ns"]) / elapsed_ns
    threads = max(1, observation.get("threads") or 1)
    return min(1.0, busy / _processors(run.machine)), min(1.0, busy / threads)


def processor_wait(run: Evidence) -> tuple[float, float] | None:
    """(share of their time that the client's threads waited for a processor, share of the machine's
    processors that other programs took meanwhile).

    None where it is unknown: a server behind a URL may be one of these programs.
    """
    observation, deployment = run.observation or {}, run.deployment or {}
    cost, elapsed_ns = observation.get("client_cost") or {}, observation.get("elapsed_ns") or 0
    waited_ns, busy_ns = cost.get("waited_for_processor_ns"), cost.get("machine_busy_ns")
    if waited_ns is None or busy_ns is None or elapsed_ns < LEAST_COST_NS:
        return None
    server_ns = (observation.get("server_cost") or {}).get("cpu_ns")
    if server_ns is None and not was_embedded(deployment):
        return None
    others_ns = max(0, busy_ns - cost["user_ns"] - cost["system_ns"] - (server_ns or 0))
    threads = max(1, observation.get("threads") or 1)
    processors = run.machine.get("processors") or _processors(run.machine)
    return (
        min(1.0, waited_ns / elapsed_ns / threads),
        min(1.0, others_ns / elapsed_ns / processors),
    )


def _processors(machine: Document) -> int:
    return machine.get("processors_usable") or machine.get("processors") or 1


def memory_of(machine: Document) -> int:
    """Bytes this process may use: the machine's memory, or its control group's limit."""
    limits = [machine.get("memory_bytes"), machine.get("memory_limit_bytes")]
    return min((limit for limit in limits if limit), default=0)
