"""What clients did, as metrics read it: in all transactions of a run or a group, or in those of one
type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from assay.contracts.metric import Read, Value
from assay.contracts.observation import GroupReport, Latency, Observation, Outcomes
from assay.judge.run import Run


class Work(NamedTuple):
    elapsed_ns: int
    outcomes: Outcomes | None
    """None: not kept, by an early Assay."""
    latency: Latency | None
    """None: none ended ok."""


def of_all(whole: Observation | GroupReport) -> Work:
    """In all transactions; of a run those of its clients, without what these had queued."""
    own = whole.of_clients if isinstance(whole, Observation) else whole
    return Work(whole.elapsed_ns, own.outcomes, own.all_ok.latency)


def of_type(whole: Observation, transaction: str) -> Work | None:
    """None where there is no such type."""
    named = (each for each in whole.outcomes_by_transaction if each.name == transaction)
    outcomes, latency = next(named, None), whole.latency_of(transaction)
    if outcomes is None and latency is None:
        return None
    return Work(whole.elapsed_ns, outcomes, latency)


def driven(read: Callable[[Observation], Value]) -> Callable[[Run], Value]:
    """Of a run, where it drove clients."""
    return lambda run: None if run.driven is None else read(run.driven)


def in_all(read: Read) -> Callable[[Run], Value]:
    """Reads from all transactions of a run what ``read`` takes from a `Work`."""
    return driven(lambda whole: read(of_all(whole)))


def in_type(read: Read, transaction: str) -> Callable[[Run], Value]:
    """The same of one transaction type."""

    def value(whole: Observation) -> Value:
        work = of_type(whole, transaction)
        return None if work is None else read(work)

    return driven(value)


def kept(field: str, *names: str) -> Callable[[Run], Any]:
    """A field of what the clients did, or what stands within it; None where it was not kept."""

    def value(run: Run) -> Any:
        if run.driven is None:
            return None
        part = getattr(run.driven, field)
        for name in names:
            part = None if part is None else getattr(part, name)
        return part

    return value
